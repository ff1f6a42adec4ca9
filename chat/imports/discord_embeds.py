"""Embeds of DiscordChatExporter's JSON as this server stores them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from chat.clock import iso_timestamp
from chat.imports.discord_values import color_of, moment_ms, object_in, objects_in, text_of

EMBEDS: Final = 10
TITLE_CHARACTERS: Final = 256
DESCRIPTION_CHARACTERS: Final = 4_096
FIELDS: Final = 25
FIELD_VALUE_CHARACTERS: Final = 1_024
FOOTER_CHARACTERS: Final = 2_048
ADDRESS_CHARACTERS: Final = 2_048

Embed = Mapping[str, Any]


def embeds_of(given: object) -> tuple[Embed, ...]:
    """The embeds of a message; of one in which nothing is to be seen, nothing."""
    found = (_embed(embed) for embed in objects_in(given)[:EMBEDS])
    return tuple(embed for embed in found if len(embed) > 1)


def missing_file_embed(name: str) -> Embed:
    """What stands in place of a file that the export does not have."""
    return {"type": "rich", "title": name[:TITLE_CHARACTERS], "description": "\N{PAPERCLIP} \N{MULTIPLICATION SIGN}"}


def _embed(given: Mapping[str, Any]) -> Embed:
    images = [*objects_in(given.get("images")), object_in(given.get("image"))]
    named = {
        "title": text_of(given.get("title"))[:TITLE_CHARACTERS],
        "url": _address(given.get("url")),
        "description": text_of(given.get("description"))[:DESCRIPTION_CHARACTERS],
        "color": color_of(given.get("color")),
        "author": _author(object_in(given.get("author"))),
        "thumbnail": _media(object_in(given.get("thumbnail"))),
        "image": next((media for image in images if (media := _media(image))), None),
        "footer": _footer(object_in(given.get("footer"))),
        "fields": list(_fields(objects_in(given.get("fields"))[:FIELDS])),
    }
    embed = {name: value for name, value in named.items() if value}
    moment = moment_ms(given.get("timestamp"))
    if embed and moment is not None:
        embed["timestamp"] = iso_timestamp(moment)
    return {"type": "rich", **embed}


def _address(value: object) -> str:
    """An address that a browser can go to; empty for a path in the export."""
    text = text_of(value)
    return text if text.startswith(("https://", "http://")) and len(text) <= ADDRESS_CHARACTERS else ""


def _media(given: Mapping[str, Any]) -> Mapping[str, str | int] | None:
    url = _address(given.get("canonicalUrl")) or _address(given.get("url"))
    if not url:
        return None
    media: dict[str, str | int] = {"url": url, "flags": 0}
    width, height = given.get("width"), given.get("height")
    if type(width) is int and type(height) is int and width > 0 and height > 0:
        media |= {"width": width, "height": height}
    return media


def _author(given: Mapping[str, Any]) -> dict[str, str] | None:
    return _named("name", text_of(given.get("name"))[:TITLE_CHARACTERS], given)


def _footer(given: Mapping[str, Any]) -> dict[str, str] | None:
    return _named("text", text_of(given.get("text"))[:FOOTER_CHARACTERS], given)


def _named(member: str, text: str, given: Mapping[str, Any]) -> dict[str, str] | None:
    if not text:
        return None
    more = {"url": _address(given.get("url")), "icon_url": _address(given.get("iconUrl"))}
    return {member: text, **{name: value for name, value in more.items() if value}}


def _fields(given: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, str | bool]]:
    for field in given:
        yield {
            "name": text_of(field.get("name"))[:TITLE_CHARACTERS],
            "value": text_of(field.get("value"))[:FIELD_VALUE_CHARACTERS],
            "inline": bool(field.get("isInline")),
        }
