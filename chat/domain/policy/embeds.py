"""What embeds may hold beyond the form of each member (limits of the field)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from chat.domain.policy.embed_objects import MEDIA_MEMBERS, names_of_own_files
from chat.errors import InvalidFormBody

EMBED_CHARACTERS: Final = 6_000
"""Characters of all texts in all embeds of one message."""

TITLE_CHARACTERS: Final = 256
DESCRIPTION_CHARACTERS: Final = 4_096
FIELDS: Final = 25
FIELD_NAME_CHARACTERS: Final = 256
FIELD_VALUE_CHARACTERS: Final = 1_024
FOOTER_CHARACTERS: Final = 2_048
AUTHOR_CHARACTERS: Final = 256
"""What each part of an embed may hold."""

Embeds = Sequence[Mapping[str, Any]]


def require_embeds(embeds: Embeds, maximum: int) -> None:
    """Check embeds against the limits of a message.

    :raises InvalidFormBody: TOO_MANY_EMBEDS, CONTENT_EXCEEDS_MAX_LENGTH at `embeds`.
    """
    if len(embeds) > maximum:
        raise InvalidFormBody.at("embeds", "TOO_MANY_EMBEDS")
    if sum(map(len, texts_of(embeds))) > EMBED_CHARACTERS:
        raise InvalidFormBody.at("embeds", "CONTENT_EXCEEDS_MAX_LENGTH")


def require_own_files(embeds: Embeds, names: Collection[str]) -> None:
    """Check that files shown in embeds are among the message's.

    :raises InvalidFormBody: at the embed.
    """
    for index, embed in enumerate(embeds):
        if not names_of_own_files(embed) <= set(names):
            raise InvalidFormBody.at(f"embeds.{index}", "INVALID_FORMAT")


def texts_of(embeds: Embeds) -> Iterator[str]:
    """Every text that an embed shows."""
    for embed in embeds:
        yield from (embed[member] for member in ("title", "description") if member in embed)
        yield embed.get("author", {}).get("name", "")
        yield embed.get("footer", {}).get("text", "")
        yield from (embed[member]["description"] for member in MEDIA_MEMBERS if "description" in embed.get(member, {}))
        for field in embed.get("fields", ()):
            yield field["name"]
            yield field["value"]


def addresses_of(embeds: Embeds) -> Iterator[str]:
    """Every address that an embed leads to or shows something from."""
    for embed in embeds:
        yield embed.get("url") or ""
        for member in ("author", "footer", *MEDIA_MEMBERS):
            part = embed.get(member) or {}
            yield from (part[name] for name in ("url", "icon_url") if part.get(name))
