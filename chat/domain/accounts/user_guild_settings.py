"""What an account wants to be told of a guild, or of its conversations outside of guilds (accounts.md, User guild
settings)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.domain.core import Core
from chat.errors import ApiError
from chat.registries.events import EventName
from chat.store.accounts import user_guild_settings
from chat.store.guilds import members

OUTSIDE_GUILDS: Final = 0
"""Stands in the store for what holds outside of guilds."""

INHERIT: Final = 3
"""`message_notifications` as the guild, or the channel's guild, has them."""

DEFAULTS: Final[Mapping[str, Any]] = {
    "message_notifications": INHERIT,
    "muted": False,
    "mute_config": None,
    "mobile_push": True,
    "suppress_everyone": False,
    "suppress_roles": False,
    "hide_muted_channels": False,
    "channel_overrides": None,
    "unread_badges": None,
}
"""The settings of whoever never changed any."""


@attrs.define(kw_only=True, eq=False)
class UserGuildSettings:
    """Changes an account's settings for one guild; what was never changed has its default."""

    _core: Core

    async def change(self, principal: Principal, guild_id: int | None, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Put new values, as the wire has them, in the place of old ones; returns the object with its next version.

        `guild_id` None is for what lies outside of guilds. USER_GUILD_SETTINGS_UPDATE goes to the account's sessions.

        :raises ApiError: as `Access.guild`.
        """
        user_id = principal.user_id
        if guild_id is not None:
            self._core.access.guild(principal, guild_id)

        def unit(connection: sqlite3.Connection) -> dict[str, Any]:
            if guild_id is not None and not members.exists(connection, guild_id, user_id):
                raise ApiError("MISSING_PERMISSIONS")
            key = OUTSIDE_GUILDS if guild_id is None else guild_id
            before = user_guild_settings.get(connection, user_id, key) or {}
            body = {
                "guild_id": None if guild_id is None else str(guild_id),
                **{name: changes.get(name, before.get(name, default)) for name, default in DEFAULTS.items()},
                "version": before.get("version", 0) + 1,
            }
            user_guild_settings.put(connection, user_id, key, body)
            return body

        def then(body: dict[str, Any]) -> None:
            self._core.bus.publish(Event(EventName.USER_GUILD_SETTINGS_UPDATE, body, ToAccounts((user_id,))))

        return await self._core.database.write(unit, then)
