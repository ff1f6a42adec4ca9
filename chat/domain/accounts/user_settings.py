"""The settings of an account (accounts.md, User settings): GET and PATCH /v1/users/@me/settings."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

import attrs

from chat.bus.bus import SavedPresenceChanged
from chat.domain.accounts import guild_folders
from chat.domain.accounts.guild_folders import FOLDERS, GUILD_LISTS, POSITIONS, ordered, settings_changed
from chat.domain.accounts.settings_due import CUSTOM_STATUS, STATUS, SettingsDue, note_moments
from chat.domain.core import Core
from chat.domain.standing.guild_objects import EMOJIS
from chat.domain.standing.user_objects import user_settings_object
from chat.store.accounts import user_settings
from chat.store.guilds import expressions


@attrs.define(kw_only=True, eq=False)
class UserSettings:
    """Reads and changes settings; what was never changed has its default."""

    _core: Core
    due: SettingsDue

    def of_user(self, user_id: int) -> dict[str, Any]:
        """The user settings object."""
        return user_settings_object(user_settings.of_user(self._core.database.reader, user_id))

    async def change(self, user_id: int, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Put new values, as the wire has them, in the place of old ones; returns the object.

        USER_SETTINGS_UPDATE goes out even when every value was the same: the sender may rely on the echo. Status and
        custom status are those of all the account's sessions from now on, until one selects others.

        :raises ApiError: CONTENT_BLOCKED, for a custom status.
        """
        self._core.policy.require_unblocked((changes.get(CUSTOM_STATUS) or {}).get("text") or "")
        saved_presence = {name: changes[name] for name in (STATUS, CUSTOM_STATUS) if name in changes}

        def unit(connection: sqlite3.Connection) -> dict[str, Any]:
            stored = {**user_settings.of_user(connection, user_id), **changes}
            # Whoever sends the layout may not have heard yet that a guild is gone.
            stored |= guild_folders.without_gone(connection, {n: v for n, v in changes.items() if n in GUILD_LISTS})
            positions = stored.pop(POSITIONS, None)
            if positions is not None:
                stored[FOLDERS] = ordered(user_settings_object(stored)[FOLDERS], positions)
            if changes.get(CUSTOM_STATUS) is not None:
                stored[CUSTOM_STATUS] = _with_motion(connection, changes[CUSTOM_STATUS])
            user_settings.put(connection, user_id, stored)
            note_moments(connection, user_id, stored)
            return user_settings_object(stored)

        def then(body: dict[str, Any]) -> None:
            self._core.bus.publish(settings_changed(user_id, body))
            if saved_presence:
                self._core.bus.publish(SavedPresenceChanged(user_id, saved_presence))
            self.due.look_again()

        return await self._core.database.write(unit, then)


def _with_motion(connection: sqlite3.Connection, custom_status: Mapping[str, Any]) -> dict[str, Any]:
    """A custom status that says whether its emoji moves."""
    emoji_id = custom_status["emoji_id"]
    emoji = None if emoji_id is None else expressions.by_id(connection, EMOJIS, int(emoji_id))
    return {**custom_status, "emoji_animated": emoji is not None and emoji.animated}
