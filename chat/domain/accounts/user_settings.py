"""The settings of an account (accounts.md, User settings), what it noted of others for itself alone (people.md, Notes),
and settings that change by themselves: a status that was chosen for a while, a custom status that runs out.

When, stands in the store and is indexed: a restart forgets nothing, and what fell due meanwhile changes at the start.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import trio

from chat import wire
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event, SavedPresenceChanged
from chat.classes import define, frozen
from chat.domain.accounts import guild_folders
from chat.domain.accounts.guild_folders import FOLDERS, GUILD_LISTS, POSITIONS, ordered, settings_changed
from chat.domain.accounts.notification_settings import zone_of
from chat.domain.core import Core
from chat.domain.policy.due_work import DueWork
from chat.domain.standing.guild_objects import EMOJIS
from chat.domain.standing.user_objects import user_settings_object
from chat.errors import ApiError, InvalidFormBody
from chat.protocol.presence import parse_timestamp
from chat.protocol.visible_text import tidy
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.store.accounts import accounts, user_settings
from chat.store.guard import UNGUARDED, Guard
from chat.store.guilds import expressions

STATUS: Final = "status"
CUSTOM_STATUS: Final = "custom_status"

AFTERWARDS: Final = "online"
"""The status after one that was chosen for a while, where none was named."""

CHANGES_AT_ONCE: Final = 100
"""Settings that one transaction changes at most."""


@define(kw_only=True, eq=False)
class UserSettings:
    """Reads and changes settings; what was never changed has its default."""

    _core: Core
    due: SettingsDue

    def of_user(self, user_id: int) -> wire.UserSettings:
        """The user settings object."""
        return user_settings_object(user_settings.of_user(self._core.database.reader, user_id))

    async def change(self, user_id: int, changes: Mapping[str, Any], guard: Guard) -> wire.UserSettings:
        """Put new values, as the wire has them, in place of old ones; returns the object.

        USER_SETTINGS_UPDATE goes out even when every value was the same: the sender may rely on the echo. Status and
        custom status are those of all the account's sessions from now on, until one selects others.

        :raises ApiError: CONTENT_BLOCKED, for a custom status.
        :raises InvalidFormBody: INVALID_TIMEZONE_IDENTIFIER at `quiet_hours.timezone`.
        """
        if (quiet := changes.get("quiet_hours")) is not None and zone_of(quiet["timezone"]) is None:
            raise InvalidFormBody.at("quiet_hours.timezone", FieldCode.INVALID_TIMEZONE_IDENTIFIER)
        self._core.blocked.require_text((changes.get(CUSTOM_STATUS) or {}).get("text") or "")
        saved_presence = {name: changes[name] for name in (STATUS, CUSTOM_STATUS) if name in changes}

        def unit(connection: sqlite3.Connection) -> wire.UserSettings:
            stored = {**user_settings.of_user(connection, user_id), **changes}
            # The sender of the layout may not have heard yet that a guild is gone.
            stored |= guild_folders.without_gone(connection, {n: v for n, v in changes.items() if n in GUILD_LISTS})
            positions = stored.pop(POSITIONS, None)
            if positions is not None:
                stored[FOLDERS] = ordered(user_settings_object(stored)[FOLDERS], positions)
            if changes.get(CUSTOM_STATUS) is not None:
                stored[CUSTOM_STATUS] = _with_motion(connection, changes[CUSTOM_STATUS])
            user_settings.put(connection, user_id, stored)
            note_moments(connection, user_id, stored)
            return user_settings_object(stored)

        def then(body: wire.UserSettings) -> None:
            self._core.bus.publish(settings_changed(user_id, body))
            if saved_presence:
                self._core.bus.publish(SavedPresenceChanged(user_id, saved_presence))
            self.due.look_again()

        return await self._core.database.write(unit, then, guard=guard)


def _with_motion(connection: sqlite3.Connection, custom_status: Mapping[str, Any]) -> Mapping[str, object]:
    """A custom status that says whether its emoji moves."""
    emoji_id = custom_status["emoji_id"]
    emoji = None if emoji_id is None else expressions.by_id(connection, EMOJIS, int(emoji_id))
    return {**custom_status, "emoji_animated": emoji is not None and emoji.animated}


@frozen
class _Fallen:
    """An account's settings after a moment at which they change by themselves: the whole object, and the status if it
    is another one."""

    user_id: int
    settings: wire.UserSettings
    status: str | None


def note_moments(connection: sqlite3.Connection, user_id: int, stored: Mapping[str, Any]) -> None:
    """In the unit that writes an account's settings: store the moments at which they change by themselves."""
    user_settings.put_due(connection, user_id, STATUS, parse_timestamp(stored.get("status_resets_at")))
    custom_status = stored.get(CUSTOM_STATUS) or {}
    user_settings.put_due(connection, user_id, CUSTOM_STATUS, parse_timestamp(custom_status.get("expires_at")))


