"""Thread and thread member objects as the wire has them (threads.md, Thread object), and what sessions hear of threads
(threads.md, Thread events): made after a commit, of what the unit found.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import cast

import attrs

from chat import wire
from chat.bus.audience import ToThread
from chat.bus.bus import Event
from chat.classes import frozen
from chat.clock import iso_timestamp, optional_timestamp
from chat.domain.standing.guild_states import GuildState
from chat.domain.standing.user_objects import partial_user
from chat.registries.events import EventName
from chat.registries.limits import THREAD_MEMBER_COUNT_MAXIMUM
from chat.registries.permissions import Permission
from chat.store import threads
from chat.store.threads import Thread, ThreadMember


def thread_object(
    thread: Thread, *, own: ThreadMember | None = None, member_ids: Sequence[int] | None = None
) -> wire.Thread:
    """A thread; `own` is the receiver's membership, if any, `member_ids` are the members to name, if any."""
    channel = thread.channel
    pinned_at = channel.last_pin_timestamp
    data: wire.Thread = {
        "id": str(channel.id),
        "type": channel.type,
        "guild_id": str(channel.guild_id),
        "parent_id": str(channel.parent_id),
        "owner_id": str(channel.owner_id),
        "name": cast(str, channel.name),  # only conversations go without
        "last_message_id": None if channel.last_message_id is None else str(channel.last_message_id),
        "last_pin_timestamp": optional_timestamp(pinned_at),
        "rate_limit_per_user": channel.rate_limit_per_user,
        "flags": channel.flags,
        "thread_metadata": _metadata(thread),
        "message_count": thread.message_count,
        "total_message_sent": thread.total_message_sent,
        "member_count": min(thread.member_count, THREAD_MEMBER_COUNT_MAXIMUM),
        "applied_tags": [str(tag_id) for tag_id in thread.applied_tags],
    }
    if member_ids is not None:
        data["member_ids_preview"] = [str(user_id) for user_id in member_ids]
    if own is not None:
        data["member"] = thread_member_object(own)
    return data


def thread_gone_object(thread: Thread) -> wire.ThreadDeleted:
    """What is told of a thread that is gone (threads.md, Thread object)."""
    return {
        "id": str(thread.id),
        "guild_id": str(thread.channel.guild_id),
        "parent_id": str(thread.channel.parent_id),
        "type": thread.channel.type,
    }


def thread_member_object(member: ThreadMember, guild_member: wire.Member | None = None) -> wire.ThreadMember:
    """A membership; `guild_member` is the member object of the account in the guild, if asked for."""
    data: wire.ThreadMember = {
        "id": str(member.thread_id),
        "user_id": str(member.user_id),
        "join_timestamp": iso_timestamp(member.joined_at),
        "flags": member.flags,
        "muted": member.muted,
        "mute_config": cast("wire.MuteConfig | None", member.mute_config),
    }
    if guild_member is not None:
        data["member"] = guild_member
    return data


def _metadata(thread: Thread) -> wire.ThreadMetadata:
    data: wire.ThreadMetadata = {
        "archived": thread.archived,
        "auto_archive_duration": thread.auto_archive_duration,
        "archive_timestamp": iso_timestamp(thread.archive_timestamp),
        "locked": thread.locked,
        "create_timestamp": iso_timestamp(thread.created_at),
    }
    if thread.is_private:
        data["invitable"] = bool(thread.invitable)
    return data


@frozen
class KnownThread:
    """A thread as a unit left it, and who may know of it."""

    thread: Thread
    member_ids: frozenset[int] | None
    """Who is in a private thread; None for one that all who see the channel above may read."""

    @property
    def audience(self) -> ToThread:
        """The sessions that know threads and see this one."""
        channel = self.thread.channel
        return ToThread(channel.guild_id or 0, channel.parent_id or 0, self.member_ids)


def known_thread(connection: sqlite3.Connection, thread: Thread) -> KnownThread:
    """In a unit, or in a reader: the thread with who is in it, where that matters."""
    return KnownThread(thread, threads.member_ids(connection, thread.id) if thread.is_private else None)


def thread_created(known: KnownThread, own: ThreadMember | None) -> list[Event]:
    """THREAD_CREATE of a thread that was just started; who started it is told of its own membership too."""
    data = {**thread_object(known.thread), "newly_created": True}
    if own is None:
        return [Event(EventName.THREAD_CREATE, data, known.audience)]
    joined = {**data, "member": thread_member_object(own)}
    return [
        Event(EventName.THREAD_CREATE, data, attrs.evolve(known.audience, without=own.user_id)),
        Event(EventName.THREAD_CREATE, joined, attrs.evolve(known.audience, only=own.user_id)),
    ]


def thread_shown(known: KnownThread, own: ThreadMember) -> Event:
    """THREAD_CREATE for an account that was brought into the thread: a private one is new to it for sure, and of a
    public one it has perhaps not heard, since Ready tells people only of the threads that they are in."""
    data = {**thread_object(known.thread, own=own), "newly_created": False}
    return Event(EventName.THREAD_CREATE, data, attrs.evolve(known.audience, only=own.user_id))


def thread_updated(known: KnownThread) -> Event:
    return Event(EventName.THREAD_UPDATE, thread_object(known.thread), known.audience)


def thread_returned(known: KnownThread, members: Sequence[ThreadMember]) -> list[Event]:
    """THREAD_UPDATE of a thread that comes back from the archive, and THREAD_CREATE for each of its members: those who
    connected while it was archived have not heard of it."""
    return [thread_updated(known), *(thread_shown(known, entry) for entry in members)]


def thread_deleted(known: KnownThread) -> Event:
    """THREAD_DELETE for those who saw it."""
    return Event(EventName.THREAD_DELETE, thread_gone_object(known.thread), known.audience)


def members_changed(
    state: GuildState, known: KnownThread, *, added: Sequence[ThreadMember] = (), removed_ids: Sequence[int] = ()
) -> list[Event]:
    """THREAD_MEMBERS_UPDATE, after THREAD_CREATE for each of those who are in the thread now.

    Who was taken out of a private thread is told of it too, and by THREAD_DELETE when it is out of sight then.
    """
    if not added and not removed_ids:
        return []
    thread = known.thread
    data: dict[str, object] = {
        "id": str(thread.id),
        "guild_id": str(state.id),
        "member_count": min(thread.member_count, THREAD_MEMBER_COUNT_MAXIMUM),
    }
    if added:
        data["added_members"] = [member_of_thread(state, entry) for entry in added]
    if removed_ids:
        data["removed_member_ids"] = [str(user_id) for user_id in removed_ids]
    hidden: list[Event] = []
    if known.member_ids is not None:
        known = attrs.evolve(known, member_ids=known.member_ids.union(removed_ids))
        parent_id = thread.channel.parent_id or 0
        hidden = [
            Event(EventName.THREAD_DELETE, thread_gone_object(thread), attrs.evolve(known.audience, only=user_id))
            for user_id in removed_ids
            if not state.permissions(user_id, parent_id) & Permission.MANAGE_THREADS
        ]
    return [
        *(thread_shown(known, entry) for entry in added),
        Event(EventName.THREAD_MEMBERS_UPDATE, data, known.audience),
        *hidden,
    ]


def member_of_thread(state: GuildState, entry: ThreadMember) -> wire.ThreadMember:
    """A thread member with its member object in the guild."""
    member, account = state.member(entry.user_id), state.account(entry.user_id)
    if member is None or account is None:
        return thread_member_object(entry)
    return thread_member_object(entry, state.member_object(member, partial_user(account)))
