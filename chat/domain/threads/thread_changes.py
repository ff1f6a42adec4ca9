"""Changing, archiving and deleting threads (threads.md, Changing threads).

Who may do what: members who may write in a thread bring it back from the archive; its owner names it, archives it and
says when it archives itself; all else is for those who manage threads. A locked thread is theirs alone, and an archived
one changes only while it is brought back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

import attrs
import trio

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.messages.message_events import message_updated
from chat.domain.messages.message_reading import StoredMessages, with_context
from chat.domain.messages.thread_writing import archived, every_member, require_room, unarchived
from chat.domain.policy.changes import Columns
from chat.domain.policy.due_work import DueWork
from chat.domain.standing.audit_log import Actor, changes_between
from chat.domain.standing.thread_objects import (
    KnownThread,
    known_thread,
    thread_deleted,
    thread_object,
    thread_returned,
    thread_updated,
)
from chat.domain.threads.posts import require_tags
from chat.domain.threads.threads import HAS_THREAD, Threads, logged_thread, present_thread, record_thread
from chat.errors import ApiError, InvalidFormBody
from chat.registries.audit_actions import AuditAction
from chat.registries.channel_types import THREAD_ONLY_CHANNEL_TYPES, ChannelFlag
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.limits import PINNED_THREADS_IN_FORUM
from chat.registries.permissions import Permission
from chat.snowflake import snowflake_time_ms
from chat.store import threads
from chat.store.guard import UNGUARDED
from chat.store.guilds import channels
from chat.store.guilds.channels import Channel
from chat.store.messages import messages
from chat.store.standing.guild_audit_log import AuditLogEntry
from chat.store.threads import MINUTE_MS, Thread, ThreadMember

PINNED: Final = ChannelFlag.PINNED.value
THREAD_FLAGS: Final = PINNED
"""Bits of a thread's `flags` that may be set by hand; others are dropped."""

MESSAGES_AT_ONCE: Final = 1_000
"""A thread with more messages is deleted little by little."""

THREADS_AT_ONCE: Final = 100
"""Threads that one transaction archives at most."""


@frozen
class ThreadChange:
    """Changes to a thread; None keeps what is there."""

    name: str | None = None
    archived: bool | None = None
    locked: bool | None = None
    auto_archive_duration: int | None = None
    rate_limit_per_user: int | None = None
    invitable: bool | None = None
    flags: int | None = None
    applied_tags: tuple[int, ...] | None = None


@frozen
class _ThreadStanding:
    """What the caller is to a thread."""

    moderates: bool
    owns: bool
    may_write: bool
    unmoderated: Callable[[ErrorCode], ApiError]
    """What refuses one who does not moderate it."""


@frozen
class _Changed:
    """What a change wrote; no entry where nothing changed."""

    known: KnownThread
    entry: AuditLogEntry | None
    members: tuple[ThreadMember, ...] | None = None
    """Who is in it, where it came back from the archive."""


@frozen
class _DeletedThread:
    known: KnownThread
    entry: AuditLogEntry
    starter: StoredMessages | None


