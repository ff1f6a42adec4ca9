"""JSON documents that are too large to be read at once: an object whose member with a long list is handed out entry by
entry, while only the entry at hand is in memory.

The standard library's reader is asked for one value at a time at the place where that begins. It cannot tell a value
that is not all there yet from one that is wrong, so more is read until the value is whole, up to VALUE_CHARACTERS. A
faster reader has to be told where a value ends: at the brace that stands as far to the right as the one it began with,
as programs write it that put each member on a line.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import IO, Any, Final

import orjson

PIECE: Final = 1 << 20
"""Characters that are read at a time."""

VALUE_CHARACTERS: Final = 32 << 20
"""The longest value that is read at once."""

_DECODER: Final = json.JSONDecoder(strict=False)
_BLANK: Final = " \t\r\n"
_OF_NUMBERS: Final = re.compile(r"[-+.eE0-9]*")
"""What may stand in a number behind what looks like all of it."""

INDENT_MAXIMUM: Final = 64
"""Characters of blank before a value that may have its end found by them."""


class NotJson(ValueError):
    """The file is broken off, or is no JSON of the form that is expected."""


def objects_of(raw: IO[bytes]) -> Iterator[Mapping[str, Any]]:
    """The objects of the list in a file.

    :raises NotJson: where it is broken off or is something else.
    """
    with io.TextIOWrapper(raw, "utf-8-sig", errors="replace") as text:
        yield from (one for one in JsonStream(text).entries() if isinstance(one, dict))


def rows_of(raw: IO[bytes], tables: Collection[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of the lists that the object in a file has under these names, each with the name.

    :raises NotJson: where it is broken off or is something else.
    """
    with io.TextIOWrapper(raw, "utf-8-sig", errors="replace") as text:
        for name, one in JsonStream(text).members(*tables):
            if name in tables and isinstance(one, dict):
                yield name, one


class JsonStream:
    """A text file from which one value after the other is taken."""

    def __init__(self, file: IO[str], piece: int = PIECE) -> None:
        self._file = file
        self._piece = piece
        self._text = ""
        self._at = 0
        self._ended = False

    def members(self, *listed: str) -> Iterator[tuple[str, Any]]:
        """The members of the object in the file; of the lists under these names each entry by itself.

        :raises NotJson: where it is broken off or is something else.
        """
        self._require("{")
        if self._next() == "}":
            return
        while True:
            name = self._value()
            if not isinstance(name, str):
                raise NotJson("a member has no name")
            self._require(":")
            if name in listed and self._next() == "[":
                for entry in self._entries():
                    yield name, entry
            else:
                yield name, self._value()
            if self._take() == "}":
                return
            self._expect(",")

    def entries(self) -> Iterator[Any]:
        """The entries of the list in the file.

        :raises NotJson: where it is broken off or is something else.
        """
        yield from self._entries()

    def _entries(self) -> Iterator[Any]:
        self._require("[")
        if self._next() == "]":
            self._at += 1
            return
        while True:
            entry = self._indented_object()
            yield self._value() if entry is None else entry
            if self._take() == "]":
                return
            self._expect(",")

    def _indented_object(self) -> Mapping[str, object] | None:
        """The next value, where it is an object on lines of its own and the fast reader takes it; else None, and
        nothing is taken."""
        if self._next() != "{":
            return None
        text, at = self._text, self._at
        line = text.rfind("\n", max(0, at - INDENT_MAXIMUM), at)
        if line < 0 or text[line:at].strip():
            return None
        last = text.find(f"{text[line:at]}}}", at)  # no text of JSON holds the end of a line
        if last < 0:
            return None
        end = last + at - line + 1
        try:
            value: Mapping[str, object] = orjson.loads(text[at:end])
        except ValueError:
            return None  # the end of something else, or what the other reader bears
        self._at = end
        return value

    def _require(self, sign: str) -> None:
        if self._take() != sign:
            raise NotJson(f"{sign} is expected")

    def _expect(self, sign: str) -> None:
        """The sign that was taken last is this one."""
        if self._text[self._at - 1] != sign:
            raise NotJson(f"{sign} is expected")

    def _take(self) -> str:
        sign = self._next()
        self._at += 1
        return sign

    def _next(self) -> str:
        """The next sign that is no space, which is not taken."""
        while True:
            text, at = self._text, self._at
            while at < len(text) and text[at] in _BLANK:
                at += 1
            self._at = at
            if at < len(text):
                return text[at]
            if not self._more():
                raise NotJson("it is broken off")

    def _value(self) -> Any:
        self._next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                raise NotJson("it is nested too deep") from None
            except ValueError as error:
                if len(self._text) - self._at > VALUE_CHARACTERS:
                    raise NotJson("a value is too long") from None
                if not self._more():
                    raise NotJson(str(error)) from None
                continue
            if not self._ended and _OF_NUMBERS.fullmatch(self._text, end) and self._more():
                continue  # a number may go on
            self._at = end
            return value

    def _more(self) -> bool:
        """Read on, twice as much where a value did not fit into a piece; False at the end."""
        left = self._text[self._at :]
        try:
            piece = self._file.read(max(self._piece, len(left)))
        except (OSError, ValueError, EOFError) as error:
            raise NotJson(str(error)) from None
        except Exception as error:
            if type(error).__module__ not in {"zlib", "zipfile", "lzma"}:
                raise
            raise NotJson(str(error)) from None  # a compressed file that is broken
        self._text, self._at = left + piece, 0
        self._ended = not piece
        return bool(piece)
