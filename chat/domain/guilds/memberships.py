"""Membership of a guild: listing, joining, leaving (guilds.md, Leave guild; guilds.md, Members).

A time-out outlives the membership: an account that comes back within a year is still timed out (guilds.md, Leave
guild).
"""

from __future__ import annotations

import functools
import sqlite3
import sys
from collections.abc import Callable, Sequence
from typing import Final

from chat import wire
from chat.auth.client_address import network_of
from chat.auth.principal import Principal
from chat.bus.audience import ToGuild, ToThread
from chat.bus.bus import Event, GuildJoined, GuildLeft
from chat.classes import define, frozen
from chat.domain.accounts import guild_folders
from chat.domain.core import Core
from chat.domain.messages.message_events import WrittenMessage, message_created, write_join_message
from chat.domain.messages.message_objects import author_object, message_object
from chat.domain.policy.instance_policy import max_guild_members
from chat.domain.standing.access import GuildChannelAccess, require_guild
from chat.domain.standing.guild_states import GuildState, Member
from chat.domain.standing.user_objects import limits_of, partial_user
from chat.errors import ApiError, InvalidFormBody
from chat.registries.channel_types import ChannelType
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.guild_values import JoinSource
from chat.registries.limits import THREAD_MEMBER_COUNT_MAXIMUM
from chat.store import threads
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.guilds import bans, guilds, members
from chat.store.guilds.guilds import Guild
from chat.store.messages.messages import Message

KEPT_MS: Final = 365 * 86_400_000
"""How long after leaving a time-out is resumed."""


@frozen
class Preparation:
    """What is prepared before a newcomer joins: the roles that it gets, and the event about it."""

    role_ids: frozenset[int]
    announce: Callable[[], None]
    """Called after the commit, before others hear of the newcomer."""


@frozen
class _Joined:
    member: Member
    member_count: int
    message: WrittenMessage | None
    settings: wire.UserSettings | None
    prepared: Preparation | None


@frozen
class Departure:
    """What the end of a membership changed in the store."""

    guild_id: int
    user_id: int
    member_count: int
    settings: wire.UserSettings | None
    thread_ids: tuple[int, ...]
    """Threads that the member was in."""


