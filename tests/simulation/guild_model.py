"""What a client of the gateway knows of one guild. A part of `tests.simulation.client_model`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from chat.registries.channel_types import ChannelType
from chat.registries.permissions import Permission


class Misled(AssertionError):
    """The server told a session something that the session must not hear, or cannot understand."""


COLLECTIONS: Final = frozenset(
    {
        "channels",
        "emojis",
        "joined_at",
        "member_count",
        "members",
        "online_count",
        "presences",
        "properties",
        "roles",
        "stickers",
        "threads",
        "voice_states",
    }
)
"""Members of a guild in Ready and Guild Create that are no members of the guild object."""


KEPT_OF_THREADS: Final = frozenset(
    {"message_count", "total_message_sent", "member", "member_ids_preview", "newly_created"}
)
"""Members of threads that no Dispatch keeps up to date, or that are compared on their own."""
ADMINISTRATOR: Final = Permission.ADMINISTRATOR.value
READ_MESSAGE_HISTORY: Final = Permission.READ_MESSAGE_HISTORY.value

MESSAGE_CHANNELS: Final = frozenset(
    {ChannelType.GUILD_TEXT.value, ChannelType.GUILD_VOICE.value, ChannelType.GUILD_ANNOUNCEMENT.value}
)
"""Channels of guilds that hold messages themselves."""


@attrs.define
class GuildModel:
    """One guild as a session knows it; wire objects by id."""

    properties: dict[str, Any]
    roles: dict[str, dict[str, Any]]
    channels: dict[str, dict[str, Any]]
    emojis: dict[str, dict[str, Any]]
    stickers: dict[str, dict[str, Any]]
    own: dict[str, Any] | None
    joined_at: str | None
    member_count: int
    threads: dict[str, dict[str, Any]] = attrs.Factory(dict)
    joined_threads: set[str] = attrs.Factory(set)

    @classmethod
    def of(cls, guild: Mapping[str, Any], user_id: str) -> GuildModel:
        """A guild as Ready, Guild Create and Guild Sync bring it."""
        if guild["properties"] != {name: value for name, value in guild.items() if name not in COLLECTIONS}:
            raise Misled("`properties` says something else than the guild around it")
        model = cls(
            properties=dict(guild["properties"]),
            roles=by_id(guild["roles"]),
            channels=by_id(guild["channels"]),
            emojis=by_id(guild["emojis"]),
            stickers=by_id(guild["stickers"]),
            own=next((dict(member) for member in guild["members"] if member["user"]["id"] == user_id), None),
            joined_at=guild["joined_at"],
            member_count=guild["member_count"],
        )
        for thread in guild["threads"]:
            model.put_thread(thread)
        return model

    def put_thread(self, thread: Mapping[str, Any]) -> None:
        """A thread that the session is told of, with its own membership where it has one."""
        self.threads[thread["id"]] = dict(thread)
        if "member" in thread:
            self.joined_threads.add(thread["id"])

    def drop_thread(self, thread_id: str) -> None:
        """A thread that is gone, or out of sight."""
        self.threads.pop(thread_id, None)
        self.joined_threads.discard(thread_id)

    def drop_channel(self, channel_id: str) -> None:
        """A channel that is gone, or out of sight."""
        if self.channels.pop(channel_id, None) is None:
            raise Misled(f"channel {channel_id} went that was not there")
        for thread in [thread for thread in self.threads.values() if thread["parent_id"] == channel_id]:
            self.drop_thread(thread["id"])

    def drop_role(self, role_id: str) -> None:
        """A role that is gone, with what it stood in."""
        if self.roles.pop(role_id, None) is None:
            raise Misled(f"role {role_id} went that was not there")
        if self.own is not None:
            self.own["roles"] = [own for own in self.own["roles"] if own != role_id]
        for channel in self.channels.values():
            kept = [entry for entry in channel["permission_overwrites"] if entry["id"] != role_id]
            channel["permission_overwrites"] = kept

    def active_threads(self) -> dict[str, dict[str, Any]]:
        return {
            thread_id: thread for thread_id, thread in self.threads.items() if not thread["thread_metadata"]["archived"]
        }

    def may_read(self, channel_id: str) -> bool:
        """Whether the session may read what was written in a channel or thread (permissions.md, Computation)."""
        thread = self.threads.get(channel_id)
        channel = self.channels.get(channel_id if thread is None else thread["parent_id"])
        if channel is None or self.own is None:
            return False
        user_id, everyone = self.own["user"]["id"], self.properties["id"]
        if user_id == self.properties["owner_id"]:
            return True
        mask = 0
        for role_id in (everyone, *self.own["roles"]):
            mask |= int(self.roles[role_id]["permissions"]) if role_id in self.roles else 0
        if mask & ADMINISTRATOR:
            return True
        of_roles = [entry for entry in channel["permission_overwrites"] if entry["type"] == 0]
        own_roles = [entry for entry in of_roles if entry["id"] in self.own["roles"]]
        levels = (
            [entry for entry in of_roles if entry["id"] == everyone],
            own_roles,
            [entry for entry in channel["permission_overwrites"] if entry["type"] == 1 and entry["id"] == user_id],
        )
        for level in levels:
            for entry in level:
                mask &= ~int(entry["deny"])
            for entry in level:
                mask |= int(entry["allow"])
        return bool(mask & READ_MESSAGE_HISTORY)

    def every_channel(self) -> list[str]:
        return [*self.channels, *self.threads]

    def message_channels(self) -> list[str]:
        """The channels and threads that hold messages which the session may follow."""
        channels = [channel["id"] for channel in self.channels.values() if channel["type"] in MESSAGE_CHANNELS]
        return [channel_id for channel_id in (*channels, *self.threads) if self.may_read(channel_id)]

    def picture(self, *, bot: bool) -> dict[str, Any]:
        """What is compared. A person is shown the active threads that it is in, a bot all that it sees."""
        active = self.active_threads()
        own = None if self.own is None else {name: value for name, value in self.own.items() if name != "user"}
        return {
            **self.properties,
            "features": sorted(self.properties["features"]),
            "roles": self.roles,
            "channels": {channel["id"]: _channel_picture(channel) for channel in self.channels.values()},
            "emojis": {emoji["id"]: _without_user(emoji) for emoji in self.emojis.values()},
            "stickers": {sticker["id"]: _without_user(sticker) for sticker in self.stickers.values()},
            "own": own,
            "joined_at": self.joined_at,
            "member_count": self.member_count,
            "threads": {
                thread_id: {name: thread[name] for name in thread.keys() - KEPT_OF_THREADS}
                for thread_id, thread in active.items()
                if bot or thread_id in self.joined_threads
            },
            "joined_threads": sorted(self.joined_threads & active.keys()),
        }


def by_id(objects: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {entry["id"]: dict(entry) for entry in objects}


def _channel_picture(channel: Mapping[str, Any]) -> dict[str, Any]:
    overwrites = sorted(channel["permission_overwrites"], key=lambda entry: str(entry["id"]))
    return {**channel, "permission_overwrites": overwrites}


def _without_user(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "user"}
