"""What a message in a thread does to the thread: an archived thread comes back, and the author becomes a member, as do
the accounts that the message names (threads.md, Thread members)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from typing import Final, Protocol

import attrs

from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.messages.message_context import CountedMentions
from chat.domain.messages.message_drafts import Sender
from chat.domain.standing.access import ChannelAccess
from chat.domain.standing.thread_access import ThreadAccess
from chat.domain.standing.thread_objects import KnownThread, known_thread, members_changed, thread_returned
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.limits import ACTIVE_THREADS_PER_GUILD, THREAD_MEMBERS_MAXIMUM
from chat.registries.message_types import MessageFlag
from chat.store import threads
from chat.store.guilds import members
from chat.store.guilds.channels import Channel
from chat.store.messages.messages import Message
from chat.store.threads import MINUTE_MS, Thread, ThreadMember

FAILED_TO_MENTION: Final = MessageFlag.FAILED_TO_MENTION_SOME_ROLES_IN_THREAD.value

ROLE_MEMBERS_MAXIMUM: Final = 100
"""A mentioned role with more members is not brought into a thread; Discord has the same limit."""


class Opening(Protocol):
    """A thread that is made in the unit of its first message."""

    @property
    def slowmode_channel(self) -> Channel:
        """The channel whose slow mode counts."""
        ...

    def write(self, connection: sqlite3.Connection) -> None:
        """In the unit, before the message: make the thread."""
        ...

    def written(self, connection: sqlite3.Connection) -> KnownThread:
        """In the unit, after the message: the thread as it is now."""
        ...

    def events(self, known: KnownThread) -> list[Event]:
        """The events about the thread that precede its first message."""
        ...


@frozen
class _ThreadEffect:
    """The changes that a message made to its thread."""

    known: KnownThread
    added: tuple[ThreadMember, ...]
    members: tuple[ThreadMember, ...] | None
    """All members of the thread, if it came back from the archive."""


Insertion = Callable[[sqlite3.Connection], list[int]]
"""The unit that writes a message; gives the accounts in whose lists it puts its conversation."""


@define(eq=False)
class MessageDestination:
    """Where a message goes. A thread adds to each step; any other channel adds nothing."""

    _core: Core
    access: ChannelAccess
    """The author's access. Whoever sees the channel by it may be notified."""

    def settled(self, message: Message) -> Message:
        """The message with what the destination changes in it."""
        return message

    def around(self, insertion: Insertion) -> Insertion:
        """The unit that writes the message and what the destination writes with it."""
        return insertion

    def tell(self) -> ChannelAccess | None:
        """After the commit: publish what happened to the destination. Gives the access by which the message itself is
        then published, or None where the channel is gone."""
        return self._core.access.renewed(self.access)


@define(eq=False)
class ThreadDestination(MessageDestination):
    """A thread that a message goes into."""

    _thread: ThreadAccess
    """The author's access before the message brings anybody in."""
    newcomer_ids: tuple[int, ...] = ()
    """Accounts that the message brings into the thread, if they are not in it."""
    failed_to_mention: bool = False
    """Whether the message names a role whose members it does not bring in."""
    opening: Opening | None = None
    _written: _ThreadEffect | None = None

    def settled(self, message: Message) -> Message:
        """The message with what the thread makes of it: a flag, or the thread's id."""
        if self.failed_to_mention:
            message = attrs.evolve(message, flags=message.flags | FAILED_TO_MENTION)
        return message if self.opening is None else attrs.evolve(message, id=self._thread.thread.id)

    def around(self, insertion: Insertion) -> Insertion:
        """The unit that makes the thread if the message opens it, writes the message, and then changes the thread."""

        def unit(connection: sqlite3.Connection) -> list[int]:
            if self.opening is not None:
                self.opening.write(connection)
            shown = insertion(connection)
            self._write(connection)
            return shown

        return unit

    def _write(self, connection: sqlite3.Connection) -> None:
        """In the unit, after the message was written: change the thread.

        :raises ApiError: UNKNOWN_CHANNEL, THREAD_LOCKED, MAX_ACTIVE_THREADS.
        """
        now = self._core.clock.now_ms()
        before = threads.by_id(connection, self._thread.thread.id)
        if before is None:
            raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
        if before.locked and not self._thread.moderates(now):
            raise self._thread.unmoderated(ErrorCode.THREAD_LOCKED)
        members_before: tuple[ThreadMember, ...] | None = None
        if before.archived:
            require_room(connection, before)
            threads.change(connection, unarchived(before, now))
            members_before = every_member(connection, before.id)
        threads.count_message(connection, before.id)
        entries = (ThreadMember(before.id, user_id, now) for user_id in self.newcomer_ids)
        added = _add(connection, entries, THREAD_MEMBERS_MAXIMUM - before.member_count)
        if self.opening is None:
            known = known_thread(connection, threads.by_id(connection, before.id) or before)
        else:
            known = self.opening.written(connection)
        self._written = _ThreadEffect(known, added, members_before)

    def tell(self) -> ChannelAccess | None:
        """After the commit: publish the thread's return from the archive and its new members."""
        renewed = self._core.access.renewed(self.access)
        if not isinstance(renewed, ThreadAccess):
            return renewed
        written = self._written
        assert written is not None, "the unit ran"  # noqa: S101
        known = written.known
        events = [] if self.opening is None else self.opening.events(known)
        if written.members is not None:
            events += thread_returned(known, written.members)
        self._core.bus.publish(*events, *members_changed(renewed.state, known, added=written.added))
        member_ids = frozenset() if known.member_ids is None else known.member_ids
        return attrs.evolve(renewed, thread=known.thread, member_ids=member_ids)


