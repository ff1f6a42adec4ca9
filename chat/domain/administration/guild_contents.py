"""What an administrator does about the members of guilds, and with their audit log, emojis and stickers
(administration.md, Administered guilds).

The guild's own rules hold where they protect it (its owner is neither removed nor kept out, a ban keeps out even an
account that an administrator would add), permissions do not: the administrator need not be a member.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Final

from chat import wire
from chat.classes import define, frozen
from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog
from chat.domain.administration.administration_objects import admin_guild_member, user_summary
from chat.domain.administration.guilds import known_guild, require_guild
from chat.domain.core import Core
from chat.domain.guilds.bans import Bans, NewBan, ban_object
from chat.domain.guilds.expressions import Expressions
from chat.domain.guilds.memberships import Memberships, Preparation
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.guild_objects import EMOJIS, STICKERS
from chat.domain.standing.rosters import Rosters
from chat.errors import ApiError
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode
from chat.registries.guild_values import JoinSource
from chat.registries.limits import MEMBERS_FULL_LIST_MAXIMUM
from chat.snowflake import MAXIMUM
from chat.store import policy
from chat.store.accounts import accounts
from chat.store.guilds import expressions
from chat.store.guilds.expressions import Expression
from chat.store.guilds.members import with_accounts
from chat.store.standing.guild_audit_log import AuditLogPage


@define(kw_only=True, eq=False)
class AdministeredGuildMembers:
    """Lists, adds, removes and bans members. Each method raises UNKNOWN_GUILD for a guild that does not exist."""

    _core: Core
    _memberships: Memberships
    _bans: Bans
    _rosters: Rosters
    _log: AdminAuditLog

    async def search(self, acting: Acting, guild_id: int, text: str, limit: int, offset: int) -> wire.AdminGuildMembers:
        """A page of the members one of whose names begins with the text, all where it is blank, in order of the name
        that is shown; and how many there are in all. A text that is all digits also finds the member with that id, who
        is the first of the first page."""
        state = known_guild(self._core, guild_id)
        text = text.strip()
        found = await (await self._rosters.get(guild_id)).search(text, MEMBERS_FULL_LIST_MAXIMUM)
        if text.isascii() and text.isdecimal() and int(text) <= MAXIMUM and state.member(int(text)) is not None:
            found = [int(text), *(user_id for user_id in found if user_id != int(text))]
        page = found[offset : offset + limit]
        rows = await self._core.database.read(lambda connection: with_accounts(connection, guild_id, page))
        members = [
            admin_guild_member(state.membership_object(member), member, account, state.guild.owner_id)
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

    async def add(self, acting: Acting, guild_id: int, user_id: int) -> wire.AdminGuildMember:
        """Make an account a member without its doing; a member stays one. The member as it is then. Raises
        UNKNOWN_USER, USER_BANNED_FROM_GUILD, MAX_GUILDS, MAX_GUILD_MEMBERS."""
        if not await self.put(acting, guild_id, user_id):
            await self._log.note(acting, AdminAction.FORCE_ADD_MEMBER, user_id, {"guild_id": guild_id})
        account = accounts.by_id(self._core.database.reader, user_id)
        state = known_guild(self._core, guild_id)
        member = state.member(user_id)
        if account is None or member is None:  # and left again
            raise ApiError(ErrorCode.UNKNOWN_MEMBER)
        return admin_guild_member(state.membership_object(member), member, account, state.guild.owner_id)

    async def put(
        self, acting: Acting, guild_id: int, user_id: int, also: Callable[[sqlite3.Connection], None] | None = None
    ) -> bool:
        """As `add`, but False, and nothing happens, for a member. `also` is done in the same unit. Raises as `add`."""
        known_guild(self._core, guild_id)
        account = accounts.by_id(self._core.database.reader, user_id)
        if account is None or account.is_deleted:
            raise ApiError(ErrorCode.UNKNOWN_USER)

        def first(connection: sqlite3.Connection) -> Preparation | None:
            present = accounts.by_id(connection, user_id)
            if present is None or present.is_deleted:
                raise ApiError(ErrorCode.UNKNOWN_USER)
            self._record(connection, acting, AdminAction.FORCE_ADD_MEMBER, guild_id, user_id)
            if also is not None:
                also(connection)
            return None

        return await self._memberships.join(
            account, guild_id, JoinSource.ADMIN_FORCE_ADD, first=first, guard=acting.guard
        )

    async def kick(self, acting: Acting, guild_id: int, user_id: int) -> None:
        """Remove a member, who may come back. Raises UNKNOWN_MEMBER; MISSING_PERMISSIONS for the owner."""

        def first(connection: sqlite3.Connection) -> None:
            self._record(connection, acting, AdminAction.KICK_MEMBER, guild_id, user_id)

        await self._bans.remove(Actor(acting.user_id), guild_id, user_id, first, guard=acting.guard)

    async def ban(self, acting: Acting, guild_id: int, user_id: int, new: NewBan) -> wire.Ban:
        """Keep an account out, member or not; the ban. Its reason is for the guild's moderators, that of the request
        is not. Messages that are to go are gone when this returns. Raises UNKNOWN_USER; MISSING_PERMISSIONS for the
        owner."""
        metadata = {
            "reason": new.reason,
            "duration_seconds": new.duration_seconds,
            "delete_message_seconds": new.delete_message_seconds,
        }

        def first(connection: sqlite3.Connection) -> None:
            self._record(connection, acting, AdminAction.BAN_MEMBER, guild_id, user_id, metadata)

        ban = await self._bans.put(Actor(acting.user_id, new.reason), guild_id, user_id, new, first, guard=acting.guard)
        return ban_object(ban, accounts.by_id(self._core.database.reader, user_id))

    async def lift(self, acting: Acting, guild_id: int, user_id: int) -> None:
        """Lift a guild's ban of an account. Raises USER_IS_NOT_BANNED at `user_id`."""

        def first(connection: sqlite3.Connection) -> None:
            self._record(connection, acting, AdminAction.UNBAN_MEMBER, guild_id, user_id)

        await self._bans.take_back(Actor(acting.user_id), guild_id, user_id, first, guard=acting.guard)

    def _record(
        self,
        connection: sqlite3.Connection,
        acting: Acting,
        action: AdminAction,
        guild_id: int,
        user_id: int,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        self._log.record(connection, acting, action, user_id, {"guild_id": guild_id, **(metadata or {})})


@frozen
class _Actions:
    """How the administrative log calls what is done to one kind of expression."""

    listed: AdminAction
    purged: AdminAction
    unknown: ErrorCode


ACTIONS: Final[Mapping[str, _Actions]] = {
    EMOJIS: _Actions(AdminAction.LIST_GUILD_EMOJIS, AdminAction.PURGE_GUILD_EMOJI, ErrorCode.UNKNOWN_EMOJI),
    STICKERS: _Actions(AdminAction.LIST_GUILD_STICKERS, AdminAction.PURGE_GUILD_STICKER, ErrorCode.UNKNOWN_STICKER),
}


@define(kw_only=True, eq=False)
class AdministeredGuildContents:
    """Reads audit log and expressions, and purges expressions. Each method raises UNKNOWN_GUILD for a guild that does
    not exist."""

    _core: Core
    _expressions: Expressions
    _log: AdminAuditLog

    async def audit_log(self, acting: Acting, guild_id: int, page: AuditLogPage) -> wire.AuditLog:
        """A page of the guild's own audit log, the newest entries first, with the accounts that it names."""

        def query(connection: sqlite3.Connection) -> wire.AuditLog:
            require_guild(connection, guild_id)
            return self._core.audit_log.page(connection, guild_id, page)

        found = await self._core.database.read(query)
        named = {
            "before_entry_id": page.before,
            "after_entry_id": page.after,
            "user_id": page.user_id,
            "action_type": page.action_type,
        }
        metadata = {"limit": page.limit, "entry_count": len(found["audit_log_entries"])}
        metadata |= {key: value for key, value in named.items() if value is not None}
        await self._log.note(acting, AdminAction.LIST_GUILD_AUDIT_LOG, guild_id, metadata)
        return found

    async def expressions(self, acting: Acting, guild_id: int, kind: str) -> list[tuple[Expression, wire.CreatedBy]]:
        """The guild's emojis or stickers, oldest first, each with who made it; None for an account that is gone."""

        def query(connection: sqlite3.Connection) -> list[tuple[Expression, wire.CreatedBy]]:
            require_guild(connection, guild_id)
            present = [entry for entry in expressions.of_guild(connection, guild_id) if entry.kind == kind]
            makers = accounts.by_ids(connection, tuple({entry.user_id for entry in present}))
            summaries = {account.id: user_summary(account) for account in makers}
            return [
                (entry, {"creator_id": str(entry.user_id), "creator": summaries.get(entry.user_id)})
                for entry in present
            ]

        listed = await self._core.database.read(query)
        await self._log.note(acting, ACTIONS[kind].listed, guild_id, {"result_count": len(listed)})
        return listed

    async def purge(self, acting: Acting, guild_id: int, kind: str, expression_id: int) -> None:
        """Delete an emoji or a sticker together with its image, which messages then no longer show. Raises
        UNKNOWN_EMOJI, UNKNOWN_STICKER."""
        require_guild(self._core.database.reader, guild_id)

        def first(connection: sqlite3.Connection) -> None:
            expression = expressions.by_id(connection, kind, expression_id)
            if expression is None or expression.guild_id != guild_id:
                raise ApiError(ACTIONS[kind].unknown)
            policy.delete_of(connection, kind, expression_id)
            metadata = {"guild_id": guild_id, "name": expression.name}
            self._log.record(connection, acting, ACTIONS[kind].purged, expression_id, metadata)

        await self._expressions.remove(Actor(acting.user_id), kind, guild_id, expression_id, first, guard=acting.guard)