class SettingsDue(DueWork):
    NAME = "settings"
    LOOK_SECONDS = 3_600.0

    def __init__(self, core: Core) -> None:
        self._core = core
        super().__init__(core.clock)

    async def _work(self) -> None:
        while await self._change_some() == CHANGES_AT_ONCE:
            await trio.lowlevel.checkpoint()

    def _next_due(self) -> int | None:
        return user_settings.next_due(self._core.database.reader)

    async def _change_some(self) -> int:
        """Returns how many were due."""
        now = self._clock.now_ms()
        if not user_settings.due(self._core.database.reader, now, 1):
            return 0

        def unit(connection: sqlite3.Connection) -> list[_Fallen]:
            return [
                _fall(connection, user_id, setting)
                for user_id, setting in user_settings.due(connection, now, CHANGES_AT_ONCE)
            ]

        fallen = await self._core.database.write(unit, self._announce, guard=UNGUARDED)
        return len(fallen)

    def _announce(self, fallen: list[_Fallen]) -> None:
        for change in fallen:
            self._core.bus.publish(settings_changed(change.user_id, change.settings))
            # A custom status that has run out is not shown anyway; another one of a session's own stays.
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
    user_settings.put_due(connection, user_id, setting, None)
    return _Fallen(user_id, user_settings_object(stored), status)


NOTE_LENGTH: Final = 256
NOTES_MAXIMUM: Final = 2_000
"""How many notes an account may have; all of them are part of its Ready."""


@define(kw_only=True, eq=False)
class UserNotes:
    _core: Core

    def of_user(self, user_id: int) -> dict[str, str]:
        """The account's notes, by the ids of those whom they are about."""
        return {str(target_id): note for target_id, note in user_settings.notes_of(self._core.database.reader, user_id)}

    def get(self, user_id: int, target_id: int) -> str:
        """The account's note about another one. Raises UNKNOWN_USER where there is none."""
        note = user_settings.note_about(self._core.database.reader, user_id, target_id)
        if note is None:
            raise ApiError(ErrorCode.UNKNOWN_USER)
        return note

    async def put(self, user_id: int, target_id: int, note: str | None, guard: Guard) -> None:
        """Note something about any account; None or nothing but white space takes the note away.

        USER_NOTE_UPDATE goes to the account's sessions even where nothing changed.

        :raises ApiError: UNKNOWN_USER, CONTENT_BLOCKED.
        :raises InvalidFormBody: at `note`: STRING_LENGTH_INVALID; INVALID_FORMAT beyond NOTES_MAXIMUM notes.
        """
        kept = tidy(note or "") or None
        if kept is not None:
            if len(kept) > NOTE_LENGTH:
                raise InvalidFormBody.at("note", FieldCode.STRING_LENGTH_INVALID)
            self._core.blocked.require_text(kept)

        def unit(connection: sqlite3.Connection) -> None:
            if accounts.by_id(connection, target_id) is None:
                raise ApiError(ErrorCode.UNKNOWN_USER)
            if kept is None:
                user_settings.delete_note(connection, user_id, target_id)
                return
            is_new = user_settings.note_about(connection, user_id, target_id) is None
            if is_new and user_settings.count_notes(connection, user_id) >= NOTES_MAXIMUM:
                raise InvalidFormBody.at("note", FieldCode.INVALID_FORMAT)
            user_settings.put_note(connection, user_id, target_id, kept)

        def then(_: None) -> None:
            data = {"id": str(target_id), "note": kept or ""}
            self._core.bus.publish(Event(EventName.USER_NOTE_UPDATE, data, ToAccounts((user_id,))))

        await self._core.database.write(unit, then, guard=guard)
