"""Bits of a read state's `flags`: what kind of channel it is about (messages.md, Read states; the numbers are the
field's)."""

from __future__ import annotations

import enum

from chat.registries.channel_types import THREAD_CHANNEL_TYPES


class ReadStateFlag(enum.IntFlag):
    """Bits of `flags`."""

    GUILD_CHANNEL = 1 << 0
    """A channel of a guild, or a thread below one."""

    THREAD = 1 << 1
    """A thread."""


def read_state_flags(channel_type: int) -> ReadStateFlag:
    """The flags of a channel of a guild."""
    if channel_type in THREAD_CHANNEL_TYPES:
        return ReadStateFlag.GUILD_CHANNEL | ReadStateFlag.THREAD
    return ReadStateFlag.GUILD_CHANNEL
