"""The calls that are going on, in memory (people.md, Calls)."""

from __future__ import annotations

from typing import Any

import attrs
import trio

from chat.clock import iso_timestamp
from chat.domain.presence.voice_states import VoiceStates


@attrs.define(eq=False)
class Call:
    """A call in a conversation. `created_at` is Unix milliseconds, times to come are Trio's."""

    channel_id: int
    message_id: int
    created_at: int
    recipients: tuple[int, ...]
    """The accounts in the conversation."""
    participants: list[int]
    """Whoever was in the call so far, the one who began it first."""
    empty_until: float
    """Till then it waits for the first one to connect."""
    region: str | None = None
    ringing: dict[int, float] = attrs.Factory(dict)
    """Who is being called, and until when."""
    finished: trio.Event = attrs.Factory(trio.Event)
    """Set when the store knows that the call is over."""

    @property
    def next_deadline(self) -> float:
        """When something about it changes by itself, if nobody is connected or somebody rings."""
        return min((*self.ringing.values(), self.empty_until))

    def told(self, *, ended_at: int | None = None) -> dict[str, Any]:
        """The `call` of its message (people.md, Calls)."""
        return {
            "participants": [str(user_id) for user_id in self.participants],
            "ended_timestamp": None if ended_at is None else iso_timestamp(ended_at),
        }


class ActiveCalls:
    """Every call by its channel."""

    def __init__(self, voice_states: VoiceStates) -> None:
        self._voice_states = voice_states
        self.by_channel: dict[int, Call] = {}

    def object_of(self, call: Call, *, created: bool = False) -> dict[str, Any]:
        """A call as CALL_UPDATE has it; `created` adds what CALL_CREATE has beside that."""
        data: dict[str, Any] = {
            "channel_id": str(call.channel_id),
            "message_id": str(call.message_id),
            "region": call.region,
            "ringing": [str(user_id) for user_id in call.ringing],
            "voice_states": self._voice_states.of_channel(call.channel_id),
        }
        if created:
            data["recipients"] = [str(user_id) for user_id in call.recipients]
            data["created_at"] = call.created_at
        return data

    def of_account(self, user_id: int) -> list[dict[str, Any]]:
        """The calls in the account's conversations, as a session hears of them that begins now."""
        return [self.object_of(call, created=True) for call in self.by_channel.values() if user_id in call.recipients]
