"""Keeping accounts out of a guild, and removing members (guilds.md, Bans).

A ban keeps out the account, and all accounts from the network that it came from last. It may end by itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from chat import wire
from chat.auth.client_address import network_of
from chat.auth.principal import Principal
from chat.bus.audience import ToGuild
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.guilds.memberships import Departure, Memberships
from chat.domain.messages.author_messages import AuthorsMessages
from chat.domain.messages.message_objects import author_object
from chat.domain.policy.errands import Errand
from chat.domain.standing.access import GuildAccess, require_guild
from chat.domain.standing.audit_log import Actor
from chat.errors import ApiError, InvalidFormBody
from chat.registries.audit_actions import AuditAction
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.permissions import Permission
from chat.snowflake import snowflake_at
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.guilds import bans, members
from chat.store.guilds.bans import Ban
from chat.store.standing.guild_audit_log import AuditLogEntry

First = Callable[[sqlite3.Connection], Any]
"""Runs in the unit of a ban or a removal before anything is written, and may refuse."""


def _nothing(_: sqlite3.Connection) -> None: ...


@frozen
class NewBan:
    """A ban as it is asked for. `duration_seconds` None bans for good."""

    reason: str | None = None
    delete_message_seconds: int = 0
    duration_seconds: int | None = None


@frozen
class _RemovedMember:
    departure: Departure | None
    entry: AuditLogEntry


@frozen
class _BannedAccount(_RemovedMember):
    ban: Ban
    messages: Errand | None
    """The errand that deletes the account's messages, if they are to go."""


