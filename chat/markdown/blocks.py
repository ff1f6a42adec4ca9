"""The blocks of a text from top to end: code, quotes, headings, lists, lines. The client finds the same ones
(`client/text/blocks.js`): what stands in one line here does there. What is told is the words that may hold something,
block by block; code holds nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from chat.classes import define, frozen
from chat.markdown.scanning import BLANK, closing_ticks, is_blank, run_length

CHARACTERS: Final = 16_384
"""Units of UTF-16 that are looked at, as the client counts; the rest of a longer text is text."""

DEPTH: Final = 12
"""How deep quotes and lists lie in each other."""

_FENCE: Final = 3
_INDENT: Final = 2
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_HEADING: Final = re.compile(rf"(?:#{{1,3}}|-#) +(?=[^{BLANK}])")
_ITEM: Final = re.compile(rf"( {{0,24}})(?:[-*]|([0-9]{{1,9}})\.) +(?=[^{BLANK}])")
_QUOTED: Final = re.compile(r">(?: |\Z)")

Line = tuple[int, str]
"""Where a line, or what a block holds of it, stands in the text; and what it says."""


def blocks_of(text: str) -> Iterator[list[Line]]:
    """The words that stand together, as lines."""
    if len(text) > CHARACTERS // 2:
        text = text.encode("utf-16-le", "surrogatepass")[: 2 * CHARACTERS].decode("utf-16-le", "ignore")
    return _Blocks(_lines(text), 0).run()


def _lines(text: str) -> list[Line]:
    lines, start = [], 0
    for end in _LINE_END.finditer(text):
        lines.append((start, text[start : end.start()]))
        start = end.end()
    lines.append((start, text[start:]))
    return lines


@frozen
class _Fence:
    """Where code opens; in which line it closes, and where."""

    at: int
    line: int
    end: int


@frozen
class _Item:
    indent: int
    content: int
    is_ordered: bool


def _without(line: Line, characters: int) -> Line:
    return line[0] + characters, line[1][characters:]


@define(eq=False)
class _Blocks:
    """What lies in one block; its lines are used up."""

    _lines: list[Line]
    _depth: int
    _unclosed: float = math.inf
    """Of this many back ticks or more there is no run any more from here on."""

    def run(self) -> Iterator[list[Line]]:
        plain: list[Line] = []
        place = 0
        while place < len(self._lines):
            words: Iterator[list[Line]] | None = None
            if self._depth < DEPTH:
                place, words = self._block(place)
            if words is not None:
                yield plain
                plain = []
                yield from words
                continue
            place, ended = self._line(place, plain)
            if ended:
                yield plain
                plain = []
        yield plain

    def _block(self, place: int) -> tuple[int, Iterator[list[Line]] | None]:
        """Where the next block begins, and what stands in the one that begins here; None for a plain line."""
        line = self._lines[place][1]
        if line.startswith(">>> ") and len(line) > 4:
            below = [_without(self._lines[place], 4), *self._lines[place + 1 :]]
            return len(self._lines), self._below(below)
        if line.startswith("> "):
            end = place
            while end < len(self._lines) and _QUOTED.match(self._lines[end][1]):
                end += 1
            return end, self._below([_without(quoted, 2) for quoted in self._lines[place:end]])
        heading = _HEADING.match(line)
        if heading is not None:
            return place + 1, iter([[_without(self._lines[place], heading.end())]])
        first = _item(line)
        return (place, None) if first is None else self._list(place, first)

    def _below(self, lines: list[Line]) -> Iterator[list[Line]]:
        return _Blocks(lines, self._depth + 1).run()

    def _list(self, place: int, first: _Item) -> tuple[int, Iterator[list[Line]]]:
        """Items of one kind; what is indented further belongs to the item before it."""
        items: list[list[Line]] = []
        read: _Item | None = first
        while read is not None and first.indent <= read.indent <= first.indent + 1:
            if read.is_ordered != first.is_ordered:
                break
            end = self._end_of_item(place, read.content, first.indent + _INDENT)
            below = (_without(line, min(_indent(line[1]), read.content)) for line in self._lines[place + 1 : end])
            items.append([_without(self._lines[place], read.content), *below])
            place = end
            read = _item(self._lines[place][1]) if place < len(self._lines) else None
        return place, (words for lines in items for words in self._below(lines))

    def _end_of_item(self, place: int, column: int, indent: int) -> int:
        """Where the lines of an item end, which are indented so far at least. Code that begins in it ends in it,
        however its lines are indented."""
        while True:
            while (found := self._fence(place, column)) is not None:
                place, column = found.line, found.end
            place, column = place + 1, 0
            behind = place
            while behind < len(self._lines) and is_blank(self._lines[behind][1]):
                behind += 1
            if behind >= len(self._lines) or _indent(self._lines[behind][1]) < indent:
                return place
            place = behind

    def _line(self, place: int, plain: list[Line]) -> tuple[int, bool]:
        """Take a plain line, or what comes before code in it, and that. Where the next one begins, and whether what is
        plain has ended."""
        line = self._lines[place]
        found = self._fence(place, 0)
        if found is None:
            plain.append(line)
            return place + 1, False
        if found.at > 0:
            plain.append((line[0], line[1][: found.at]))
        rest = _without(self._lines[found.line], found.end)
        if not rest[1]:
            return found.line + 1, True
        self._lines[found.line] = rest
        return found.line, True

    def _fence(self, place: int, start: int) -> _Fence | None:
        """The first code block that opens in a line: with three back ticks or more, up to as many. What nothing closes
        is text, and so is what has nothing in it."""
        line = self._lines[place][1]
        unclosed: set[int] = set()
        at = line.find("`", start)
        while at >= 0:
            ticks = run_length(line, at)
            inside = at + ticks
            if _is_escaped(line, at):
                at = line.find("`", at + 1)
                continue
            span = closing_ticks(line, inside, ticks) if ticks < _FENCE and ticks not in unclosed else -1
            if span < 0:
                unclosed.add(ticks)
            if _FENCE <= ticks < self._unclosed:
                closing = self._closing(place, inside, ticks)
                if closing is None:
                    self._unclosed = ticks
                elif not self._is_empty(place, inside, *closing):
                    end = closing[1]
                    return _Fence(at, closing[0], end + run_length(self._lines[closing[0]][1], end))
            at = line.find("`", inside if span < 0 else span + ticks)
        return None

    def _closing(self, place: int, start: int, ticks: int) -> tuple[int, int] | None:
        run = "`" * ticks
        for line in range(place, len(self._lines)):
            close = self._lines[line][1].find(run, start if line == place else 0)
            if close >= 0:
                return line, close
        return None

    def _is_empty(self, place: int, inside: int, line: int, close: int) -> bool:
        first = self._lines[place][1]
        if line == place:
            return is_blank(first[inside:close])
        between = (self._lines[number][1] for number in range(place + 1, line))
        return is_blank(first[inside:]) and is_blank(self._lines[line][1][:close]) and all(map(is_blank, between))


def _is_escaped(line: str, at: int) -> bool:
    before = at
    while before and line[before - 1] == "\\":
        before -= 1
    return (at - before) % 2 == 1


def _item(line: str) -> _Item | None:
    found = _ITEM.match(line)
    return None if found is None else _Item(len(found[1]), found.end(), found[2] is not None)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
