"""Settings that change by themselves: a status that was chosen for a while, a custom status that runs out (accounts.md,
User settings).

When, stands in the store and is indexed: a restart forgets nothing, and what fell due meanwhile changes at the start.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs
import trio

from chat.bus.bus import SavedPresenceChanged
from chat.domain.accounts.guild_folders import settings_changed
from chat.domain.core import Core
from chat.domain.policy.due_work import DueWork
from chat.domain.standing.user_objects import user_settings_object
from chat.protocol.presence import parse_timestamp
from chat.store.accounts import settings_due, user_settings

STATUS: Final = "status"
CUSTOM_STATUS: Final = "custom_status"

AFTERWARDS: Final = "online"
"""The status after one that was chosen for a while, where nobody said which."""

CHANGES_AT_ONCE: Final = 100
"""Settings that one transaction changes at most."""


@attrs.frozen
class _Fallen:
    """What became of an account's settings: the whole object, and the status where that is another one."""

    user_id: int
    settings: dict[str, Any]
    status: str | None


def note_moments(connection: sqlite3.Connection, user_id: int, stored: Mapping[str, Any]) -> None:
    """In the unit that writes an account's settings: note when they change by themselves."""
    settings_due.put(connection, user_id, STATUS, parse_timestamp(stored.get("status_resets_at")))
    custom_status = stored.get(CUSTOM_STATUS) or {}
    settings_due.put(connection, user_id, CUSTOM_STATUS, parse_timestamp(custom_status.get("expires_at")))


class SettingsDue(DueWork):
    """Changes settings in the background."""

    NAME = "settings"
    LOOK_SECONDS = 3_600.0

    def __init__(self, core: Core) -> None:
        self._core = core
        super().__init__(core.clock)

    async def _work(self) -> None:
        while await self._change_some() == CHANGES_AT_ONCE:
            await trio.lowlevel.checkpoint()

    def _next_due(self) -> int | None:
        return settings_due.next_due(self._core.database.reader)

    async def _change_some(self) -> int:
        """Returns how many were due."""
        now = self._clock.now_ms()
        if not settings_due.due(self._core.database.reader, now, 1):
            return 0

        def unit(connection: sqlite3.Connection) -> list[_Fallen]:
            return [
                _fall(connection, user_id, setting)
                for user_id, setting in settings_due.due(connection, now, CHANGES_AT_ONCE)
            ]

        fallen = await self._core.database.write(unit, self._announce)
        return len(fallen)

    def _announce(self, fallen: list[_Fallen]) -> None:
        for change in fallen:
            self._core.bus.publish(settings_changed(change.user_id, change.settings))
            # A custom status that has run out is shown to nobody anyway; another one of a session's own stays.
            if change.status is not None:
                self._core.bus.publish(SavedPresenceChanged(change.user_id, {STATUS: change.status}))


def _fall(connection: sqlite3.Connection, user_id: int, setting: str) -> _Fallen:
    stored = user_settings.of_user(connection, user_id)
    status = None
    if setting == STATUS:
        status = stored.get("status_resets_to") or AFTERWARDS
        stored = {**stored, STATUS: status, "status_resets_at": None, "status_resets_to": None}
    else:
        stored = {**stored, CUSTOM_STATUS: None}
    user_settings.put(connection, user_id, stored)
    settings_due.put(connection, user_id, setting, None)
    return _Fallen(user_id, user_settings_object(stored), status)
