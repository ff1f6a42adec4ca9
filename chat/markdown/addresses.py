"""Addresses in a text: where one begins, and where it ends. The client reads them likewise
(`client/text/addresses.js`), and both are held to `spec_fixtures/field/addresses.json`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any, Final
from urllib.parse import unquote

from chat.classes import frozen
from chat.markdown.scanning import BLANK, ESCAPE

LONGEST: Final = 2_048
"""Characters of an address; longer ones are text."""

_SCHEME: Final = "[hH][tT][tT][pP][sS]?://"
_ANY_SCHEME: Final = f"(?:{_SCHEME}|[mM][aA][iI][lL][tT][oO]:)"

# What an address cannot hold: blanks, controls and marks of direction, angle brackets, back ticks, quotation marks, and
# the punctuation of scripts that put no space behind it.
_ENDS: Final = (
    r'\x00- "<>\\`\x7f-\xa0\xab\xad\xbb\u1680\u2000-\u200b\u200e\u200f\u201c-\u201f'
    r"\u2028-\u202f\u2039\u203a\u205f-\u206f\u3000-\u3003\u3008-\u3011\u3014-\u301b\u301d-\u301f\ufeff\uff01"
    r"\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\uff3b\uff3d\uff5b\uff5d\uff5f-\uff64"
)

_RUN: Final = rf"(?:[^{_ENDS}|]|\|(?!\|))+"
_BEGINNING: Final = re.compile(f"(?<![A-Za-z0-9]){_SCHEME}(?![/?#])")
_HELD: Final = re.compile(_RUN)
_ANYWHERE: Final = re.compile(f"{_SCHEME}(?![/?#]){_RUN}")
_BRACKETED: Final = re.compile(rf"<({_ANY_SCHEME}[^\x00- <>{BLANK}]+)>")
_POINTED: Final = re.compile(r"<((?:[^<>\\\n]|\\[^\n])*)>")
_LEADS_SOMEWHERE: Final = re.compile(f"{_ANY_SCHEME}.", re.DOTALL)
_TITLE: Final = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)"
_BEHIND: Final = re.compile(rf"(?:[{BLANK}]+(?:(?:{_TITLE})[{BLANK}]*)?)?\)", re.DOTALL)
_PARENTHESES: Final = re.compile(rf"{ESCAPE}|\([{BLANK}]*|\)|[{BLANK}]")
_INSIDE: Final = re.compile(f"[{BLANK}]*")
_ESCAPED: Final = re.compile(ESCAPE)

_TRAILING: Final = frozenset(".,:;!?'|\u2018\u2019\u2026\u2013\u2014\u060c\u061b\u061f\u06d4\u0964\u0965")
"""What ends the sentence around an address, rather than the address."""

_OPENING: Final = {")": "(", "]": "[", "}": "{"}
_BRACKETS: Final = re.compile(r"[()\[\]{}]")

IsOpen = Callable[[str], bool]
"""Whether a mark such as `*` was opened before and may close behind an address."""

_MARKS: Final = "*_~"
_UNRESERVED: Final = re.compile(r"%(?:2[dDeE]|3\d|[46][1-9a-fA-F]|[57][0-9aA]|5[fF]|7[eE])")


class Runs:
    """The runs of characters that an address can hold, in one text. Whoever asks for the end of a run from several of
    its places costs one look at it: `https://)https://)` has one run and many addresses that end at once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0

    def end(self, at: int) -> int:
        """Where the run ends that this place is in; the place itself where it is in none. Places only grow."""
        if at >= self._end:
            found = _HELD.match(self._text, at)
            self._end = at if found is None else found.end()
        return self._end


def bare_end(text: str, at: int, runs: Runs, is_open: IsOpen) -> int:
    """Where the address ends that begins here; -1 where none does. `runs` are those of the text."""
    found = _BEGINNING.match(text, at)
    end = -1 if found is None else runs.end(found.end())
    return -1 if found is None or end == found.end() else at + _length(text[at:end], is_open)


