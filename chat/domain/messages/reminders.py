"""Messages of which an account wants to be reminded (messages.md, Reminders).

A reminder stands in the store until its account takes it away. At its moment the unit that marks it as told comes
first, then the account's sessions and devices hear of it: what a server that ends then did not tell is on the list.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.clock import iso_timestamp, optional_timestamp
from chat.domain.core import Core
from chat.domain.messages.kept_messages import ReadableChannels
from chat.domain.policy.due_work import DueWork
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.limits import REMINDER_AHEAD_MS, REMINDERS
from chat.store.accounts import accounts
from chat.store.guard import UNGUARDED
from chat.store.messages import messages, reminders
from chat.store.messages.reminders import Reminder

AT_ONCE: Final = 100
"""Reminders that one unit marks as told."""


class Reminders(DueWork):
    """The operations on reminders, and their falling due."""

    NAME = "reminders"
    LOOK_SECONDS = 60.0
    EMPTY_SECONDS = 3_600.0

    def __init__(self, core: Core) -> None:
        self._core = core
        super().__init__(core.clock)

    async def of_user(self, principal: Principal) -> list[wire.Reminder]:
        """The caller's reminders by their moments, the earliest first."""
        return await self._objects(principal, reminders.of_user(self._core.database.reader, principal.user_id))

    async def get(self, principal: Principal, message_id: int) -> wire.Reminder:
        """The caller's reminder of a message. Raises UNKNOWN_MESSAGE where it has none."""
        row = reminders.get(self._core.database.reader, principal.user_id, message_id)
        if row is None:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        return (await self._objects(principal, [row]))[0]

    async def put(self, principal: Principal, channel_id: int, message_id: int, remind_at: int) -> wire.Reminder:
        """Remind the caller of a message at a moment (Unix milliseconds), in place of what it had for that message.
        Where it has as many as it may have, the one told first makes room.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE, also for one that the caller may not read;
            MAX_REMINDERS.
        :raises InvalidFormBody: SCHEDULED_TIME_MUST_BE_FUTURE, REMINDERS_MAX_365_DAYS at `remind_at`.
        """
        ahead = remind_at - self._clock.now_ms()
        if ahead <= 0:
            raise InvalidFormBody.at("remind_at", FieldCode.SCHEDULED_TIME_MUST_BE_FUTURE)
        if ahead > REMINDER_AHEAD_MS:
            raise InvalidFormBody.at("remind_at", FieldCode.REMINDERS_MAX_365_DAYS)
        floor = self._core.access.channel(principal, channel_id).history_floor()
        if floor is None or message_id < floor:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        row = Reminder(principal.user_id, message_id, channel_id, remind_at)

        def unit(connection: sqlite3.Connection) -> int | None:
            if accounts.by_id(connection, row.user_id) is None:
                raise ApiError(ErrorCode.UNAUTHORIZED)
            if not messages.exists(connection, channel_id, message_id):
                raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
            displaced = _make_room(connection, row)
            reminders.put(connection, row)
            return displaced

        def then(displaced: int | None) -> None:
            if displaced is not None:
                self._announce_end(row.user_id, displaced)
            self._announce(row)
            self.look_again()

        await self._core.database.write(unit, then, guard=principal.guard)
        return (await self._objects(principal, [row]))[0]

    async def delete(self, principal: Principal, message_id: int) -> None:
        """Remind the caller no longer; nothing happens where it has no reminder of the message."""
        user_id = principal.user_id
        await self._core.database.write(
            lambda connection: reminders.delete(connection, user_id, message_id),
            lambda was_there: self._announce_end(user_id, message_id) if was_there else None,
            guard=principal.guard,
        )

    async def _work(self) -> None:
        def unit(connection: sqlite3.Connection) -> list[Reminder]:
            now_ms = self._clock.now_ms()
            told = [attrs.evolve(row, told_at=now_ms) for row in reminders.due(connection, now_ms, AT_ONCE)]
            for row in told:
                reminders.put(connection, row)
            return told

        def then(told: list[Reminder]) -> None:
            for row in told:
                self._announce(row)

        while (due := self._next_due()) is not None and due <= self._clock.now_ms():
            await self._core.database.write(unit, then, guard=UNGUARDED)

    def _next_due(self) -> int | None:
        return reminders.next_due(self._core.database.reader)

    async def _objects(self, principal: Principal, rows: Sequence[Reminder]) -> list[wire.Reminder]:
        readable = ReadableChannels(self._core, principal)
        found = await readable.objects([row.message_id for row in rows if readable(row.channel_id, row.message_id)])
        return [_object(row, found.get(row.message_id), readable) for row in rows]

    def _announce(self, row: Reminder) -> None:
        audience = ToAccounts((row.user_id,))
        self._core.bus.publish(Event(EventName.REMINDER_UPDATE, _moments(row), audience))

    def _announce_end(self, user_id: int, message_id: int) -> None:
        data = {"message_id": str(message_id)}
        self._core.bus.publish(Event(EventName.REMINDER_DELETE, data, ToAccounts((user_id,))))


def _make_room(connection: sqlite3.Connection, row: Reminder) -> int | None:
    """In a unit of writing: let the reminder that was told first go if the account has too many with this one. Returns
    its message. Raises MAX_REMINDERS where all are yet to come."""
    present = reminders.of_user(connection, row.user_id)
    if len(present) < REMINDERS or any(other.message_id == row.message_id for other in present):
        return None
    told = [(other.told_at, other.message_id) for other in present if other.told_at is not None]
    if not told:
        raise ApiError(ErrorCode.MAX_REMINDERS)
    _, message_id = min(told)
    reminders.delete(connection, row.user_id, message_id)
    return message_id


def _moments(row: Reminder) -> wire.ReminderMoments:
    return {
        "message_id": str(row.message_id),
        "channel_id": str(row.channel_id),
        "remind_at": iso_timestamp(row.remind_at),
        "told_at": optional_timestamp(row.told_at),
    }


def _object(row: Reminder, message: wire.Message | None, readable: ReadableChannels) -> wire.Reminder:
    if message is not None:
        return {**_moments(row), "status": "available", "message": message}
    if readable(row.channel_id, row.message_id):
        return {**_moments(row), "status": "deleted", "message": None}
    return {**_moments(row), "status": "missing_permissions", "message": None}
