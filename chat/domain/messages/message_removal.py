"""Messages that go, in whichever way: what their channel loses with them, and who is told."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import attrs

from chat.bus.bus import Bus
from chat.domain.messages.message_events import messages_deleted, pins_changed
from chat.domain.standing.access import ChannelAccess
from chat.store.guilds import channels
from chat.store.messages import messages
from chat.store.threads import threads


@attrs.frozen
class Removed:
    """What went from a channel: ids of messages, oldest first; and its newest pin where pins went with them."""

    channel_id: int
    message_ids: list[int]
    took_pins: bool
    last_pin: int | None


def remove_messages(connection: sqlite3.Connection, channel_id: int, message_ids: Iterable[int]) -> Removed:
    """In a unit: delete those of these messages that the channel has, with their pins and files."""
    gone = messages.delete_many(connection, channel_id, message_ids)
    took_pins, last_pin = any(was_pinned for _, was_pinned in gone), None
    if gone:
        threads.discount_messages(connection, channel_id, len(gone))
    if took_pins:
        last_pin = messages.last_pin(connection, channel_id)
        channels.set_last_pin(connection, channel_id, last_pin)
    return Removed(channel_id, [message_id for message_id, _ in gone], took_pins, last_pin)


def announce_removed(bus: Bus, access: ChannelAccess, removed: Removed) -> None:
    """After the commit: one event for all the messages; nothing where there were none."""
    if removed.message_ids:
        bus.publish(messages_deleted(access, removed.message_ids))
    announce_lost_pins(bus, access, removed)


def announce_lost_pins(bus: Bus, access: ChannelAccess, removed: Removed) -> None:
    """After the commit: the channel's pins are fewer, if they are."""
    if removed.took_pins:
        access.note_pins(removed.last_pin)
        bus.publish(pins_changed(access, removed.last_pin))
