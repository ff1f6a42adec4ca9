"""What is shown of a page or a file that a link leads to (messages.md, Embeds): from Open Graph, Twitter cards,
oEmbed, and the page's own title and description.

Everything in there was written by strangers: text is shortened, addresses that are none are left out, markup is never
passed on.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urljoin

from chat.clock import iso_timestamp
from chat.media.content_types import IMAGE_TYPES, MOVING_TYPES, content_type
from chat.media.image_header import HEADER_BYTES, image_header
from chat.media.outside_addresses import OutsideRefused, as_asked_for, parsed
from chat.media.outside_pages import OutsidePage
from chat.media.page_head import PageHead
from chat.protocol.visible_text import visible

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
    media: Embed = {"url": url, "content_type": kind}
    if kind in IMAGE_TYPES:
        header = image_header(page.data[:HEADER_BYTES])
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
    header = image_header(page.data[:HEADER_BYTES])
    if header is None or not header.is_bearable:
        return without_picture(embed)
    flags = IS_ANIMATED if header.animated else 0
    seen = {"content_type": header.content_type, "width": header.width, "height": header.height, "flags": flags}
    return {**embed, "thumbnail": {**embed["thumbnail"], **seen}}


def without_picture(embed: Embed) -> Embed:
    """The embed without its thumbnail."""
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
