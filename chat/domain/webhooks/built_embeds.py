"""Embeds made of what other services tell of themselves, in texts of any length: everything is shortened to what an
embed may hold, and URLs that cannot be followed are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from chat import wire
from chat.classes import frozen
from chat.clock import iso_timestamp, read_moment
from chat.domain.policy.embeds import (
    AUTHOR_CHARACTERS,
    DESCRIPTION_CHARACTERS,
    EMBED_CHARACTERS,
    FIELD_NAME_CHARACTERS,
    FIELD_VALUE_CHARACTERS,
    FIELDS,
    FOOTER_CHARACTERS,
    TITLE_CHARACTERS,
    texts_of,
)
from chat.media.outside_addresses import OutsideRefused, as_asked_for, parsed

Embed = dict[str, Any]
"""An embed in the making: a stranger's delivery says which members it has."""

ELLIPSIS: Final = "…"
LEAST_CHARACTERS: Final = 500
"""What is left of a description before fields are left out."""

MORE_CHARACTERS: Final = 20
"""Room for the field that says how many are missing."""

BLANK: Final = "\u200b"
"""Stands for the name or the value that a field does not have."""

LATEST_SECONDS: Final = 253_402_300_799
"""The end of the year 9999."""


@frozen
class Named:
    """A name with a URL and a picture: the author above an embed, or the words below it."""

    name: str
    url: str = ""
    icon_url: str = ""


@frozen
class Field:
    name: str
    value: str
    inline: bool = False


def built_embed(
    *,
    title: str = "",
    url: str = "",
    description: str = "",
    color: int | None = None,
    timestamp: str | None = None,
    author: Named | None = None,
    footer: Named | None = None,
    fields: Iterable[Field] = (),
    image: str = "",
    thumbnail: str = "",
) -> Embed | None:
    """An embed as it is stored (`chat.domain.policy.embeds`); None if nothing would stand in it."""
    content = _present(
        {
            "title": shortened(title, TITLE_CHARACTERS),
            "description": shortened(description, DESCRIPTION_CHARACTERS),
            "author": None if author is None else _named("name", author, AUTHOR_CHARACTERS),
            "image": _media(image),
            "thumbnail": _media(thumbnail),
            "footer": None if footer is None else _named("text", footer, FOOTER_CHARACTERS),
            "fields": [_field(field) for field in fields if field.name.strip() or field.value.strip()][:FIELDS],
        }
    )
    if not content:
        return None
    colour = {} if color is None else {"color": color}
    return {"type": "rich", **_present({"url": address(url), "timestamp": timestamp}), **colour, **content}


def fitting(embeds: Iterable[Embed | None], maximum: int) -> tuple[Embed, ...]:
    """As many of these as a message may have; the last loses text and fields, or goes, where all would be too long."""
    return fitted([embed for embed in embeds if embed is not None], maximum)[0]


def fitted(embeds: Sequence[Embed], maximum: int) -> tuple[tuple[Embed, ...], int]:
    """As `fitting`, and how many are left out."""
    found: list[Embed] = []
    room = EMBED_CHARACTERS
    for embed in embeds[:maximum]:
        fits = _narrowed(embed, room)
        if fits is None:
            break
        found.append(fits)
        room -= _length(fits)
    return tuple(found), len(embeds) - len(found)


def _narrowed(embed: Embed, room: int) -> Embed | None:
    """The embed cut to `room` characters: first its description is shortened, then fields are dropped, and the last
    field says how many are missing. None where that is not enough."""
    length = _length(embed)
    if length <= room:
        return embed
    description, fields = embed.get("description", ""), list(embed.get("fields", ()))
    if description:
        left = len(description) - (length - room)
        least = min(len(description), LEAST_CHARACTERS) if fields else 1
        narrower = shortened(description, max(left, least))
        length -= len(description) - len(narrower)
        embed = {**embed, "description": narrower}
    if length <= room:
        return embed
    missing = 0
    while fields and length > room - MORE_CHARACTERS:
        lost = fields.pop()
        length -= len(lost["name"]) + len(lost["value"])
        counted = _MORE.fullmatch(lost["value"])
        missing += 1 if counted is None else int(counted[1])
    if length > room - MORE_CHARACTERS or not missing:
        return None
    return {**embed, "fields": [*fields, _field(more(missing))]}


def more(count: int) -> Field:
    """The field that says how many are missing."""
    return Field("", f"{ELLIPSIS} and {count} more")


_MORE: Final = re.compile(rf"{ELLIPSIS} and (\d{{1,9}}) more", re.ASCII)


def shortened(text: str, longest: int) -> str:
    """The text without white space around it, cut to `longest` characters."""
    text = text.strip()
    return text if len(text) <= longest else text[: longest - 1].rstrip() + ELLIPSIS


def address(text: str) -> str | None:
    """A URL that may be followed or fetched; None for everything else."""
    found = as_asked_for(text.strip()) if text else None
    if found is None:
        return None
    try:
        parsed(found)
    except OutsideRefused:
        return None
    return found


def moment(value: object) -> str | None:
    """A moment as the wire has it, of ISO 8601 text with its offset or of Unix seconds; None for anything else."""
    try:
        if isinstance(value, str) and not value.replace(".", "", 1).isdecimal():
            told = read_moment(value)
            if told.tzinfo is None or told.year == 1:  # the year 1 is how programs in Go write that there is none
                return None
            seconds = told.timestamp()
        else:
            seconds = float(value) if isinstance(value, int | float | str) else 0.0
            if not 0 < seconds <= LATEST_SECONDS:
                return None
        return iso_timestamp(int(seconds * 1_000))
    except (ValueError, OverflowError):
        return None


# What JSON from outside holds


def inner(value: object, *names: str) -> object:
    """What stands in objects within objects; None if there is nothing of that name."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def text_at(value: object, *names: str) -> str:
    """A text, or a number as text; empty for everything else."""
    found = inner(value, *names)
    if isinstance(found, str):
        return found
    return str(found) if type(found) in (int, float) else ""


def value_at(value: object, *names: str) -> str:
    """As `text_at`, for values that are measured: whether something holds, too, as `true` or `false`."""
    found = inner(value, *names)
    return str(found).lower() if isinstance(found, bool) else text_at(value, *names)


def list_at(value: object, *names: str) -> Sequence[object]:
    """A list; empty for everything else."""
    found = inner(value, *names)
    return found if isinstance(found, list) else ()


def _length(embed: Embed) -> int:
    return sum(map(len, texts_of([embed])))


def _field(field: Field) -> wire.EmbedField:
    return {
        "name": shortened(field.name, FIELD_NAME_CHARACTERS) or BLANK,
        "value": shortened(field.value, FIELD_VALUE_CHARACTERS) or BLANK,
        "inline": field.inline,
    }


def _named(member: str, named: Named, longest: int) -> Mapping[str, object] | None:
    words = shortened(named.name, longest)
    url = address(named.url) if member == "name" else None
    return _present({member: words, "url": url, "icon_url": address(named.icon_url)}) if words else None


def _media(text: str) -> Mapping[str, object] | None:
    url = address(text)
    return None if url is None else {"url": url, "flags": 0}


def _present(members: Mapping[str, object]) -> Mapping[str, object]:
    return {name: value for name, value in members.items() if value}
