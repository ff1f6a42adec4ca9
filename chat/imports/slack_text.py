"""Slack's two ways to write text, mrkdwn and blocks of rich text, read and written as Markdown."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from chat.classes import define
from chat.imports.discord_values import object_in, objects_in, text_of
from chat.imports.emoji_names import emoji_of
from chat.imports.marks import code, escaped, fenced, link, marked, on_lines, quoted
from chat.imports.naming import Naming

_FENCE: Final = re.compile(r"```(.*?)```", re.DOTALL)
_TOKEN: Final = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|<(?P<entity>[^<>]+)>"
    r"|:(?P<emoji>[^\s:<>`]{1,100}(?:::skin-tone-[2-6])?):"
    r"|(?P<mark>[*_~])"
)
_SIGNS: Final = {"*": "**", "_": "*", "~": "~~"}
_QUOTE: Final = "&gt;"
_CALLS: Final = {"channel": "@everyone", "everyone": "@everyone", "here": "@here"}
_INDENTS: Final = 8

Block = Mapping[str, Any]


class _Literal(str):
    """Text that is to show as it is."""

    __slots__ = ()


def _plain(text: str) -> str:
    """The three signs that Slack writes as references of HTML."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


@define(eq=False)
class SlackText:
    """Reads the texts of one export."""

    _naming: Naming

    def mrkdwn(self, text: str) -> str:
        """A text with Slack's own marks."""
        parts: list[str] = []
        for place, piece in enumerate(_FENCE.split(text)):
            parts.append(fenced(self._code(piece)) if place % 2 else self._lines(piece))
        return on_lines(parts)

    def _code(self, text: str) -> str:
        """Code has no marks, and addresses in it are written with their brackets."""
        return _plain(_TOKEN.sub(lambda found: _address_of(found["entity"]) if found["entity"] else found[0], text))

    def _lines(self, text: str) -> str:
        said = []
        for line in text.split("\n"):
            is_quoted = line.startswith(_QUOTE)
            words = self._inline(line.removeprefix(_QUOTE).removeprefix(" ") if is_quoted else line)
            said.append(quoted(words) if is_quoted else words)
        return "\n".join(said)

    def _inline(self, line: str) -> str:
        said: list[str] = []
        opened: list[tuple[str, int]] = []
        at = 0
        for found in _TOKEN.finditer(line):
            said.append(_Literal(_plain(line[at : found.start()])))
            at = found.end()
            if found["mark"]:
                _mark(line, found, said, opened)
            elif found["code"]:
                said.append(code(self._code(found["code"])))
            elif found["emoji"]:
                said.append(self._naming.emoji(found["emoji"]))
            else:
                said.append(self._entity(found["entity"]))
        said.append(_Literal(_plain(line[at:])))
        return _joined(said)

    def _entity(self, written: str) -> str:
        target, _, label = written.partition("|")
        if target.startswith("@"):
            return self._naming.person(target[1:])
        if target.startswith("#"):
            return self._naming.channel(target[1:], _plain(label))
        if target.startswith("!"):
            call = _CALLS.get(target[1:].partition("^")[0])
            return call or escaped(_plain(label) or target[1:].partition("^")[0])
        return link(_plain(target), self._label(label))

    def _label(self, text: str) -> str:
        return escaped(_plain(text)).replace("[", "(").replace("]", ")")

    # Blocks

    def blocks(self, given: object) -> str:
        """Blocks of a message; empty where they have nothing to say."""
        return on_lines([self._block(block) for block in objects_in(given)])

    def _block(self, block: Block) -> str:
        match block.get("type"):
            case "rich_text":
                return on_lines([self._element(one) for one in objects_in(block.get("elements"))])
            case "header":
                return marked("**", escaped(text_of(object_in(block.get("text")).get("text"))))
            case "section":
                texts = [object_in(block.get("text")), *objects_in(block.get("fields"))]
                return on_lines([self._object(one) for one in texts])
            case "context":
                return " ".join(filter(None, map(self._object, objects_in(block.get("elements")))))
            case "markdown":
                return text_of(block.get("text"))
            case "image" | "video":
                title = text_of(object_in(block.get("title")).get("text")) or text_of(block.get("alt_text"))
                address = text_of(block.get("image_url")) or text_of(block.get("title_url"))
                return link(address, self._label(title)) if address else escaped(title)
            case _:
                return ""  # what people press, and lines between

    def _object(self, given: Block) -> str:
        text = text_of(given.get("text"))
        return self.mrkdwn(text) if given.get("type") == "mrkdwn" else escaped(text)

    def _element(self, element: Block) -> str:
        inner = objects_in(element.get("elements"))
        match element.get("type"):
            case "rich_text_section":
                return self._section(inner)
            case "rich_text_quote":
                return quoted(self._section(inner))
            case "rich_text_preformatted":
                return fenced("".join(_bare(one) for one in inner))
            case "rich_text_list":
                return self._list(element, inner)
            case _:
                return ""

    def _list(self, element: Block, items: list[dict[str, object]]) -> str:
        indent, first = element.get("indent"), element.get("offset")
        room = "  " * min(indent, _INDENTS) if type(indent) is int and indent > 0 else ""
        number = 1 + first if type(first) is int and 0 <= first < 1_000_000 else 1
        said = []
        for place, item in enumerate(items):
            sign = f"{number + place}." if element.get("style") == "ordered" else "-"
            said.append(f"{room}{sign} {self._section(objects_in(item.get('elements')))}")
        return "\n".join(said)

    def _section(self, elements: Iterable[Block]) -> str:
        return "".join(_styled(self._said(one), one) for one in elements)

    def _said(self, one: Block) -> str:
        match one.get("type"):
            case "text":
                text = text_of(one.get("text"))
                return code(text) if object_in(one.get("style")).get("code") else escaped(text)
            case "link":
                return link(text_of(one.get("url")), self._label(text_of(one.get("text"))))
            case "user":
                return self._naming.person(text_of(one.get("user_id")))
            case "channel":
                return self._naming.channel(text_of(one.get("channel_id")))
            case "emoji":
                return emoji_of(text_of(one.get("unicode"))) or self._naming.emoji(text_of(one.get("name")))
            case "broadcast":
                return _CALLS.get(text_of(one.get("range")), "")
            case "usergroup":
                return escaped(f"@{text_of(one.get('usergroup_id'))}")
            case _:
                return escaped(text_of(one.get("fallback")) or text_of(one.get("value")) or text_of(one.get("text")))


