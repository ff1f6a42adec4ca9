"""What an account may do in a thread: computed in the channel above it (permissions.md, Permissions in threads); and
access beside that of an operation's caller: what the instance itself does in a channel (`ChannelWitness`), and what one
transaction of the store sees, for what is judged once more where it is written (`stored_access`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from chat import wire
from chat.bus.audience import Audience, ToThread
from chat.classes import define, frozen
from chat.clock import Clock
from chat.domain.standing.access import Access, ChannelAccess, GuildChannelAccess
from chat.domain.standing.guild_states import GuildState, GuildStates, HasReader, Member
from chat.domain.standing.private_channels import PrivateChannels
from chat.domain.standing.thread_objects import member_of_thread, thread_gone_object, thread_object
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.permissions import FULL_MASK, Permission
from chat.store import threads
from chat.store.messages import messages
from chat.store.standing import private_channels
from chat.store.threads import ShownThread, Thread, ThreadMember

SEND_MESSAGES: Final = Permission.SEND_MESSAGES.value
SEND_MESSAGES_IN_THREADS: Final = Permission.SEND_MESSAGES_IN_THREADS.value
MANAGE_THREADS: Final = Permission.MANAGE_THREADS.value


@frozen
class ThreadAccess(GuildChannelAccess):
    """A thread of a guild's channel; `channel` is the thread's own, `permissions` say what holds inside it."""

    thread: Thread
    own: ThreadMember | None
    """The caller's membership of the thread."""
    member_ids: frozenset[int]
    """Who is in a private thread; empty for a public one, which all who see the channel may read."""

    @property
    def is_private(self) -> bool:
        """Whether only those invited to it see it."""
        return self.thread.is_private

    @property
    def is_owner(self) -> bool:
        """Whether the caller started the thread."""
        return self.thread.channel.owner_id == self.user_id

    def moderates(self, now_ms: int) -> bool:
        """Whether the caller may do with the thread what moderators do: MANAGE_THREADS that can be used, and no
        time-out (permissions.md, Permissions in threads)."""
        return self.may(MANAGE_THREADS) and self.may_moderate and not self.member.is_timed_out(now_ms)

    def unmoderated(self, otherwise: ErrorCode = ErrorCode.MISSING_PERMISSIONS) -> ApiError:
        """What refuses a caller that does not moderate the thread."""
        return self.lacking(MANAGE_THREADS, otherwise)

    def require_moderates(self, now_ms: int) -> None:
        """Raise MISSING_PERMISSIONS, TWO_FACTOR_REQUIRED or COMMUNICATION_DISABLED unless `moderates`."""
        self.require(MANAGE_THREADS)
        self.require_voice(now_ms)

    def may_invite(self, now_ms: int) -> bool:
        """Whether the caller may bring others into the thread: who may write there, and into a private thread that is
        not `invitable` its owner and moderators."""
        if self.moderates(now_ms):
            return True
        if not self.may(SEND_MESSAGES) or self.thread.locked:
            return False
        return not self.is_private or self.is_owner or bool(self.thread.invitable)

    def require_unlocked(self, now_ms: int) -> None:
        """Raise THREAD_LOCKED for a locked thread, unless the caller moderates it; TWO_FACTOR_REQUIRED for one who
        would with a second factor."""
        if self.thread.locked and not self.moderates(now_ms):
            raise self.unmoderated(ErrorCode.THREAD_LOCKED)

    def require_open(self, now_ms: int) -> None:
        """Raise THREAD_ARCHIVED or THREAD_LOCKED for a thread that takes no changes to its messages now."""
        if self.thread.archived:
            raise ApiError(ErrorCode.THREAD_ARCHIVED)
        self.require_unlocked(now_ms)

    def sees(self, user_id: int) -> bool:
        parent_id = self.thread.channel.parent_id or 0
        if not self.state.can_view(user_id, parent_id):
            return False
        if not self.is_private or user_id in self.member_ids:
            return True
        return bool(self.state.permissions(user_id, parent_id) & MANAGE_THREADS)

    def audience(self, message_id: int | None = None) -> Audience:
        members = self.member_ids if self.is_private else None
        return ToThread(self.state.id, self.thread.channel.parent_id or 0, members, message_id)

    def channel_object(self) -> wire.Thread:
        return thread_object(self.thread, own=self.own)

    def note_message(self, message_id: int) -> None:
        """A thread's last message is kept by the store alone."""


@frozen
class PrivateThread:
    """An active private thread: the channel above it, who is in it, and what is told where it goes out of sight."""

    parent_id: int
    member_ids: frozenset[int]
    gone: Mapping[str, Any]