@define(kw_only=True, eq=False)
class Memberships:
    _core: Core

    async def of_guild(self, principal: Principal, guild_id: int, *, after: int, limit: int) -> list[wire.Member]:
        """At most `limit` members with a user id above `after`, in order of user id.

        :raises ApiError: as `Access.guild`.
        """
        state = self._core.access.guild(principal, guild_id).state
        found = await self._core.database.read(functools.partial(_members_with_accounts, guild_id, after, limit))
        return [state.member_object(member, author_object(member.user_id, account)) for member, account in found]

    def every(self, state: GuildState) -> list[wire.Member]:
        """All members of a guild of at most a few hundred, as they are at this moment: nothing waits meanwhile."""
        found = self._core.database.read_here(
            functools.partial(_members_with_accounts, state.id, 0, state.member_count)
        )
        return [state.member_object(member, author_object(member.user_id, account)) for member, account in found]

    async def get(self, principal: Principal, guild_id: int, user_id: int) -> wire.Member:
        """One member.

        :raises ApiError: as `Access.guild`; UNKNOWN_MEMBER.
        """
        state = self._core.access.guild(principal, guild_id).state
        member = state.member(user_id)
        if member is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER)
        return state.member_object(member, author_object(user_id, state.account(user_id)))

    async def join(
        self,
        account: Account,
        guild_id: int,
        source: JoinSource,
        *,
        inviter_id: int | None = None,
        address: str | None = None,
        temporary: bool = False,
        first: Callable[[sqlite3.Connection], Preparation | None] | None = None,
        guard: Guard,
    ) -> bool:
        """Make the account a member. `first` runs in the same transaction before anything is written; it may refuse,
        and it may prepare something for the newcomer.

        `address` is the IP address that the request comes from, which must not be banned. A `temporary` membership
        ends with the account's last gateway session (`chat.domain.guilds.absent_members`). A time-out that the account
        left the guild with goes on. Returns False, and nothing happens, for an account that is a member already.

        :raises ApiError: UNKNOWN_GUILD, USER_BANNED_FROM_GUILD, USER_IP_BANNED_FROM_GUILD, MAX_GUILDS,
            MAX_GUILD_MEMBERS, and what `first` raises.
        """
        now = self._core.clock.now_ms()
        # How many guilds a bot is in is bounded by its shards (gateway.md, Shards).
        max_guilds = sys.maxsize if account.bot else limits_of(self._core.settings, account, now).max_guilds
        message_id = self._core.snowflakes()

        def unit(connection: sqlite3.Connection) -> _Joined | None:
            if members.exists(connection, guild_id, account.id):
                return None
            guild = _guild_open_to(connection, guild_id, account, address, now)
            prepared = None if first is None else first(connection)
            if guilds.count_of_user(connection, account.id) >= max_guilds:
                raise ApiError(ErrorCode.MAX_GUILDS)
            if guild.member_count >= max_guild_members(self._core.settings, guild):
                raise ApiError(ErrorCode.MAX_GUILD_MEMBERS)
            member = Member(
                guild_id=guild_id,
                user_id=account.id,
                joined_at=now,
                join_source=source.value,
                inviter_id=inviter_id,
                role_ids=frozenset() if prepared is None else prepared.role_ids,
                communication_disabled_until=_resumed_timeout(connection, guild_id, account.id, now),
            )
            members.insert(connection, member)
            if temporary:
                members.insert_temporary(connection, guild_id, account.id)
            return _Joined(
                member,
                guilds.add_to_member_count(connection, guild_id, 1),
                write_join_message(connection, guild, account.id, message_id),
                guild_folders.enter_guild(connection, account, guild_id),
                prepared,
            )

        announce = functools.partial(self._announce_join, account)
        return await self._core.database.write(unit, announce, guard=guard) is not None

    async def leave(self, principal: Principal, guild_id: int) -> None:
        """Leave guild. Works on a guild that is unavailable too.

        :raises ApiError: UNKNOWN_MEMBER, also for a guild that does not exist; SINGLE_COMMUNITY_CANNOT_LEAVE.
        :raises InvalidFormBody: CANNOT_LEAVE_GUILD_AS_OWNER at `guild_id`.
        """
        account = principal.account

        def unit(connection: sqlite3.Connection) -> Departure:
            guild = guilds.by_id(connection, guild_id)
            if guild is None or not members.exists(connection, guild_id, account.id):
                raise ApiError(ErrorCode.UNKNOWN_MEMBER)
            self._require_may_leave(guild, account.id)
            return self.depart(connection, guild_id, account)

        await self._core.database.write(unit, self.announce_departure, guard=principal.guard)

    def require_may_leave(self, principal: Principal, guild_id: int, *, as_owner: bool = False) -> None:
        """Raise what refuses Leave guild with `delete_messages`; `as_owner` not yet for an owner.

        :raises ApiError: UNKNOWN_GUILD, MISSING_PERMISSIONS (not a member), SINGLE_COMMUNITY_CANNOT_LEAVE.
        :raises InvalidFormBody: CANNOT_LEAVE_GUILD_AS_OWNER at `guild_id`.
        """
        guild = guilds.by_id(self._core.database.reader, guild_id)
        if guild is None:
            raise ApiError(ErrorCode.UNKNOWN_GUILD)
        if not members.exists(self._core.database.reader, guild_id, principal.user_id):
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
        if not as_owner or self._core.policy.protects(guild_id):
            self._require_may_leave(guild, principal.user_id)

    def depart_if_possible(self, connection: sqlite3.Connection, guild_id: int, user_id: int) -> Departure | None:
        """In a unit of writing: as `depart`; None for an account that is no member, and for one that has to stay."""
        guild, account = guilds.by_id(connection, guild_id), accounts.by_id(connection, user_id)
        if guild is None or account is None or not members.exists(connection, guild_id, user_id):
            return None
        if self._core.policy.protects(guild_id) or guild.owner_id == user_id:
            return None
        return self.depart(connection, guild_id, account)

    def leave_in(self, connection: sqlite3.Connection, guild_id: int, user_id: int) -> Callable[[], None] | None:
        """In a unit: as `depart_if_possible`; gives what announces the departure after the commit."""
        departure = self.depart_if_possible(connection, guild_id, user_id)
        return None if departure is None else functools.partial(self.announce_departure, departure)

    def _require_may_leave(self, guild: Guild, user_id: int) -> None:
        if self._core.policy.protects(guild.id):
            raise ApiError(ErrorCode.SINGLE_COMMUNITY_CANNOT_LEAVE)
        if guild.owner_id == user_id:
            raise InvalidFormBody.at("guild_id", FieldCode.CANNOT_LEAVE_GUILD_AS_OWNER)

    def depart(self, connection: sqlite3.Connection, guild_id: int, account: Account) -> Departure:
        """In a unit of writing: a member is one no longer, of the guild and of its threads; hand the result to
        `announce_departure` after the commit."""
        member = members.by_id(connection, guild_id, account.id)
        if member is not None:
            _keep_timeout(connection, member, self._core.clock.now_ms())
        left_threads = threads.joined(connection, guild_id, account.id, archived_too=True)
        for left in left_threads:
            threads.remove_member(connection, left.thread.id, account.id)
        members.delete(connection, guild_id, account.id)
        return Departure(
            guild_id,
            account.id,
            guilds.add_to_member_count(connection, guild_id, -1),
            guild_folders.leave_guild(connection, account, guild_id),
            tuple(left.thread.id for left in left_threads),
        )

    def _announce_join(self, account: Account, joined: _Joined | None) -> None:
        if joined is None:
            return
        guild_id = joined.member.guild_id
        state = self._core.guild_states.get(guild_id)
        if state is None:
            return
        if joined.prepared is not None:
            joined.prepared.announce()
        state.put_member(joined.member)
        state.member_count = joined.member_count
        member = {**state.member_object(joined.member, partial_user(account)), "guild_id": str(guild_id)}
        # Those who were there hear of the newcomer; the newcomer's own sessions get the guild whole.
        self._core.bus.publish(
            Event(EventName.GUILD_MEMBER_ADD, member, ToGuild(guild_id)), GuildJoined(guild_id, account.id)
        )
        if joined.settings is not None:
            self._core.bus.publish(guild_folders.settings_changed(account.id, joined.settings))
        if joined.message is not None:
            self._announce_message(state, account, joined.member, joined.message.message)

    def _announce_message(self, state: GuildState, account: Account, member: Member, message: Message) -> None:
        channel = state.channels.get(message.channel_id)
        if channel is None:
            return
        access = GuildChannelAccess(account.id, channel, 0, state, member)
        access.note_message(message.id)
        shown = message_object(message, author=partial_user(account), mentions=[])
        self._core.bus.publish(message_created(access, message, shown))

    def announce_departure(self, left: Departure) -> None:
        """After the commit: take the leaver's sessions out of the guild, and tell those who stay."""
        guild_id, user_id = left.guild_id, left.user_id
        state = self._core.guild_states.loaded(guild_id)
        if state is not None:
            state.drop_member(user_id)
            state.member_count = left.member_count
        removed = {"guild_id": str(guild_id), "user": {"id": str(user_id)}}
        # The leaver's sessions go first, so that Guild Member Remove reaches those that remain and no others.
        self._core.bus.publish(
            GuildLeft(guild_id, user_id), Event(EventName.GUILD_MEMBER_REMOVE, removed, ToGuild(guild_id))
        )
        if state is not None:
            self._announce_left_threads(state, left)
        if left.settings is not None:
            self._core.bus.publish(guild_folders.settings_changed(user_id, left.settings))

    def _announce_left_threads(self, state: GuildState, left: Departure) -> None:
        for thread_id in left.thread_ids:
            thread = threads.by_id(self._core.database.reader, thread_id)
            if thread is None:
                continue
            data = {
                "id": str(thread_id),
                "guild_id": str(left.guild_id),
                "member_count": min(thread.member_count, THREAD_MEMBER_COUNT_MAXIMUM),
                "removed_member_ids": [str(left.user_id)],
            }
            is_private = thread.channel.type == ChannelType.PRIVATE_THREAD
            readers = threads.member_ids(self._core.database.reader, thread_id) if is_private else None
            audience = ToThread(state.id, thread.channel.parent_id or 0, readers)
            self._core.bus.publish(Event(EventName.THREAD_MEMBERS_UPDATE, data, audience))


