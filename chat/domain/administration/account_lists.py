"""What is around an account: guilds, conversations, applications, relationships, sign-ins, changes (administration.md,
Account lists); the removal of relationships (administration.md, Account relationships); and applications, shown and
handed over (administration.md, Administered applications).

Reading leaves an entry in the audit log as well, and what failed leaves none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, cast

import attrs
import structlog
import trio

from chat import wire
from chat.auth.tokens import id_hash
from chat.classes import define, frozen
from chat.clock import iso_timestamp, optional_timestamp
from chat.domain.administration.account_fields import found
from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog, in_the_name_of
from chat.domain.administration.admin_users import AdminAccountViews
from chat.domain.administration.administration_objects import (
    Category,
    admin_application,
    admin_guild,
    admin_private_channel,
    admin_relationship,
    change_log_entry,
)
from chat.domain.core import Core
from chat.domain.policy.changes import EMAIL
from chat.domain.policy.errands import Errand, State
from chat.domain.signing_in.client_info import AddressFacts, AddressLookups, Agent, UserAgents
from chat.domain.standing.relationships import Change, Relationships, RelationshipType, neither_side
from chat.errors import ApiError
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode
from chat.registries.jobs import ErrandKind
from chat.store.accounts import accounts
from chat.store.administration import listings
from chat.store.applications import applications
from chat.store.applications.applications import Application
from chat.store.database import Database
from chat.store.guilds import guilds
from chat.store.signing_in import auth_sessions
from chat.store.signing_in.auth_sessions import AuthSession
from chat.store.standing import private_channels, relationships

log: Final = structlog.get_logger("chat.admin")

REDACTED: Final = "[redacted]"

RECIPIENTS_MAXIMUM: Final = 100
GROUPS_MAXIMUM: Final = 500

SESSIONS_IN_ONE_GO: Final = 500
"""Sign-ins of a list that are put together before others have their turn."""

CATEGORIES: Final[Mapping[str, RelationshipType]] = {
    "friend": RelationshipType.FRIEND,
    "incoming_request": RelationshipType.INCOMING_REQUEST,
    "outgoing_request": RelationshipType.OUTGOING_REQUEST,
    "blocked": RelationshipType.BLOCKED,
}
"""The categories of relationships (administration.md, Account relationships)."""

_CATEGORY_OF: Final = {int(type): name for name, type in CATEGORIES.items()}
_LISTS: Final = {
    "friend": "friends",
    "incoming_request": "incoming_requests",
    "outgoing_request": "outgoing_requests",
    "blocked": "blocked",
}


@frozen
class ListWindow:
    """A page of a list: ids above `after` and below `before`, `limit` at most."""

    limit: int
    before: int | None = None
    after: int | None = None

    def cursors(self, thing: str) -> dict[str, int]:
        """The metadata that the cursors which were sent add."""
        named = {f"before_{thing}_id": self.before, f"after_{thing}_id": self.after}
        return {name: value for name, value in named.items() if value is not None}


@define(kw_only=True, eq=False)
class AdministeredLists:
    """Reads what is around accounts. Each method raises UNKNOWN_USER for an account that does not exist, but for those
    that say otherwise."""

    _database: Database
    _log: AdminAuditLog
    _views: AdminAccountViews
    _lookups: AddressLookups
    _user_agents: UserAgents
    _online_count: Callable[[int], int]

    async def account(self, acting: Acting, user_id: int) -> list[wire.AdminUser]:
        """The account as a list of one, or of none."""
        account = accounts.by_id(self._database.reader, user_id)
        users = [] if account is None else [await self._views.of(acting, account)]
        await self._log.note(acting, AdminAction.GET_USER, user_id, {"found": bool(users)})
        return users

    async def guilds(
        self, acting: Acting, user_id: int, window: ListWindow, *, with_counts: bool
    ) -> list[wire.AdminGuild]:
        """The account's guilds in the window, lowest id first."""

        def query(connection: sqlite3.Connection) -> list[wire.AdminGuild]:
            found(connection, user_id)
            # A cursor that names no membership is ignored.
            after, before = (
                cursor if cursor is not None and listings.is_member(connection, user_id, cursor) else None
                for cursor in (window.after, window.before)
            )
            ids = listings.guild_ids_between(connection, user_id, after, before, window.limit)
            rows = (guilds.by_id(connection, guild_id) for guild_id in ids)
            return [
                admin_guild(
                    guild,
                    accounts.by_id(connection, guild.owner_id),
                    self._online_count(guild.id) if with_counts else None,
                )
                for guild in rows
                if guild is not None
            ]

        listed = await self._database.read(query)
        metadata = {"limit": window.limit, "with_counts": with_counts, "guild_count": len(listed)}
        await self._log.note(acting, AdminAction.LIST_USER_GUILDS, user_id, metadata | window.cursors("guild"))
        return listed

    async def private_channels(
        self, acting: Acting, user_id: int, kind: Literal["dm", "group_dm"], window: ListWindow
    ) -> list[wire.AdminPrivateChannel]:
        """The account's conversations of two in the window, or all its groups. None is opened or acknowledged by it."""

        def query(connection: sqlite3.Connection) -> list[wire.AdminPrivateChannel]:
            found(connection, user_id)
            if kind == "group_dm":
                rows = listings.groups_of(connection, user_id, GROUPS_MAXIMUM)
            else:
                rows = listings.direct_messages_of(connection, user_id, window.after, window.before, window.limit)
            return [_private_channel(connection, channel_id, is_open) for channel_id, is_open in rows]

        listed = await self._database.read(query)
        metadata: dict[str, object] = {"type": kind, "channel_count": len(listed)}
        if kind == "dm":
            metadata |= {"limit": window.limit, **window.cursors("channel")}
        await self._log.note(acting, AdminAction.LIST_USER_DM_CHANNELS, user_id, metadata)
        return listed

    async def applications(self, acting: Acting, user_id: int) -> list[wire.AdminApplication]:
        """The account's own applications, oldest first."""

        def query(connection: sqlite3.Connection) -> list[wire.AdminApplication]:
            owner = found(connection, user_id)
            return [
                admin_application(connection, application, owner)
                for application in applications.of_owner(connection, user_id)
            ]

        listed = await self._database.read(query)
        await self._log.note(acting, AdminAction.LIST_USER_APPLICATIONS, user_id, {"application_count": len(listed)})
        return listed

    async def relationships(self, acting: Acting, user_id: int) -> wire.AdminRelationships:
        """The account's relationships by category."""

        def query(connection: sqlite3.Connection) -> dict[str, list[wire.AdminRelationship]]:
            found(connection, user_id)
            lists: dict[str, list[wire.AdminRelationship]] = {category: [] for category in CATEGORIES}
            for relationship in relationships.of_user(connection, user_id):
                category = _CATEGORY_OF.get(relationship.type)
                if category is not None:
                    target = accounts.by_id(connection, relationship.target_id)
                    lists[category].append(admin_relationship(relationship, cast(Category, category), target))
            return lists

        lists = await self._database.read(query)
        metadata = {f"{category}_count": len(entries) for category, entries in lists.items()}
        await self._log.note(acting, AdminAction.LIST_USER_RELATIONSHIPS, user_id, metadata)
        return cast("wire.AdminRelationships", {_LISTS[category]: entries for category, entries in lists.items()})

    async def sessions(self, acting: Acting, user_id: int) -> list[wire.AdminUserSession]:
        """The account's sign-ins: first the open ones, then those that ended, both newest first. Raises
        SERVICE_UNAVAILABLE when there are IP addresses and none of them could be located."""

        def query(connection: sqlite3.Connection) -> list[tuple[AuthSession, int | None]]:
            found(connection, user_id)
            active = sorted(auth_sessions.of_user(connection, user_id), key=lambda session: -session.created_at)
            ended = auth_sessions.ended_of_user(connection, user_id)
            return [(session, None) for session in active] + [(entry.session, entry.ended_at) for entry in ended]

        rows = await self._database.read(query)
        if acting.holds(Acl.USER_VIEW_IP):
            listed = await self._located_sessions(rows)
        else:
            listed = [_session_object(session, ended_at) for session, ended_at in rows]
        await self._log.note(acting, AdminAction.LIST_USER_SESSIONS, user_id, {"session_count": len(listed)})
        return listed

    async def _located_sessions(self, rows: Sequence[tuple[AuthSession, int | None]]) -> list[wire.AdminUserSession]:
        """The sign-ins with what their addresses and user agents tell."""
        findings = await self._lookups.of_all(session.address for session, _ in rows)
        if findings.located_none:
            raise ApiError(ErrorCode.SERVICE_UNAVAILABLE)
        agents = await self._user_agents.of_all(session.user_agent for session, _ in rows)
        listed: list[wire.AdminUserSession] = []
        for number, (session, ended_at) in enumerate(rows):
            if number % SESSIONS_IN_ONE_GO == 0:  # there may be very many of one account
                await trio.lowlevel.checkpoint()
            origin = _origin(session, findings.of(session.address), agents[session.user_agent or None])
            listed.append({**_session_object(session, ended_at), **origin})
        return listed

    async def change_log(
        self, acting: Acting, user_id: int, limit: int, page_token: int | None
    ) -> wire.AdminUserChangeLog:
        """A page of the email addresses and tags that the account has had, newest first; none for an unknown one."""
        # Entries without an id of their own come last and go by the account's: behind that there is nothing.
        ends = page_token == user_id
        rows = await self._database.read(
            lambda connection: [] if ends else accounts.changes_of(connection, user_id, limit, page_token)
        )
        sees_addresses = acting.holds(Acl.USER_VIEW_EMAIL)
        entries: list[wire.AdminUserChangeLogEntry] = []
        for number, change in rows:
            values: wire.ChangedValue = {"old_value": change.old_value, "new_value": change.new_value}
            if change.field == EMAIL and not sees_addresses:
                values = {"old_value": REDACTED, "new_value": REDACTED}
            entries.append(change_log_entry(number, change, values))
        metadata: dict[str, object] = {"limit": limit, "entry_count": len(entries)}
        if page_token is not None:
            metadata["has_page_token"] = True
        await self._log.note(acting, AdminAction.LIST_USER_CHANGE_LOG, user_id, metadata)
        return {"entries": entries, "next_page_token": entries[-1]["event_id"] if len(entries) == limit else None}


