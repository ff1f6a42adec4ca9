"""Who is in a guild: listing, joining, leaving (document 001, Leave guild; wire facts 5.2 and appendix D)."""

from __future__ import annotations

import functools
import sqlite3
import sys
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from chat.auth.principal import Principal
from chat.bus.audience import ToGuild
from chat.bus.bus import Bus, Event, GuildJoined, GuildLeft
from chat.clock import Clock
from chat.config import Settings
from chat.domain import guild_folders
from chat.domain.access import Access, GuildChannelAccess
from chat.domain.guild_states import GuildState, GuildStates, Member, Role
from chat.domain.instance_policy import InstancePolicy
from chat.domain.limits import limits_of, max_guild_members
from chat.domain.message_events import message_created
from chat.domain.objects.messages import author_object, message_object
from chat.domain.objects.roles import role_object
from chat.domain.objects.users import partial_user
from chat.domain.system_messages import write_join_message
from chat.errors import ApiError, InvalidFormBody
from chat.registries.events import EventName
from chat.registries.join_sources import JoinSource
from chat.snowflake import SnowflakeGenerator
from chat.store import accounts, guilds, members
from chat.store.accounts import Account
from chat.store.database import Database
from chat.store.messages import Message


@attrs.frozen
class _Joined:
    """What a join wrote."""

    member: Member
    member_count: int
    message: Message | None
    settings: dict[str, Any] | None
    role: Role | None


@attrs.frozen
class _Left:
    """What a departure wrote."""

    member_count: int
    settings: dict[str, Any] | None


