"""What a client of the gateway knows, kept by Ready and the Dispatches after it: the oracle of who is told what.

    model = ClientModel(ready, threads=True)
    model.take("CHANNEL_CREATE", data)
    assert model.picture() == ClientModel(fresh_ready, threads=True).picture()

It is a client as they are in the field: it believes what it is told and fetches nothing. Two things it concludes by
itself, since no Dispatch says them: a role that is deleted is gone from its own member and from every overwrite, and
with a channel that it no longer sees the threads below it are gone.

Left out of the picture is what no Dispatch keeps up to date: `online_count`, the users inside of members (Ready has
their ids only), how many messages a thread holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from chat.registries.channel_types import THREAD_CHANNEL_TYPES
from chat.registries.events import THREAD_EVENTS
from chat.registries.message_types import MessageType

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

THREAD_CREATED: Final = MessageType.THREAD_CREATED.value
THREAD_TYPES: Final = frozenset(map(int, THREAD_CHANNEL_TYPES))

KEPT_OF_THREADS: Final = frozenset(
    {"message_count", "total_message_sent", "member", "member_ids_preview", "newly_created"}
)
"""Members of threads that no Dispatch keeps up to date, or that are compared on their own."""


class Misled(AssertionError):
    """The server told a session something that the session must not hear, or cannot understand."""


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
            roles=_by_id(guild["roles"]),
            channels=_by_id(guild["channels"]),
            emojis=_by_id(guild["emojis"]),
            stickers=_by_id(guild["stickers"]),
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

    def picture(self, *, bot: bool) -> dict[str, Any]:
        """What is compared. A person is shown the active threads that it is in, a bot all that it sees."""
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
                for thread_id, thread in self.threads.items()
                if not thread["thread_metadata"]["archived"] and (bot or thread_id in self.joined_threads)
            },
            "joined_threads": sorted(
                thread_id
                for thread_id in self.joined_threads & self.threads.keys()
                if not self.threads[thread_id]["thread_metadata"]["archived"]
            ),
        }


class ClientModel:
    """One session's knowledge. `threads` says whether it knows of threads: bots, and who declares it in Identify."""

    def __init__(self, ready: Mapping[str, Any], *, threads: bool) -> None:
        self.user_id: str = ready["user"]["id"]
        self.bot = bool(ready["user"].get("bot"))
        self.threads = threads or self.bot
        self.settings: dict[str, Any] | None = ready["user_settings"]
        self.guild_settings: dict[str, Any] = {
            str(settings["guild_id"]): settings for settings in ready["user_guild_settings"]
        }
        self.guilds: dict[str, GuildModel] = {}
        self.unavailable: dict[str, dict[str, Any]] = {}
        """Stubs of guilds that the account is in, and that are closed or not there yet."""
        for guild in ready["guilds"]:
            self._put_guild(guild)

    def take(self, name: str | None, data: Any) -> None:
        """Apply a Dispatch. Those that change nothing of the picture are passed over.

        Raises Misled for one that this session should not have heard.
        """
        if name in THREAD_EVENTS and not self.threads:
            raise Misled(f"{name} at a session that knows no threads")
        apply = _APPLY.get(name or "")
        if apply is not None:
            apply(self, dict(data))

    def picture(self) -> dict[str, Any]:
        """Everything that is compared, as plain data."""
        folders = None if self.settings is None else self.settings.get("guild_folders")
        return {
            "guilds": {guild_id: guild.picture(bot=self.bot) for guild_id, guild in self.guilds.items()},
            "unavailable": self.unavailable,
            "guild_folders": folders,
        }

    def _put_guild(self, guild: dict[str, Any]) -> None:
        if guild.get("unavailable"):
            self.guilds.pop(guild["id"], None)
            self.unavailable[guild["id"]] = guild
            return
        self.unavailable.pop(guild["id"], None)
        known = GuildModel.of(guild, self.user_id)
        if known.own is None:
            raise Misled("a guild without the session's own member")
        if not self.threads and any(thread for thread in known.threads):
            raise Misled("threads at a session that knows none")
        self.guilds[known.properties["id"]] = known

    def _guild(self, data: Mapping[str, Any]) -> GuildModel | None:
        """The guild that an event speaks of; None while it is unavailable."""
        guild = self.guilds.get(data["guild_id"])
        if guild is None and data["guild_id"] not in self.unavailable:
            raise Misled(f"an event of guild {data['guild_id']}, which the session is not in")
        return guild

    # Guilds

    def _guild_delete(self, data: dict[str, Any]) -> None:
        if data.get("unavailable"):
            self._put_guild(data)
            return
        if self.guilds.pop(data["id"], None) is None and self.unavailable.pop(data["id"], None) is None:
            raise Misled(f"guild {data['id']} went that was not there")

    def _guild_update(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        if guild is not None:
            del data["guild_id"]
            guild.properties = data

    def _role(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        if guild is not None:
            guild.roles[data["role"]["id"]] = data["role"]

    def _roles(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        if guild is not None:
            guild.roles |= _by_id(data["roles"])

    def _role_delete(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        if guild is not None:
            guild.drop_role(data["role_id"])

    def _emojis(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        if guild is not None:
            guild.emojis = _by_id(data["emojis"])

    def _stickers(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        if guild is not None:
            guild.stickers = _by_id(data["stickers"])

    # Members

    def _member_add(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        if guild is not None and data["user"]["id"] != self.user_id:
            guild.member_count += 1

    def _member_update(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        if guild is not None and data["user"]["id"] == self.user_id:
            del data["guild_id"]
            guild.own = data

    def _member_remove(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        if guild is not None:
            guild.member_count -= 1

    # Channels

    def _channel_create(self, data: dict[str, Any]) -> None:
        guild = self._guild(data) if data.get("guild_id") else None
        if guild is None:
            return
        if data["id"] in guild.channels:
            raise Misled(f"channel {data['id']} came twice")
        guild.channels[data["id"]] = data

    def _channel_update(self, data: dict[str, Any]) -> None:
        guild = self._guild(data) if data.get("guild_id") else None
        if guild is None:
            return
        if data["id"] not in guild.channels:
            raise Misled(f"channel {data['id']} changed, which the session does not see")
        guild.channels[data["id"]] = data

    def _channel_update_bulk(self, data: dict[str, Any]) -> None:
        for channel in data["channels"]:
            self._channel_update({**channel, "guild_id": data["guild_id"]})

    def _channel_delete(self, data: dict[str, Any]) -> None:
        guild = self._guild(data) if data.get("guild_id") else None
        if guild is not None:
            guild.drop_channel(data["id"])

    def _message_create(self, data: dict[str, Any]) -> None:
        guild = self._guild(data) if data.get("guild_id") else None
        if guild is None:
            return
        channel = guild.channels.get(data["channel_id"])
        if data["type"] == THREAD_CREATED:
            return  # not shown to everybody who sees the channel, so it does not count as its last message
        if channel is not None:
            channel["last_message_id"] = data["id"]
        elif data["channel_id"] in guild.threads:
            guild.threads[data["channel_id"]]["last_message_id"] = data["id"]
        elif data.get("channel_type") not in THREAD_TYPES:
            raise Misled(f"a message in channel {data['channel_id']}, which the session does not see")

    def _pins_update(self, data: dict[str, Any]) -> None:
        guild = self._guild(data) if data.get("guild_id") else None
        channel = None
        if guild is not None:
            channel = guild.channels.get(data["channel_id"], guild.threads.get(data["channel_id"]))
        if channel is not None:
            channel["last_pin_timestamp"] = data["last_pin_timestamp"]

    def _passive_updates(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        for channel_id, message_id in data["channels"].items():
            if guild is not None and channel_id in guild.channels:
                guild.channels[channel_id]["last_message_id"] = message_id

    # Threads

    def _thread(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        if guild is None:
            return
        if data["parent_id"] not in guild.channels:
            raise Misled(f"a thread below channel {data['parent_id']}, which the session does not see")
        guild.put_thread(data)

    def _thread_delete(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        if guild is not None:
            guild.drop_thread(data["id"])

    def _thread_list_sync(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        if guild is None:
            return
        wanted = data.get("channel_ids")
        for thread in list(guild.threads.values()):
            if wanted is None or thread["parent_id"] in wanted:
                guild.drop_thread(thread["id"])
        for thread in data["threads"]:
            guild.put_thread(thread)
        guild.joined_threads |= {member["id"] for member in data["members"]}

    def _thread_members_update(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        if guild is None:
            return
        if data["id"] in guild.threads:
            guild.threads[data["id"]]["member_count"] = data["member_count"]
        if any(entry["user_id"] == self.user_id for entry in data.get("added_members", ())):
            guild.joined_threads.add(data["id"])
        if self.user_id in data.get("removed_member_ids", ()):
            guild.joined_threads.discard(data["id"])

    # The account

    def _user_settings(self, data: dict[str, Any]) -> None:
        self.settings = data

    def _user_guild_settings(self, data: dict[str, Any]) -> None:
        self.guild_settings[str(data["guild_id"])] = data


_APPLY: Final[Mapping[str, Callable[[ClientModel, Any], None]]] = {
    "GUILD_CREATE": ClientModel._put_guild,
    "GUILD_SYNC": ClientModel._put_guild,
    "GUILD_DELETE": ClientModel._guild_delete,
    "GUILD_UPDATE": ClientModel._guild_update,
    "GUILD_ROLE_CREATE": ClientModel._role,
    "GUILD_ROLE_UPDATE": ClientModel._role,
    "GUILD_ROLE_UPDATE_BULK": ClientModel._roles,
    "GUILD_ROLE_DELETE": ClientModel._role_delete,
    "GUILD_EMOJIS_UPDATE": ClientModel._emojis,
    "GUILD_STICKERS_UPDATE": ClientModel._stickers,
    "GUILD_MEMBER_ADD": ClientModel._member_add,
    "GUILD_MEMBER_UPDATE": ClientModel._member_update,
    "GUILD_MEMBER_REMOVE": ClientModel._member_remove,
    "CHANNEL_CREATE": ClientModel._channel_create,
    "CHANNEL_UPDATE": ClientModel._channel_update,
    "CHANNEL_UPDATE_BULK": ClientModel._channel_update_bulk,
    "CHANNEL_DELETE": ClientModel._channel_delete,
    "CHANNEL_PINS_UPDATE": ClientModel._pins_update,
    "MESSAGE_CREATE": ClientModel._message_create,
    "PASSIVE_UPDATES": ClientModel._passive_updates,
    "THREAD_CREATE": ClientModel._thread,
    "THREAD_UPDATE": ClientModel._thread,
    "THREAD_DELETE": ClientModel._thread_delete,
    "THREAD_LIST_SYNC": ClientModel._thread_list_sync,
    "THREAD_MEMBERS_UPDATE": ClientModel._thread_members_update,
    "USER_SETTINGS_UPDATE": ClientModel._user_settings,
    "USER_GUILD_SETTINGS_UPDATE": ClientModel._user_guild_settings,
}


def _by_id(objects: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {entry["id"]: dict(entry) for entry in objects}


def _channel_picture(channel: Mapping[str, Any]) -> dict[str, Any]:
    overwrites = sorted(channel["permission_overwrites"], key=lambda entry: str(entry["id"]))
    return {**channel, "permission_overwrites": overwrites}


def _without_user(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "user"}
