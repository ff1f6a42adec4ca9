"""What an administrator does about the members of guilds (administration.md, Administered guilds).

The guild's own rules hold where they protect it (its owner is neither removed nor kept out, a ban keeps out even whom
an administrator would add), permissions do not: the administrator need not be a member.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import attrs

from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog
from chat.domain.administration.administration_objects import admin_guild_member
from chat.domain.core import Core
from chat.domain.guilds.bans import Bans, NewBan, ban_object
from chat.domain.guilds.memberships import Memberships, Preparation
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.guild_states import GuildState
from chat.domain.standing.rosters import Rosters
from chat.errors import ApiError
from chat.registries.admin_actions import AdminAction
from chat.registries.join_sources import JoinSource
from chat.registries.limits import MEMBERS_FULL_LIST_MAXIMUM
from chat.snowflake import MAXIMUM
from chat.store.accounts import accounts
from chat.store.guilds.members import with_accounts


@attrs.define(kw_only=True, eq=False)
class AdministeredGuildMembers:
    """Lists, adds, removes and keeps out members for administrators."""

    _core: Core
    _memberships: Memberships
    _bans: Bans
    _rosters: Rosters
    _log: AdminAuditLog

    async def search(self, acting: Acting, guild_id: int, text: str, limit: int, offset: int) -> dict[str, Any]:
        """A page of the members one of whose names begins with the text, all where it is blank, in order of the name
        that is shown; and how many there are in all. A text that is all digits also finds the member with that id, who
        is the first of the first page.

        :raises ApiError: UNKNOWN_GUILD.
        """
        state = self._known(guild_id)
        text = text.strip()
        found = await (await self._rosters.get(guild_id)).search(text, MEMBERS_FULL_LIST_MAXIMUM)
        if text.isascii() and text.isdecimal() and int(text) <= MAXIMUM and state.member(int(text)) is not None:
            found = [int(text), *(user_id for user_id in found if user_id != int(text))]
        page = found[offset : offset + limit]
        rows = await self._core.database.read(lambda connection: with_accounts(connection, guild_id, page))
        members = [
            admin_guild_member(state.member_object(member, None), member, account, state.guild.owner_id)
            for member, account in rows
        ]
        metadata = {
            "has_query": bool(text),
            "limit": limit,
            "offset": offset,
            "result_count": len(members),
            "total": len(found),
        }
        await self._log.note(acting, AdminAction.LIST_GUILD_MEMBERS, guild_id, metadata)
        return {"members": members, "total": len(found)}

    async def add(self, acting: Acting, guild_id: int, user_id: int) -> dict[str, Any]:
        """Make an account a member without its doing; a member stays one. The member as it is then.

        :raises ApiError: UNKNOWN_GUILD, UNKNOWN_USER, USER_BANNED_FROM_GUILD, MAX_GUILDS, MAX_GUILD_MEMBERS.
        """
        if not await self.put(acting, guild_id, user_id):
            await self._log.note(acting, AdminAction.FORCE_ADD_MEMBER, user_id, {"guild_id": guild_id})
        account = accounts.by_id(self._core.database.reader, user_id)
        state = self._known(guild_id)
        member = state.member(user_id)
        if account is None or member is None:  # and left again
            raise ApiError("UNKNOWN_MEMBER")
        return admin_guild_member(state.member_object(member, None), member, account, state.guild.owner_id)

    async def put(
        self,
        acting: Acting,
        guild_id: int,
        user_id: int,
        also: Callable[[sqlite3.Connection], None] | None = None,
    ) -> bool:
        """As `add`, but False, and nothing happens, for a member. `also` is done in the same unit.

        :raises ApiError: as `add`.
        """
        self._known(guild_id)
        account = accounts.by_id(self._core.database.reader, user_id)
        if account is None or account.is_deleted:
            raise ApiError("UNKNOWN_USER")

        def first(connection: sqlite3.Connection) -> Preparation | None:
            present = accounts.by_id(connection, user_id)
            if present is None or present.is_deleted:
                raise ApiError("UNKNOWN_USER")
            self._record(connection, acting, AdminAction.FORCE_ADD_MEMBER, guild_id, user_id)
            if also is not None:
                also(connection)
            return None

        return await self._memberships.join(account, guild_id, JoinSource.ADMIN_FORCE_ADD, first=first)

    async def kick(self, acting: Acting, guild_id: int, user_id: int) -> None:
        """Remove a member, who may come back.

        :raises ApiError: UNKNOWN_GUILD, UNKNOWN_MEMBER; MISSING_PERMISSIONS for the owner.
        """

        def first(connection: sqlite3.Connection) -> None:
            self._record(connection, acting, AdminAction.KICK_MEMBER, guild_id, user_id)

        await self._bans.remove(Actor(acting.user_id), guild_id, user_id, first)

    async def ban(self, acting: Acting, guild_id: int, user_id: int, new: NewBan) -> dict[str, Any]:
        """Keep an account out, member or not; the ban. Its reason is for the guild's moderators, that of the request is
        not. Messages that are to go are gone when this returns.

        :raises ApiError: UNKNOWN_GUILD, UNKNOWN_USER; MISSING_PERMISSIONS for the owner.
        """
        metadata = {
            "reason": new.reason,
            "duration_seconds": new.duration_seconds,
            "delete_message_seconds": new.delete_message_seconds,
        }

        def first(connection: sqlite3.Connection) -> None:
            self._record(connection, acting, AdminAction.BAN_MEMBER, guild_id, user_id, metadata)

        ban = await self._bans.put(Actor(acting.user_id, new.reason), guild_id, user_id, new, first)
        return ban_object(ban, accounts.by_id(self._core.database.reader, user_id))

    async def lift(self, acting: Acting, guild_id: int, user_id: int) -> None:
        """Lift a guild's ban of an account.

        :raises ApiError: UNKNOWN_GUILD.
        :raises InvalidFormBody: USER_IS_NOT_BANNED at `user_id`.
        """

        def first(connection: sqlite3.Connection) -> None:
            self._record(connection, acting, AdminAction.UNBAN_MEMBER, guild_id, user_id)

        await self._bans.take_back(Actor(acting.user_id), guild_id, user_id, first)

    def _record(
        self,
        connection: sqlite3.Connection,
        acting: Acting,
        action: AdminAction,
        guild_id: int,
        user_id: int,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._log.record(connection, acting, action, user_id, {"guild_id": guild_id, **(metadata or {})})

    def _known(self, guild_id: int) -> GuildState:
        state = self._core.guild_states.get(guild_id)
        if state is None:
            raise ApiError("UNKNOWN_GUILD")
        return state
