"""What a client of the gateway knows of messages with their reactions, and of what it has read of them.

Two parts of `tests.simulation.client_model`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from chat.registries.message_types import THREAD_MESSAGE_TYPES, MessageType

ONLY_IN_EVENTS: Final = frozenset({"guild_id", "member", "channel_type", "nicks", "mention_here", "reactions"})


@attrs.define
class _Reaction:
    """How many reacted alike, and whether the account is one of them."""

    count: int = 0
    mine: bool = False


class MessageModel:
    """Messages of the channels that are open, by channel and id, as `GET` shows them.

    A channel is opened with what `GET /v1/channels/{id}/messages` lists; from then on Dispatches are all that is
    believed, so at any later moment `picture` is what the list shows. Without the permission to read history it is not
    told what becomes of messages: such a channel must be opened anew. A Message Update carries no reactions, since each
    reader sees them otherwise (`me`): they stay as they were.
    """

    def __init__(self, user_id: str) -> None:
        self._user_id = user_id
        self.open: dict[str, dict[str, dict[str, Any]]] = {}
        self._reactions: dict[str, dict[str, _Reaction]] = {}
        """By message and emoji."""

    def load(self, channel_id: str, listed: Iterable[Mapping[str, Any]]) -> None:
        """Open a channel with what was listed of it."""
        self.close(channel_id)
        self.open[channel_id] = {}
        for message in listed:
            self._put(channel_id, message)
            self._take_over_reactions(message)

    def close(self, channel_id: str) -> None:
        """Forget a channel: it went, or its messages cannot be followed."""
        for message_id in self.open.pop(channel_id, {}):
            self._forget_reactions(message_id)

    def take(self, name: str, data: Mapping[str, Any]) -> None:
        """Apply a Dispatch about messages; those of channels that are not open change nothing."""
        apply = _APPLY_TO_MESSAGES.get(name)
        if apply is not None and data["channel_id"] in self.open:
            apply(self, data)

    def picture(self, channel_id: str) -> dict[str, Any]:
        """What is compared of a channel."""
        return {
            message_id: {**message, "reactions": self._reactions_of(message_id)}
            for message_id, message in self.open[channel_id].items()
        }

    # Messages

    def _put(self, channel_id: str, message: Mapping[str, Any]) -> None:
        self.open[channel_id][message["id"]] = shown(message)

    def _create(self, data: Mapping[str, Any]) -> None:
        self._put(data["channel_id"], data)

    def _update(self, data: Mapping[str, Any]) -> None:
        if data["id"] in self.open[data["channel_id"]]:
            self._put(data["channel_id"], data)
        self._change_answers(data["id"], shown(data, alone=True))

    def _delete(self, data: Mapping[str, Any]) -> None:
        self._drop(data["channel_id"], data["id"])

    def _delete_bulk(self, data: Mapping[str, Any]) -> None:
        for message_id in data["ids"]:
            self._drop(data["channel_id"], message_id)

    def _drop(self, channel_id: str, message_id: str) -> None:
        self.open[channel_id].pop(message_id, None)
        self._forget_reactions(message_id)
        self._change_answers(message_id, None)

    def _change_answers(self, message_id: str, answered: dict[str, Any] | None) -> None:
        """What answers a message shows it, as long as it is there; a thread begins with one from elsewhere."""
        for message in (message for messages in self.open.values() for message in messages.values()):
            reference = message.get("message_reference")
            if reference is not None and reference.get("message_id") == message_id and "referenced_message" in message:
                message["referenced_message"] = answered

    # Reactions

    def _take_over_reactions(self, message: Mapping[str, Any]) -> None:
        for entry in message.get("reactions", ()):
            reaction = _Reaction(entry["count"], bool(entry.get("me")))
            self._reactions.setdefault(message["id"], {})[emoji_key(entry["emoji"])] = reaction

    def _reactions_of(self, message_id: str) -> dict[str, tuple[int, bool]]:
        """Of each emoji how many reacted with it, and whether the account itself did."""
        return {key: (entry.count, entry.mine) for key, entry in self._reactions.get(message_id, {}).items()}

    def _react(self, data: Mapping[str, Any]) -> None:
        if data["message_id"] not in self.open[data["channel_id"]]:
            return
        reactions = self._reactions.setdefault(data["message_id"], {})
        reaction = reactions.setdefault(emoji_key(data["emoji"]), _Reaction())
        reaction.count += 1
        reaction.mine = reaction.mine or data["user_id"] == self._user_id

    def _react_many(self, data: Mapping[str, Any]) -> None:
        for entry in data["reactions"]:
            self._react({**data, **entry})

    def _take_back(self, data: Mapping[str, Any]) -> None:
        reactions, key = self._reactions.get(data["message_id"], {}), emoji_key(data["emoji"])
        reaction = reactions.get(key)
        if reaction is None:
            return
        reaction.count -= 1
        reaction.mine = reaction.mine and data["user_id"] != self._user_id
        if not reaction.count:
            del reactions[key]

    def _take_back_emoji(self, data: Mapping[str, Any]) -> None:
        self._reactions.get(data["message_id"], {}).pop(emoji_key(data["emoji"]), None)

    def _take_back_all(self, data: Mapping[str, Any]) -> None:
        self._forget_reactions(data["message_id"])

    def _forget_reactions(self, message_id: str) -> None:
        self._reactions.pop(message_id, None)


_APPLY_TO_MESSAGES: Final[Mapping[str, Callable[[MessageModel, Mapping[str, Any]], None]]] = {
    "MESSAGE_CREATE": MessageModel._create,
    "MESSAGE_UPDATE": MessageModel._update,
    "MESSAGE_DELETE": MessageModel._delete,
    "MESSAGE_DELETE_BULK": MessageModel._delete_bulk,
    "MESSAGE_REACTION_ADD": MessageModel._react,
    "MESSAGE_REACTION_ADD_MANY": MessageModel._react_many,
    "MESSAGE_REACTION_REMOVE": MessageModel._take_back,
    "MESSAGE_REACTION_REMOVE_EMOJI": MessageModel._take_back_emoji,
    "MESSAGE_REACTION_REMOVE_ALL": MessageModel._take_back_all,
}


def shown(message: Mapping[str, Any], *, alone: bool = False) -> dict[str, Any]:
    """A message without what only events carry, and without what other Dispatches say of its thread; `alone` leaves out
    the message that it answers."""
    kept = {name: value for name, value in message.items() if name not in ONLY_IN_EVENTS}
    answered = kept.pop("referenced_message", None)
    if "referenced_message" in message and not alone:
        kept["referenced_message"] = None if answered is None else shown(answered, alone=True)
    if kept.get("thread") is not None:
        kept["thread"] = kept["thread"]["id"]
    return kept


def emoji_key(emoji: Mapping[str, Any]) -> str:
    """What tells emojis apart: of a guild the id, of Unicode the name."""
    return str(emoji.get("id") or emoji["name"])


# Read states

WRITTEN: Final = frozenset({MessageType.DEFAULT.value, MessageType.REPLY.value})
UNREAD_BY_AUTHOR: Final = frozenset({MessageType.USER_JOIN.value, *THREAD_MESSAGE_TYPES})
"""Messages under the name of an account that did not act there, or of which not every session hears."""


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
    """How far one account has read, and how often it was mentioned since.

    No Dispatch raises a count: clients count what they hear, as the server does (messages.md, Read states). Not
    everything can be counted so: what named a role before the account had it, or everyone in a channel before the
    account saw it, is in the next Ready and in no Dispatch. Of such channels the count is doubtful until the account
    acknowledges.

    `reasons_of` tells why a message, as events have it, mentions it; `newest_of` gives the id of a channel's newest
    message so far.
    """

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
                state["last_message_id"], state["mention_count"], state["last_pin_timestamp"], state.get("version")
            )
            for state in ready["read_states"]
        }

    def take(self, name: str, data: Mapping[str, Any]) -> None:
        apply = _APPLY_TO_READ_STATES.get(name)
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
        """An edit may take mentions back; those that it adds do not count."""
        state, left = self._states.get(data["channel_id"]), self._reasons_of(data)
        if state is not None and data["id"] in state.counted:
            left &= state.counted[data["id"]]
            state.counted[data["id"]] = left
        if not left:
            self._take_back(data["channel_id"], data["id"])
        elif state is not None and data["id"] not in state.counted and state.mention_count > len(state.counted):
            state.is_doubtful = True  # for what it was counted is unknown

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


_APPLY_TO_READ_STATES: Final[Mapping[str, Callable[[ReadStateModel, Mapping[str, Any]], None]]] = {
    "MESSAGE_CREATE": ReadStateModel._created,
    "MESSAGE_UPDATE": ReadStateModel._updated,
    "MESSAGE_DELETE": ReadStateModel._deleted,
    "MESSAGE_DELETE_BULK": ReadStateModel._deleted_bulk,
    "MESSAGE_ACK": ReadStateModel._acknowledged,
    "CHANNEL_PINS_ACK": ReadStateModel._pins_seen,
}