@frozen
class Destination:
    """Where a link leads, and where what says so ends."""

    href: str
    end: int
    is_pointed: bool
    """Whether the address stands in angle brackets."""


def bracketed(text: str, at: int) -> Destination | None:
    """An address in angle brackets that begins here."""
    found = _BRACKETED.match(text, at)
    return None if found is None else Destination(found[1], found.end(), is_pointed=True)


def destination(text: str, at: int, ends: dict[int, int]) -> Destination | None:
    """What leads out of a named link: `(address)`, `(<address>)`, either with a title behind the address. `ends` is of
    `parentheses`, so that all of a text are found in one pass."""
    if text[at : at + 1] != "(":
        return None
    inside = _INSIDE.match(text, at + 1)
    start = at + 1 if inside is None else inside.end()
    pointed = _POINTED.match(text, start)
    end = ends.get(at) if pointed is None else pointed.end()
    if end is None:
        return None
    href = _ESCAPED.sub(lambda pair: pair[0][1:], text[start:end] if pointed is None else pointed[1])
    behind = _BEHIND.match(text, end)
    if behind is None or _LEADS_SOMEWHERE.match(href) is None:
        return None
    return Destination(href, behind.end(), is_pointed=pointed is not None)


def parentheses(text: str) -> dict[int, int]:
    """For each bracket that opens: where the address in it ends, at the bracket that belongs to it or at a blank."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for found in _PARENTHESES.finditer(text):
        mark = found[0]
        if mark[0] == "(":
            opened.append(found.start())
        elif mark == ")":
            if opened:
                ends[opened.pop()] = found.start()
        elif len(mark) == 1 and opened:
            ends[opened[-1]] = found.start()
            opened.clear()
    return ends


def addresses_anywhere(text: str) -> Iterator[str]:
    """Every address, wherever it stands: in code too, and right behind other letters."""
    for found in _ANYWHERE.finditer(text):
        yield found[0][: _length(found[0], lambda mark: mark in _MARKS)]


def as_visited(href: str) -> str | None:
    """The address that a browser goes to: host in ASCII, without default port and detours. None where it goes nowhere,
    and for what is no address of a page."""
    url = _url(href)
    return None if url is None else str(url.href)


def host_of(href: str) -> str:
    """The host that a browser goes to, in ASCII, without dots at its end; empty where it goes nowhere."""
    url = _url(href)
    return "" if url is None else str(url.hostname).rstrip(".")


def page_of(href: str) -> str | None:
    """As `as_visited`, in the form in which pages are compared: without names of users and fragment, and no character
    percent-encoded that need not be."""
    url = _url(href)
    if url is None:
        return None
    place = url.hostname.rstrip(".") + (f":{url.port}" if url.port else "")
    path = _UNRESERVED.sub(lambda octet: unquote(octet[0]), url.pathname + url.search)
    return f"{url.protocol}//{place}{path}"


def _url(href: str) -> Any:
    """The parts of an address of a page; None for other text."""
    if len(href) > LONGEST or href[:4].lower() != "http":
        return None
    try:
        return _urls().URL(href)
    except ValueError:
        return None


@cache
def _urls() -> ModuleType:
    """Parses addresses as browsers do (the URL Standard); loaded where one is looked at."""
    import ada_url

    return ada_url


def _length(href: str, is_open: IsOpen) -> int:
    """How long it is without the punctuation around it, and up to a bracket that it did not open itself."""
    end = len(href)
    opened = {"(": 0, "[": 0, "{": 0}
    for bracket in _BRACKETS.finditer(href):
        opening = _OPENING.get(bracket[0])
        if opening is None:
            opened[bracket[0]] += 1
        elif opened[opening] == 0:
            end = bracket.start()
            break
        else:
            opened[opening] -= 1
    while href[end - 1] in _TRAILING or is_open(href[end - 1]):
        end -= 1
    return end
