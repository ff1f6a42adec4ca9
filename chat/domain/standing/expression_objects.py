"""Emoji and sticker objects as the wire has them (guilds.md, Emojis and stickers)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from chat.domain.standing.guild_objects import partial_guild_object
from chat.registries.guild_features import GuildFeature
from chat.store.database import Database
from chat.store.guilds import expressions
from chat.store.guilds.expressions import Expression
from chat.store.guilds.guilds import Guild

EMOJIS: Final = "emojis"
STICKERS: Final = "stickers"
"""The kinds of expressions: also the names of their lists in guild objects and events."""

CLONING: Final[Mapping[str, GuildFeature]] = {
    EMOJIS: GuildFeature.CLONE_EMOJI_ENABLED,
    STICKERS: GuildFeature.CLONE_STICKER_ENABLED,
}
"""With which a guild lets others copy its expressions (guilds.md, Guild features)."""

SHOWN_FEATURES: Final = frozenset({GuildFeature.VERIFIED, GuildFeature.PARTNERED, GuildFeature.DISCOVERABLE})
"""What everybody is told of the standing of the guild that an expression comes from."""


def expression_object(expression: Expression) -> dict[str, Any]:
    """An emoji or a sticker."""
    data: dict[str, Any] = {"id": str(expression.id), "name": expression.name}
    if expression.kind == STICKERS:
        data |= {"description": expression.description, "tags": list(expression.tags)}
    return {**data, "animated": expression.animated, "nsfw": False}


def expression_metadata_object(expression: Expression, guild: Guild) -> dict[str, Any]:
    """What somebody who is not in the guild may know of an expression that they see in a message."""
    shown = partial_guild_object(guild)
    return {
        "id": str(expression.id),
        "guild_id": str(guild.id),
        "name": expression.name,
        "animated": expression.animated,
        "allow_cloning": CLONING[expression.kind] in guild.features,
        "guild": {
            "id": shown["id"],
            "name": shown["name"],
            "icon": shown["icon"],
            "features": sorted(guild.features & SHOWN_FEATURES),
        },
    }


def is_animated(database: Database, emoji_id: int) -> bool:
    """Whether a guild's emoji moves; one that there is not stands still."""
    emoji = expressions.by_id(database.reader, EMOJIS, emoji_id)
    return emoji is not None and emoji.animated
