"""The thread that a message has, as a part of its object (messages.md, Message object; gateway.md, Sessions without
threads)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from chat.domain.standing.thread_objects import thread_object
from chat.registries.message_types import THREAD_MESSAGE_FLAGS, MessageFlag
from chat.store.messages.messages import Message
from chat.store.threads import threads

if TYPE_CHECKING:
    from chat.domain.messages.message_parts import Viewer

HAS_THREAD: Final = MessageFlag.HAS_THREAD.value
THREAD_FLAGS: Final = THREAD_MESSAGE_FLAGS.value


def concerns_threads(message: Message) -> bool:
    """Whether the message has a thread, or a flag that speaks of one."""
    return bool(message.flags & THREAD_FLAGS)


def read_threads(
    connection: sqlite3.Connection, found: Sequence[Message], viewer: Viewer | None
) -> Mapping[int, Mapping[str, Any]]:
    """`thread` of each message that has one; for a viewer who knows no threads the flags without them."""
    if viewer is not None and not viewer.sees_threads:
        return {message.id: {"flags": message.flags & ~THREAD_FLAGS} for message in found}
    present = threads.by_ids(connection, [message.id for message in found if message.flags & HAS_THREAD])
    return {
        thread_id: {"thread": thread_object(thread)}
        for thread_id, thread in present.items()
        if thread.channel.guild_id is not None
    }


def without_threads(wire: Mapping[str, Any]) -> dict[str, Any]:
    """The message object for sessions that know no threads; of the message that it answers too."""
    shown = {name: value for name, value in wire.items() if name != "thread"}
    shown["flags"] = wire["flags"] & ~THREAD_FLAGS
    answered = wire.get("referenced_message")
    if answered is not None:
        shown["referenced_message"] = without_threads(answered)
    return shown


def speaks_of_threads(wire: Mapping[str, Any]) -> bool:
    """Whether a message object is another one for sessions that know no threads."""
    answered = wire.get("referenced_message")
    return bool(wire["flags"] & THREAD_FLAGS) or (answered is not None and bool(answered["flags"] & THREAD_FLAGS))