@define(eq=False)
class ThreadLookup:
    _database: HasReader

    def find(self, state: GuildState, member: Member, thread_id: int) -> ThreadAccess | None:
        """The member's access to a thread of the guild; None if there is none, or the member does not see it."""
        reader = self._database.reader
        thread = threads.by_id(reader, thread_id)
        if thread is None or thread.channel.guild_id != state.id or thread.channel.parent_id is None:
            return None
        access = ThreadAccess(
            member.user_id,
            thread.channel,
            permissions_in_thread(state.member_permissions(member, thread.channel.parent_id)),
            state,
            member,
            thread,
            threads.member(reader, thread_id, member.user_id),
            threads.member_ids(reader, thread_id) if thread.is_private else frozenset(),
        )
        return access if access.sees(member.user_id) else None

    def shown_to(self, state: GuildState, user_id: int, *, joined_only: bool) -> list[wire.Thread]:
        """The guild's active threads that the account sees, or of those the ones it is in, the newest first."""
        if joined_only:
            found = threads.joined(self._database.reader, state.id, user_id)
        else:
            found = threads.active_of_guild(self._database.reader, state.id, user_id)
        return shown_objects(state, user_id, found)

    def joined(self, user_id: int, guild_ids: Sequence[int]) -> dict[int, list[ShownThread]]:
        """The active threads of these guilds that the account is in, by guild, the newest first; whether it sees them
        is for `shown_objects` to say."""
        found: dict[int, list[ShownThread]] = {}
        for shown in threads.joined_in_guilds(self._database.reader, min(guild_ids), max(guild_ids), user_id):
            found.setdefault(shown.thread.channel.guild_id or 0, []).append(shown)
        return found

    def any_below(self, state: GuildState, channel_ids: frozenset[int]) -> bool:
        """Whether there are active threads below any of these channels."""
        return not threads.parents_of_active(self._database.reader, state.id).isdisjoint(channel_ids)

    def private_below(self, state: GuildState, channel_ids: frozenset[int]) -> list[PrivateThread]:
        """The active private threads below these channels."""
        reader = self._database.reader
        return [
            PrivateThread(
                thread.channel.parent_id or 0, threads.member_ids(reader, thread.id), thread_gone_object(thread)
            )
            for channel_id in sorted(channel_ids & threads.parents_of_private(reader, state.id))
            for thread in threads.active_below(reader, state.id, channel_id)
            if thread.is_private
        ]

    def unread(
        self, state: GuildState, user_id: int, channel_id: int, wanted: Mapping[int, int | None], most: int
    ) -> dict[int, int]:
        """How many messages there are after the one that was read last (None for none), counted up to `most`, in those
        of these threads that stand below the channel and are seen by the account."""
        reader = self._database.reader
        found = threads.shown_by_ids(reader, user_id, wanted)
        here = (shown for shown in found if shown.thread.channel.parent_id == channel_id)
        return {
            shown.thread.id: messages.count_after(reader, shown.thread.id, wanted[shown.thread.id] or 0, most)
            for shown in seen_of(state, user_id, here)
        }

    def members_shown(
        self, state: GuildState, user_id: int, thread_id: int, after: int, most: int
    ) -> list[wire.ThreadMember] | None:
        """A page of a thread's members, by user id; None if the account does not see the thread."""
        reader = self._database.reader
        found = threads.shown_by_ids(reader, user_id, [thread_id])
        if not seen_of(state, user_id, (shown for shown in found if shown.thread.channel.guild_id == state.id)):
            return None
        return [member_of_thread(state, entry) for entry in threads.members(reader, thread_id, after=after, limit=most)]


def seen_of(state: GuildState, user_id: int, found: Iterable[ShownThread]) -> list[ShownThread]:
    """Those of the guild's threads that the account sees."""
    seen: dict[int, tuple[bool, bool]] = {}
    kept = []
    for shown in found:
        parent_id = shown.thread.channel.parent_id or 0
        if parent_id not in seen:
            views = state.can_view(user_id, parent_id)
            seen[parent_id] = views, views and bool(state.permissions(user_id, parent_id) & MANAGE_THREADS)
        views, manages = seen[parent_id]
        if views and (manages or shown.own is not None or not shown.thread.is_private):
            kept.append(shown)
    return kept


def shown_objects(state: GuildState, user_id: int, found: Iterable[ShownThread]) -> list[wire.Thread]:
    """Those of the guild's threads that the account sees, as the wire has them."""
    return [thread_object(shown.thread, own=shown.own) for shown in seen_of(state, user_id, found)]


def permissions_in_thread(parent_permissions: int) -> int:
    """SEND_MESSAGES in a thread is what SEND_MESSAGES_IN_THREADS is in the channel above it."""
    if parent_permissions == FULL_MASK:
        return parent_permissions
    without = parent_permissions & ~SEND_MESSAGES
    return without | SEND_MESSAGES if parent_permissions & SEND_MESSAGES_IN_THREADS else without


@define(eq=False)
class ChannelWitness:
    """Finds any channel of the instance, for its audience, without any check.

    What the witness may do in the channel says nothing: in a guild it stands where the owner stands, in a conversation
    where one of its accounts does.
    """

    _guild_states: GuildStates
    _private_channels: PrivateChannels
    _thread_lookup: ThreadLookup

    def of(self, channel_id: int) -> ChannelAccess | None:
        """The channel; None if it is gone, or its guild is not known to this node."""
        guild_id = self._guild_states.guild_of_channel(channel_id)
        if guild_id is None:
            return self._private_channels.of_any_account(channel_id)
        state = self._guild_states.get(guild_id)
        if state is None:
            return None
        witness = Member(guild_id, state.guild.owner_id, 0)
        channel = state.channels.get(channel_id)
        if channel is None:
            return self._thread_lookup.find(state, witness, channel_id)
        return GuildChannelAccess(witness.user_id, channel, 0, state, witness)


@frozen
class _Transaction:
    reader: sqlite3.Connection


def stored_access(
    known: GuildStates,
    conversations: PrivateChannels,
    is_connected: Callable[[int, int], bool],
    clock: Clock,
    connection: sqlite3.Connection,
) -> Access:
    """Access on what the connection reads. Second factors are not asked for anew."""
    transaction = _Transaction(connection)
    states = GuildStates(transaction, clock)
    states.missing_guild_ids = known.missing_guild_ids

    def conversation(user_id: int, channel_id: int) -> ChannelAccess | None:
        private = private_channels.by_id(connection, channel_id)
        if private is None or user_id not in private.recipient_ids:
            return None
        return conversations.access(private, user_id)

    return Access(states, conversation, ThreadLookup(transaction).find, is_connected=is_connected)
