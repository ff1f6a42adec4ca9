"""Guild objects as the wire has them (guilds.md, Guild object)."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from chat.clock import iso_timestamp
from chat.registries.guild_features import GuildFeature
from chat.registries.guild_values import NsfwLevel
from chat.store.guilds.guilds import Guild


def guild_object(guild: Guild) -> dict[str, Any]:
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
        "message_history_cutoff": (
            None if guild.message_history_cutoff is None else iso_timestamp(guild.message_history_cutoff)
        ),
    }


def partial_guild_object(guild: Guild) -> dict[str, Any]:
    """The guild inside an invite."""
    return {"id": str(guild.id), "name": guild.name, **_assets(guild), "features": sorted(guild.features)}


def _assets(guild: Guild) -> dict[str, Any]:
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