class Memberships:
    """The operations on members."""

    def __init__(
        self,
        database: Database,
        guild_states: GuildStates,
        access: Access,
        bus: Bus,
        clock: Clock,
        snowflakes: SnowflakeGenerator,
        settings: Settings,
        policy: InstancePolicy,
    ) -> None:
        self._database = database
        self._guild_states = guild_states
        self._access = access
        self._bus = bus
        self._clock = clock
        self._snowflakes = snowflakes
        self._settings = settings
        self._policy = policy

    async def of_guild(self, principal: Principal, guild_id: int, *, after: int, limit: int) -> list[dict[str, Any]]:
        """Members with a user id above `after`, in order of user id."""
        state = self._access.guild(principal, guild_id).state
        found = await self._database.read(functools.partial(_members_with_accounts, guild_id, after, limit))
        return [state.member_object(member, author_object(member.user_id, account)) for member, account in found]

    async def get(self, principal: Principal, guild_id: int, user_id: int) -> dict[str, Any]:
        """One member.

        :raises ApiError: as `Access.guild`; UNKNOWN_MEMBER.
        """
        state = self._access.guild(principal, guild_id).state
        member = state.member(user_id)
        if member is None:
            raise ApiError("UNKNOWN_MEMBER")
        return state.member_object(member, author_object(user_id, state.account(user_id)))

    async def join(
        self,
        account: Account,
        guild_id: int,
        source: JoinSource,
        *,
        inviter_id: int | None = None,
        first: Callable[[sqlite3.Connection], Role | None] | None = None,
    ) -> bool:
        """Make the account a member. `first` runs in the same transaction before anything is written, and may refuse;
        a role that it has made for the newcomer is given and announced.

        Returns False, and nothing happens, for an account that is a member already.

        :raises ApiError: UNKNOWN_GUILD, MAX_GUILDS, MAX_GUILD_MEMBERS, and what `first` raises.
        """
        now = self._clock.now_ms()
        member = Member(
            guild_id=guild_id,
            user_id=account.id,
            joined_at=now,
            join_source=source.value,
            inviter_id=inviter_id,
        )
        # How many guilds a bot is in is bounded by its shards (document 000, Identify and sharding).
        max_guilds = sys.maxsize if account.bot else limits_of(self._settings, account, now).max_guilds
        message_id = self._snowflakes()

        def unit(connection: sqlite3.Connection) -> _Joined | None:
            if members.exists(connection, guild_id, account.id):
                return None
            guild = guilds.by_id(connection, guild_id)
            if guild is None:
                raise ApiError("UNKNOWN_GUILD")
            role = None if first is None else first(connection)
            if guilds.count_of_user(connection, account.id) >= max_guilds:
                raise ApiError("MAX_GUILDS")
            if guild.member_count >= max_guild_members(self._settings, guild):
                raise ApiError("MAX_GUILD_MEMBERS")
            joined = member if role is None else attrs.evolve(member, role_ids=frozenset({role.id}))
            members.insert(connection, joined)
            return _Joined(
                joined,
                guilds.add_to_member_count(connection, guild_id, 1),
                write_join_message(connection, guild, account.id, message_id),
                guild_folders.enter_guild(connection, account, guild_id),
                role,
            )

        def then(joined: _Joined | None) -> None:
            if joined is not None:
                self._announce_join(account, joined)

        return await self._database.write(unit, then) is not None

    async def leave(self, principal: Principal, guild_id: int) -> None:
        """Leave guild. Works on a guild that is unavailable too.

        :raises ApiError: UNKNOWN_MEMBER, also for a guild that does not exist; SINGLE_COMMUNITY_CANNOT_LEAVE.
        :raises InvalidFormBody: CANNOT_LEAVE_GUILD_AS_OWNER at `guild_id`.
        """
        account = principal.account

        def unit(connection: sqlite3.Connection) -> _Left:
            guild = guilds.by_id(connection, guild_id)
            if guild is None or not members.exists(connection, guild_id, account.id):
                raise ApiError("UNKNOWN_MEMBER")
            if self._policy.protects(guild_id):
                raise ApiError("SINGLE_COMMUNITY_CANNOT_LEAVE")
            if guild.owner_id == account.id:
                raise InvalidFormBody.at("guild_id", "CANNOT_LEAVE_GUILD_AS_OWNER")
            members.delete(connection, guild_id, account.id)
            return _Left(
                guilds.add_to_member_count(connection, guild_id, -1),
                guild_folders.leave_guild(connection, account, guild_id),
            )

        def then(left: _Left) -> None:
            self._announce_departure(guild_id, account.id, left)

        await self._database.write(unit, then)

    def _announce_join(self, account: Account, joined: _Joined) -> None:
        guild_id = joined.member.guild_id
        state = self._guild_states.get(guild_id)
        if state is None:
            return
        if joined.role is not None:
            state.put_role(joined.role)
            self._bus.publish(_role_created(joined.role))
        state.put_member(joined.member)
        state.member_count = joined.member_count
        member = {**state.member_object(joined.member, partial_user(account)), "guild_id": str(guild_id)}
        # Those who were there hear of the newcomer; the newcomer's own sessions get the guild whole.
        self._bus.publish(
            Event(EventName.GUILD_MEMBER_ADD, member, ToGuild(guild_id)), GuildJoined(guild_id, account.id)
        )
        if joined.settings is not None:
            self._bus.publish(guild_folders.settings_changed(account.id, joined.settings))
        if joined.message is not None:
            self._announce_message(state, account, joined.member, joined.message)

    def _announce_message(self, state: GuildState, account: Account, member: Member, message: Message) -> None:
        channel = state.channels.get(message.channel_id)
        if channel is None:
            return
        access = GuildChannelAccess(account.id, channel, 0, state, member)
        access.note_message(message.id)
        wire = message_object(message, author=partial_user(account), mentions=[])
        self._bus.publish(message_created(access, message, wire))

    def _announce_departure(self, guild_id: int, user_id: int, left: _Left) -> None:
        state = self._guild_states.loaded(guild_id)
        if state is not None:
            state.drop_member(user_id)
            state.member_count = left.member_count
        removed = {"guild_id": str(guild_id), "user": {"id": str(user_id)}}
        # The leaver's sessions go first, so that Guild Member Remove reaches those that remain and no others.
        self._bus.publish(
            GuildLeft(guild_id, user_id), Event(EventName.GUILD_MEMBER_REMOVE, removed, ToGuild(guild_id))
        )
        if left.settings is not None:
            self._bus.publish(guild_folders.settings_changed(user_id, left.settings))


def _role_created(role: Role) -> Event:
    plain, whole = (
        {"guild_id": str(role.guild_id), "role": role_object(role, threads=threads)} for threads in (False, True)
    )
    return Event(EventName.GUILD_ROLE_CREATE, plain, ToGuild(role.guild_id), thread_data=whole)


def _members_with_accounts(
    guild_id: int, after: int, limit: int, connection: sqlite3.Connection
) -> Sequence[tuple[Member, Account | None]]:
    found = members.of_guild(connection, guild_id, after, limit)
    return [(member, accounts.by_id(connection, member.user_id)) for member in found]
