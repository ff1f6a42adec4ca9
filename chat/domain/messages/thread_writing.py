"""What writing a message in a thread does beside the message: an archived thread comes back, and the author is in it
from then on, with the accounts that the message names (threads.md, Thread members; conventions of the field)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final, Protocol

import attrs

from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.messages.message_context import CountedMentions
from chat.domain.messages.message_drafts import Sender
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
"""A mentioned role with more members is not brought into a thread (a convention of the field)."""


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


@frozen
class _Written:
    """What a message did to its thread."""

    known: KnownThread
    added: tuple[ThreadMember, ...]
    members: tuple[ThreadMember, ...] | None
    """Who was in it, where it came back from the archive."""


@define(eq=False)
class InThread:
    """A message on its way into a thread: what its unit does there, and what is told of it."""

    _core: Core
    access: ThreadAccess
    newcomer_ids: tuple[int, ...] = ()
    """Accounts that the message brings into the thread, if they are not in it."""
    failed_to_mention: bool = False
    """Whether it names a role that it does not bring in."""
    opening: Opening | None = None
    _written: _Written | None = None

    @property
    def noticing(self) -> ThreadAccess:
        """The author's access with those who are brought into the thread."""
        if not self.access.is_private or not self.newcomer_ids:
            return self.access
        return attrs.evolve(self.access, member_ids=self.access.member_ids.union(self.newcomer_ids))

    def settled(self, message: Message) -> Message:
        """The message with what the thread makes of it: a flag, or the thread's id."""
        if self.failed_to_mention:
            message = attrs.evolve(message, flags=message.flags | FAILED_TO_MENTION)
        return message if self.opening is None else attrs.evolve(message, id=self.access.thread.id)

    def enter(self, connection: sqlite3.Connection) -> None:
        """In the unit, before the message is written."""
        if self.opening is not None:
            self.opening.write(connection)

    def write(self, connection: sqlite3.Connection) -> None:
        """In the unit, once the message is the thread's last.

        :raises ApiError: UNKNOWN_CHANNEL, THREAD_LOCKED, MAX_ACTIVE_THREADS.
        """
        now = self._core.clock.now_ms()
        before = threads.by_id(connection, self.access.thread.id)
        if before is None:
            raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
        if before.locked and not self.access.moderates(now):
            raise self.access.unmoderated(ErrorCode.THREAD_LOCKED)
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
        self._written = _Written(known, added, members_before)

    def tell(self, renewed: ThreadAccess) -> ThreadAccess:
        """After the commit, before the message is told: tell of the thread; gives the access to tell the message by."""
        written = self._written
        assert written is not None, "the unit ran"  # noqa: S101
        known = written.known
        events = [] if self.opening is None else self.opening.events(known)
        if written.members is not None:
            events += thread_returned(known, written.members)
        self._core.bus.publish(*events, *members_changed(renewed.state, known, added=written.added))
        member_ids = frozenset() if known.member_ids is None else known.member_ids
        return attrs.evolve(renewed, thread=known.thread, member_ids=member_ids)


def into_thread(
    core: Core, access: ThreadAccess, sender: Sender, counted: CountedMentions, opening: Opening | None
) -> InThread:
    """Before the unit that writes a message in a thread; `opening` where the message is its first.

    The message brings in its author unless that is a webhook, those named who see the channel above the thread, and the
    members of the named roles; into a private thread only if the author may bring others there.
    """
    if sender.webhook_id is not None:
        return InThread(core, access, failed_to_mention=bool(counted.role_ids), opening=opening)
    user_ids, failed = [sender.id], False
    if not counted.users and not counted.role_ids:
        return InThread(core, access, tuple(user_ids), opening=opening)
    if not access.may_invite(core.clock.now_ms()):
        return InThread(core, access, tuple(user_ids), bool(counted.role_ids), opening)
    user_ids += [user_id for user_id in counted.user_ids if _may_come(access, user_id)]
    for role_id in counted.role_ids:
        found = members.ids_of_role(core.database.reader, access.state.id, role_id, ROLE_MEMBERS_MAXIMUM + 1)
        if len(found) > ROLE_MEMBERS_MAXIMUM:
            failed = True
        else:
            user_ids += [user_id for user_id in found if _may_come(access, user_id)]
    return InThread(core, access, tuple(dict.fromkeys(user_ids)), failed, opening)


def _may_come(access: ThreadAccess, user_id: int) -> bool:
    return access.state.can_view(user_id, access.thread.channel.parent_id or 0)


def _add(connection: sqlite3.Connection, entries: Iterable[ThreadMember], room: int) -> tuple[ThreadMember, ...]:
    """Those who were not in the thread and come into it, as long as there is room."""
    added: list[ThreadMember] = []
    for entry in entries:
        if len(added) >= room:
            break
        added += threads.add_members(connection, [entry])
    return tuple(added)


def every_member(connection: sqlite3.Connection, thread_id: int) -> tuple[ThreadMember, ...]:
    """Who is in a thread."""
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
