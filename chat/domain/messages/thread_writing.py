"""What writing a message in a thread does beside the message: an archived thread comes back, the author is in it from
then on, and so is whoever the message names (threads.md, Thread members; conventions of the field)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final, Protocol

import attrs

from chat.bus.bus import Bus, Event
from chat.domain.core import Core
from chat.domain.messages.message_mentions import CountedMentions
from chat.domain.messages.message_senders import Sender
from chat.domain.standing.thread_access import ThreadAccess
from chat.domain.standing.thread_events import KnownThread, known_thread, members_changed, thread_returned
from chat.errors import ApiError
from chat.registries.limits import ACTIVE_THREADS_PER_GUILD, THREAD_MEMBERS_MAXIMUM
from chat.registries.message_types import MessageFlag
from chat.store.guilds import members
from chat.store.guilds.channels import Channel
from chat.store.messages.messages import Message
from chat.store.threads import threads
from chat.store.threads.threads import MINUTE_MS, Thread, ThreadMember

FAILED_TO_MENTION: Final = MessageFlag.FAILED_TO_MENTION_SOME_ROLES_IN_THREAD.value

ROLE_MEMBERS_MAXIMUM: Final = 100
"""A mentioned role with more members is not brought into a thread (a convention of the field)."""


@attrs.frozen
class Newcomers:
    """Whom a message brings into its thread, if they are not in it; `failed` when a role that it names is not."""

    user_ids: tuple[int, ...] = ()
    failed: bool = False


@attrs.frozen
class WrittenIn:
    """What a message did to its thread."""

    known: KnownThread
    added: tuple[ThreadMember, ...]
    members: tuple[ThreadMember, ...] | None
    """Who was in it, where it came back from the archive."""

    def events(self, access: ThreadAccess) -> list[Event]:
        """What is told of it, before the message itself."""
        events = [] if self.members is None else thread_returned(self.known, self.members)
        return events + members_changed(access.state, self.known, added=self.added)

    def access(self, access: ThreadAccess) -> ThreadAccess:
        """The author's access with those who are in the thread now."""
        member_ids = self.known.member_ids
        return attrs.evolve(
            access, thread=self.known.thread, member_ids=frozenset() if member_ids is None else member_ids
        )


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
        """What is told of the thread, before its first message."""
        ...


@attrs.define(eq=False)
class InThread:
    """A message on its way into a thread: what its unit does there, and what is told of it."""

    _writing: ThreadWriting
    access: ThreadAccess
    newcomers: Newcomers
    opening: Opening | None = None
    _written: WrittenIn | None = None

    @property
    def noticing(self) -> ThreadAccess:
        """The author's access with those who are brought into the thread."""
        if not self.access.is_private or not self.newcomers.user_ids:
            return self.access
        return attrs.evolve(self.access, member_ids=self.access.member_ids.union(self.newcomers.user_ids))

    def settled(self, message: Message) -> Message:
        """The message with what the thread makes of it: a flag, or the thread's id."""
        if self.newcomers.failed:
            message = attrs.evolve(message, flags=message.flags | FAILED_TO_MENTION)
        return message if self.opening is None else attrs.evolve(message, id=self.access.thread.id)

    def enter(self, connection: sqlite3.Connection) -> None:
        """In the unit, before the message is written."""
        if self.opening is not None:
            self.opening.write(connection)

    def write(self, connection: sqlite3.Connection) -> None:
        """In the unit, once the message is the thread's last.

        :raises ApiError: as `ThreadWriting.write`.
        """
        self._written = self._writing.write(connection, self.access, self.newcomers)
        if self.opening is not None:
            self._written = attrs.evolve(self._written, known=self.opening.written(connection))

    def tell(self, renewed: ThreadAccess, bus: Bus) -> ThreadAccess:
        """After the commit, before the message is told: tell of the thread; gives the access to tell the message by."""
        written = self._written
        assert written is not None, "the unit ran"  # noqa: S101
        if self.opening is not None:
            bus.publish(*self.opening.events(written.known))
        bus.publish(*written.events(renewed))
        return written.access(renewed)


