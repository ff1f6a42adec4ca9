"""Read states as the wire has them (messages.md, Read states)."""

from __future__ import annotations

from typing import Any

from chat.clock import iso_timestamp
from chat.registries.channel_types import CHANNEL_THREADS_TYPES
from chat.registries.read_states import read_state_flags
from chat.store.messages.read_states import ReadState


def needs_threads(state: ReadState) -> bool:
    """Whether only sessions that know threads are told of it (gateway.md, Sessions without threads)."""
    return state.channel_type in CHANNEL_THREADS_TYPES


def read_state_object(state: ReadState) -> dict[str, Any]:
    """The read state; those of threads and of channels that hold nothing else have `flags`."""
    data: dict[str, Any] = {
        "id": str(state.channel_id),
        "mention_count": state.mention_count,
        "last_message_id": None if state.last_message_id is None else str(state.last_message_id),
        "last_pin_timestamp": None if state.last_pin_timestamp is None else iso_timestamp(state.last_pin_timestamp),
    }
    if state.version:
        data["version"] = str(state.version)
    if needs_threads(state):
        data["flags"] = int(read_state_flags(state.channel_type))
    return data
