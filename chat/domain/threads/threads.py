"""Threads: starting them, and who is in them (threads.md, Starting threads; access.md, Thread routes).

A thread is seen by those who see the channel above it and know threads; a private one by its members, and by those who
manage threads there. What changes a thread is in `chat.domain.threads.thread_changes`, what lists threads in
`chat.domain.threads.thread_lists`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.messages.message_events import SystemMessages, WrittenMessage, message_updated
from chat.domain.messages.message_reading import StoredMessages, require_message, with_context
from chat.domain.messages.slowmode import BYPASS_SLOWMODE, Slowmode
from chat.domain.messages.thread_writing import require_room
from chat.domain.standing.access import GuildChannelAccess
from chat.domain.standing.audit_log import Actor, AuditLog, changes_between
from chat.domain.standing.thread_access import ThreadAccess, ThreadLookup
from chat.domain.standing.thread_objects import (
    KnownThread,
    known_thread,
    member_of_thread,
    members_changed,
    thread_created,
    thread_member_object,
    thread_object,
)
from chat.domain.standing.verification import require_verification
from chat.errors import ApiError
from chat.registries.audit_actions import AuditAction
from chat.registries.channel_types import ChannelType
from chat.registries.error_codes import ErrorCode
from chat.registries.events import EventName
from chat.registries.guild_values import DisabledOperation
from chat.registries.limits import THREAD_MEMBERS_MAXIMUM
from chat.registries.message_types import THREAD_MESSAGE_TYPES, MessageFlag, MessageReferenceType, MessageType
from chat.registries.permissions import Permission
from chat.store import threads
from chat.store.guilds import channels
from chat.store.guilds.channels import Channel
from chat.store.messages import messages
from chat.store.messages.messages import Message, MessageReference
from chat.store.standing.guild_audit_log import AuditLogEntry
from chat.store.threads import MINUTE_MS, Thread, ThreadMember

DEFAULT_AUTO_ARCHIVE_MINUTES: Final = 4_320
HAS_THREAD: Final = MessageFlag.HAS_THREAD.value

_START_PERMISSION: Final = {
    ChannelType.PUBLIC_THREAD: Permission.CREATE_PUBLIC_THREADS.value,
    ChannelType.ANNOUNCEMENT_THREAD: Permission.CREATE_PUBLIC_THREADS.value,
    ChannelType.PRIVATE_THREAD: Permission.CREATE_PRIVATE_THREADS.value,
}
_BELOW: Final = {
    ChannelType.GUILD_TEXT: frozenset({ChannelType.PUBLIC_THREAD, ChannelType.PRIVATE_THREAD}),
    ChannelType.GUILD_ANNOUNCEMENT: frozenset({ChannelType.ANNOUNCEMENT_THREAD}),
}
"""Which threads a channel holds; forums hold posts (`chat.domain.threads.posts`)."""


@frozen
class NewThread:
    """A thread that is asked for. A member that is None takes the value of the channel above."""

    name: str
    type: ChannelType | None = None
    auto_archive_duration: int | None = None
    rate_limit_per_user: int | None = None
    invitable: bool = True
    applied_tags: tuple[int, ...] = ()


@frozen
class _StartedThread:
    known: KnownThread
    own: ThreadMember
    entry: AuditLogEntry
    announced: WrittenMessage | None
    """In the channel above, for a thread that no message has."""
    starter: StoredMessages | None
    """The message that has the thread from now on."""
    opening: WrittenMessage | None
    """In the thread, for one that a message has."""


class Threads:
    """The operations that start threads, and those on their members."""

    def __init__(self, core: Core, lookup: ThreadLookup, system_messages: SystemMessages) -> None:
        self._core = core
        self._lookup = lookup
        self._system_messages = system_messages
        self._slowmode = Slowmode()

    def forget_recent(self) -> None:
        """The store was emptied: no member waits for slow mode."""
        self._slowmode.forget()

    async def start(
        self, principal: Principal, channel_id: int, new: NewThread, reason: str | None = None
    ) -> wire.Thread | wire.Post:
        """Start a thread below a channel; the channel says so, unless it is a private one. The channel's slow mode
        counts for threads as for messages, each on its own.

        :raises ApiError: as `Access.guild_channel`; INVALID_CHANNEL_TYPE, MISSING_PERMISSIONS, COMMUNICATION_DISABLED,
            FEATURE_TEMPORARILY_DISABLED, GUILD_VERIFICATION_REQUIRED, CONTENT_BLOCKED, SLOWMODE_RATE_LIMITED,
            MAX_ACTIVE_THREADS.
        """
        parent = self._core.access.guild_channel(principal, channel_id)
        return await self._start(principal, parent, new, self._system_messages.new_id(), reason)

    async def start_from_message(
        self, principal: Principal, channel_id: int, message_id: int, new: NewThread, reason: str | None = None
    ) -> wire.Thread:
        """Start the thread of a message, which takes over the message's id; a message has one at most.

        :raises ApiError: as `start`; UNKNOWN_MESSAGE, THREAD_ALREADY_CREATED_FOR_MESSAGE.
        """
        parent = self._core.access.guild_channel(principal, channel_id)
        if not parent.reads(message_id):
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        require_message(self._core.database.reader, channel_id, message_id)
        if new.type is ChannelType.PRIVATE_THREAD:
            raise ApiError(ErrorCode.INVALID_CHANNEL_TYPE)
        in_announcements = parent.channel.type == ChannelType.GUILD_ANNOUNCEMENT
        kind = ChannelType.ANNOUNCEMENT_THREAD if in_announcements else ChannelType.PUBLIC_THREAD
        return await self._start(principal, parent, attrs.evolve(new, type=kind), message_id, reason, of_message=True)

    async def _start(
        self,
        principal: Principal,
        parent: GuildChannelAccess,
        new: NewThread,
        thread_id: int,
        reason: str | None,
        *,
        of_message: bool = False,
    ) -> wire.Thread:
        kind = _kind(parent.channel, new.type)
        parent.require(_START_PERMISSION[kind])
        now = self._core.clock.now_ms()
        parent.require_voice(now)
        if parent.disables(DisabledOperation.SEND_MESSAGE.value):
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
        require_verification(parent.state, parent.member, principal.account, now)
        self._core.blocked.require_text(new.name)
        thread = thread_to_be(parent.channel, kind, thread_id, principal.user_id, new, now)
        own = ThreadMember(thread_id, principal.user_id, now)
        message_id = self._system_messages.new_id()

        def unit(connection: sqlite3.Connection) -> _StartedThread:
            if channels.guild_of(connection, parent.channel.id) is None:
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
            starter = self._with_thread(connection, parent.channel.id, thread_id) if of_message else None
            known = open_thread(connection, thread, own)
            actor = Actor(principal.user_id, reason)
            return _StartedThread(
                known,
                own,
                record_thread(connection, self._core.audit_log, AuditAction.THREAD_CREATE, actor, None, known.thread),
                None if of_message or thread.is_private else self._announce(connection, thread, message_id),
                None if starter is None else with_context(connection, [starter]),
                None if starter is None else self._open(connection, thread, starter, message_id),
            )

        slow = parent.channel.rate_limit_per_user > 0 and not parent.may(BYPASS_SLOWMODE)
        if slow:
            self._slowmode.take_turn(principal.user_id, parent.channel.id, parent.channel.rate_limit_per_user, now)
        try:
            started = await self._core.database.write(
                unit, lambda started: self._publish_started(parent, started), guard=principal.guard
            )
        except Exception:
            if slow:
                self._slowmode.give_back(principal.user_id, parent.channel.id)
            raise
        return thread_object(started.known.thread, own=own, member_ids=[principal.user_id])

    def _with_thread(self, connection: sqlite3.Connection, channel_id: int, message_id: int) -> Message:
        """The message, which has a thread from now on."""
        message = messages.by_id(connection, channel_id, message_id)
        if message is None or message.type in THREAD_MESSAGE_TYPES:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        if threads.by_id(connection, message_id) is not None:
            raise ApiError(ErrorCode.THREAD_ALREADY_CREATED_FOR_MESSAGE)
        messages.change_flags(connection, message_id, added=HAS_THREAD)
        return attrs.evolve(message, flags=message.flags | HAS_THREAD)

    def _announce(self, connection: sqlite3.Connection, thread: Thread, message_id: int) -> WrittenMessage | None:
        """Tell the channel above of a thread that no message has."""
        told = Message(
            id=message_id,
            channel_id=thread.channel.parent_id or 0,
            author_id=thread.channel.owner_id or 0,
            type=MessageType.THREAD_CREATED.value,
            content=thread.channel.name or "",
            reference=MessageReference(
                channel_id=thread.id,
                message_id=0,
                guild_id=thread.channel.guild_id,
                type=MessageReferenceType.REPLY.value,
            ),
        )
        return self._system_messages.write(connection, told)

    def _open(
        self, connection: sqlite3.Connection, thread: Thread, starter: Message, message_id: int
    ) -> WrittenMessage | None:
        """Show the message that has the thread as the first in it; it does not count among those written there."""
        shown = Message(
            id=message_id,
            channel_id=thread.id,
            author_id=starter.author_id,
            webhook_id=starter.webhook_id,
            type=MessageType.THREAD_STARTER_MESSAGE.value,
            content="",
            extra=None if starter.extra is None else starter.extra.of_webhook(),
            reference=starter.as_reference(thread.channel.guild_id),
        )
        written = self._system_messages.write(connection, shown)
        threads.discount_first(connection, thread.id)
        return written

    def _publish_started(self, parent: GuildChannelAccess, started: _StartedThread) -> None:
        above = self._core.access.renewed(parent)
        if above is None:
            return
        self._core.bus.publish(*thread_created(started.known, started.own))
        if started.starter is not None:
            self._core.bus.publish(message_updated(above, started.starter, self._core.media_addresses))
        self._system_messages.publish(above, started.announced)
        inside = self._lookup.find(parent.state, parent.member, started.known.thread.id)
        if inside is not None:
            self._system_messages.publish(inside, started.opening)
        self._core.audit_log.publish(started.entry)

    # Members

    async def members_of(
        self, principal: Principal, thread_id: int, *, after: int, limit: int
    ) -> list[wire.ThreadMember]:
        """A page of the members of a thread, in order of their ids.

        :raises ApiError: as `Access.channel`; INVALID_CHANNEL_TYPE.
        """
        access = self.thread(principal, thread_id)
        found = threads.members(self._core.database.reader, thread_id, after=after, limit=limit)
        return [member_of_thread(access.state, entry) for entry in found]

    async def member(self, principal: Principal, thread_id: int, user_id: int) -> wire.ThreadMember:
        """One member of a thread.

        :raises ApiError: as `members_of`; UNKNOWN_THREAD_MEMBER.
        """
        access = self.thread(principal, thread_id)
        entry = threads.member(self._core.database.reader, thread_id, user_id)
        if entry is None:
            raise ApiError(ErrorCode.UNKNOWN_THREAD_MEMBER)
        return member_of_thread(access.state, entry)

    async def add(self, principal: Principal, thread_id: int, user_id: int) -> None:
        """Join a thread, or bring another member of the guild into it; nothing happens if the account is in it already.

        :raises ApiError: as `members_of`; THREAD_ARCHIVED, THREAD_LOCKED (bringing others), COMMUNICATION_DISABLED,
            UNKNOWN_MEMBER (no member of the guild who sees the channel), MISSING_PERMISSIONS, MAX_THREAD_MEMBERS.
        """
        access = self.thread(principal, thread_id)
        now = self._core.clock.now_ms()
        access.require_voice(now)
        if access.thread.archived:
            raise ApiError(ErrorCode.THREAD_ARCHIVED)
        if user_id != principal.user_id:
            access.require_unlocked(now)
            if not access.may_invite(now):
                raise access.unmoderated()
        parent_id = access.thread.channel.parent_id or 0
        if access.state.member(user_id) is None or not access.state.can_view(user_id, parent_id):
            raise ApiError(ErrorCode.UNKNOWN_MEMBER)
        entry = ThreadMember(thread_id, user_id, now)

        def unit(connection: sqlite3.Connection) -> tuple[list[ThreadMember], KnownThread]:
            before = present_thread(connection, thread_id)
            if before.archived:
                raise ApiError(ErrorCode.THREAD_ARCHIVED)
            if before.member_count >= THREAD_MEMBERS_MAXIMUM and threads.member(connection, thread_id, user_id) is None:
                raise ApiError(ErrorCode.MAX_THREAD_MEMBERS)
            added = threads.add_members(connection, [entry])
            return added, known_thread(connection, present_thread(connection, thread_id))

        def then(result: tuple[list[ThreadMember], KnownThread]) -> None:
            self._publish_members(access, result[1], added=result[0])

        await self._core.database.write(unit, then, guard=principal.guard)

    async def remove(self, principal: Principal, thread_id: int, user_id: int) -> None:
        """Leave a thread, or take another out of it: for those who manage threads, and the owner of a private one.

        :raises ApiError: as `members_of`; THREAD_ARCHIVED, MISSING_PERMISSIONS, UNKNOWN_THREAD_MEMBER.
        """
        access = self.thread(principal, thread_id)
        if access.thread.archived:
            raise ApiError(ErrorCode.THREAD_ARCHIVED)
        if user_id != principal.user_id and not (access.is_private and access.is_owner):
            access.require_moderates(self._core.clock.now_ms())

        def unit(connection: sqlite3.Connection) -> KnownThread:
            if present_thread(connection, thread_id).archived:
                raise ApiError(ErrorCode.THREAD_ARCHIVED)
            if not threads.remove_member(connection, thread_id, user_id):
                raise ApiError(ErrorCode.UNKNOWN_THREAD_MEMBER)
            return known_thread(connection, present_thread(connection, thread_id))

        await self._core.database.write(
            unit, lambda known: self._publish_members(access, known, removed_ids=[user_id]), guard=principal.guard
        )

    async def change_settings(
        self,
        principal: Principal,
        thread_id: int,
        *,
        flags: int | None,
        muted: bool | None,
        mute_config: Mapping[str, Any] | None,
    ) -> wire.ThreadMember:
        """Change what the caller hears of a thread that it is in; the account's own sessions are told. Without `muted`
        there is no `mute_config`.

        :raises ApiError: as `members_of`; UNKNOWN_THREAD_MEMBER.
        """
        guild_id = self.thread(principal, thread_id).state.id

        def unit(connection: sqlite3.Connection) -> ThreadMember:
            before = threads.member(connection, thread_id, principal.user_id)
            if before is None:
                raise ApiError(ErrorCode.UNKNOWN_THREAD_MEMBER)
            is_muted = before.muted if muted is None else muted
            after = attrs.evolve(
                before,
                flags=before.flags if flags is None else flags,
                muted=is_muted,
                mute_config=(before.mute_config if mute_config is None else mute_config) if is_muted else None,
            )
            threads.change_member(connection, after)
            return after

        def then(after: ThreadMember) -> None:
            data = {**thread_member_object(after), "guild_id": str(guild_id)}
            self._core.bus.publish(Event(EventName.THREAD_MEMBER_UPDATE, data, ToAccounts((principal.user_id,))))

        return thread_member_object(await self._core.database.write(unit, then, guard=principal.guard))

    def thread(self, principal: Principal, thread_id: int) -> ThreadAccess:
        """A thread that the caller sees.

        :raises ApiError: as `Access.channel`; INVALID_CHANNEL_TYPE.
        """
        access = self._core.access.channel(principal, thread_id)
        if not isinstance(access, ThreadAccess):
            raise ApiError(ErrorCode.INVALID_CHANNEL_TYPE)
        return access

    def _publish_members(
        self,
        access: ThreadAccess,
        known: KnownThread,
        *,
        added: Sequence[ThreadMember] = (),
        removed_ids: Sequence[int] = (),
    ) -> None:
        renewed = self._core.access.renewed(access)
        if isinstance(renewed, ThreadAccess):
            self._core.bus.publish(*members_changed(renewed.state, known, added=added, removed_ids=removed_ids))


def thread_to_be(
    parent: Channel, kind: ChannelType, thread_id: int, owner_id: int, new: NewThread, now_ms: int
) -> Thread:
    """A thread below a channel, with what the channel says where the starter said nothing."""
    minutes = new.auto_archive_duration or parent.default_auto_archive_duration or DEFAULT_AUTO_ARCHIVE_MINUTES
    slowmode = new.rate_limit_per_user
    return Thread(
        channel=Channel(
            id=thread_id,
            guild_id=parent.guild_id,
            type=kind,
            name=new.name,
            parent_id=parent.id,
            owner_id=owner_id,
            rate_limit_per_user=parent.default_thread_rate_limit_per_user if slowmode is None else slowmode,
        ),
        archived=False,
        auto_archive_duration=minutes,
        archive_timestamp=now_ms,
        locked=False,
        invitable=new.invitable if kind is ChannelType.PRIVATE_THREAD else None,
        message_count=0,
        total_message_sent=0,
        member_count=0,
        created_at=now_ms,
        archive_at=now_ms + minutes * MINUTE_MS,
        applied_tags=new.applied_tags,
    )


def open_thread(connection: sqlite3.Connection, thread: Thread, own: ThreadMember | None) -> KnownThread:
    """In a unit: write a new thread, with its owner in it, who is `own` unless a webhook started it.

    :raises ApiError: MAX_ACTIVE_THREADS, THREAD_ALREADY_CREATED_FOR_MESSAGE.
    """
    if threads.by_id(connection, thread.id) is not None:
        raise ApiError(ErrorCode.THREAD_ALREADY_CREATED_FOR_MESSAGE)
    require_room(connection, thread)
    threads.insert(connection, thread)
    if own is not None:
        threads.add_members(connection, [own])
        thread = attrs.evolve(thread, member_count=1)
    return KnownThread(
        thread, (frozenset() if own is None else frozenset({own.user_id})) if thread.is_private else None
    )


def present_thread(connection: sqlite3.Connection, thread_id: int) -> Thread:
    """In a unit: the thread, if it is still there. Raises UNKNOWN_CHANNEL."""
    thread = threads.by_id(connection, thread_id)
    if thread is None or thread.channel.guild_id is None:
        raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
    return thread


def record_thread(
    connection: sqlite3.Connection,
    audit_log: AuditLog,
    action: AuditAction,
    actor: Actor,
    before: Thread | None,
    after: Thread,
) -> AuditLogEntry:
    """In a unit: note in the audit log that a thread was started or changed."""
    guild_id, logged = after.channel.guild_id or 0, {} if before is None else logged_thread(before)
    changes = changes_between(logged, logged_thread(after))
    return audit_log.record(connection, guild_id, action, actor, target_id=after.id, changes=changes)


def logged_thread(thread: Thread) -> Mapping[str, object]:
    """A thread as the audit log compares it."""
    data: dict[str, object] = {
        "name": thread.channel.name,
        "type": thread.channel.type,
        "archived": thread.archived,
        "locked": thread.locked,
        "auto_archive_duration": thread.auto_archive_duration,
        "rate_limit_per_user": thread.channel.rate_limit_per_user,
        "flags": thread.channel.flags,
        "applied_tags": [str(tag_id) for tag_id in thread.applied_tags],
    }
    if thread.is_private:
        data["invitable"] = bool(thread.invitable)
    return data


def _kind(parent: Channel, wanted: ChannelType | None) -> ChannelType:
    """The kind of thread to start below a channel: the wanted one, or the one that goes without saying.

    :raises ApiError: INVALID_CHANNEL_TYPE where the channel holds no such threads; forums take posts, not bare threads.
    """
    kinds = _BELOW.get(ChannelType(parent.type), frozenset())
    kind = min(kinds, default=None) if wanted is None else wanted
    if kind is None or kind not in kinds:
        raise ApiError(ErrorCode.INVALID_CHANNEL_TYPE)
    return kind
