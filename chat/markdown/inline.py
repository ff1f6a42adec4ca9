"""What stands in lines: mentions, emojis, links; code and what is escaped is neither. The client reads the same
(`client/text/inline.js`): what is a mention there calls, and nothing else.

A text without back ticks, backslashes and addresses is looked through by one regular expression; all others in time
that grows with the text.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from chat.classes import define, frozen
from chat.markdown.addresses import Destination, Runs, as_visited, bare_end, bracketed, destination, parentheses
from chat.markdown.blocks import CHARACTERS, Line, blocks_of
from chat.markdown.scanning import ESCAPE, closing_ticks, flanking, is_blank, run_length
from chat.snowflake import MAXIMUM

_ID: Final = "[1-9][0-9]{0,18}"
_MENTION: Final = re.compile(
    rf"<@!?(?P<user>{_ID})>"
    rf"|<@&(?P<role>{_ID})>"
    rf"|<#(?P<channel>{_ID})>"
    rf"|<a?:(?P<emoji>[A-Za-z0-9_]{{2,32}}:{_ID})>"
    r"|(?<!\w)@(?P<all>everyone|here)(?!\w)"
)
_MAIL: Final = re.compile("[mM][aA][iI][lL][tT][oO]:")

_PLAIN_MOST: Final = CHARACTERS // 2
"""Characters of which all are looked at, whatever they are."""

_SPECIAL: Final = re.compile(r"[\\`<\[\]]|@(?=everyone|here)|[hH](?=[tT]{2}[pP][sS]?://)")
_SPECIAL_OR_MARK: Final = re.compile(rf"{_SPECIAL.pattern}|\|\||[*_]|~~")
_ESCAPED: Final = re.compile(ESCAPE)


class Mention(NamedTuple):
    """A tuple, because every message with a mention has some."""

    kind: str
    """`user`, `role`, `channel`, `emoji` or `all`."""
    value: str
    """An id; name and id; `everyone` or `here`."""
    start: int
    end: int


@frozen
class LinkToken:
    href: str
    is_hidden: bool
    """Whether it stands in a spoiler."""
    is_pointed: bool
    """Whether it stands in angle brackets: a link that is not to be shown as more."""


def mentions_in(text: str) -> Iterator[Mention]:
    """Whom and what a text names, in order."""
    if len(text) <= _PLAIN_MOST and not _may_hide(text):
        yield from filter(None, map(_mention, _MENTION.finditer(text)))
    elif _MENTION.search(text) is not None:
        for words in _words_of(text):
            if _MENTION.search(words.text) is not None:
                yield from _Inline(words, with_links=False).run().mentions


def _may_hide(text: str) -> bool:
    """Whether something that looks like a mention may be none: without code, backslashes and links each of them is."""
    if "`" in text or "\\" in text:
        return True
    return ":" in text and ("://" in text or _MAIL.search(text) is not None)


def links_of(text: str) -> Iterator[LinkToken]:
    """The links of a text, in order: those where a browser can go."""
    if "://" in text:
        for words in _words_of(text):
            if "://" in words.text:
                yield from _Inline(words, with_links=True).run().links


def spoilers_in(text: str) -> list[tuple[int, int]]:
    """From where to where something is hidden, with the bars around it, in order."""
    if "||" not in text:
        return []
    with_bars = (words for words in _words_of(text) if "||" in words.text)
    return sorted(span for words in with_bars for span in _Inline(words, with_links=True).run().spoilers)


def _mention(found: re.Match[str], offset: int = 0) -> Mention | None:
    """None for an id that there cannot be."""
    kind = found.lastgroup or ""
    value = found[kind]
    if kind != "all" and int(value.rpartition(":")[2]) > MAXIMUM:
        return None
    return Mention(kind, value, found.start() + offset, found.end() + offset)


class _Words:
    """What stands together."""

    def __init__(self, lines: list[Line]) -> None:
        self.text: Final = "\n".join(line for _, line in lines)
        self._lines = lines
        self._starts: list[int] = []

    def of(self, at: int) -> int:
        """What has to be added to a place in it for that in the whole text."""
        if not self._starts:
            lengths = (len(line) + 1 for _, line in self._lines)
            self._starts = list(itertools.accumulate(lengths, initial=0))[:-1]
        line = bisect.bisect_right(self._starts, at) - 1
        return self._lines[line][0] - self._starts[line]


def _words_of(text: str) -> Iterator[_Words]:
    return map(_Words, blocks_of(text))


@define(eq=False)
class _Bracket:
    at: int
    events: int
    """How many links and bars were before it."""


_Bars = int
"""Where two bars stand."""


class _Inline:
    def __init__(self, words: _Words, *, with_links: bool) -> None:
        self._text, self._offsets = words.text, words
        self._runs = Runs(words.text)
        self._special = _SPECIAL_OR_MARK if with_links else _SPECIAL
        self._with_links = with_links
        self._events: list[LinkToken | _Bars] = []
        self._brackets: list[_Bracket] = []
        self._unclosed: set[int] = set()
        self._marks: Counter[str] = Counter()
        self._parentheses: dict[int, int] | None = None
        self.mentions: list[Mention] = []
        self.links: list[LinkToken] = []
        self.spoilers: list[tuple[int, int]] = []

    def run(self) -> _Inline:
        """Look through the text."""
        at = 0
        while (found := self._special.search(self._text, at)) is not None:
            at = self._taken(found.start())
        self.links = self._paired(self._events)
        return self

    def _taken(self, at: int) -> int:
        """Where what begins here ends."""
        match self._text[at]:
            case "\\":
                return at + (1 if _ESCAPED.match(self._text, at) is None else 2)
            case "`":
                return self._code(at)
            case "<" | "@":
                return self._pointed(at)
            case "[":
                self._brackets.append(_Bracket(at, len(self._events)))
                return at + 1
            case "]":
                return self._named(at)
            case "h" | "H":
                return self._bare(at)
            case "|":
                self._events.append(at)
                return at + 2
            case _:
                return self._mark(at)

    def _code(self, at: int) -> int:
        ticks = run_length(self._text, at)
        start = at + ticks
        close = -1 if ticks in self._unclosed else closing_ticks(self._text, start, ticks)
        if close < 0:
            self._unclosed.add(ticks)
            return start
        return close + ticks

    def _pointed(self, at: int) -> int:
        found = _MENTION.match(self._text, at)
        mention = None if found is None else _mention(found, self._offsets.of(at))
        if found is not None and mention is not None:
            self.mentions.append(mention)
            return found.end()
        link = bracketed(self._text, at)
        if link is None:
            return at + 1
        self._link(link)
        return link.end

    def _named(self, at: int) -> int:
        """What a bracket closes is a link if an address follows; then no bracket before it opens another one around
        it."""
        bracket = self._brackets.pop() if self._brackets else None
        if bracket is None or self._text[at + 1 : at + 2] != "(":
            return at + 1
        if self._parentheses is None:
            self._parentheses = parentheses(self._text)
        target = destination(self._text, at + 1, self._parentheses)
        if target is None:
            return at + 1
        self._paired(self._events[bracket.events :])
        del self._events[bracket.events :]
        self._brackets.clear()
        if not is_blank(self._text[bracket.at + 1 : at]):
            self._link(target)
        return target.end

    def _bare(self, at: int) -> int:
        end = bare_end(self._text, at, self._runs, lambda mark: self._marks[mark] > 0)
        if end < 0:
            return at + 1
        self._link(Destination(self._text[at:end], end, is_pointed=False))
        return end

    def _link(self, target: Destination) -> None:
        if self._with_links and as_visited(target.href) is not None:
            self._events.append(LinkToken(target.href, is_hidden=False, is_pointed=target.is_pointed))

    def _paired(self, events: list[LinkToken | _Bars]) -> list[LinkToken]:
        """The links, of which those between two bars and the next two are hidden; takes down what is."""
        links: list[LinkToken] = []
        opened: tuple[_Bars, int] | None = None
        for event in events:
            if isinstance(event, LinkToken):
                links.append(event)
            elif opened is None:
                opened = event, len(links)
            elif event == opened[0] + len("||"):
                opened = None
            else:
                hidden = links[opened[1] :]
                links[opened[1] :] = [
                    LinkToken(link.href, is_hidden=True, is_pointed=link.is_pointed) for link in hidden
                ]
                start, end = opened[0], event + len("||")
                self.spoilers.append((start + self._offsets.of(start), end + self._offsets.of(event)))
                opened = None
        return links

    def _mark(self, at: int) -> int:
        mark, length = self._text[at], run_length(self._text, at)
        if mark == "~" and length != len("~~"):
            return at + length
        opens, closes = flanking(self._text, at, length)
        if closes and self._marks[mark]:
            self._marks[mark] -= 1
        elif opens:
            self._marks[mark] += 1
        return at + length
