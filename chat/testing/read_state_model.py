"""How far a client of the gateway believes that its account has read, and how often it was mentioned since.

A part of `chat.testing.client_model`. No Dispatch raises a count: clients count what they hear, as the server does
(messages.md, Read states). Not everything can be counted so: what named a role before the account had it, or everyone
in a channel before the account saw it, is in the next Ready and in no Dispatch. Of such channels the count is doubtful
until the account acknowledges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from chat.registries.message_types import THREAD_MESSAGE_TYPES, MessageType

WRITTEN: Final = frozenset({MessageType.DEFAULT.value, MessageType.REPLY.value})
UNREAD_BY_AUTHOR: Final = frozenset({MessageType.USER_JOIN.value, *THREAD_MESSAGE_TYPES})
"""Messages under the name of somebody who did not act where they stand, or of which not every session hears."""


@attrs.define
class ReadState:
    """Of one channel. `counted` are the messages behind `mention_count` that were heard, and why they count."""

    last_message_id: str | None = None
    mention_count: int = 0
    last_pin_timestamp: str | None = None
    version: str | None = None
    counted: dict[str, frozenset[str]] = attrs.Factory(dict)
    is_doubtful: bool = False


class ReadStateModel:
    """The read states of one account. `reasons_of` tells why a message, as events have it, mentions it;
    `newest_of` gives the id of a channel's newest message so far."""

    def __init__(
        self,
        ready: Mapping[str, Any],
        reasons_of: Callable[[Mapping[str, Any]], frozenset[str]],
        newest_of: Callable[[str], str | None],
    ) -> None:
        self._user_id: str = ready["user"]["id"]
        self._reasons_of = reasons_of
        self._newest_of = newest_of
        self._states = {
            state["id"]: ReadState(
                state["last_message_id"],
                state["mention_count"],
                state["last_pin_timestamp"],
                state.get("version"),
            )
            for state in ready["read_states"]
        }

    def take(self, name: str, data: Mapping[str, Any]) -> None:
        """Apply a Dispatch."""
        apply = _APPLY.get(name)
        if apply is not None:
            apply(self, data)

    def doubt(self, channel_id: str) -> None:
        """What mentions the account in the channel can no longer be counted."""
        self._of(channel_id).is_doubtful = True

    def picture(self, channel_id: str) -> tuple[Any, ...]:
        """What is compared of a channel; a doubtful count is None."""
        state = self._states.get(channel_id, ReadState())
        count = None if state.is_doubtful else state.mention_count
        return state.last_message_id, count, state.last_pin_timestamp, state.version

    def _of(self, channel_id: str) -> ReadState:
        return self._states.setdefault(channel_id, ReadState())

    def _created(self, data: Mapping[str, Any]) -> None:
        if data["author"]["id"] == self._user_id and "webhook_id" not in data:
            self._did(data)
        elif reasons := self._reasons_of(data):
            state = self._of(data["channel_id"])
            state.mention_count += 1
            state.counted[data["id"]] = reasons

    def _did(self, data: Mapping[str, Any]) -> None:
        """What the account writes it has read, with all before; what tells of its doing only if all before was."""
        state = self._of(data["channel_id"])
        if data["type"] in WRITTEN:
            state.last_message_id, state.mention_count, state.is_doubtful = data["id"], 0, False
            state.counted.clear()
        elif data["type"] not in UNREAD_BY_AUTHOR and state.last_message_id is not None:
            newest = self._newest_of(data["channel_id"])
            if int(state.last_message_id) >= int(newest or 0):
                state.last_message_id = data["id"]

    def _updated(self, data: Mapping[str, Any]) -> None:
        """An edit may take mentions back; those that it adds count for nobody."""
        state, left = self._states.get(data["channel_id"]), self._reasons_of(data)
        if state is not None and data["id"] in state.counted:
            left &= state.counted[data["id"]]
            state.counted[data["id"]] = left
        if not left:
            self._take_back(data["channel_id"], data["id"])
        elif state is not None and data["id"] not in state.counted and state.mention_count > len(state.counted):
            state.is_doubtful = True  # nobody knows for what it was counted

    def _deleted(self, data: Mapping[str, Any]) -> None:
        self._take_back(data["channel_id"], data["id"])

    def _deleted_bulk(self, data: Mapping[str, Any]) -> None:
        for message_id in data["ids"]:
            self._take_back(data["channel_id"], message_id)

    def _take_back(self, channel_id: str, message_id: str) -> None:
        state = self._states.get(channel_id)
        if state is None:
            return
        if message_id in state.counted:
            del state.counted[message_id]
            state.mention_count -= 1
        elif state.mention_count > len(state.counted):
            state.is_doubtful = True  # it may be one of those that Ready, or another client, has counted

    def _acknowledged(self, data: Mapping[str, Any]) -> None:
        state = self._of(data["channel_id"])
        read = int(data["message_id"])
        state.last_message_id, state.mention_count = data["message_id"], data["mention_count"]
        state.version = data.get("version", state.version)
        state.counted = {message_id: why for message_id, why in state.counted.items() if int(message_id) > read}
        state.is_doubtful = False

    def _pins_seen(self, data: Mapping[str, Any]) -> None:
        self._of(data["channel_id"]).last_pin_timestamp = data["timestamp"]


_APPLY: Final[Mapping[str, Callable[[ReadStateModel, Mapping[str, Any]], None]]] = {
    "MESSAGE_CREATE": ReadStateModel._created,
    "MESSAGE_UPDATE": ReadStateModel._updated,
    "MESSAGE_DELETE": ReadStateModel._deleted,
    "MESSAGE_DELETE_BULK": ReadStateModel._deleted_bulk,
    "MESSAGE_ACK": ReadStateModel._acknowledged,
    "CHANNEL_PINS_ACK": ReadStateModel._pins_seen,
}