def _guild_open_to(
    connection: sqlite3.Connection, guild_id: int, account: Account, address: str | None, now: int
) -> Guild:
    """In a unit of writing: the guild that the account is about to join.

    :raises ApiError: UNKNOWN_GUILD, USER_BANNED_FROM_GUILD, USER_IP_BANNED_FROM_GUILD.
    """
    guild = require_guild(connection, guild_id)
    if bans.by_id(connection, guild_id, account.id, now) is not None:
        raise ApiError(ErrorCode.USER_BANNED_FROM_GUILD)
    if address is not None and bans.is_network_banned(connection, guild_id, network_of(address), now):
        raise ApiError(ErrorCode.USER_IP_BANNED_FROM_GUILD)
    return guild


def _members_with_accounts(
    guild_id: int, after: int, limit: int, connection: sqlite3.Connection
) -> Sequence[tuple[Member, Account | None]]:
    found = members.of_guild(connection, guild_id, after, limit)
    return [(member, accounts.by_id(connection, member.user_id)) for member in found]


def _keep_timeout(connection: sqlite3.Connection, member: Member, now_ms: int) -> None:
    """In a unit of writing: keep the time-out of a member who goes, if one still runs."""
    members.delete_timeouts_over(connection, member.guild_id, now_ms)
    until = member.communication_disabled_until
    if until is not None and until > now_ms:
        members.keep_timeout(connection, member.guild_id, member.user_id, until=until, left_at=now_ms)


def _resumed_timeout(connection: sqlite3.Connection, guild_id: int, user_id: int, now_ms: int) -> int | None:
    """In a unit of writing: until when an account that joins is timed out (Unix milliseconds), if it is."""
    kept = members.take_timeout(connection, guild_id, user_id)
    if kept is None:
        return None
    until, left_at = kept
    return until if until > now_ms and now_ms - left_at <= KEPT_MS else None
