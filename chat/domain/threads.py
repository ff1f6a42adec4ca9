"""Threads: starting them, finding them, and who is in them (wire facts 5.6; document 000, Thread routes).

A thread is seen by whoever sees the channel above it and knows threads; a private one by its members, and by those who
manage threads there.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import attrs

from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Bus, Event
from chat.clock import Clock
from chat.domain.access import Access, GuildChannelAccess
from chat.domain.instance_policy import InstancePolicy
from chat.domain.objects.threads import thread_member_object, thread_object
from chat.domain.objects.users import partial_user
from chat.domain.thread_access import MANAGE_THREADS, ThreadAccess, ThreadLookup
from chat.errors import ApiError
from chat.registries.channel_types import THREAD_ONLY_CHANNEL_TYPES, ChannelType
from chat.registries.events import EventName
from chat.registries.limits import (
    ACTIVE_THREADS_PER_GUILD,
    THREAD_MEMBER_COUNT_MAXIMUM,
    THREAD_MEMBERS_MAXIMUM,
)
from chat.registries.permissions import Permission
from chat.snowflake import SnowflakeGenerator
from chat.store import channels, messages, threads
from chat.store.channels import Channel
from chat.store.database import Database
from chat.store.threads import Thread, ThreadMember

AUTO_ARCHIVE_MINUTES: Final = (60, 1_440, 4_320, 10_080)
DEFAULT_AUTO_ARCHIVE_MINUTES: Final = 4_320

_START_PERMISSION: Final = {
    ChannelType.PUBLIC_THREAD: Permission.CREATE_PUBLIC_THREADS.value,
    ChannelType.ANNOUNCEMENT_THREAD: Permission.CREATE_PUBLIC_THREADS.value,
    ChannelType.PRIVATE_THREAD: Permission.CREATE_PRIVATE_THREADS.value,
}
_BELOW: Final = {
    ChannelType.GUILD_TEXT: frozenset({ChannelType.PUBLIC_THREAD, ChannelType.PRIVATE_THREAD}),
    ChannelType.GUILD_ANNOUNCEMENT: frozenset({ChannelType.ANNOUNCEMENT_THREAD}),
}
"""Which threads a channel holds."""


@attrs.frozen
class NewThread:
    """A thread as somebody starts it. `type` None takes the kind that the channel holds."""

    name: str
    type: ChannelType | None = None
    auto_archive_duration: int = DEFAULT_AUTO_ARCHIVE_MINUTES
    rate_limit_per_user: int = 0
    invitable: bool = True


class Threads:
    """The operations on threads and their members."""

    def __init__(
        self,
        database: Database,
        access: Access,
        lookup: ThreadLookup,
        bus: Bus,
        clock: Clock,
        snowflakes: SnowflakeGenerator,
        policy: InstancePolicy,
    ) -> None:
        self._database = database
        self._access = access
        self._lookup = lookup
        self._bus = bus
        self._clock = clock
        self._snowflakes = snowflakes
        self._policy = policy

    async def start(self, principal: Principal, channel_id: int, new: NewThread) -> dict[str, Any]:
        """Start a thread below a channel.

        :raises ApiError: as `Access.guild_channel`; INVALID_CHANNEL_TYPE, MISSING_PERMISSIONS, COMMUNICATION_DISABLED,
            CONTENT_BLOCKED, MAX_ACTIVE_THREADS.
        """
        parent = self._access.guild_channel(principal, channel_id)
        return await self._start(principal, parent, new, self._snowflakes())

    async def start_from_message(
        self, principal: Principal, channel_id: int, message_id: int, new: NewThread
    ) -> dict[str, Any]:
        """Start the thread of a message, which takes over the message's id; a message has one at most.

        :raises ApiError: as `start`; UNKNOWN_MESSAGE, THREAD_ALREADY_CREATED_FOR_MESSAGE.
        """
        parent = self._access.guild_channel(principal, channel_id)
        floor = parent.history_floor()
        if floor is None or message_id < floor:
            raise ApiError("UNKNOWN_MESSAGE")
        if messages.by_id(self._database.reader, channel_id, message_id) is None:
            raise ApiError("UNKNOWN_MESSAGE")
        if new.type is ChannelType.PRIVATE_THREAD:
            raise ApiError("INVALID_CHANNEL_TYPE")
        kind = (
            ChannelType.ANNOUNCEMENT_THREAD
            if parent.channel.type == ChannelType.GUILD_ANNOUNCEMENT
            else ChannelType.PUBLIC_THREAD
        )
        return await self._start(principal, parent, attrs.evolve(new, type=kind), message_id)

    async def _start(
        self, principal: Principal, parent: GuildChannelAccess, new: NewThread, thread_id: int
    ) -> dict[str, Any]:
        kind = _kind(parent.channel, new.type)
        parent.require(_START_PERMISSION[kind])
        now = self._clock.now_ms()
        parent.require_voice(now)
        self._policy.require_unblocked(new.name)
        thread = Thread(
            channel=Channel(
                id=thread_id,
                guild_id=parent.state.id,
                type=kind,
                name=new.name,
                parent_id=parent.channel.id,
                owner_id=principal.user_id,
                rate_limit_per_user=new.rate_limit_per_user,
            ),
            archived=False,
            auto_archive_duration=new.auto_archive_duration,
            archive_timestamp=now,
            locked=False,
            invitable=new.invitable if kind is ChannelType.PRIVATE_THREAD else None,
            message_count=0,
            total_message_sent=0,
            member_count=0,
        )
        own = ThreadMember(thread_id, principal.user_id, now)

        def unit(connection: sqlite3.Connection) -> Thread:
            if channels.guild_of(connection, parent.channel.id) is None:
                raise ApiError("UNKNOWN_CHANNEL")
            if threads.by_id(connection, thread_id) is not None:
                raise ApiError("THREAD_ALREADY_CREATED_FOR_MESSAGE")
            if threads.count_active(connection, parent.state.id) >= ACTIVE_THREADS_PER_GUILD:
                raise ApiError("MAX_ACTIVE_THREADS")
            threads.insert(connection, thread)
            threads.add_members(connection, [own])
            return attrs.evolve(thread, member_count=1)

        def then(made: Thread) -> None:
            access = self._lookup.find(parent.state, parent.member, made.id)
            if access is not None:
                data = {**thread_object(made), "newly_created": True}
                self._bus.publish(Event(EventName.THREAD_CREATE, data, access.audience()))

        made = await self._database.write(unit, then)
        return thread_object(made, own=own)

    async def active_of_guild(self, principal: Principal, guild_id: int) -> dict[str, Any]:
        """The guild's threads that are not archived and that the caller sees, with the caller's memberships.

        :raises ApiError: as `Access.guild`; ACCESS_DENIED for people (wire facts 5.6: bots only).
        """
        access = self._access.guild(principal, guild_id)
        if not principal.is_bot:
            raise ApiError("ACCESS_DENIED")
        found = self._lookup.shown_to(access.state, principal.user_id, joined_only=False)
        return {"threads": found, "members": [thread["member"] for thread in found if "member" in thread]}

    # Members

    async def members_of(self, principal: Principal, thread_id: int, *, after: int, limit: int) -> list[dict[str, Any]]:
        """A page of the members of a thread, in order of their ids.

        :raises ApiError: as `Access.channel`; INVALID_CHANNEL_TYPE.
        """
        access = self._thread(principal, thread_id)
        found = threads.members(self._database.reader, thread_id, after=after, limit=limit)
        return [self._member_object(access, entry) for entry in found]

    async def member(self, principal: Principal, thread_id: int, user_id: int) -> dict[str, Any]:
        """One member of a thread.

        :raises ApiError: as `members_of`; UNKNOWN_THREAD_MEMBER.
        """
        access = self._thread(principal, thread_id)
        entry = threads.member(self._database.reader, thread_id, user_id)
        if entry is None:
            raise ApiError("UNKNOWN_THREAD_MEMBER")
        return self._member_object(access, entry)

    async def add(self, principal: Principal, thread_id: int, user_id: int) -> None:
        """Join a thread, or bring another member of the guild into it; whoever is in it already stays.

        :raises ApiError: as `members_of`; THREAD_ARCHIVED, COMMUNICATION_DISABLED, UNKNOWN_MEMBER (no member of the
            guild who sees the channel), MISSING_PERMISSIONS, MAX_THREAD_MEMBERS.
        """
        access = self._thread(principal, thread_id)
        access.require_voice(self._clock.now_ms())
        if access.thread.archived:
            raise ApiError("THREAD_ARCHIVED")
        if user_id != principal.user_id:
            _require_may_invite(access)
        parent_id = access.thread.channel.parent_id or 0
        if access.state.member(user_id) is None or not access.state.can_view(user_id, parent_id):
            raise ApiError("UNKNOWN_MEMBER")
        entry = ThreadMember(thread_id, user_id, self._clock.now_ms())

        def unit(connection: sqlite3.Connection) -> tuple[list[ThreadMember], Thread]:
            before = _present(connection, thread_id)
            if before.member_count >= THREAD_MEMBERS_MAXIMUM and threads.member(connection, thread_id, user_id) is None:
                raise ApiError("MAX_THREAD_MEMBERS")
            return threads.add_members(connection, [entry]), _present(connection, thread_id)

        def then(result: tuple[list[ThreadMember], Thread]) -> None:
            added, thread = result
            if not added:
                return
            # A thread is new to who was not in it: a private one for sure, a public one since Ready tells people only
            # of the threads that they are in.
            shown = {**thread_object(thread, own=entry), "newly_created": False}
            self._bus.publish(Event(EventName.THREAD_CREATE, shown, ToAccounts((user_id,))))
            changed = {"added_members": [self._member_object(access, entry)]}
            self._publish_members(access, thread, changed)

        await self._database.write(unit, then)

    async def remove(self, principal: Principal, thread_id: int, user_id: int) -> None:
        """Leave a thread, or take somebody out of it: by those who manage threads, and by the owner of a private one.

        :raises ApiError: as `members_of`; THREAD_ARCHIVED, MISSING_PERMISSIONS, UNKNOWN_THREAD_MEMBER.
        """
        access = self._thread(principal, thread_id)
        if access.thread.archived:
            raise ApiError("THREAD_ARCHIVED")
        if user_id != principal.user_id and not _owns_private(access):
            access.require(MANAGE_THREADS)

        def unit(connection: sqlite3.Connection) -> Thread:
            if not threads.remove_member(connection, thread_id, user_id):
                raise ApiError("UNKNOWN_THREAD_MEMBER")
            return _present(connection, thread_id)

        def then(thread: Thread) -> None:
            self._publish_members(access, thread, {"removed_member_ids": [str(user_id)]})

        await self._database.write(unit, then)

    async def change_settings(
        self, principal: Principal, thread_id: int, *, flags: int | None, muted: bool | None
    ) -> dict[str, Any]:
        """Change what the caller hears of a thread that it is in; the account's own sessions are told.

        :raises ApiError: as `members_of`; UNKNOWN_THREAD_MEMBER.
        """
        self._thread(principal, thread_id)

        def unit(connection: sqlite3.Connection) -> ThreadMember:
            before = threads.member(connection, thread_id, principal.user_id)
            if before is None:
                raise ApiError("UNKNOWN_THREAD_MEMBER")
            after = attrs.evolve(
                before,
                flags=before.flags if flags is None else flags,
                muted=before.muted if muted is None else muted,
            )
            threads.change_member(connection, after)
            return after

        def then(after: ThreadMember) -> None:
            guild_id = self._thread(principal, thread_id).state.id
            data = {**thread_member_object(after), "guild_id": str(guild_id)}
            self._bus.publish(Event(EventName.THREAD_MEMBER_UPDATE, data, ToAccounts((principal.user_id,))))

        return thread_member_object(await self._database.write(unit, then))

    def _thread(self, principal: Principal, thread_id: int) -> ThreadAccess:
        access = self._access.channel(principal, thread_id)
        if not isinstance(access, ThreadAccess):
            raise ApiError("INVALID_CHANNEL_TYPE")
        return access

    def _member_object(self, access: ThreadAccess, entry: ThreadMember) -> dict[str, Any]:
        member, account = access.state.member(entry.user_id), access.state.account(entry.user_id)
        if member is None or account is None:
            return thread_member_object(entry)
        return thread_member_object(entry, access.state.member_object(member, partial_user(account)))

    def _publish_members(self, access: ThreadAccess, thread: Thread, changed: dict[str, Any]) -> None:
        data = {
            "id": str(thread.id),
            "guild_id": str(access.state.id),
            "member_count": min(thread.member_count, THREAD_MEMBER_COUNT_MAXIMUM),
            **changed,
        }
        now = self._lookup.find(access.state, access.member, thread.id) or access
        removed = frozenset(int(user_id) for user_id in changed.get("removed_member_ids", ()))
        # Who was taken out of a private thread is told of it too.
        told = attrs.evolve(now, member_ids=now.member_ids | removed)
        self._bus.publish(Event(EventName.THREAD_MEMBERS_UPDATE, data, told.audience()))


def _kind(parent: Channel, wanted: ChannelType | None) -> ChannelType:
    """The kind of thread to start below a channel: the wanted one, or the one that goes without saying.

    :raises ApiError: INVALID_CHANNEL_TYPE where the channel holds no such threads; forums take posts, not bare threads.
    """
    if parent.type in THREAD_ONLY_CHANNEL_TYPES:
        kinds = frozenset({ChannelType.PUBLIC_THREAD})
    else:
        kinds = _BELOW.get(ChannelType(parent.type), frozenset())
    kind = min(kinds, default=None) if wanted is None else wanted
    if kind is None or kind not in kinds:
        raise ApiError("INVALID_CHANNEL_TYPE")
    return kind


def _owns_private(access: ThreadAccess) -> bool:
    return access.is_private and access.thread.channel.owner_id == access.user_id


def _require_may_invite(access: ThreadAccess) -> None:
    """Bringing others asks for being allowed to write there; into a private thread that is not `invitable`, for owning
    it or managing threads."""
    if access.may(MANAGE_THREADS):
        return
    access.require(Permission.SEND_MESSAGES.value)
    if access.is_private and not (access.thread.invitable or _owns_private(access)):
        raise ApiError("MISSING_PERMISSIONS")


def _present(connection: sqlite3.Connection, thread_id: int) -> Thread:
    thread = threads.by_id(connection, thread_id)
    if thread is None:
        raise ApiError("UNKNOWN_CHANNEL")
    return thread
