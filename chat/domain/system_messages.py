"""Messages that the server writes into a guild's system channel (document 001, system_channel_id)."""

from __future__ import annotations

import sqlite3
from typing import Final

from chat.registries.guild_values import SystemChannelFlag
from chat.registries.message_types import MessageType
from chat.store import channels, messages
from chat.store.guilds import Guild
from chat.store.messages import Message

SUPPRESS_JOIN_NOTIFICATIONS: Final = SystemChannelFlag.SUPPRESS_JOIN_NOTIFICATIONS.value


def write_join_message(connection: sqlite3.Connection, guild: Guild, user_id: int, message_id: int) -> Message | None:
    """In a unit of writing: tell the system channel that the account joined; None where nobody is to be told."""
    if guild.system_channel_id is None or guild.system_channel_flags & SUPPRESS_JOIN_NOTIFICATIONS:
        return None
    message = Message(
        id=message_id,
        channel_id=guild.system_channel_id,
        author_id=user_id,
        type=MessageType.USER_JOIN.value,
        content="",
    )
    if not messages.insert(connection, message):
        return None
    channels.set_last_message(connection, message.channel_id, message.id)
    return message