@attrs.define(kw_only=True, eq=False)
class ThreadWriting:
    """Makes the change to a thread part of the unit that writes a message in it."""

    _core: Core

    def begin(
        self, access: ThreadAccess, sender: Sender, counted: CountedMentions, opening: Opening | None
    ) -> InThread:
        """Before the unit that writes a message in the thread; `opening` where the message is its first."""
        author_id = None if sender.webhook_id is not None else sender.id
        return InThread(self, access, self.newcomers(access, author_id, counted), opening)

    def newcomers(self, access: ThreadAccess, author_id: int | None, counted: CountedMentions) -> Newcomers:
        """Before the unit: the author (None for a webhook), those named who see the channel above the thread, and the
        members of the named roles; into a private thread only by who may bring others there."""
        user_ids = [] if author_id is None else [author_id]
        if not counted.users and not counted.role_ids:
            return Newcomers(tuple(user_ids))
        if author_id is None or not access.may_invite(self._core.clock.now_ms()):
            return Newcomers(tuple(user_ids), failed=bool(counted.role_ids))
        user_ids += [user_id for user_id in counted.user_ids if self._may_come(access, user_id)]
        failed = False
        for role_id in counted.role_ids:
            found = members.ids_of_role(self._core.database.reader, access.state.id, role_id, ROLE_MEMBERS_MAXIMUM + 1)
            if len(found) > ROLE_MEMBERS_MAXIMUM:
                failed = True
            else:
                user_ids += [user_id for user_id in found if self._may_come(access, user_id)]
        return Newcomers(tuple(dict.fromkeys(user_ids)), failed)

    def write(self, connection: sqlite3.Connection, access: ThreadAccess, newcomers: Newcomers) -> WrittenIn:
        """In the unit, once the message is the thread's last.

        :raises ApiError: UNKNOWN_CHANNEL, THREAD_LOCKED, MAX_ACTIVE_THREADS.
        """
        now = self._core.clock.now_ms()
        before = threads.by_id(connection, access.thread.id)
        if before is None:
            raise ApiError("UNKNOWN_CHANNEL")
        if before.locked and not access.moderates(now):
            raise ApiError("THREAD_LOCKED")
        members_before: tuple[ThreadMember, ...] | None = None
        if before.archived:
            require_room(connection, before)
            threads.change(connection, unarchived(before, now))
            members_before = every_member(connection, before.id)
        threads.count_message(connection, before.id)
        room = THREAD_MEMBERS_MAXIMUM - before.member_count
        entries = (ThreadMember(before.id, user_id, now) for user_id in newcomers.user_ids)
        added = _add(connection, entries, room)
        after = threads.by_id(connection, before.id) or before
        return WrittenIn(known_thread(connection, after), added, members_before)

    def _may_come(self, access: ThreadAccess, user_id: int) -> bool:
        return access.state.can_view(user_id, access.thread.channel.parent_id or 0)


def every_member(connection: sqlite3.Connection, thread_id: int) -> tuple[ThreadMember, ...]:
    """Who is in a thread."""
    return tuple(threads.members(connection, thread_id, after=0, limit=THREAD_MEMBERS_MAXIMUM))


def require_room(connection: sqlite3.Connection, thread: Thread) -> None:
    """In a unit: raise MAX_ACTIVE_THREADS when the guild has no room for another active thread."""
    if threads.count_active(connection, thread.channel.guild_id or 0) >= ACTIVE_THREADS_PER_GUILD:
        raise ApiError("MAX_ACTIVE_THREADS")


def unarchived(thread: Thread, now_ms: int) -> Thread:
    """The thread as it is from now on, no longer archived."""
    return attrs.evolve(
        thread,
        archived=False,
        archive_timestamp=now_ms,
        archive_at=now_ms + thread.auto_archive_duration * MINUTE_MS,
    )


def archived(thread: Thread, now_ms: int) -> Thread:
    """The thread as it is from now on, archived."""
    return attrs.evolve(thread, archived=True, archive_timestamp=now_ms, archive_at=None)


def _add(connection: sqlite3.Connection, entries: Iterable[ThreadMember], room: int) -> tuple[ThreadMember, ...]:
    """Those who were not in the thread and come into it, as long as there is room."""
    added: list[ThreadMember] = []
    for entry in entries:
        if len(added) >= room:
            break
        added += threads.add_members(connection, [entry])
    return tuple(added)
