"""Pinned messages of a channel (messages.md, Pins)."""

from __future__ import annotations

import sqlite3

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.messages.message_events import SystemMessages, WrittenMessage, message_updated, pins_changed
from chat.domain.messages.message_reading import StoredMessages, require_message, viewer_of, with_context
from chat.domain.standing.access import ChannelAccess
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.private_channels import PrivateChannelAccess, PrivateChannels
from chat.errors import ApiError, InvalidFormBody
from chat.registries.audit_actions import AuditAction
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.message_types import WRITTEN_MESSAGE_TYPES, MessageType
from chat.registries.permissions import Permission
from chat.store.guilds import channels
from chat.store.messages import messages, read_states
from chat.store.messages.messages import Message
from chat.store.standing.guild_audit_log import AuditLogEntry


@frozen
class _PinChange:
    stored: StoredMessages
    last_pin: int | None
    entry: AuditLogEntry | None
    note: WrittenMessage | None = None


@define(kw_only=True, eq=False)
class Pins:
    _core: Core
    _private_channels: PrivateChannels
    _system_messages: SystemMessages

    async def pin(self, principal: Principal, channel_id: int, message_id: int, reason: str | None = None) -> None:
        """Pin a message, and say so in the channel; one that is pinned already stays as it is.

        :raises ApiError: as `Access.channel`; MISSING_PERMISSIONS, COMMUNICATION_DISABLED, THREAD_ARCHIVED,
            THREAD_LOCKED, UNKNOWN_MESSAGE, MAX_PINS; in a conversation as `PrivateChannels.require_may_write`, since
            the others are told.
        :raises InvalidFormBody: at `message_id` for a message that the server wrote.
        """
        access = self._writable(principal, channel_id, message_id)
        if isinstance(access, PrivateChannelAccess):
            self._private_channels.require_may_write(access, principal.account)
        note_id, now_ms = self._system_messages.new_id(), self._core.clock.now_ms()
        actor = Actor(principal.user_id, reason)

        def unit(connection: sqlite3.Connection) -> _PinChange | None:
            message = require_message(connection, channel_id, message_id)
            if message.type not in WRITTEN_MESSAGE_TYPES:
                raise InvalidFormBody.at("message_id", FieldCode.INVALID_FORMAT)
            if message.pinned_at is not None:
                return None
            if messages.count_pins(connection, channel_id) >= self._core.settings.limits.max_pins_per_channel:
                raise ApiError(ErrorCode.MAX_PINS)
            # Two pins of one millisecond would share a place in the pages.
            pinned_at = max(now_ms, (messages.last_pin(connection, channel_id) or 0) + 1)
            entry = self._record(connection, access, AuditAction.MESSAGE_PIN, actor, message)
            change = self._changed(connection, message, pinned_at, pinned_at, entry)
            # After the pin: the note shows the message that it is about.
            return attrs.evolve(change, note=self._note(connection, access, note_id, message))

        await self._core.database.write(unit, lambda change: self._announce(access, change), guard=principal.guard)

    async def unpin(self, principal: Principal, channel_id: int, message_id: int, reason: str | None = None) -> None:
        """Take a pin away; a message that is not pinned stays as it is.

        :raises ApiError: as `Access.channel`; MISSING_PERMISSIONS, COMMUNICATION_DISABLED, THREAD_ARCHIVED,
            THREAD_LOCKED, UNKNOWN_MESSAGE.
        """
        access = self._writable(principal, channel_id, message_id)
        actor = Actor(principal.user_id, reason)

        def unit(connection: sqlite3.Connection) -> _PinChange | None:
            message = require_message(connection, channel_id, message_id)
            if message.pinned_at is None:
                return None
            last_pin = messages.last_pin(connection, channel_id, besides=message.id)
            entry = self._record(connection, access, AuditAction.MESSAGE_UNPIN, actor, message)
            return self._changed(connection, message, None, last_pin, entry)

        await self._core.database.write(unit, lambda change: self._announce(access, change), guard=principal.guard)

    async def page(self, principal: Principal, channel_id: int, limit: int, before_ms: int | None = None) -> wire.Pins:
        """Pinned messages, the one that was pinned last first; none of those that the caller may not read.

        `before_ms` is the moment of a pin, exclusive.

        :raises ApiError: as `Access.channel`.
        """
        found, floor = await self._read(principal, channel_id, limit + 1, before_ms)
        items: list[wire.Pin] = [
            {
                "message": found.object_of(message, self._core.media_addresses, floor),
                "pinned_at": iso_timestamp(message.pinned_at or 0),
            }
            for message in found.messages[:limit]
        ]
        return {"items": items, "has_more": len(found.messages) > limit}

    async def all(self, principal: Principal, channel_id: int) -> list[wire.Message]:
        """Every pinned message, the one that was pinned last first (messages.md, Pins).

        :raises ApiError: as `Access.channel`.
        """
        limit = self._core.settings.limits.max_pins_per_channel
        found, floor = await self._read(principal, channel_id, limit, None)
        return found.objects(self._core.media_addresses, floor)

    async def acknowledge(self, principal: Principal, channel_id: int) -> None:
        """The caller has seen the channel's pins; nothing happens where nothing is pinned.

        :raises ApiError: as `Access.channel`.
        """
        self._core.access.channel(principal, channel_id)

        def unit(connection: sqlite3.Connection) -> int | None:
            last_pin = messages.last_pin(connection, channel_id)
            if last_pin is not None:
                read_states.acknowledge_pins(connection, principal.user_id, channel_id, last_pin)
            return last_pin

        def then(last_pin: int | None) -> None:
            if last_pin is not None:
                data = {"channel_id": str(channel_id), "timestamp": iso_timestamp(last_pin)}
                self._core.bus.publish(Event(EventName.CHANNEL_PINS_ACK, data, ToAccounts((principal.user_id,))))

        await self._core.database.write(unit, then, guard=principal.guard)

    def _writable(self, principal: Principal, channel_id: int, message_id: int) -> ChannelAccess:
        access = self._core.access.channel(principal, channel_id)
        access.require(Permission.PIN_MESSAGES.value)
        now_ms = self._core.clock.now_ms()
        access.require_voice(now_ms)
        access.require_open(now_ms)
        if not access.reads(message_id):
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        return access

    async def _read(
        self, principal: Principal, channel_id: int, limit: int, before_ms: int | None
    ) -> tuple[StoredMessages, int]:
        access = self._core.access.channel(principal, channel_id)
        floor = access.history_floor()
        if floor is None:
            return StoredMessages([], {}, {}), 0
        viewer = viewer_of(principal)

        def query(connection: sqlite3.Connection) -> StoredMessages:
            found = messages.pins(connection, channel_id, limit, before=before_ms, floor=floor)
            return with_context(connection, found, viewer=viewer)

        return await self._core.database.read(query), floor

    def _record(
        self, connection: sqlite3.Connection, access: ChannelAccess, action: AuditAction, actor: Actor, message: Message
    ) -> AuditLogEntry | None:
        if access.guild_id is None:
            return None
        options = {"channel_id": str(message.channel_id), "message_id": str(message.id)}
        return self._core.audit_log.record(
            connection, access.guild_id, action, actor, target_id=message.author_id, options=options
        )

    def _note(
        self, connection: sqlite3.Connection, access: ChannelAccess, note_id: int, message: Message
    ) -> WrittenMessage | None:
        """The system message that tells of a pin."""
        note = Message(
            id=note_id,
            channel_id=message.channel_id,
            author_id=access.user_id,
            type=MessageType.CHANNEL_PINNED_MESSAGE.value,
            content="",
            reference=message.as_reference(access.guild_id),
        )
        if not isinstance(access, PrivateChannelAccess):
            return self._system_messages.write(connection, note)
        shown = self._private_channels.show_in(connection, access)
        # It is told without counting as unread: a pin says nothing new.
        written = self._system_messages.write(connection, note)
        return None if written is None else attrs.evolve(written, shown=shown)

    def _changed(
        self,
        connection: sqlite3.Connection,
        message: Message,
        pinned_at: int | None,
        last_pin: int | None,
        entry: AuditLogEntry | None,
    ) -> _PinChange:
        messages.pin(connection, message.id, pinned_at)
        channels.set_last_pin(connection, message.channel_id, last_pin)
        stored = with_context(connection, [attrs.evolve(message, pinned_at=pinned_at)])
        return _PinChange(stored, last_pin, entry)

    def _announce(self, access: ChannelAccess, change: _PinChange | None) -> None:
        renewed = None if change is None else self._core.access.renewed(access)
        if change is None or renewed is None:
            return
        note = change.note
        if isinstance(renewed, PrivateChannelAccess):
            # Accounts that learn of the conversation by this learn so first, and of the pin with it.
            pinned = attrs.evolve(renewed.channel, last_pin_timestamp=change.last_pin)
            renewed = attrs.evolve(renewed, channel=pinned)
            if note is not None:
                self._private_channels.shown(renewed, note.shown)
                note = attrs.evolve(note, shown=[])
        renewed.note_pins(change.last_pin)
        self._core.audit_log.publish(change.entry)
        updated = message_updated(renewed, change.stored, self._core.media_addresses)
        self._core.bus.publish(updated, pins_changed(renewed, change.last_pin))
        self._system_messages.publish(renewed, note)
