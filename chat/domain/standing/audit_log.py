"""The audit log of a guild: who changed what, why, and from what to what (guilds.md, Audit log).

An entry is written in the same unit as the change that it tells of, and published after the commit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import ToGuild
from chat.bus.bus import Bus, Event
from chat.classes import define, frozen
from chat.clock import Clock
from chat.domain.standing.access import Access
from chat.domain.standing.permissions import sees_threads
from chat.domain.standing.thread_access import seen_of
from chat.domain.standing.thread_objects import thread_object
from chat.domain.standing.user_objects import partial_user
from chat.registries.audit_actions import AuditAction
from chat.registries.events import EventName
from chat.registries.permissions import Permission
from chat.snowflake import SnowflakeGenerator, snowflake_at
from chat.store import threads
from chat.store.accounts import accounts
from chat.store.database import Database
from chat.store.standing import guild_audit_log
from chat.store.standing.guild_audit_log import AuditLogEntry, AuditLogPage
from chat.store.threads import ShownThread

VIEW_AUDIT_LOG: Final = Permission.VIEW_AUDIT_LOG.value

INSTANCE: Final = 0
"""Who acts where no account does: the instance itself, as its operator's command line."""

COUNTED_MS: Final = 300_000
"""How long repeated actions are counted in one entry."""


@frozen
class Actor:
    """Who does something to a guild, and the reason given (X-Audit-Log-Reason)."""

    user_id: int
    reason: str | None = None


def entry_created(entry: AuditLogEntry) -> Event:
    """GUILD_AUDIT_LOG_ENTRY_CREATE, for those who may read the log."""
    data = {**audit_log_entry_object(entry), "guild_id": str(entry.guild_id)}
    return Event(EventName.GUILD_AUDIT_LOG_ENTRY_CREATE, data, ToGuild(entry.guild_id, VIEW_AUDIT_LOG))


@define(eq=False)
class AuditLog:
    _database: Database
    _access: Access
    _bus: Bus
    _clock: Clock
    _snowflakes: SnowflakeGenerator

    def record(
        self,
        connection: sqlite3.Connection,
        guild_id: int,
        action: AuditAction,
        actor: Actor,
        *,
        target_id: int | str | None = None,
        options: Mapping[str, Any] | None = None,
        changes: Sequence[Mapping[str, Any]] = (),
    ) -> AuditLogEntry:
        """In a unit of writing: add an entry; hand it to `publish` after the commit."""
        entry = AuditLogEntry(
            id=self._snowflakes(),
            guild_id=guild_id,
            action_type=action.value,
            user_id=actor.user_id,
            target_id=None if target_id is None else str(target_id),
            reason=actor.reason,
            options=options or None,
            changes=list(changes) or None,
        )
        guild_audit_log.insert(connection, entry)
        return entry

    def record_change(
        self,
        connection: sqlite3.Connection,
        guild_id: int,
        action: AuditAction,
        actor: Actor,
        target_id: int,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        *,
        options: Mapping[str, Any] | None = None,
    ) -> AuditLogEntry | None:
        """As `record`, with what differs between two states; what was made or deleted has an empty one. None, and no
        entry, if nothing differs."""
        changes = changes_between(before, after)
        if not changes:
            return None
        return self.record(connection, guild_id, action, actor, target_id=target_id, options=options, changes=changes)

    def count(
        self,
        connection: sqlite3.Connection,
        guild_id: int,
        action: AuditAction,
        actor: Actor,
        target_id: int,
        options: Mapping[str, Any],
    ) -> AuditLogEntry | None:
        """In a unit: add an entry whose options have a `count` of one. If the last entry like it is not older than
        COUNTED_MS, count that one up and give None, as Discord's audit log does."""
        since_id = snowflake_at(max(0, self._clock.now_ms() - COUNTED_MS))
        wanted = AuditLogEntry(
            id=0,
            guild_id=guild_id,
            action_type=action.value,
            user_id=actor.user_id,
            target_id=str(target_id),
            reason=actor.reason,
        )
        last = guild_audit_log.latest_like(connection, wanted, since_id)
        known = {} if last is None else dict(last.options or {})
        counted_before = known.pop("count", "0")
        if last is None or last.reason != actor.reason or known != {**options}:
            first = {**options, "count": "1"}
            return self.record(connection, guild_id, action, actor, target_id=target_id, options=first)
        counted = {**options, "count": str(int(counted_before) + 1)}
        guild_audit_log.replace_options(connection, attrs.evolve(last, options=counted))
        return None

    def publish(self, *entries: AuditLogEntry | None) -> None:
        """After the commit: tell those who may read the log; None stands for a change without an entry."""
        for entry in entries:
            if entry is not None:
                self._bus.publish(entry_created(entry))

    async def read(self, principal: Principal, guild_id: int, page: AuditLogPage) -> wire.AuditLog:
        """A page of the log, the newest entries first, with the accounts that it names; for callers who know threads
        with those that they see of the threads that it names.

        :raises ApiError: as `Access.guild`, with VIEW_AUDIT_LOG.
        """
        state = self._access.guild(principal, guild_id, VIEW_AUDIT_LOG).state
        now = self._clock.now_ms()
        knows_threads = sees_threads(principal)

        def query(connection: sqlite3.Connection) -> tuple[wire.AuditLog, list[ShownThread]]:
            entries = guild_audit_log.page(connection, guild_id, page, now)
            page_of_log = _page_of_log(connection, entries)
            about = [entry.target_id for entry in entries if entry.action_type in _ABOUT_THREADS]
            thread_ids = {int(target_id) for target_id in about if target_id is not None}
            found = threads.shown_by_ids(connection, principal.user_id, thread_ids) if knows_threads else []
            return page_of_log, found

        log, found = await self._database.read(query)
        if knows_threads:
            log["threads"] = [thread_object(shown.thread) for shown in seen_of(state, principal.user_id, found)]
        return log

    def page(self, connection: sqlite3.Connection, guild_id: int, page: AuditLogPage) -> wire.AuditLog:
        """As `read`, without threads, for one who need not be a member; for a reader's thread."""
        return _page_of_log(connection, guild_audit_log.page(connection, guild_id, page, self._clock.now_ms()))


