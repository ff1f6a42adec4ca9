"""JSON documents that are too large to be read at once: an object whose member with a long list is handed out entry by
entry, while only the entry at hand is in memory.

The standard library's reader is asked for one value at a time at the place where that begins. It cannot tell a value
that is not all there yet from one that is wrong, so more is read until the value is whole, up to VALUE_CHARACTERS.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any, Final

PIECE: Final = 1 << 20
"""Characters that are read at a time."""

VALUE_CHARACTERS: Final = 32 << 20
"""The longest value that is read at once."""

_DECODER: Final = json.JSONDecoder(strict=False)
_BLANK: Final = " \t\r\n"


class NotJson(ValueError):
    """The file is broken off, or is no JSON of the form that is expected."""


class JsonStream:
    """A text file from which one value after the other is taken."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._text = ""
        self._at = 0
        self._ended = False

    def members(self, listed: str) -> Iterator[tuple[str, Any]]:
        """The members of the object in the file; of the list under `listed` each entry by itself.

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
            if name == listed:
                for entry in self._entries():
                    yield name, entry
            else:
                yield name, self._value()
            if self._take() == "}":
                return
            self._expect(",")

    def _entries(self) -> Iterator[Any]:
        self._require("[")
        if self._next() == "]":
            self._at += 1
            return
        while True:
            yield self._value()
            if self._take() == "]":
                return
            self._expect(",")

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
            if end == len(self._text) and not self._ended and self._more():
                continue  # a number may go on
            self._at = end
            return value

    def _more(self) -> bool:
        """Read on, twice as much where a value did not fit into a piece; False at the end."""
        left = self._text[self._at :]
        try:
            piece = self._file.read(max(PIECE, len(left)))
        except (OSError, ValueError, EOFError) as error:
            raise NotJson(str(error)) from None
        except Exception as error:
            if type(error).__module__ not in {"zlib", "zipfile", "lzma"}:
                raise
            raise NotJson(str(error)) from None  # a compressed file that is broken
        self._text, self._at = left + piece, 0
        self._ended = not piece
        return bool(piece)