@define(kw_only=True, eq=False)
class ThreadChanges:
    _core: Core
    _threads: Threads
    _archiving: ThreadArchiving

    def is_thread(self, channel_id: int) -> bool:
        """Whether there is a thread with this id, seen by the caller or not."""
        return threads.by_id(self._core.database.reader, channel_id) is not None

    async def change(
        self, principal: Principal, thread_id: int, change: ThreadChange, reason: str | None = None
    ) -> wire.GuildChannel | wire.GroupChannel | wire.Thread:
        """Change a thread; a change that changes nothing is not told.

        :raises ApiError: as `Threads.thread`; COMMUNICATION_DISABLED, and as `_judge`; MAX_ACTIVE_THREADS,
            MAX_PINNED_THREADS_IN_FORUM, UNKNOWN_FORUM_TAG, FORUM_TAG_REQUIRED, CONTENT_BLOCKED.
        :raises InvalidFormBody: INVALID_FORMAT at `flags` or `applied_tags` outside of forums.
        """
        access = self._threads.thread(principal, thread_id)
        now = self._core.clock.now_ms()
        access.require_voice(now)
        may_write = access.may(Permission.SEND_MESSAGES.value)
        standing = _ThreadStanding(access.moderates(now), access.is_owner, may_write, access.unmoderated)
        if change.name is not None:
            self._core.blocked.require_text(change.name)
        parent = access.state.channels[access.thread.channel.parent_id or 0]

        def unit(connection: sqlite3.Connection) -> _Changed:
            before = present_thread(connection, thread_id)
            after = _changed(before, change, now)
            if after == before:
                return _Changed(known_thread(connection, before), None)
            _judge(standing, before, after)
            _require_place(connection, standing, parent, before, after)
            threads.change(connection, after)
            actor = Actor(principal.user_id, reason)
            entry = record_thread(connection, self._core.audit_log, AuditAction.THREAD_UPDATE, actor, before, after)
            returned = every_member(connection, thread_id) if before.archived and not after.archived else None
            return _Changed(known_thread(connection, after), entry, returned)

        def then(changed: _Changed) -> None:
            if changed.entry is None:
                return
            if changed.members is None:
                self._core.bus.publish(thread_updated(changed.known))
            else:
                self._core.bus.publish(*thread_returned(changed.known, changed.members))
            self._core.audit_log.publish(changed.entry)
            self._archiving.look_again()

        changed = await self._core.database.write(unit, then, guard=principal.guard)
        return thread_object(changed.known.thread, own=access.own)

    async def delete(self, principal: Principal, thread_id: int, reason: str | None = None) -> None:
        """Delete a thread with its messages; the message that had it has none any more.

        :raises ApiError: as `Threads.thread`; MISSING_PERMISSIONS, TWO_FACTOR_REQUIRED, COMMUNICATION_DISABLED.
        """
        access = self._threads.thread(principal, thread_id)
        access.require_moderates(self._core.clock.now_ms())

        def unit(connection: sqlite3.Connection) -> _DeletedThread:
            thread = present_thread(connection, thread_id)
            known = known_thread(connection, thread)
            parent_id = thread.channel.parent_id or 0
            messages.change_flags(connection, thread_id, removed=HAS_THREAD)
            if thread.total_message_sent <= MESSAGES_AT_ONCE:
                channels.delete(connection, thread_id)
            else:
                channels.cut_channel_loose(connection, thread_id)
            starter = messages.by_id(connection, parent_id, thread_id)
            entry = self._core.audit_log.record(
                connection,
                access.state.id,
                AuditAction.THREAD_DELETE,
                Actor(principal.user_id, reason),
                target_id=thread_id,
                changes=changes_between(logged_thread(thread), {}),
            )
            return _DeletedThread(known, entry, None if starter is None else with_context(connection, [starter]))

        def then(deleted: _DeletedThread) -> None:
            self._core.bus.publish(thread_deleted(deleted.known))
            self._publish_starter(principal, deleted)
            self._core.audit_log.publish(deleted.entry)

        await self._core.database.write(unit, then, guard=principal.guard)

    def _publish_starter(self, principal: Principal, deleted: _DeletedThread) -> None:
        if deleted.starter is None:
            return
        try:
            above = self._core.access.guild_channel(principal, deleted.starter.messages[0].channel_id)
        except ApiError:  # out of the caller's sight in this very moment
            return
        self._core.bus.publish(message_updated(above, deleted.starter, self._core.media_addresses))


def _judge(standing: _ThreadStanding, before: Thread, after: Thread) -> None:
    """Check that the caller may make one thread of the other.

    :raises ApiError: MISSING_PERMISSIONS, TWO_FACTOR_REQUIRED, THREAD_LOCKED, THREAD_ARCHIVED.
    """
    if not standing.moderates:
        _require_standing(standing, before, after)
        if before.locked:
            raise standing.unmoderated(ErrorCode.THREAD_LOCKED)
    if before.archived and after.archived and not (standing.moderates and _only_lock_differs(before, after)):
        raise ApiError(ErrorCode.THREAD_ARCHIVED)


def _require_standing(standing: _ThreadStanding, before: Thread, after: Thread) -> None:
    for_moderators = (
        before.locked != after.locked
        or before.channel.rate_limit_per_user != after.channel.rate_limit_per_user
        or before.channel.flags != after.channel.flags
    )
    for_owners = (
        before.channel.name != after.channel.name
        or before.auto_archive_duration != after.auto_archive_duration
        or before.invitable != after.invitable
        or before.applied_tags != after.applied_tags
        or (after.archived and not before.archived)
    )
    comes_back = before.archived and not after.archived
    if for_moderators or (for_owners and not standing.owns) or (comes_back and not standing.may_write):
        raise standing.unmoderated(ErrorCode.MISSING_PERMISSIONS)