def _private_channel(connection: sqlite3.Connection, channel_id: int, is_open: bool) -> wire.AdminPrivateChannel:
    private = private_channels.by_id(connection, channel_id)
    recipients = [] if private is None else accounts.by_ids(connection, private.recipient_ids)
    present = [account for account in recipients if not account.is_deleted]
    return admin_private_channel(channel_id, is_open, private, present, RECIPIENTS_MAXIMUM)


def _session_object(session: AuthSession, ended_at: int | None) -> wire.AdminUserSession:
    """The Admin user session object with everything about where it came from redacted."""
    return {
        "session_id_hash": id_hash(session.token_hash),
        "created_at": iso_timestamp(session.created_at),
        "approx_last_used_at": iso_timestamp(session.last_used_at),
        "client_ip": REDACTED,
        "client_ip_reverse": None,
        "client_location": None,
        "client_os": None,
        "client_platform": None,
        "deleted_at": optional_timestamp(ended_at),
    }


def _origin(session: AuthSession, facts: AddressFacts, agent: Agent) -> wire.SessionOrigin:
    """The members of a sign-in that holders of user:view:ip see. A native client may have sent what the user agent does
    not say."""
    return {
        "client_ip": session.address or "",
        "client_ip_reverse": facts.reverse,
        "client_location": facts.location,
        "client_os": agent.system or session.client_os,
        "client_platform": agent.program or session.client_platform,
    }


