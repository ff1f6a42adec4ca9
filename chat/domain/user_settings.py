"""The settings of an account (wire facts 5.4): GET and PATCH /v1/users/@me/settings."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from chat.bus.bus import Bus
from chat.domain.guild_folders import settings_changed
from chat.domain.objects.user_settings import user_settings_object
from chat.store import user_settings
from chat.store.database import Database


class UserSettings:
    """Reads and changes settings; what was never changed has its default."""

    def __init__(self, database: Database, bus: Bus) -> None:
        self._database = database
        self._bus = bus

    def of_user(self, user_id: int) -> dict[str, Any]:
        """The user settings object."""
        return user_settings_object(user_settings.of_user(self._database.reader, user_id))

    async def change(self, user_id: int, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Put new values, as the wire has them, in the place of old ones; returns the object.

        USER_SETTINGS_UPDATE goes out even when every value was the same: the sender may rely on the echo.
        """

        def unit(connection: sqlite3.Connection) -> dict[str, Any]:
            stored = {**user_settings.of_user(connection, user_id), **changes}
            user_settings.put(connection, user_id, stored)
            return user_settings_object(stored)

        return await self._database.write(unit, lambda body: self._bus.publish(settings_changed(user_id, body)))
