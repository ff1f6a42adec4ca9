"""Which of the instance's limits hold for an account or a guild (limits.md, Limits of the instance)."""

from __future__ import annotations

from chat.config import Limits, Settings
from chat.domain.standing.user_objects import has_premium
from chat.registries.guild_features import GuildFeature
from chat.store.accounts.accounts import Account
from chat.store.guilds.guilds import Guild


def limits_of(settings: Settings, account: Account, now_ms: int) -> Limits:
    """The limits of an account at this moment (Unix milliseconds)."""
    return settings.limits_for(premium=has_premium(account, now_ms))


def max_guild_members(settings: Settings, guild: Guild) -> int:
    """How many members the guild may have (guilds.md, Guild features)."""
    if GuildFeature.VERY_LARGE_GUILD in guild.features:
        return settings.limits.max_guild_members_very_large
    return settings.limits.max_guild_members
