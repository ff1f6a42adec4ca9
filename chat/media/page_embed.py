"""What is shown of a page or a file that a link leads to (messages.md, Embeds): from Open Graph, Twitter cards,
oEmbed, and the page's own title and description.

All of it was written by strangers: text is shortened, addresses that are none are left out, markup is never passed on.
The markup is taken apart by a scanner of our own that never looks at a character twice: the standard library's parser
takes minutes for a hostile page of a quarter of a megabyte (each unfinished tag is looked through to the end again).
An unfinished tag ends the page.
"""

from __future__ import annotations

import datetime
import html
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urljoin

import attrs

from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.media.content_types import IMAGE_TYPES, MOVING_TYPES, content_type
from chat.media.image_header import image_header
from chat.media.moving_header import SOUNDS, is_recorded_sound
from chat.media.outside_addresses import OutsideRefused, as_asked_for, parsed
from chat.media.outside_fetching import OutsidePage
from chat.protocol.visible_text import visible

# The head of a page

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


@frozen
class PageLink:
    """A `link` element: what the other page is to this one, its media type, and where it is."""

    relations: frozenset[str]
    kind: str
    address: str


@define
class PageHead:
    """What was found. `metas` has the first value of each name or property, both in lower case."""

    title: str | None = None
    base: str | None = None
    metas: dict[str, str] = attrs.field(factory=dict)
    links: list[PageLink] = attrs.field(factory=list)

    def first(self, *names: str) -> str | None:
        """The first of these `meta` elements that says anything."""
        return next((value for name in names if (value := self.metas.get(name))), None)


def page_head(text: str) -> PageHead:
    """The title, `meta` and `link` elements that the beginning of a page's markup has."""
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
            head.links.append(
                PageLink(relations, attributes.get("type", "").strip().lower(), attributes.get("href", ""))
            )
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


# What is shown of it

TITLE_CHARACTERS: Final = 256
DESCRIPTION_CHARACTERS: Final = 512
NAME_CHARACTERS: Final = 256
SIDE_MAXIMUM: Final = 16_384

PAGE_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
OEMBED: Final = "application/json+oembed"
IS_ANIMATED: Final = 1 << 5
"""Of the flags of an embed's media (messages.md, Embeds)."""

JOINER: Final = "\u200d"
"""Makes one emoji of several; it is not to be seen itself."""

Embed = dict[str, Any]
"""An embed in the making: a page says which members it has."""

_COLOUR: Final = re.compile(r"#([0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,5}", re.ASCII)


def oembed_address(head: PageHead, base: str) -> str | None:
    """Where the page says more about itself in JSON, if it does."""
    for link in head.links:
        if link.kind == OEMBED and "alternate" in link.relations:
            return _address(link.address, base)
    return None


def embed_of_page(url: str, page: OutsidePage, head: PageHead, more: Mapping[str, Any]) -> Embed | None:
    """What is shown of a page that a link to `url` led to; `more` is what it says of itself in JSON. None: nothing."""
    base = (head.base and _address(head.base, page.url)) or page.url
    embed: Embed = {"type": _kind(head), "url": url}
    _put(
        embed,
        "title",
        _text(head.first("og:title", "twitter:title") or _member(more, "title") or head.title),
        TITLE_CHARACTERS,
    )
    description = head.first("og:description", "twitter:description", "description")
    _put(embed, "description", _text(description), DESCRIPTION_CHARACTERS)
    _put_name(embed, "provider", head.first("og:site_name") or _member(more, "provider_name"), more, base)
    author = _member(more, "author_name") or head.first("author", "article:author", "twitter:creator")
    if author is not None and not author.startswith(("http://", "https://")):
        _put_name(embed, "author", author, more, base)
    colour = _colour(head.first("theme-color"))
    if colour is not None:
        embed["color"] = colour
    moment = _moment(head.first("article:published_time", "og:article:published_time"))
    if moment is not None:
        embed["timestamp"] = moment
    picture = _picture(head, more, base)
    if picture is not None:
        embed["thumbnail"] = picture
    film = _film(head, base)
    if film is not None:
        embed["video"] = film
        embed["type"] = "video"
    if not {"title", "description", "thumbnail", "video"} & embed.keys():
        return None
    return embed


def embed_of_file(url: str, page: OutsidePage) -> Embed | None:
    """What is shown of a picture, a film or a sound; None for any other file."""
    kind = content_type(page.data)
    if kind in SOUNDS and is_recorded_sound(page.data):
        kind = SOUNDS[kind]
    media: Embed = {"url": url, "content_type": kind}
    if kind in IMAGE_TYPES:
        header = image_header(page.data, whole=True)
        if header is None or not header.is_bearable:
            return None
        media.update(width=header.width, height=header.height, flags=IS_ANIMATED if header.animated else 0)
        return {"type": "image", "url": url, "thumbnail": media}
    if kind in MOVING_TYPES:
        part = kind.partition("/")[0]
        return {"type": part, "url": url, part: {**media, "flags": 0}}
    return None