@define(kw_only=True, eq=False)
class Bans:
    _core: Core
    _memberships: Memberships
    _authors_messages: AuthorsMessages

    async def of_guild(self, principal: Principal, guild_id: int, *, after: int, limit: int) -> list[wire.Ban]:
        """A page of the guild's bans, in order of the accounts' ids.

        :raises ApiError: as `Access.guild` with BAN_MEMBERS.
        """
        self._core.access.guild(principal, guild_id, Permission.BAN_MEMBERS)
        now = self._core.clock.now_ms()

        def query(connection: sqlite3.Connection) -> list[wire.Ban]:
            found = bans.of_guild(connection, guild_id, now, after=after, limit=limit)
            return [ban_object(ban, accounts.by_id(connection, ban.user_id)) for ban in found]

        return await self._core.database.read(query)

    async def ban(self, principal: Principal, guild_id: int, user_id: int, new: NewBan, reason: str | None) -> None:
        """Ban an account, member or not; a member is removed. A ban that it has is replaced.

        Messages that are to go are gone when this returns.

        :raises ApiError: as `Access.guild` with BAN_MEMBERS; UNKNOWN_USER; MISSING_PERMISSIONS for the owner, oneself
            and a member who does not stand below the caller.
        """
        access = self._core.access.guild(principal, guild_id, Permission.BAN_MEMBERS)
        self._require_below(access, user_id)
        given = new.reason if reason is None else reason
        await self.put(Actor(principal.user_id, given), guild_id, user_id, new, guard=principal.guard)

    async def put(
        self, actor: Actor, guild_id: int, user_id: int, new: NewBan, first: First = _nothing, *, guard: Guard
    ) -> Ban:
        """Ban an account, without regard to the actor's rights, for the actor's reason; the ban.

        :raises ApiError: UNKNOWN_GUILD, UNKNOWN_USER; MISSING_PERMISSIONS for the owner.
        """
        now = self._core.clock.now_ms()
        expires_at = None if new.duration_seconds is None else now + new.duration_seconds * 1_000

        def unit(connection: sqlite3.Connection) -> _BannedAccount:
            guild, target = require_guild(connection, guild_id), accounts.by_id(connection, user_id)
            if target is None or target.is_deleted:
                raise ApiError(ErrorCode.UNKNOWN_USER)
            if guild.owner_id == user_id:
                raise ApiError(ErrorCode.MISSING_PERMISSIONS)
            first(connection)
            network = None if target.last_active_ip is None or target.bot else network_of(target.last_active_ip)
            bans.delete_expired(connection, guild_id, now)
            ban = Ban(guild_id, user_id, actor.user_id, actor.reason, now, expires_at, network)
            bans.put(connection, ban)
            departure, going, options = None, None, None
            if members.exists(connection, guild_id, user_id):
                departure = self._memberships.depart(connection, guild_id, target)
            if new.delete_message_seconds:
                since_id = snowflake_at(now - new.delete_message_seconds * 1_000)
                going = self._authors_messages.begin_in(connection, guild_id, user_id, since_id)
                options = {"delete_message_seconds": str(new.delete_message_seconds)}
            entry = self._core.audit_log.record(
                connection, guild_id, AuditAction.MEMBER_BAN_ADD, actor, target_id=user_id, options=options
            )
            return _BannedAccount(departure, entry, ban, going)

        def then(removed: _BannedAccount) -> None:
            data = {"guild_id": str(guild_id), "user": {"id": str(user_id)}}
            self._core.bus.publish(Event(EventName.GUILD_BAN_ADD, data, ToGuild(guild_id)))
            if removed.departure is not None:
                self._memberships.announce_departure(removed.departure)
            self._core.audit_log.publish(removed.entry)

        banned = await self._core.database.write(unit, then, guard=guard)
        if banned.messages is not None:
            await self._authors_messages.finish(banned.messages)
        return banned.ban

    async def lift(self, principal: Principal, guild_id: int, user_id: int, reason: str | None) -> None:
        """Lift a ban.

        :raises ApiError: as `Access.guild` with BAN_MEMBERS.
        :raises InvalidFormBody: USER_IS_NOT_BANNED at `user_id`.
        """
        self._core.access.guild(principal, guild_id, Permission.BAN_MEMBERS)
        await self.take_back(Actor(principal.user_id, reason), guild_id, user_id, guard=principal.guard)

    async def take_back(
        self, actor: Actor, guild_id: int, user_id: int, first: First = _nothing, *, guard: Guard
    ) -> None:
        """Lift a ban, without regard to the actor's rights.

        :raises ApiError: UNKNOWN_GUILD.
        :raises InvalidFormBody: USER_IS_NOT_BANNED at `user_id`.
        """
        now = self._core.clock.now_ms()

        def unit(connection: sqlite3.Connection) -> AuditLogEntry:
            require_guild(connection, guild_id)
            stands = bans.by_id(connection, guild_id, user_id, now) is not None
            bans.delete(connection, guild_id, user_id)
            if not stands:
                raise InvalidFormBody.at("user_id", FieldCode.USER_IS_NOT_BANNED)
            first(connection)
            return self._core.audit_log.record(
                connection, guild_id, AuditAction.MEMBER_BAN_REMOVE, actor, target_id=user_id
            )

        def then(entry: AuditLogEntry) -> None:
            data = {"guild_id": str(guild_id), "user": {"id": str(user_id)}}
            self._core.bus.publish(Event(EventName.GUILD_BAN_REMOVE, data, ToGuild(guild_id)))
            self._core.audit_log.publish(entry)

        await self._core.database.write(unit, then, guard=guard)

    async def kick(self, principal: Principal, guild_id: int, user_id: int, reason: str | None) -> None:
        """Remove a member, who may come back.

        :raises ApiError: as `Access.guild` with KICK_MEMBERS; UNKNOWN_MEMBER; MISSING_PERMISSIONS as in `ban`.
        """
        access = self._core.access.guild(principal, guild_id, Permission.KICK_MEMBERS)
        if access.state.member(user_id) is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER)
        self._require_below(access, user_id)
        await self.remove(Actor(principal.user_id, reason), guild_id, user_id, guard=principal.guard)

    async def remove(self, actor: Actor, guild_id: int, user_id: int, first: First = _nothing, *, guard: Guard) -> None:
        """Remove a member, without regard to the actor's rights.

        :raises ApiError: UNKNOWN_GUILD, UNKNOWN_MEMBER; MISSING_PERMISSIONS for the owner.
        """

        def unit(connection: sqlite3.Connection) -> _RemovedMember:
            guild, target = require_guild(connection, guild_id), accounts.by_id(connection, user_id)
            if target is None or not members.exists(connection, guild_id, user_id):
                raise ApiError(ErrorCode.UNKNOWN_MEMBER)
            if guild.owner_id == user_id:
                raise ApiError(ErrorCode.MISSING_PERMISSIONS)
            first(connection)
            departure = self._memberships.depart(connection, guild_id, target)
            entry = self._core.audit_log.record(connection, guild_id, AuditAction.MEMBER_KICK, actor, target_id=user_id)
            return _RemovedMember(departure, entry)

        def then(removed: _RemovedMember) -> None:
            if removed.departure is not None:
                self._memberships.announce_departure(removed.departure)
            self._core.audit_log.publish(removed.entry)

        await self._core.database.write(unit, then, guard=guard)

    def _require_below(self, access: GuildAccess, user_id: int) -> None:
        """Raise MISSING_PERMISSIONS unless the account stands below the caller; one that is no member does."""
        state, target = access.state, access.state.member(user_id)
        if user_id == access.member.user_id or (target is not None and state.rank(target) >= state.rank(access.member)):
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)


def ban_object(ban: Ban, account: Account | None) -> wire.Ban:
    """A ban as the wire has it (guilds.md, Bans)."""
    return {
        "user": author_object(ban.user_id, account),
        "reason": ban.reason,
        "moderator_id": str(ban.moderator_id),
        "banned_at": iso_timestamp(ban.banned_at),
        "expires_at": None if ban.expires_at is None else iso_timestamp(ban.expires_at),
    }