@define(eq=False)
class AdministeredRelationships:
    """Removes friendships and requests for both accounts, and blocks for the one that set them."""

    _core: Core
    _relationships: Relationships
    _log: AdminAuditLog

    def __attrs_post_init__(self) -> None:
        self._core.errands.handle(ErrandKind.CLEAR_RELATIONSHIPS, self._clear)

    async def remove(self, acting: Acting, user_id: int, target_id: int, category: str) -> None:
        """Remove what the account has with another in this category. Raises UNKNOWN_USER, for the account as for the
        relationship."""

        def unit(connection: sqlite3.Connection) -> list[Change]:
            found(connection, user_id)
            own = relationships.by_id(connection, user_id, target_id)
            if own is None or own.type != CATEGORIES[category]:
                raise ApiError(ErrorCode.UNKNOWN_USER)
            changes = neither_side(connection, user_id, target_id)
            metadata = {"target_user_id": target_id, "category": category}
            self._log.record(connection, acting, AdminAction.REMOVE_RELATIONSHIP, user_id, metadata)
            return changes

        await self._core.database.write(unit, self._relationships.publish, guard=acting.guard)

    async def clear(self, acting: Acting, user_id: int, category: str) -> int:
        """Remove all that the account has in a category, one after the other; how many there were.

        A failure on the way leaves what was removed before, and its entry in the audit log (administration.md, Account
        relationships).

        :raises ApiError: UNKNOWN_USER; INTERNAL_SERVER_ERROR where it could not be done to the end.
        """
        await self._core.database.read(lambda connection: found(connection, user_id))
        state = {
            "user_id": user_id,
            "category": category,
            "admin_id": acting.user_id,
            "reason": acting.reason,
            "last_id": 0,
            "removed": 0,
        }
        return (await self._core.errands.do(ErrandKind.CLEAR_RELATIONSHIPS, state, guard=acting.guard)).count

    async def _clear(self, errand: Errand) -> None:
        user_id: int = errand.state["user_id"]
        category: str = errand.state["category"]
        acting = in_the_name_of(errand.state["admin_id"], errand.state["reason"])

        def end(connection: sqlite3.Connection, state: State) -> tuple[State | None, list[Change]]:
            metadata = {"category": category, "removed_count": state["removed"]}
            self._log.record(connection, acting, AdminAction.REMOVE_RELATIONSHIPS_BY_CATEGORY, user_id, metadata)
            return None, []

        def portion(connection: sqlite3.Connection, state: State) -> tuple[State | None, list[Change]]:
            target_id = relationships.next_target(connection, user_id, CATEGORIES[category], state["last_id"])
            if target_id is None:
                return end(connection, state)
            changes = neither_side(connection, user_id, target_id)
            return {**state, "last_id": target_id, "removed": state["removed"] + 1}, changes

        def then(changes: list[Change]) -> None:
            errand.count += bool(changes)
            self._relationships.publish(changes)

        try:
            while not errand.is_over:
                await errand.step(portion, then)
        except sqlite3.Error as error:
            log.exception("relationships were removed in part", user_id=user_id, category=category)
            if errand.id is not None:  # else nothing was removed, and there is nothing to tell
                await errand.step(end, then)
            raise ApiError(ErrorCode.INTERNAL_SERVER_ERROR) from error