def _address_of(entity: str) -> str:
    target, _, label = entity.partition("|")
    return label or target


def _bare(one: Block) -> str:
    return text_of(one.get("text")) or text_of(one.get("url"))


def _styled(said: str, one: Block) -> str:
    style = object_in(one.get("style"))
    for name, sign in (("strike", "~~"), ("italic", "*"), ("bold", "**")):
        if style.get(name):
            said = marked(sign, said)
    return said


def _mark(line: str, found: re.Match[str], said: list[str], opened: list[tuple[str, int]]) -> None:
    """A mark closes the one that was opened, opens, or stands for itself, by what is beside it."""
    mark = found["mark"]
    before, behind = line[: found.start()][-1:], line[found.end() :][:1]
    is_open = any(one == mark for one, _ in opened)
    if is_open and before.strip() and not behind.isalnum():
        while opened:
            other, place = opened.pop()
            if other == mark:
                said[place:] = [marked(_SIGNS[mark], _joined(said[place + 1 :]))]
                return
    if behind.strip() and not before.isalnum():
        opened.append((mark, len(said)))
    said.append(_Literal(mark))


def _joined(said: list[str]) -> str:
    """What is written, and between it what is to show as it is: marks count by what stands beside them."""
    runs = itertools.groupby(said, lambda one: isinstance(one, _Literal))
    return "".join(escaped("".join(run)) if is_literal else "".join(run) for is_literal, run in runs)
