"""What the head of a web page says of the page: its title, its `meta` and its `link` elements.

The markup is taken apart by a scanner of our own that never looks at a character twice: the standard library's parser
takes minutes for a hostile page of a quarter of a megabyte (each unfinished tag is looked through to the end again).
Whatever is unfinished ends the page.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Final

import attrs

PAGE_BYTES: Final = 262_144
"""How much of a page is read."""

VALUE_CHARACTERS: Final = 4_096
"""What is kept of a value."""

VALUES: Final = 500
"""Elements that are noted; a page with more says nothing further."""

_NAME: Final = re.compile(r"[A-Za-z][^\s/>]*")
_SPACE: Final = re.compile(r"[\s/]*")
_ATTRIBUTE: Final = re.compile(r"[^\s/>=][^\s/>=]*")
_EQUALS: Final = re.compile(r"\s*")
_BARE: Final = re.compile(r"[^\s>]*")
_SPACES: Final = re.compile(r"\s+")
_RAW: Final = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("title", "script", "style", "textarea", "noscript", "template", "svg")
}
"""Elements whose content is passed over, or is text."""


@attrs.frozen
class Link:
    """A `link` element: what the other page is to this one, its media type, and where it is."""

    relations: frozenset[str]
    kind: str
    address: str


@attrs.define
class PageHead:
    """What was found. `metas` has the first value of each name or property, both in lower case."""

    title: str | None = None
    base: str | None = None
    metas: dict[str, str] = attrs.field(factory=dict)
    links: list[Link] = attrs.field(factory=list)

    def first(self, *names: str) -> str | None:
        """The first of these `meta` elements that says anything."""
        return next((value for name in names if (value := self.metas.get(name))), None)


def page_head(text: str) -> PageHead:
    """The head of the page whose markup begins like this."""
    head = PageHead()
    for name, attributes, content in _elements(text):
        if name == "title" and head.title is None:
            head.title = _tidy(html.unescape(content)) or None
        elif name == "meta" and len(head.metas) < VALUES:
            key = attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or ""
            value = _tidy(attributes.get("content", ""))
            if key and value:
                head.metas.setdefault(_tidy(key).lower(), value)
        elif name == "link" and len(head.links) < VALUES:
            relations = frozenset(attributes.get("rel", "").lower().split())
            head.links.append(Link(relations, attributes.get("type", "").strip().lower(), attributes.get("href", "")))
        elif name == "base" and head.base is None:
            head.base = attributes.get("href")
    return head


def _tidy(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def _elements(text: str) -> Iterator[tuple[str, Mapping[str, str], str]]:
    """The elements up to the end of the head: name, attributes, and the text of those that hold nothing but text."""
    position = text.find("<")
    while position >= 0:
        position += 1
        if text.startswith("!--", position):
            position = _after(text, "-->", position + 3)
        elif text.startswith(("!", "?"), position):
            position = _after(text, ">", position)
        elif text.startswith("/", position):
            if text[position + 1 : position + 6].lower() in {"head>", "head "}:
                return
            position = _after(text, ">", position)
        elif (match := _NAME.match(text, position)) is not None:
            name = match[0].lower()
            if name == "body":
                return
            attributes, position = _attributes(text, match.end())
            content = ""
            if position >= 0 and (closing := _RAW.get(name)) is not None:
                content, position = _raw(text, closing, position)
            yield name, attributes, content
        if position < 0:
            return
        position = text.find("<", position)


def _attributes(text: str, position: int) -> tuple[dict[str, str], int]:
    """The attributes of a tag, and where it ends; -1 if it does not."""
    found: dict[str, str] = {}
    while True:
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr] # matches everywhere
        if position >= len(text):
            return found, -1
        if text[position] == ">":
            return found, position + 1
        name = _ATTRIBUTE.match(text, position)
        position = position + 1 if name is None else name.end()
        after = _EQUALS.match(text, position).end()  # type: ignore[union-attr] # matches everywhere
        if name is None or not text.startswith("=", after):
            continue
        position = _EQUALS.match(text, after + 1).end()  # type: ignore[union-attr] # matches everywhere
        quote = text[position : position + 1]
        if quote in {'"', "'"}:
            end = text.find(quote, position + 1)
            if end < 0:
                return found, -1
            value, position = text[position + 1 : end], end + 1
        else:
            bare = _BARE.match(text, position)
            value, position = bare[0], bare.end()  # type: ignore[index, union-attr] # matches everywhere
        if len(found) < VALUES:
            found.setdefault(name[0].lower(), html.unescape(value[:VALUE_CHARACTERS]))


def _raw(text: str, closing: re.Pattern[str], position: int) -> tuple[str, int]:
    """The text up to the closing tag, and where that ends."""
    match = closing.search(text, position)
    if match is None:
        return text[position : position + VALUE_CHARACTERS], -1
    return text[position : min(match.start(), position + VALUE_CHARACTERS)], _after(text, ">", match.end())


def _after(text: str, mark: str, position: int) -> int:
    """The place behind the next of these marks; -1 without one."""
    found = text.find(mark, position)
    return -1 if found < 0 else found + len(mark)