@define(kw_only=True, eq=False)
class AdministeredApplications:
    """Shows applications and gives them to other owners."""

    _core: Core
    _log: AdminAuditLog

    async def get(self, acting: Acting, application_id: int) -> wire.AdminApplication:
        """One application: no secret, no token. Raises UNKNOWN_APPLICATION."""
        found = await self._core.database.read(
            lambda connection: _shown(connection, _known(connection, application_id))
        )
        await self._log.note(acting, AdminAction.GET_APPLICATION, application_id)
        return found

    async def transfer(self, acting: Acting, application_id: int, new_owner_id: int) -> wire.AdminApplication:
        """Give an application to another owner. Bot token and client secret stay valid, in the old owner's hands too:
        the new owner can reset both. Raises UNKNOWN_APPLICATION, UNKNOWN_USER, CANNOT_TRANSFER_OWNERSHIP_TO_BOT;
        MAX_APPLICATIONS for an account that owns as many as it may."""
        most = self._core.settings.limits.max_applications_per_user

        def unit(connection: sqlite3.Connection) -> tuple[Application, wire.AdminApplication]:
            before = _known(connection, application_id)
            successor = accounts.by_id(connection, new_owner_id)
            if successor is None or successor.is_deleted:
                raise ApiError(ErrorCode.UNKNOWN_USER)
            if successor.bot:
                raise ApiError(ErrorCode.CANNOT_TRANSFER_OWNERSHIP_TO_BOT)
            if before.owner_id != new_owner_id and applications.count_of_owner(connection, new_owner_id) >= most:
                raise ApiError(ErrorCode.MAX_APPLICATIONS)
            after = attrs.evolve(before, owner_id=new_owner_id)
            applications.replace(connection, after)
            metadata = {"old_owner_id": before.owner_id, "new_owner_id": new_owner_id}
            self._log.record(connection, acting, AdminAction.TRANSFER_OWNERSHIP, application_id, metadata)
            return after, _shown(connection, after)

        def then(handed: tuple[Application, wire.AdminApplication]) -> None:
            self._core.account_events.bot_seen_by_itself(handed[0])

        _, shown = await self._core.database.write(unit, then, guard=acting.guard)
        log.info("application handed over", application_id=application_id, user_id=new_owner_id)
        return shown


def _known(connection: sqlite3.Connection, application_id: int) -> Application:
    application = applications.by_id(connection, application_id)
    if application is None:
        raise ApiError(ErrorCode.UNKNOWN_APPLICATION)
    return application


def _shown(connection: sqlite3.Connection, application: Application) -> wire.AdminApplication:
    return admin_application(connection, application, accounts.by_id(connection, application.owner_id))
