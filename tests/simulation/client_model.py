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

from collections.abc import Callable, Mapping
from typing import Any, Final

from chat.registries.channel_types import THREAD_CHANNEL_TYPES
from chat.registries.events import THREAD_EVENTS
from chat.registries.message_types import MessageType
from tests.simulation.account_model import AccountModel
from tests.simulation.guild_model import GuildModel, Misled, by_id
from tests.simulation.message_model import MessageModel, ReadStateModel

NO_REASONS: Final[frozenset[str]] = frozenset()
SAID: Final = frozenset({MessageType.DEFAULT.value, MessageType.CALL.value, MessageType.REPLY.value})
"""Messages that count for the other recipients of a conversation."""

ALSO_OF_CONVERSATIONS: Final = frozenset({"CHANNEL_CREATE", "CHANNEL_UPDATE", "CHANNEL_PINS_UPDATE", "MESSAGE_CREATE"})
"""Events that tell of guilds, and of conversations too."""

THREAD_CREATED: Final = MessageType.THREAD_CREATED.value
THREAD_TYPES: Final = frozenset(map(int, THREAD_CHANNEL_TYPES))


class ClientModel:
    """One session's knowledge. `threads` says whether it knows of threads: bots, and who declares it in Identify."""

    def __init__(self, ready: Mapping[str, Any], *, threads: bool) -> None:
        self.user_id: str = ready["user"]["id"]
        self.bot = bool(ready["user"].get("bot"))
        self.threads = threads or self.bot
        self.settings: dict[str, Any] | None = ready["user_settings"]
        self.account = AccountModel(ready)
        self.messages = MessageModel(self.user_id)
        self.read_states = ReadStateModel(ready, self._reasons, self._newest_of)
        self.guilds: dict[str, GuildModel] = {}
        self.unavailable: dict[str, dict[str, Any]] = {}
        """Stubs of guilds that the account is in, and that are closed or not there yet."""
        self._is_ready = False
        for guild in ready["guilds"]:
            self._put_guild(guild)
        self._is_ready = True
        self._not_followed: set[str] = set()
        for known in self.guilds.values():
            self._look_at_permissions(known)

    def take(self, name: str | None, data: Any) -> None:
        """Apply a Dispatch. Those that change nothing of the picture are passed over.

        Raises Misled for one that this session should not have heard.
        """
        if name in THREAD_EVENTS and not self.threads:
            raise Misled(f"{name} at a session that knows no threads")
        if name is None:
            return
        self.read_states.take(name, data)  # as long as the message before is the newest
        apply = _APPLY.get(name)
        blocked = self.account.blocked()
        self.account.take(name, data)
        if self.account.blocked() != blocked:
            # A message to all counts for those who have not blocked its author at the moment of counting.
            self._doubt(*(channel_id for guild in self.guilds.values() for channel_id in guild.every_channel()))
        if apply is not None:
            apply(self, dict(data))
        self._take_in_guild(name, data)
        if name == "USER_GUILD_SETTINGS_UPDATE" and data["guild_id"] in self.guilds:
            self._doubt(*self.guilds[data["guild_id"]].every_channel())  # what is suppressed is counted afresh
        self.messages.take(name, data)

    def picture(self) -> dict[str, Any]:
        """Everything that is compared, as plain data."""
        folders = None if self.settings is None else self.settings.get("guild_folders")
        account = self.account.picture()
        # Settings of a guild outlive a membership, and go some time after the guild: sessions are not told of it.
        places = {str(None), *self.guilds, *self.unavailable}
        account["guild_settings"] = {key: kept for key, kept in account["guild_settings"].items() if key in places}
        return {
            "guilds": {guild_id: guild.picture(bot=self.bot) for guild_id, guild in self.guilds.items()},
            "unavailable": self.unavailable,
            "guild_folders": folders,
            "account": account,
            "read_states": {} if self.bot else self._read_states(),
        }

    def _read_states(self) -> dict[str, tuple[Any, ...]]:
        """Of every place. What becomes of messages that the session may not read it is not told: it cannot count."""
        followed = set(self.message_channels())
        found = {}
        for place in self._places():
            last, count, pins, version = self.read_states.picture(place)
            found[place] = (last, count if place in followed else None, pins, version)
        return found

    def message_channels(self) -> list[str]:
        """Channels, threads and conversations whose messages the session may follow."""
        of_guilds = [place for guild in self.guilds.values() for place in guild.message_channels()]
        return [*of_guilds, *self.account.channels]

    def _newest_of(self, channel_id: str) -> str | None:
        """The last message that a channel, thread or conversation has had."""
        for guild in self.guilds.values():
            found = guild.channels.get(channel_id) or guild.threads.get(channel_id)
            if found is not None:
                break
        else:
            found = self.account.channels.get(channel_id, {})
        newest: str | None = found.get("last_message_id")
        return newest

    def _places(self) -> list[str]:
        """Every place with a read state that can be compared."""
        of_guilds = [
            place
            for guild in self.guilds.values()
            for place in (*guild.channels, *(guild.joined_threads & guild.active_threads().keys()))
        ]
        return [*of_guilds, *self.account.channels]

    def _reasons(self, message: Mapping[str, Any]) -> frozenset[str]:
        """Why a message mentions the account: by name, by a role, as one of all, or as one of two or a group."""
        if message["author"]["id"] in self.account.blocked():
            return NO_REASONS
        if "guild_id" not in message:
            return frozenset({"said"}) if message["type"] in SAID else NO_REASONS
        guild = self.guilds.get(message["guild_id"])
        if guild is None or guild.own is None:
            return NO_REASONS
        if message["channel_id"] not in guild.channels and message["channel_id"] not in guild.joined_threads:
            return NO_REASONS
        reasons = {"name"} if any(user["id"] == self.user_id for user in message["mentions"]) else set()
        settings = self.account.guild_settings.get(message["guild_id"], {})
        if message["mention_everyone"] and not settings.get("suppress_everyone"):
            reasons.add("all")
        if not settings.get("suppress_roles"):
            reasons |= set(message["mention_roles"]) & set(guild.own["roles"])
        return frozenset(reasons)

    def _doubt(self, *channel_ids: str) -> None:
        for channel_id in channel_ids:
            self.read_states.doubt(channel_id)

    def _look_at_permissions(self, guild: GuildModel) -> None:
        """Sight or permissions may have changed: what cannot be followed any more is closed, and counts are doubtful
        where something may have been missed."""
        followed = set(guild.message_channels())
        for channel_id in guild.every_channel():
            if channel_id not in followed:
                self.messages.close(channel_id)
                self._not_followed.add(channel_id)
                self.read_states.doubt(channel_id)
            elif channel_id in self._not_followed:
                self._not_followed.discard(channel_id)
                self.read_states.doubt(channel_id)

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
        before = self.guilds.get(guild["id"])
        self.guilds[known.properties["id"]] = known
        if not self._is_ready:
            return
        for channel_id in {*known.channels, *known.threads, *(() if before is None else before.channels)}:
            self.messages.close(channel_id)
            self.read_states.doubt(channel_id)

    def _take_in_guild(self, name: str, data: Any) -> None:
        apply = _APPLY_IN_GUILD.get(name)
        if apply is None or (name in ALSO_OF_CONVERSATIONS and not data.get("guild_id")):
            return
        guild = self._guild(data)
        if guild is not None:
            apply(self, guild, dict(data))

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

    def _guild_update(self, guild: GuildModel, data: dict[str, Any]) -> None:
        del data["guild_id"]
        guild.properties = data
        self._look_at_permissions(guild)

    def _role(self, guild: GuildModel, data: dict[str, Any]) -> None:
        guild.roles[data["role"]["id"]] = data["role"]
        self._look_at_permissions(guild)

    def _roles(self, guild: GuildModel, data: dict[str, Any]) -> None:
        guild.roles |= by_id(data["roles"])
        self._look_at_permissions(guild)

    def _role_delete(self, guild: GuildModel, data: dict[str, Any]) -> None:
        guild.drop_role(data["role_id"])
        self._look_at_permissions(guild)

    def _emojis(self, guild: GuildModel, data: dict[str, Any]) -> None:
        guild.emojis = by_id(data["emojis"])

    def _stickers(self, guild: GuildModel, data: dict[str, Any]) -> None:
        guild.stickers = by_id(data["stickers"])

    # Members

    def _member_add(self, guild: GuildModel, data: dict[str, Any]) -> None:
        if data["user"]["id"] != self.user_id:
            guild.member_count += 1

    def _member_update(self, guild: GuildModel, data: dict[str, Any]) -> None:
        if data["user"]["id"] == self.user_id:
            del data["guild_id"]
            if guild.own is not None and guild.own["roles"] != data["roles"]:
                self._doubt(*guild.every_channel())
            guild.own = data
            self._look_at_permissions(guild)

    def _member_remove(self, guild: GuildModel, data: dict[str, Any]) -> None:
        guild.member_count -= 1

    # Channels

    def _channel_create(self, guild: GuildModel, data: dict[str, Any]) -> None:
        if data["id"] in guild.channels:
            raise Misled(f"channel {data['id']} came twice")
        guild.channels[data["id"]] = data
        if data.get("last_message_id") is not None:
            self.read_states.doubt(data["id"])
        self._look_at_permissions(guild)

    def _channel_update(self, guild: GuildModel, data: dict[str, Any]) -> None:
        if data["id"] not in guild.channels:
            raise Misled(f"channel {data['id']} changed, which the session does not see")
        guild.channels[data["id"]] = data
        self._look_at_permissions(guild)

    def _channel_update_bulk(self, guild: GuildModel, data: dict[str, Any]) -> None:
        for channel in data["channels"]:
            self._channel_update(guild, {**channel, "guild_id": data["guild_id"]})

    def _channel_delete(self, data: dict[str, Any]) -> None:
        guild = self._guild(data) if data.get("guild_id") else None
        self.messages.close(data["id"])
        if guild is not None:
            for thread in [thread for thread in guild.threads.values() if thread["parent_id"] == data["id"]]:
                self.messages.close(thread["id"])
            guild.drop_channel(data["id"])

    def _message_create(self, guild: GuildModel, data: dict[str, Any]) -> None:
        channel = guild.channels.get(data["channel_id"])
        if data["type"] == THREAD_CREATED:
            return  # not shown to all who see the channel, so it does not count as its last message
        if channel is not None:
            channel["last_message_id"] = data["id"]
        elif data["channel_id"] in guild.threads:
            guild.threads[data["channel_id"]]["last_message_id"] = data["id"]
        elif data.get("channel_type") not in THREAD_TYPES:
            raise Misled(f"a message in channel {data['channel_id']}, which the session does not see")

    def _pins_update(self, guild: GuildModel, data: dict[str, Any]) -> None:
        channel = guild.channels.get(data["channel_id"], guild.threads.get(data["channel_id"]))
        if channel is not None:
            channel["last_pin_timestamp"] = data["last_pin_timestamp"]

    def _passive_updates(self, guild: GuildModel, data: dict[str, Any]) -> None:
        for channel_id, message_id in data["channels"].items():
            if channel_id in guild.channels:
                guild.channels[channel_id]["last_message_id"] = message_id

    # Threads

    def _thread(self, guild: GuildModel, data: dict[str, Any]) -> None:
        if data["parent_id"] not in guild.channels:
            raise Misled(f"a thread below channel {data['parent_id']}, which the session does not see")
        if data["id"] not in guild.threads and not data.get("newly_created"):
            self.read_states.doubt(data["id"])
        guild.put_thread(data)

    def _thread_delete(self, data: dict[str, Any]) -> None:
        guild = self._guild(data)
        self.messages.close(data["id"])
        if guild is not None:
            guild.drop_thread(data["id"])

    def _thread_list_sync(self, guild: GuildModel, data: dict[str, Any]) -> None:
        wanted = data.get("channel_ids")
        for thread in list(guild.threads.values()):
            if wanted is None or thread["parent_id"] in wanted:
                guild.drop_thread(thread["id"])
                self.messages.close(thread["id"])
        for thread in data["threads"]:
            guild.put_thread(thread)
            self.read_states.doubt(thread["id"])
        guild.joined_threads |= {member["id"] for member in data["members"]}

    def _thread_members_update(self, guild: GuildModel, data: dict[str, Any]) -> None:
        if data["id"] in guild.threads:
            guild.threads[data["id"]]["member_count"] = data["member_count"]
        if any(entry["user_id"] == self.user_id for entry in data.get("added_members", ())):
            guild.joined_threads.add(data["id"])
            self.read_states.doubt(data["id"])
        if self.user_id in data.get("removed_member_ids", ()):
            guild.joined_threads.discard(data["id"])
            self._look_at_permissions(guild)

    # The account

    def _user_settings(self, data: dict[str, Any]) -> None:
        self.settings = data


_APPLY: Final[Mapping[str, Callable[[ClientModel, Any], None]]] = {
    "GUILD_CREATE": ClientModel._put_guild,
    "GUILD_SYNC": ClientModel._put_guild,
    "GUILD_DELETE": ClientModel._guild_delete,
    "CHANNEL_DELETE": ClientModel._channel_delete,
    "THREAD_DELETE": ClientModel._thread_delete,
    "USER_SETTINGS_UPDATE": ClientModel._user_settings,
}

_APPLY_IN_GUILD: Final[Mapping[str, Callable[[ClientModel, GuildModel, Any], None]]] = {
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
    "CHANNEL_PINS_UPDATE": ClientModel._pins_update,
    "MESSAGE_CREATE": ClientModel._message_create,
    "PASSIVE_UPDATES": ClientModel._passive_updates,
    "THREAD_CREATE": ClientModel._thread,
    "THREAD_UPDATE": ClientModel._thread,
    "THREAD_LIST_SYNC": ClientModel._thread_list_sync,
    "THREAD_MEMBERS_UPDATE": ClientModel._thread_members_update,
}
