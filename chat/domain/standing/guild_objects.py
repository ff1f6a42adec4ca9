"""Guild, role, member, emoji and sticker objects as the wire has them (guilds.md, Guild object; guilds.md, Roles;
guilds.md, Members; guilds.md, Emojis and stickers).
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Final

from chat import wire
from chat.clock import iso_timestamp, optional_timestamp
from chat.domain.standing.permissions import without_thread_bits
from chat.registries.guild_features import GuildFeature
from chat.registries.guild_values import NsfwLevel
from chat.store.database import Database
from chat.store.guilds import expressions
from chat.store.guilds.expressions import Expression
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.guilds.roles import Role


def guild_object(guild: Guild) -> wire.Guild:
    """The guild object without embedded collections, counts and members that depend on the caller."""
    return {
        "id": str(guild.id),
        "name": guild.name,
        **_assets(guild),
        "vanity_url_code": guild.vanity_url_code,
        "owner_id": str(guild.owner_id),
        "system_channel_id": _optional_id(guild.system_channel_id),
        "system_channel_flags": guild.system_channel_flags,
        "rules_channel_id": _optional_id(guild.rules_channel_id),
        "afk_channel_id": _optional_id(guild.afk_channel_id),
        "afk_timeout": guild.afk_timeout,
        "features": sorted(guild.features),
        "verification_level": guild.verification_level,
        "mfa_level": guild.mfa_level,
        "nsfw_level": int(NsfwLevel.AGE_RESTRICTED if guild.nsfw else NsfwLevel.SAFE),
        "nsfw": guild.nsfw,
        "content_warning_level": guild.content_warning_level,
        "content_warning_text": guild.content_warning_text,
        "explicit_content_filter": guild.explicit_content_filter,
        "default_message_notifications": guild.default_message_notifications,
        "disabled_operations": guild.disabled_operations,
        "message_history_cutoff": optional_timestamp(guild.message_history_cutoff),
        "message_retention_days": guild.message_retention_days,
    }


def partial_guild_object(guild: Guild) -> wire.PartialGuild:
    """The guild inside an invite."""
    return {"id": str(guild.id), "name": guild.name, **_assets(guild), "features": sorted(guild.features)}


def _assets(guild: Guild) -> wire.GuildImages:
    """Icon, banner and splashes, as far as the guild's features let them be seen."""
    features = guild.features
    banner = GuildFeature.BANNER in features and guild.banner is not None
    splashes = GuildFeature.INVITE_SPLASH in features
    splash = splashes and guild.splash is not None
    embed_splash = splashes and guild.embed_splash is not None
    return {
        "icon": _still_unless(GuildFeature.ANIMATED_ICON, features, guild.icon),
        "banner": _still_unless(GuildFeature.ANIMATED_BANNER, features, guild.banner) if banner else None,
        "banner_width": guild.banner_width if banner else None,
        "banner_height": guild.banner_height if banner else None,
        "splash": guild.splash if splash else None,
        "splash_width": guild.splash_width if splash else None,
        "splash_height": guild.splash_height if splash else None,
        "splash_card_alignment": guild.splash_card_alignment,
        "embed_splash": guild.embed_splash if embed_splash else None,
        "embed_splash_width": guild.embed_splash_width if embed_splash else None,
        "embed_splash_height": guild.embed_splash_height if embed_splash else None,
    }


def _still_unless(feature: GuildFeature, features: Set[str], image_hash: str | None) -> str | None:
    """The hash; without the mark of a moving image while the guild lacks the feature."""
    return image_hash if image_hash is None or feature in features else image_hash.removeprefix("a_")


def _optional_id(snowflake: int | None) -> str | None:
    return None if snowflake is None else str(snowflake)


def role_object(role: Role, *, threads: bool) -> wire.Role:
    """The role object; without `threads` its mask loses the thread bits (guilds.md, Guild object)."""
    data: wire.Role = {
        "id": str(role.id),
        "name": role.name,
        "color": role.color,
        "position": role.position,
        "hoist_position": role.hoist_position,
        "permissions": str(role.permissions if threads else without_thread_bits(role.permissions)),
        "hoist": role.hoist,
        "mentionable": role.mentionable,
    }
    if role.unicode_emoji is not None:
        data["unicode_emoji"] = role.unicode_emoji
    return data


def member_object(member: Member, user: wire.PartialUser, *, timed_out: bool) -> wire.Member:
    """The member object. While a time-out runs, the member counts as muted."""
    return {"user": user, **membership_object(member, timed_out=timed_out)}


def membership_object(member: Member, *, timed_out: bool) -> wire.Membership:
    """The member object without the user, as the author's member of a message has it."""
    until = member.communication_disabled_until
    data: wire.Membership = {
        "nick": member.nick,
        "avatar": member.avatar,
        "banner": member.banner,
        "accent_color": member.accent_color,
        "roles": [str(role_id) for role_id in sorted(member.role_ids)],
        "joined_at": iso_timestamp(member.joined_at),
        "mute": member.mute or timed_out,
        "deaf": member.deaf,
        "communication_disabled_until": None if until is None or not timed_out else iso_timestamp(until),
        "profile_flags": member.profile_flags,
    }
    if member.mention_flags:
        data["mention_flags"] = member.mention_flags
    return data


EMOJIS: Final = "emojis"
STICKERS: Final = "stickers"
"""The kinds of expressions: also the names of their lists in guild objects and events."""

CLONING: Final[Mapping[str, GuildFeature]] = {
    EMOJIS: GuildFeature.CLONE_EMOJI_ENABLED,
    STICKERS: GuildFeature.CLONE_STICKER_ENABLED,
}
"""The feature by which a guild lets others copy its expressions (guilds.md, Guild features)."""

SHOWN_FEATURES: Final = frozenset({GuildFeature.VERIFIED, GuildFeature.PARTNERED, GuildFeature.DISCOVERABLE})
"""Features of its guild that an expression shows to all."""


def expression_object(expression: Expression) -> wire.Emoji | wire.Sticker:
    """An emoji, or a sticker, which has a description and tags besides."""
    return sticker_object(expression) if expression.kind == STICKERS else emoji_object(expression)


def emoji_object(expression: Expression) -> wire.Emoji:
    return {"id": str(expression.id), "name": expression.name, "animated": expression.animated, "nsfw": False}


def sticker_object(expression: Expression) -> wire.Sticker:
    return {
        "id": str(expression.id),
        "name": expression.name,
        "description": expression.description,
        "tags": list(expression.tags),
        "animated": expression.animated,
        "nsfw": False,
    }


def expression_metadata_object(expression: Expression, guild: Guild) -> wire.ExpressionMetadata:
    """What an expression in a message tells accounts that are not in its guild."""
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
    """Whether a guild's emoji is animated; an unknown one is not."""
    emoji = expressions.by_id(database.reader, EMOJIS, emoji_id)
    return emoji is not None and emoji.animated
