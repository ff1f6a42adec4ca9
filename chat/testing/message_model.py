"""What a client of the gateway knows of the messages of the channels that it has opened, reactions included.

A part of `chat.testing.client_model`. A channel is opened with what `GET /v1/channels/{id}/messages` lists; from then
on Dispatches are all that is believed, so at any later moment `picture` is what the list shows. Whoever has lost the
permission to read history is not told what becomes of messages: such a channel must be opened anew.

A Message Update carries no reactions, since everybody sees them otherwise (`me`): they stay as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

ONLY_IN_EVENTS: Final = frozenset({"guild_id", "member", "channel_type", "nicks", "mention_here", "reactions"})


@attrs.define
class _Reaction:
    """How many reacted alike, and whether the account is one of them."""

    count: int = 0
    mine: bool = False


class MessageModel:
    """Messages of the channels that are open, by channel and id, as `GET` shows them."""

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
        apply = _APPLY.get(name)
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


_APPLY: Final[Mapping[str, Callable[[MessageModel, Mapping[str, Any]], None]]] = {
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
