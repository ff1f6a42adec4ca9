"""Thread and thread member objects as the wire has them (threads.md, Thread object)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chat.clock import iso_timestamp
from chat.registries.limits import THREAD_MEMBER_COUNT_MAXIMUM
from chat.store.threads.threads import Thread, ThreadMember


def thread_object(
    thread: Thread, *, own: ThreadMember | None = None, member_ids: Sequence[int] | None = None
) -> dict[str, Any]:
    """A thread; `own` is the receiver's membership, where it has one, `member_ids` are those of its members that are
    named, where they are."""
    channel = thread.channel
    pinned_at = channel.last_pin_timestamp
    data: dict[str, Any] = {
        "id": str(channel.id),
        "type": channel.type,
        "guild_id": str(channel.guild_id),
        "parent_id": str(channel.parent_id),
        "owner_id": str(channel.owner_id),
        "name": channel.name,
        "last_message_id": None if channel.last_message_id is None else str(channel.last_message_id),
        "last_pin_timestamp": None if pinned_at is None else iso_timestamp(pinned_at),
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


def thread_gone_object(thread: Thread) -> dict[str, Any]:
    """What is told of a thread that is gone (threads.md, Thread object)."""
    return {
        "id": str(thread.id),
        "guild_id": str(thread.channel.guild_id),
        "parent_id": str(thread.channel.parent_id),
        "type": thread.channel.type,
    }


def thread_member_object(member: ThreadMember, guild_member: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A membership; `guild_member` is the member object of the account in the guild, where it is asked for."""
    data: dict[str, Any] = {
        "id": str(member.thread_id),
        "user_id": str(member.user_id),
        "join_timestamp": iso_timestamp(member.joined_at),
        "flags": member.flags,
        "muted": member.muted,
        "mute_config": member.mute_config,
    }
    if guild_member is not None:
        data["member"] = guild_member
    return data


def _metadata(thread: Thread) -> dict[str, Any]:
    data: dict[str, Any] = {
        "archived": thread.archived,
        "auto_archive_duration": thread.auto_archive_duration,
        "archive_timestamp": iso_timestamp(thread.archive_timestamp),
        "locked": thread.locked,
        "create_timestamp": iso_timestamp(thread.created_at),
    }
    if thread.is_private:
        data["invitable"] = bool(thread.invitable)
    return data
