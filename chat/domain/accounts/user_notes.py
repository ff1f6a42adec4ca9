"""What accounts note of others, for themselves alone (people.md, Notes)."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.domain.core import Core
from chat.errors import ApiError, InvalidFormBody
from chat.protocol.visible_text import tidy
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.store.accounts import accounts, user_settings
from chat.store.guard import Guard

NOTE_LENGTH: Final = 256
NOTES_MAXIMUM: Final = 2_000
"""Notes of one account: all of them stand in its Ready."""


@attrs.define(kw_only=True, eq=False)
class UserNotes:
    """The operations on notes."""

    _core: Core

    def of_user(self, user_id: int) -> dict[str, str]:
        """The account's notes, by the ids of those whom they are about."""
        return {str(target_id): note for target_id, note in user_settings.notes_of(self._core.database.reader, user_id)}

    def get(self, user_id: int, target_id: int) -> str:
        """The account's note about another one.

        :raises ApiError: UNKNOWN_USER where there is none.
        """
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
            self._core.policy.require_unblocked(kept)

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
