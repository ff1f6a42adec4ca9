"""What an account may do in a thread: computed in the channel above it (wire facts 4.3, threads)."""

from __future__ import annotations

from typing import Any

import attrs

from chat.bus.audience import Audience, ToThread
from chat.domain.access import GuildChannelAccess
from chat.domain.guild_states import GuildState, Member
from chat.domain.objects.threads import thread_object
from chat.registries.channel_types import ChannelType
from chat.registries.permissions import FULL_MASK, Permission
from chat.store import threads
from chat.store.database import Database
from chat.store.threads import Thread, ThreadMember

SEND_MESSAGES = Permission.SEND_MESSAGES.value
SEND_MESSAGES_IN_THREADS = Permission.SEND_MESSAGES_IN_THREADS.value
MANAGE_THREADS = Permission.MANAGE_THREADS.value


@attrs.frozen
class ThreadAccess(GuildChannelAccess):
    """A thread of a guild's channel; `channel` is the thread's own, `permissions` say what holds inside it."""

    thread: Thread
    own: ThreadMember | None
    """The caller's membership of the thread."""
    member_ids: frozenset[int]
    """Who is in it; of a public thread nobody is named, for everybody who sees the channel may read it."""

    @property
    def is_private(self) -> bool:
        """Whether only those invited to it see it."""
        return self.thread.channel.type == ChannelType.PRIVATE_THREAD

    def sees(self, user_id: int) -> bool:
        """Whether the account sees the thread."""
        parent_id = self.thread.channel.parent_id or 0
        if not self.state.can_view(user_id, parent_id):
            return False
        if not self.is_private or user_id in self.member_ids:
            return True
        return bool(self.state.permissions(user_id, parent_id) & MANAGE_THREADS)

    def audience(self, message_id: int | None = None) -> Audience:
        """The sessions that know threads and see this one."""
        members = self.member_ids if self.is_private else None
        return ToThread(self.state.id, self.thread.channel.parent_id or 0, members, message_id)

    def channel_object(self) -> dict[str, Any]:
        """The thread object."""
        return thread_object(self.thread, own=self.own)

    def note_message(self, message_id: int) -> None:
        """A thread's last message is kept by the store alone."""


class ThreadLookup:
    """Finds threads for those who see them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, state: GuildState, member: Member, thread_id: int) -> ThreadAccess | None:
        """The member's access to a thread of the guild; None when there is none, or the member does not see it."""
        reader = self._database.reader
        thread = threads.by_id(reader, thread_id)
        if thread is None or thread.channel.guild_id != state.id or thread.channel.parent_id is None:
            return None
        is_private = thread.channel.type == ChannelType.PRIVATE_THREAD
        access = ThreadAccess(
            member.user_id,
            thread.channel,
            permissions_in_thread(state.member_permissions(member, thread.channel.parent_id)),
            state,
            member,
            thread,
            threads.member(reader, thread_id, member.user_id),
            threads.member_ids(reader, thread_id) if is_private else frozenset(),
        )
        return access if access.sees(member.user_id) else None

    def shown_to(self, state: GuildState, user_id: int, *, joined_only: bool) -> list[dict[str, Any]]:
        """The guild's active threads that the account sees, or of those the ones it is in, the newest first."""
        member = state.member(user_id)
        if member is None:
            return []
        if joined_only:
            found = threads.joined(self._database.reader, state.id, user_id)
        else:
            found = threads.active_of_guild(self._database.reader, state.id)
        seen = (self.find(state, member, thread.id) for thread in found)
        return [thread_object(access.thread, own=access.own) for access in seen if access is not None]

    def any_below(self, state: GuildState, channel_ids: frozenset[int]) -> bool:
        """Whether there are active threads below any of these channels."""
        return not threads.parents_of_active(self._database.reader, state.id).isdisjoint(channel_ids)


def permissions_in_thread(parent_permissions: int) -> int:
    """SEND_MESSAGES in a thread is what SEND_MESSAGES_IN_THREADS is in the channel above it."""
    if parent_permissions == FULL_MASK:
        return parent_permissions
    without = parent_permissions & ~SEND_MESSAGES
    return without | SEND_MESSAGES if parent_permissions & SEND_MESSAGES_IN_THREADS else without