def with_picture_found(embed: Embed, page: OutsidePage) -> Embed:
    """The embed whose thumbnail was looked at: with its size, or without it where it is no picture."""
    header = image_header(page.data, whole=True)
    if header is None or not header.is_bearable:
        return without_picture(embed)
    flags = IS_ANIMATED if header.animated else 0
    seen = {"content_type": header.content_type, "width": header.width, "height": header.height, "flags": flags}
    return {**embed, "thumbnail": {**embed["thumbnail"], **seen}}


def without_picture(embed: Embed) -> Embed:
    return {name: value for name, value in embed.items() if name != "thumbnail"}


def _kind(head: PageHead) -> str:
    """`article` for what says so, and for what wants its picture large."""
    is_article = (head.first("og:type") or "").lower().startswith("article")
    return "article" if is_article or head.first("twitter:card") == "summary_large_image" else "link"


def _put(embed: Embed, name: str, value: str | None, longest: int) -> None:
    if value:
        embed[name] = value if len(value) <= longest else value[: longest - 1].rstrip() + "…"


def _put_name(embed: Embed, part: str, name: str | None, more: Mapping[str, Any], base: str) -> None:
    """A name, with its address where one is told."""
    found: Embed = {}
    _put(found, "name", _text(name), NAME_CHARACTERS)
    if found:
        address = _address(_member(more, f"{part}_url") or "", base)
        if address is not None:
            found["url"] = address
        embed[part] = found


def _picture(head: PageHead, more: Mapping[str, Any], base: str) -> Embed | None:
    names = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src")
    address = _address(head.first(*names) or "", base)
    if address is not None:
        size = _size(head.first("og:image:width"), head.first("og:image:height"))
        described = _text(head.first("og:image:alt", "twitter:image:alt"))
        return {"url": address, **size, "flags": 0, **({"description": described} if described else {})}
    is_photo = more.get("type") == "photo"
    address = _address(_member(more, "url" if is_photo else "thumbnail_url") or "", base)
    if address is None:
        return None
    prefix = "" if is_photo else "thumbnail_"
    return {"url": address, **_size(more.get(f"{prefix}width"), more.get(f"{prefix}height")), "flags": 0}


def _film(head: PageHead, base: str) -> Embed | None:
    """A film that is a file; players are pages of others and are not passed on."""
    kind = (head.first("og:video:type") or "").lower()
    address = _address(head.first("og:video:secure_url", "og:video:url", "og:video") or "", base)
    if address is None or kind not in {"video/mp4", "video/webm"}:
        return None
    size = _size(head.first("og:video:width"), head.first("og:video:height"))
    return {"url": address, "content_type": kind, **size, "flags": 0}


def _size(width: object, height: object) -> Embed:
    across, down = _side(width), _side(height)
    return {} if across is None or down is None else {"width": across, "height": down}


def _side(value: object) -> int | None:
    """A number of pixels, which may come as text."""
    if type(value) is str and _NUMBER.fullmatch(value) is not None:
        value = int(value)
    return value if type(value) is int and 0 < value <= SIDE_MAXIMUM else None


def _address(text: str, base: str) -> str | None:
    """An address that may be fetched or followed; None for everything else."""
    if not text.strip():
        return None
    try:
        found = as_asked_for(urljoin(base, text.strip()))
        if found is not None:
            parsed(found)
    except (OutsideRefused, ValueError):
        return None
    return found


def _colour(text: str | None) -> int | None:
    match = _COLOUR.fullmatch(text or "")
    if match is None:
        return None
    digits = match[1]
    return int(digits if len(digits) == 6 else "".join(digit * 2 for digit in digits), 16)


def _moment(text: str | None) -> str | None:
    """A moment with its offset, as the wire has moments."""
    if text is None or _MOMENT.fullmatch(text) is None:
        return None
    try:
        seconds = datetime.datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return None
    return iso_timestamp(int(seconds * 1_000)) if seconds > 0 else None


def _text(value: str | None) -> str | None:
    """Text without what is not to be seen."""
    if value is None:
        return None
    shown = (character for character in value if character.isprintable() or character == JOINER)
    return visible("".join(shown)).strip() or None


def _member(more: Mapping[str, Any], name: str) -> str | None:
    value = more.get(name)
    return " ".join(value.split()) if isinstance(value, str) and len(value) <= 65_536 else None