def destination_of(
    core: Core, access: ChannelAccess, sender: Sender, counted: CountedMentions, opening: Opening | None
) -> MessageDestination:
    """Where a message goes; call before its unit. `opening` is given where the message is its thread's first.

    In a thread the message brings in its author unless that is a webhook, those named who see the channel above the
    thread, and the members of the named roles; into a private thread only if the author may bring others there.
    """
    if not isinstance(access, ThreadAccess):
        return MessageDestination(core, access)
    user_ids, failed = _newcomers(core, access, sender, counted)
    seen = access
    if access.is_private and user_ids:
        seen = attrs.evolve(access, member_ids=access.member_ids.union(user_ids))
    return ThreadDestination(core, seen, access, user_ids, failed, opening)


def _newcomers(
    core: Core, access: ThreadAccess, sender: Sender, counted: CountedMentions
) -> tuple[tuple[int, ...], bool]:
    """The accounts that the message brings into the thread, and whether it names a role whose members it does not bring
    in."""
    if sender.webhook_id is not None:
        return (), bool(counted.role_ids)
    user_ids, failed = [sender.id], False
    if not counted.users and not counted.role_ids:
        return tuple(user_ids), False
    if not access.may_invite(core.clock.now_ms()):
        return tuple(user_ids), bool(counted.role_ids)
    user_ids += [user_id for user_id in counted.user_ids if _may_come(access, user_id)]
    for role_id in counted.role_ids:
        found = members.ids_of_role(core.database.reader, access.state.id, role_id, ROLE_MEMBERS_MAXIMUM + 1)
        if len(found) > ROLE_MEMBERS_MAXIMUM:
            failed = True
        else:
            user_ids += [user_id for user_id in found if _may_come(access, user_id)]
    return tuple(dict.fromkeys(user_ids)), failed


def _may_come(access: ThreadAccess, user_id: int) -> bool:
    return access.state.can_view(user_id, access.thread.channel.parent_id or 0)


def _add(connection: sqlite3.Connection, entries: Iterable[ThreadMember], room: int) -> tuple[ThreadMember, ...]:
    """Add members as long as there is room; gives those who were not in the thread before."""
    added: list[ThreadMember] = []
    for entry in entries:
        if len(added) >= room:
            break
        added += threads.add_members(connection, [entry])
    return tuple(added)


def every_member(connection: sqlite3.Connection, thread_id: int) -> tuple[ThreadMember, ...]:
    """All members of a thread."""
    return tuple(threads.members(connection, thread_id, after=0, limit=THREAD_MEMBERS_MAXIMUM))


def require_room(connection: sqlite3.Connection, thread: Thread) -> None:
    """In a unit: raise MAX_ACTIVE_THREADS when the guild has no room for another active thread."""
    if threads.count_active(connection, thread.channel.guild_id or 0) >= ACTIVE_THREADS_PER_GUILD:
        raise ApiError(ErrorCode.MAX_ACTIVE_THREADS)


def unarchived(thread: Thread, now_ms: int) -> Thread:
    """The thread as it is from now on, no longer archived."""
    archive_at = now_ms + thread.auto_archive_duration * MINUTE_MS
    return attrs.evolve(thread, archived=False, archive_timestamp=now_ms, archive_at=archive_at)


def archived(thread: Thread, now_ms: int) -> Thread:
    """The thread as it is from now on, archived."""
    return attrs.evolve(thread, archived=True, archive_timestamp=now_ms, archive_at=None)
