"""The embeds of a message's body, and how they are stored (messages.md, Embeds), with the limits that Discord has.

Members that only the server fills in (`type`, `proxy_url`, sizes ...) are ignored, so that a client may send back what
it got.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Final
from urllib.parse import urlsplit

import attrs

from chat.api.fields import AsWritten, Items, Length, Refusal, Schema, UtcTimestamp
from chat.classes import frozen
from chat.clock import iso_timestamp
from chat.domain.policy.embeds import (
    AUTHOR_CHARACTERS,
    DESCRIPTION_CHARACTERS,
    FIELD_NAME_CHARACTERS,
    FIELD_VALUE_CHARACTERS,
    FIELDS,
    FOOTER_CHARACTERS,
    OWN_FILE,
    TITLE_CHARACTERS,
)
from chat.media.delivery import file_name
from chat.registries.error_codes import FieldCode

URL_CHARACTERS: Final = 2_048
COLOR_MAXIMUM: Final = 0xFFFFFF
EMBED_BODIES: Final = 100
"""More are refused before they are looked at; the domain knows the limit."""

_UNPRINTABLE: Final = re.compile(r"[\x00-\x20\x7f\\]")


class _Url:
    """An address: http or https with a host, or, where files may be shown, `attachment://NAME`."""

    schema: Final[Schema] = {"format": "uri", "maxLength": URL_CHARACTERS}

    def __init__(self, *, own_files: bool = False) -> None:
        self._own_files = own_files

    def check(self, value: str) -> None:
        if len(value) > URL_CHARACTERS:
            raise Refusal(FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)
        if self._own_files and value.startswith(OWN_FILE) and len(value) > len(OWN_FILE):
            return
        if value and not _is_web_address(value):
            raise Refusal


class _EmbedColor:
    schema: Final[Schema] = {"minimum": 0, "maximum": COLOR_MAXIMUM}

    def check(self, value: int) -> None:
        if value < 0:
            raise Refusal(FieldCode.COLOR_VALUE_TOO_LOW)
        if value > COLOR_MAXIMUM:
            raise Refusal(FieldCode.COLOR_VALUE_TOO_HIGH)


Url = Annotated[str, _Url()]
MediaUrl = Annotated[str, _Url(own_files=True)]


@frozen
class EmbedAuthorBody:
    """Who is named above the title; nobody without a name."""

    name: Annotated[str, AsWritten(), Length(0, AUTHOR_CHARACTERS)] | None = None
    url: Url | None = None
    icon_url: MediaUrl | None = None


@frozen
class EmbedFooterBody:
    """What stands below; nothing without a text."""

    text: Annotated[str, AsWritten(), Length(0, FOOTER_CHARACTERS)] | None = None
    icon_url: MediaUrl | None = None


@frozen
class EmbedMediaBody:
    """A picture."""

    url: MediaUrl | None = None
    description: Annotated[str, AsWritten(), Length(0, DESCRIPTION_CHARACTERS)] | None = None


@frozen
class EmbedFieldBody:
    """A name with a value."""

    name: Annotated[str, AsWritten(), Length(1, FIELD_NAME_CHARACTERS)]
    value: Annotated[str, AsWritten(), Length(1, FIELD_VALUE_CHARACTERS)]
    inline: bool | None = False


@frozen
class EmbedBody:
    """A rich embed."""

    url: Url | None = None
    title: Annotated[str, AsWritten(), Length(0, TITLE_CHARACTERS)] | None = None
    color: Annotated[int, _EmbedColor()] | None = None
    timestamp: UtcTimestamp | None = None
    description: Annotated[str, AsWritten(), Length(0, DESCRIPTION_CHARACTERS)] | None = None
    author: EmbedAuthorBody | None = None
    image: EmbedMediaBody | None = None
    thumbnail: EmbedMediaBody | None = None
    footer: EmbedFooterBody | None = None
    fields: Annotated[list[EmbedFieldBody], Items(0, FIELDS)] = attrs.field(factory=list)


EmbedBodies = Annotated[list[EmbedBody], Items(0, EMBED_BODIES, FieldCode.TOO_MANY_EMBEDS)]


def stored_embeds(bodies: Sequence[EmbedBody]) -> tuple[Mapping[str, object], ...]:
    """Embeds as they are stored; those in which nothing stands are left out."""
    return tuple(embed for body in bodies if (embed := _stored(body)) is not None)


def _stored(body: EmbedBody) -> Mapping[str, object] | None:
    content = _present(
        {
            "title": body.title,
            "description": body.description,
            "author": _named("name", body.author.name, body.author) if body.author else None,
            "image": _media(body.image),
            "thumbnail": _media(body.thumbnail),
            "footer": _named("text", body.footer.text, body.footer) if body.footer else None,
            "fields": [
                {"name": field.name, "value": field.value, "inline": bool(field.inline)} for field in body.fields
            ],
        }
    )
    if not content:
        return None
    frame = _present({"url": body.url}) | ({} if body.color is None else {"color": body.color})
    if body.timestamp is not None:
        frame["timestamp"] = iso_timestamp(body.timestamp)
    return {"type": "rich", **frame, **content}


def _named(member: str, words: str | None, body: EmbedAuthorBody | EmbedFooterBody) -> Mapping[str, object] | None:
    if not words:
        return None
    url = body.url if isinstance(body, EmbedAuthorBody) else None
    return _present({member: words, "url": url, "icon_url": _own_file(body.icon_url)})


def _media(body: EmbedMediaBody | None) -> Mapping[str, object] | None:
    if body is None or not body.url:
        return None
    return _present({"url": _own_file(body.url), "description": body.description}) | {"flags": 0}


def _own_file(url: str | None) -> str | None:
    """The address with the name that the file has once it is stored."""
    if url is None or not url.startswith(OWN_FILE):
        return url
    return OWN_FILE + file_name(url.removeprefix(OWN_FILE))


def _present(members: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in members.items() if value}


def _is_web_address(value: str) -> bool:
    if _UNPRINTABLE.search(value) is not None:
        return False
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
