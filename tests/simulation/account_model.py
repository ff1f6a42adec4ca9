"""What a client of the gateway knows beside guilds: its account, the people around it, their presences, conversations.

    model = AccountModel(ready)
    model.take("RELATIONSHIP_ADD", data)
    assert model.picture() == AccountModel(fresh_ready).picture()

It is a client as they are in the field: it believes what it is told and fetches nothing. Left out of the picture is
what no Dispatch keeps up to date: how people are called who are no friends, and whether a friend lets hear where it
speaks, which Ready always says (gateway.md, Presences).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.simulation.guild_model import Misled

FRIEND: Final = 1
BLOCKED: Final = 2

OFFLINE: Final = "offline"
SHOWN_OF_PRESENCES: Final = ("status", "mobile", "afk", "custom_status")


class AccountModel:
    def __init__(self, ready: Mapping[str, Any]) -> None:
        self.user: dict[str, Any] = ready["user"]
        self.settings: dict[str, Any] | None = ready["user_settings"]
        self.guild_settings: dict[str, Any] = {str(entry["guild_id"]): entry for entry in ready["user_guild_settings"]}
        self.users: dict[str, Any] = {user["id"]: user for user in ready["users"]}
        self.relationships: dict[str, Any] = {}
        for entry in ready["relationships"]:
            self._put_relationship(dict(entry))
        self.presences: dict[str, Any] = {}
        for presence in ready["presences"]:
            self._presence(presence)
        self.notes: dict[str, str] = dict(ready["notes"])
        self.pinned: list[str] = list(ready["pinned_dms"])
        self.channels: dict[str, Any] = {channel["id"]: dict(channel) for channel in ready["private_channels"]}

    def take(self, name: str | None, data: Any) -> None:
        """Apply a Dispatch; those that change nothing of the picture are passed over.

        Raises Misled for one that this session cannot make sense of.
        """
        apply = _APPLY.get(name or "")
        if apply is not None:
            apply(self, data)

    def picture(self) -> dict[str, Any]:
        """Everything that is compared, as plain data."""
        friends = [user_id for user_id, entry in self.relationships.items() if entry["type"] == FRIEND]
        return {
            "user": self.user,
            "settings": self.settings,
            "guild_settings": self.guild_settings,
            "relationships": self.relationships,
            "friends": {user_id: self.users.get(user_id) for user_id in friends},
            "presences": self.presences,
            "notes": self.notes,
            "pinned": self.pinned,
            "channels": {channel_id: _channel_picture(channel) for channel_id, channel in self.channels.items()},
        }

    def blocked(self) -> set[str]:
        return {other for other, entry in self.relationships.items() if entry["type"] == BLOCKED}

    # People

    def _put_relationship(self, entry: dict[str, Any]) -> None:
        user = entry.pop("user", None)
        if user is not None:
            self.users[user["id"]] = user
        del entry["friend_shares_voice_activity"]
        self.relationships[entry["id"]] = entry

    def _relationship_add(self, data: Mapping[str, Any]) -> None:
        if data["id"] in self.relationships:
            raise Misled(f"a relationship with {data['id']} came twice")
        self._put_relationship(dict(data))

    def _relationship_update(self, data: Mapping[str, Any]) -> None:
        if data["id"] not in self.relationships:
            raise Misled(f"a relationship with {data['id']} changed that was not there")
        self._put_relationship(dict(data))

    def _relationship_remove(self, data: Mapping[str, Any]) -> None:
        if self.relationships.pop(data["id"], None) is None:
            raise Misled(f"a relationship with {data['id']} went that was not there")

    def _presence(self, data: Mapping[str, Any]) -> None:
        user_id = data["user"]["id"]
        self.users[user_id] = data["user"]
        self.presences.pop(user_id, None)
        if data["status"] != OFFLINE:
            self.presences[user_id] = {name: data[name] for name in SHOWN_OF_PRESENCES}

    def _note(self, data: Mapping[str, Any]) -> None:
        self.notes.pop(data["id"], None)
        if data["note"]:
            self.notes[data["id"]] = data["note"]

    # The account

    def _user(self, data: dict[str, Any]) -> None:
        self.user = data

    def _settings(self, data: dict[str, Any]) -> None:
        self.settings = data

    def _put_guild_settings(self, data: dict[str, Any]) -> None:
        self.guild_settings[str(data["guild_id"])] = data

    # Conversations

    def _channel_create(self, data: Mapping[str, Any]) -> None:
        if data.get("guild_id") is not None:
            return
        if data["id"] in self.channels:
            raise Misled(f"conversation {data['id']} came twice")
        self.channels[data["id"]] = dict(data)

    def _channel_update(self, data: Mapping[str, Any]) -> None:
        if data.get("guild_id") is not None:
            return
        if data["id"] not in self.channels:
            raise Misled(f"conversation {data['id']} changed that was not there")
        self.channels[data["id"]] = dict(data)

    def _channel_delete(self, data: Mapping[str, Any]) -> None:
        if data.get("guild_id") is None and self.channels.pop(data["id"], None) is None:
            raise Misled(f"conversation {data['id']} went that was not there")

    def _recipient_add(self, data: Mapping[str, Any]) -> None:
        channel = self._conversation(data)
        channel["recipients"] = [*channel.get("recipients", ()), data["user"]]

    def _recipient_remove(self, data: Mapping[str, Any]) -> None:
        channel, gone_id = self._conversation(data), data["user"]["id"]
        channel["recipients"] = [user for user in channel.get("recipients", ()) if user["id"] != gone_id]
        channel.get("nicks", {}).pop(gone_id, None)

    def _message_create(self, data: Mapping[str, Any]) -> None:
        # The conversation with oneself stands in no list.
        if data.get("guild_id") is None and data["channel_id"] != self.user["id"]:
            self._conversation(data)["last_message_id"] = data["id"]

    def _pins_update(self, data: Mapping[str, Any]) -> None:
        if data.get("guild_id") is None and data["channel_id"] != self.user["id"]:
            self._conversation(data)["last_pin_timestamp"] = data["last_pin_timestamp"]

    def _conversation(self, data: Mapping[str, Any]) -> dict[str, Any]:
        channel: dict[str, Any] | None = self.channels.get(data["channel_id"])
        if channel is None:
            raise Misled(f"conversation {data['channel_id']} was not there")
        return channel

    def _pinned(self, data: list[str]) -> None:
        self.pinned = data


_APPLY: Final[Mapping[str, Callable[[AccountModel, Any], None]]] = {
    "RELATIONSHIP_ADD": AccountModel._relationship_add,
    "RELATIONSHIP_UPDATE": AccountModel._relationship_update,
    "RELATIONSHIP_REMOVE": AccountModel._relationship_remove,
    "PRESENCE_UPDATE": AccountModel._presence,
    "USER_NOTE_UPDATE": AccountModel._note,
    "USER_UPDATE": AccountModel._user,
    "USER_SETTINGS_UPDATE": AccountModel._settings,
    "USER_GUILD_SETTINGS_UPDATE": AccountModel._put_guild_settings,
    "USER_PINNED_DMS_UPDATE": AccountModel._pinned,
    "CHANNEL_CREATE": AccountModel._channel_create,
    "CHANNEL_UPDATE": AccountModel._channel_update,
    "CHANNEL_DELETE": AccountModel._channel_delete,
    "CHANNEL_RECIPIENT_ADD": AccountModel._recipient_add,
    "CHANNEL_RECIPIENT_REMOVE": AccountModel._recipient_remove,
    "CHANNEL_PINS_UPDATE": AccountModel._pins_update,
    "MESSAGE_CREATE": AccountModel._message_create,
}


def _channel_picture(channel: Mapping[str, Any]) -> dict[str, Any]:
    """A conversation, its recipients by their ids: how they are called is told elsewhere."""
    recipients = sorted(user["id"] for user in channel.get("recipients", ()))
    kept = {name: value for name, value in channel.items() if name != "nicks" or value}
    return {**kept, "recipients": recipients}