def _page_of_log(connection: sqlite3.Connection, entries: Sequence[AuditLogEntry]) -> wire.AuditLog:
    named = {entry.user_id for entry in entries}
    named.update(account_id for entry in entries if (account_id := _named_account(entry)) is not None)
    return {
        "audit_log_entries": [audit_log_entry_object(entry) for entry in entries],
        "users": [partial_user(account) for account in accounts.by_ids(connection, sorted(named))],
        "webhooks": [],
    }


_ABOUT_THREADS: Final = frozenset({AuditAction.THREAD_CREATE, AuditAction.THREAD_UPDATE, AuditAction.THREAD_DELETE})
_ABOUT_ACCOUNTS: Final = frozenset(
    {
        AuditAction.MEMBER_KICK,
        AuditAction.MEMBER_BAN_ADD,
        AuditAction.MEMBER_BAN_REMOVE,
        AuditAction.MEMBER_UPDATE,
        AuditAction.MEMBER_ROLE_UPDATE,
        AuditAction.MEMBER_MOVE,
        AuditAction.MEMBER_DISCONNECT,
        AuditAction.BOT_ADD,
        AuditAction.MESSAGE_DELETE,
        AuditAction.MESSAGE_PIN,
        AuditAction.MESSAGE_UNPIN,
        AuditAction.PLACEHOLDER_CLAIM,
        AuditAction.PLACEHOLDER_RELEASE,
    }
)


def _named_account(entry: AuditLogEntry) -> int | None:
    return int(entry.target_id) if entry.target_id is not None and entry.action_type in _ABOUT_ACCOUNTS else None


_ABSENT: Final = object()


def changes_between(before: Mapping[str, object], after: Mapping[str, object]) -> list[wire.AuditLogChange]:
    """What differs, as an entry's `changes`: keys in order, values as the wire has them. A key that one side lacks has
    no value there."""
    changes: list[wire.AuditLogChange] = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key, _ABSENT), after.get(key, _ABSENT)
        if old == new:
            continue
        change: wire.AuditLogChange = {"key": key}
        if old is not _ABSENT:
            change["old_value"] = old
        if new is not _ABSENT:
            change["new_value"] = new
        changes.append(change)
    return changes


def audit_log_entry_object(entry: AuditLogEntry) -> wire.AuditLogEntry:
    """One entry; `reason`, `options` and `changes` are there only where there is something to tell."""
    data: wire.AuditLogEntry = {
        "id": str(entry.id),
        "action_type": entry.action_type,
        "user_id": str(entry.user_id),
        "target_id": entry.target_id,
    }
    if entry.reason is not None:
        data["reason"] = entry.reason
    if entry.options:
        data["options"] = dict(entry.options)
    if entry.changes:
        data["changes"] = [cast("wire.AuditLogChange", dict(change)) for change in entry.changes]
    return data
