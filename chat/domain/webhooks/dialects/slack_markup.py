"""Slack's markup as ours: bold, struck and slanted words, links, mentions, escapes; code stays as it is. What is markup
here and none in Slack is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import attrs

from chat.classes import define

_TOKEN: Final = re.compile(
    r"(?P<fence>```.+?```)"
    r"|(?P<code>`[^`\n]+`)"
    r"|<(?P<target>[^\s<>|][^<>\n|]{0,2047})(?:\|(?P<label>[^<>\n]{0,2048}))?>"
    r"|(?P<bare>https?://[^\s<>|]{1,2048})"
    r"|&(?P<entity>amp|lt|gt);"
    r"|(?P<mark>[*_~])"
    r"|(?P<line>\n)"
    r"|^(?P<opening>#{1,3}|-#)(?=[ ]+\S)"
    r"|(?P<special>[\\`|\[])",
    re.DOTALL | re.MULTILINE,
)
_ENTITY: Final = re.compile(r"&(amp|lt|gt);")
_ENTITIES: Final = {"amp": "&", "lt": "<", "gt": ">"}
_SPECIAL: Final = re.compile(r"[\\`*_~|\[\]]")
_OPENING: Final = re.compile(r"(?:#{1,3}|-#)[ ]+\S")
_OURS: Final = {"*": "**", "_": "_", "~": "~~"}
_BROADCASTS: Final = {"!channel": "@everyone", "!everyone": "@everyone", "!group": "@everyone", "!here": "@here"}
_DATE: Final = re.compile(r"!date\^(\d{1,13})\^[^|]*", re.ASCII)


def in_our_markup(text: str) -> str:
    """Text of Slack's kind `mrkdwn` as ours."""
    pieces = list(_pieces(text))
    _pair(pieces)
    return "".join(piece.text for piece in pieces)


def plainly(text: str) -> str:
    """The same where no markup is read: links and mentions by what they are called."""

    def named(match: re.Match[str]) -> str:
        if match["target"] is not None:
            return _decoded(_called(match["target"], match["label"]))
        return _ENTITIES[match["entity"]] if match["entity"] else match[0]

    return _TOKEN.sub(named, text)


def escaped(text: str) -> str:
    """Plain text where markup is read: nothing in it counts as such."""
    return "\n".join(_as_a_line(line) for line in _SPECIAL.sub(r"\\\g<0>", text).split("\n"))


def link(label: str, url: str) -> str:
    """A named link in our markup; without a name the URL by itself."""
    words, target = escaped(label.strip()), url.replace("(", "%28").replace(")", "%29")
    return f"[{words}]({target})" if words and target.startswith(("http://", "https://")) else words or target


@define
class _Piece:
    text: str
    mark: str = ""
    """The mark that the text is; whether it may open and close what stands between two of them."""
    opens: bool = False
    closes: bool = False
    breaks: bool = attrs.field(default=False)


def _pieces(text: str) -> Iterator[_Piece]:
    at, named = 0, "](" in text
    for match in _TOKEN.finditer(text):
        if match.start() > at:
            yield _Piece(text[at : match.start()])
        at = match.end()
        kind = match.lastgroup if match["target"] is None else "target"
        if kind == "mark":
            yield _mark(text, match.start())
        elif kind == "line":
            yield _Piece("\n", breaks=True)
        elif kind in {"fence", "code"}:
            yield _Piece(_decoded(match[0]), breaks=kind == "fence")
        elif kind == "target":
            yield _Piece(_reference(_decoded(match["target"]), _decoded(match["label"] or "")))
        elif kind == "entity":
            yield _Piece(_ENTITIES[match["entity"]])
        elif kind == "opening":
            yield _Piece(f"\\{match[0]}")
        elif kind == "special":
            yield _Piece(_special(text, match.start(), named))
        else:
            yield _Piece(_decoded(match[0]))
    yield _Piece(text[at:])


def _mark(text: str, at: int) -> _Piece:
    mark, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    opens = not before.isalnum() and after not in {"", mark} and not after.isspace()
    closes = not after.isalnum() and before not in {"", mark} and not before.isspace()
    means_something = {
        "*": True,
        "_": not (before.isalnum() and after.isalnum()),
        "~": mark in {before, after},
    }
    return _Piece(f"\\{mark}" if means_something[mark] else mark, mark, opens, closes)


def _special(text: str, at: int, named: bool) -> str:
    """A character that means something here and nothing in Slack."""
    character, around = text[at], {text[at - 1 : at], text[at + 1 : at + 2]}
    after = text[at + 1 : at + 2]
    means_something = {
        "\\": after != "" and not after.isalnum() and not after.isspace(),
        "`": True,
        "|": "|" in around,
        "[": named,
    }
    return f"\\{character}" if means_something[character] else character


def _pair(pieces: list[_Piece]) -> None:
    """Turn marks that belong together, on one line, into ours; every other one stays the character that it is."""
    open_: dict[str, int] = {}
    for place, piece in enumerate(pieces):
        if piece.breaks:
            open_.clear()
        first = open_.get(piece.mark) if piece.closes else None
        if first is not None and first < place - 1:
            pieces[first].text = piece.text = _OURS[piece.mark]
            open_ = {mark: where for mark, where in open_.items() if where < first}
        elif piece.opens:
            open_[piece.mark] = place


def _as_a_line(line: str) -> str:
    return f"\\{line}" if _OPENING.match(line) else line


def _decoded(text: str) -> str:
    return _ENTITY.sub(lambda match: _ENTITIES[match[1]], text)


def _reference(target: str, label: str) -> str:
    date = _DATE.fullmatch(target)
    if date is not None and not label:
        return f"<t:{date[1]}:f>"
    if target.startswith(("http://", "https://")):
        return link(label, target)
    return escaped(_called(target, label)) if label else _called(target, label)


def _called(target: str, label: str | None) -> str:
    """What a link or a mention is called. Of Slack's own accounts and channels only the name means anything here."""
    if target.startswith("!"):
        return _BROADCASTS.get(target.partition("^")[0], label or "")
    if target.startswith("mailto:"):
        return label or target.removeprefix("mailto:")
    if target.startswith(("@", "#")):
        return f"{target[0]}{label.removeprefix(target[0])}" if label else target
    return label or target