def _only_lock_differs(before: Thread, after: Thread) -> bool:
    return attrs.evolve(after, locked=before.locked) == before


def _changed(before: Thread, change: ThreadChange, now_ms: int) -> Thread:
    """The thread with what was asked for."""

    def given(*names: str) -> Columns:
        return {name: value for name in names if (value := getattr(change, name)) is not None}

    channel = attrs.evolve(before.channel, **given("name", "rate_limit_per_user"))
    if change.flags is not None:
        channel = attrs.evolve(channel, flags=change.flags & THREAD_FLAGS)
    after = attrs.evolve(before, channel=channel, **given("locked", "applied_tags"))
    if before.is_private:
        after = attrs.evolve(after, **given("invitable"))
    if change.archived is True and not before.archived:
        after = archived(after, now_ms)
    elif change.archived is False and before.archived:
        after = unarchived(after, now_ms)
    minutes = change.auto_archive_duration
    if minutes is not None and minutes != before.auto_archive_duration:
        since = now_ms if before.archived else _last_activity(before)
        archive_at = None if after.archived else since + minutes * MINUTE_MS
        after = attrs.evolve(after, auto_archive_duration=minutes, archive_at=archive_at)
    return after


def _last_activity(thread: Thread) -> int:
    """When something was last written in the thread, or it was brought back, or started."""
    last = thread.channel.last_message_id
    return max(thread.archive_timestamp, 0 if last is None else snowflake_time_ms(last))


def _require_place(
    connection: sqlite3.Connection, standing: _ThreadStanding, parent: Channel, before: Thread, after: Thread
) -> None:
    """In the unit: check that the guild and the forum have room for the thread as it is to be.

    :raises ApiError: MAX_ACTIVE_THREADS, MAX_PINNED_THREADS_IN_FORUM; as `require_tags`.
    :raises InvalidFormBody: at `flags`, `applied_tags`.
    """
    in_forum = parent.type in THREAD_ONLY_CHANNEL_TYPES
    if before.archived and not after.archived:
        require_room(connection, after)
    if after.channel.flags != before.channel.flags and not in_forum:
        raise InvalidFormBody.at("flags", FieldCode.INVALID_FORMAT)
    if after.applied_tags != before.applied_tags:
        if not in_forum:
            raise InvalidFormBody.at("applied_tags", FieldCode.INVALID_FORMAT)
        forum = channels.by_id(connection, parent.id) or parent
        given, unmoderated = before.applied_tags, standing.unmoderated
        require_tags(forum, after.applied_tags, before=given, moderates=standing.moderates, unmoderated=unmoderated)
    if after.channel.flags & PINNED and not after.archived and (not before.channel.flags & PINNED or before.archived):
        pinned = [other for other in threads.pinned_below(connection, parent.id, PINNED) if other != after.id]
        if len(pinned) >= PINNED_THREADS_IN_FORUM:
            raise ApiError(ErrorCode.MAX_PINNED_THREADS_IN_FORUM)


class ThreadArchiving(DueWork):
    """Archives threads in which nothing has been written for as long as they say (threads.md, Archiving).

    When, stands with each thread and is indexed, so that a restart forgets nothing and no look goes through all
    threads. A pinned post stays.
    """

    NAME = "threads to be archived"
    LOOK_SECONDS = 1_800.0
    """Less than the shortest time after which a thread archives itself, so that new ones need not be told of."""

    def __init__(self, core: Core) -> None:
        self._core = core
        super().__init__(core.clock)

    async def _work(self) -> None:
        while len(await self._archive_some()) == THREADS_AT_ONCE:
            await trio.lowlevel.checkpoint()

    def _next_due(self) -> int | None:
        return threads.next_due(self._core.database.reader)

    async def _archive_some(self) -> list[KnownThread | None]:
        now = self._clock.now_ms()

        def unit(connection: sqlite3.Connection) -> list[KnownThread | None]:
            done: list[KnownThread | None] = []
            for thread in threads.due(connection, now, THREADS_AT_ONCE):
                if thread.channel.flags & PINNED:
                    threads.postpone(connection, thread.id, now + thread.auto_archive_duration * MINUTE_MS)
                    done.append(None)
                    continue
                after = archived(thread, now)
                threads.change(connection, after)
                done.append(known_thread(connection, after))
            return done

        def then(done: list[KnownThread | None]) -> None:
            self._core.bus.publish(*(thread_updated(known) for known in done if known is not None))

        return await self._core.database.write(unit, then, guard=UNGUARDED)
