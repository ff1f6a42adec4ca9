"""What a client of the gateway knows of messages as their reader: what they say, who reacted, what is unread.

    model = ReadingModel(ready)
    model.take("MESSAGE_CREATE", data)
    assert model.unread() == ReadingModel(fresh_ready).unread()

It is a client as they are in the field: it counts mentions as it hears them, believes what it is told and fetches
nothing. It knows the messages that came after it did; what Ready counted before stays a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from tests.simulation.guild_model import Misled

BLOCKED: Final = 2
SPOKEN_TYPES: Final = frozenset({0, 3, 19})
"""Messages of conversations that count for the other recipients: what is said, and calls."""

SPOKEN: Final = "spoken"
NAMED: Final = "named"
EVERYONE: Final = "everyone"
"""Why a message counts; the id of a role is a reason, too."""


@attrs.define
class KnownMessage:
    """A message with its reactions, by emoji: who reacted so."""

    data: Mapping[str, Any]
    reasons: set[str]
    """Why it counts as a mention; an edit takes reasons away and adds none."""
    reactions: dict[str, set[str]] = attrs.field(factory=dict)


@attrs.define
class KnownReadState:
    """How far a channel was read."""

    last_message_id: str | None = None
    version: str | None = None
    counted_before: int = 0
    """Mentions among the messages that this session does not know."""


class ReadingModel:
    """One session's knowledge."""

    def __init__(self, ready: Mapping[str, Any]) -> None:
        self.user_id: str = ready["user"]["id"]
        self.messages: dict[str, KnownMessage] = {}
        self.blocked = {entry["id"] for entry in ready["relationships"] if entry["type"] == BLOCKED}
        self.guild_settings = {str(entry["guild_id"]): entry for entry in ready["user_guild_settings"]}
        self.role_ids: set[str] = set()
        for guild in ready["guilds"]:
            for member in guild.get("members", ()):
                if member["user"]["id"] == self.user_id:
                    self.role_ids.update(member["roles"])
        self.read_states = {
            state["id"]: KnownReadState(state["last_message_id"], state.get("version"), state["mention_count"])
            for state in ready["read_states"]
        }

    def take(self, name: str | None, data: Any) -> None:
        """Apply a Dispatch; those that have nothing to do with reading are passed over.

        Raises Misled for one that this session cannot make sense of.
        """
        match name:
            case "MESSAGE_CREATE":
                self._created(data)
            case "MESSAGE_UPDATE":
                self._updated(data)
            case "MESSAGE_DELETE":
                self.messages.pop(data["id"], None)
            case "MESSAGE_DELETE_BULK":
                for message_id in data["ids"]:
                    self.messages.pop(message_id, None)
            case "MESSAGE_ACK":
                self._acknowledged(data)
            case "MESSAGE_REACTION_ADD":
                self._reacted(data["message_id"], data)
            case "MESSAGE_REACTION_ADD_MANY":
                for reaction in data["reactions"]:
                    self._reacted(data["message_id"], reaction)
            case "MESSAGE_REACTION_REMOVE":
                self._reacted_no_more(data)
            case "MESSAGE_REACTION_REMOVE_EMOJI":
                self._reactions(data).pop(_key(data["emoji"]), None)
            case "MESSAGE_REACTION_REMOVE_ALL":
                self._reactions(data).clear()
            case "RELATIONSHIP_ADD" | "RELATIONSHIP_UPDATE":
                (self.blocked.add if data["type"] == BLOCKED else self.blocked.discard)(data["id"])
            case "RELATIONSHIP_REMOVE":
                self.blocked.discard(data["id"])
            case "USER_GUILD_SETTINGS_UPDATE":
                self.guild_settings[str(data["guild_id"])] = data
            case _:
                pass

    # What is known

    def unread(self) -> dict[str, tuple[str | None, str | None, int]]:
        """By channel how far it was read, by which version, and how many mentions came since."""
        channel_ids = self.read_states.keys() | {message.data["channel_id"] for message in self.messages.values()}
        known = {channel_id: self.read_states.get(channel_id, KnownReadState()) for channel_id in channel_ids}
        found = {
            channel_id: (state.last_message_id, state.version, self._count(channel_id, state))
            for channel_id, state in known.items()
        }
        return {channel_id: state for channel_id, state in found.items() if state != (None, None, 0)}

    def shown(self) -> dict[str, dict[str, Any]]:
        """By message its text, and its reactions by emoji: how many, and whether one's own is among them."""
        return {
            message_id: {
                "content": message.data["content"],
                "reactions": {emoji: (len(users), self.user_id in users) for emoji, users in message.reactions.items()},
            }
            for message_id, message in self.messages.items()
        }

    def _count(self, channel_id: str, state: KnownReadState) -> int:
        floor = int(state.last_message_id or 0)
        since = (message for message_id, message in self.messages.items() if int(message_id) > floor)
        here = [message for message in since if message.data["channel_id"] == channel_id]
        return state.counted_before + len([message for message in here if self._counts(message)])

    def _counts(self, message: KnownMessage) -> bool:
        """Whether it counts for the account: by name and in conversations as it was, for many as the account wants."""
        if message.reasons & {NAMED, SPOKEN}:
            return True
        if message.data["author"]["id"] in self.blocked:
            return False
        settings = self.guild_settings.get(str(message.data.get("guild_id")), {})
        if EVERYONE in message.reasons and not settings.get("suppress_everyone"):
            return True
        return bool(message.reasons & self.role_ids) and not settings.get("suppress_roles")

    # Messages

    def _created(self, data: Mapping[str, Any]) -> None:
        if data["id"] in self.messages:
            raise Misled(f"message {data['id']} came twice")
        author_id, channel_id = data["author"]["id"], data["channel_id"]
        reasons: set[str] = set()
        if author_id == self.user_id:
            self.read_states.setdefault(channel_id, KnownReadState())
            self.read_states[channel_id].last_message_id = data["id"]
            self.read_states[channel_id].counted_before = 0
        else:
            reasons = self._reasons(data)
        self.messages[data["id"]] = KnownMessage(data, reasons)

    def _reasons(self, data: Mapping[str, Any]) -> set[str]:
        reasons: set[str] = set(data["mention_roles"])
        if data["mention_everyone"]:
            reasons.add(EVERYONE)
        if data["author"]["id"] not in self.blocked:
            if data.get("guild_id") is None and data["type"] in SPOKEN_TYPES:
                reasons.add(SPOKEN)
            elif any(user["id"] == self.user_id for user in data["mentions"]):
                reasons.add(NAMED)
        return reasons

    def _updated(self, data: Mapping[str, Any]) -> None:
        message = self._message(data["id"])
        message.data = data
        message.reasons &= self._reasons({**data, "author": {"id": ""}})

    def _acknowledged(self, data: Mapping[str, Any]) -> None:
        state = KnownReadState(data["message_id"], data["version"])
        self.read_states[data["channel_id"]] = state
        counted = self._count(data["channel_id"], state)
        if counted != data["mention_count"]:
            raise Misled(f"{data['mention_count']} mentions are left of channel {data['channel_id']}, not {counted}")

    def _message(self, message_id: str) -> KnownMessage:
        message = self.messages.get(message_id)
        if message is None:
            raise Misled(f"message {message_id} was not there")
        return message

    # Reactions

    def _reactions(self, data: Mapping[str, Any]) -> dict[str, set[str]]:
        return self._message(data["message_id"]).reactions

    def _reacted(self, message_id: str, data: Mapping[str, Any]) -> None:
        users = self._message(message_id).reactions.setdefault(_key(data["emoji"]), set())
        if data["user_id"] in users:
            raise Misled(f"{data['user_id']} reacted twice to {message_id}")
        users.add(data["user_id"])

    def _reacted_no_more(self, data: Mapping[str, Any]) -> None:
        reactions, key = self._reactions(data), _key(data["emoji"])
        if data["user_id"] not in reactions.get(key, ()):
            raise Misled(f"{data['user_id']} had not reacted to {data['message_id']}")
        reactions[key].discard(data["user_id"])
        if not reactions[key]:
            del reactions[key]


def _key(emoji: Mapping[str, Any]) -> str:
    """What tells an emoji from others."""
    return str(emoji.get("id") or emoji["name"])


def shown_messages(messages: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """As `ReadingModel.shown`, of messages that were fetched."""
    return {
        message["id"]: {
            "content": message["content"],
            "reactions": {
                _key(reaction["emoji"]): (reaction["count"], reaction.get("me", False))
                for reaction in message.get("reactions", ())
            },
        }
        for message in messages
    }
