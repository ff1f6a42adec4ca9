"""Threads and who is in them: the rows of `threads` and `thread_members`, with the thread's row of `channels`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

import attrs

from chat.store import channels
from chat.store.channels import Channel


def _optional_truth(value: int | None) -> bool | None:
    return None if value is None else bool(value)


@attrs.frozen
class Thread:
    """One row of `threads` with its channel. Times are Unix milliseconds, `auto_archive_duration` minutes."""

    channel: Channel
    archived: bool = attrs.field(converter=bool)
    auto_archive_duration: int
    archive_timestamp: int
    locked: bool = attrs.field(converter=bool)
    invitable: bool | None = attrs.field(converter=_optional_truth)
    message_count: int
    total_message_sent: int
    member_count: int

    @property
    def id(self) -> int:
        """The thread's snowflake, which is its channel's."""
        return self.channel.id


@attrs.frozen
class ThreadMember:
    """One row of `thread_members`."""

    thread_id: int
    user_id: int
    joined_at: int
    flags: int = 0
    muted: bool = attrs.field(default=False, converter=bool)


_OWN: Final = tuple(field.name for field in attrs.fields(Thread) if field.name != "channel")
_SELECT: Final = f"""
    SELECT {", ".join(f"channels.{name}" for name in channels.FIELDS)}, {", ".join(f"threads.{name}" for name in _OWN)}
      FROM threads JOIN channels ON channels.id = threads.id
"""  # noqa: S608 - our own names, here and below
_BY_ID: Final = f"{_SELECT} WHERE threads.id = ?"
_ACTIVE_OF_GUILD: Final = f"{_SELECT} WHERE channels.guild_id = ? AND threads.archived = 0 ORDER BY threads.id DESC"
_JOINED: Final = f"""
    {_SELECT}
      JOIN thread_members ON thread_members.thread_id = threads.id AND thread_members.user_id = ?
     WHERE channels.guild_id = ? AND threads.archived <= ?
     ORDER BY threads.id DESC
"""
_INSERT: Final = f"INSERT INTO threads (id, {', '.join(_OWN)}) VALUES (?, {', '.join('?' * len(_OWN))})"  # noqa: S608
_MEMBER: Final = ", ".join(field.name for field in attrs.fields(ThreadMember))


def _thread(row: tuple[object, ...]) -> Thread:
    width = len(channels.FIELDS)
    return Thread(Channel(*row[:width]), *row[width:])  # type: ignore[arg-type]


def by_id(connection: sqlite3.Connection, thread_id: int) -> Thread | None:
    """The thread with this snowflake."""
    row = connection.execute(_BY_ID, (thread_id,)).fetchone()
    return None if row is None else _thread(row)


def active_of_guild(connection: sqlite3.Connection, guild_id: int) -> list[Thread]:
    """The guild's threads that are not archived, the newest first."""
    return [_thread(row) for row in connection.execute(_ACTIVE_OF_GUILD, (guild_id,))]


def joined(connection: sqlite3.Connection, guild_id: int, user_id: int, *, archived_too: bool = False) -> list[Thread]:
    """Those of the guild's threads that the account is in, the newest first; the active ones, if not all."""
    return [_thread(row) for row in connection.execute(_JOINED, (user_id, guild_id, archived_too))]


def parents_of_active(connection: sqlite3.Connection, guild_id: int) -> frozenset[int]:
    """The guild's channels below which there are threads that are not archived."""
    rows = connection.execute(
        """
        SELECT DISTINCT channels.parent_id
          FROM threads JOIN channels ON channels.id = threads.id
         WHERE channels.guild_id = ? AND threads.archived = 0
        """,
        (guild_id,),
    )
    return frozenset(parent_id for (parent_id,) in rows)


def count_active(connection: sqlite3.Connection, guild_id: int) -> int:
    """How many of the guild's threads are not archived."""
    row = connection.execute(
        """
        SELECT count(*)
          FROM threads JOIN channels ON channels.id = threads.id
         WHERE channels.guild_id = ? AND threads.archived = 0
        """,
        (guild_id,),
    ).fetchone()
    return int(row[0])


def insert(connection: sqlite3.Connection, thread: Thread) -> None:
    """Add a thread with its channel."""
    channels.insert(connection, [thread.channel])
    connection.execute(_INSERT, (thread.id, *(getattr(thread, name) for name in _OWN)))


def count_message(connection: sqlite3.Connection, thread_id: int) -> None:
    """A message was written in the thread."""
    connection.execute(
        """
        UPDATE threads SET message_count = message_count + 1, total_message_sent = total_message_sent + 1 WHERE id = ?
        """,
        (thread_id,),
    )


def discount_messages(connection: sqlite3.Connection, thread_id: int, count: int) -> None:
    """Messages of the thread are gone; a channel that is no thread has no such count."""
    connection.execute("UPDATE threads SET message_count = max(0, message_count - ?) WHERE id = ?", (count, thread_id))


def member(connection: sqlite3.Connection, thread_id: int, user_id: int) -> ThreadMember | None:
    """The account's membership of a thread."""
    row = connection.execute(
        f"SELECT {_MEMBER} FROM thread_members WHERE thread_id = ? AND user_id = ?",  # noqa: S608
        (thread_id, user_id),
    ).fetchone()
    return None if row is None else ThreadMember(*row)


def members(connection: sqlite3.Connection, thread_id: int, *, after: int, limit: int) -> list[ThreadMember]:
    """Members of a thread with a greater id than `after`, in order of their ids."""
    rows = connection.execute(
        f"SELECT {_MEMBER} FROM thread_members WHERE thread_id = ? AND user_id > ? ORDER BY user_id LIMIT ?",  # noqa: S608
        (thread_id, after, limit),
    )
    return [ThreadMember(*row) for row in rows]


def member_ids(connection: sqlite3.Connection, thread_id: int) -> frozenset[int]:
    """Every account in a thread."""
    rows = connection.execute("SELECT user_id FROM thread_members WHERE thread_id = ?", (thread_id,))
    return frozenset(user_id for (user_id,) in rows)


def add_members(connection: sqlite3.Connection, found: Iterable[ThreadMember]) -> list[ThreadMember]:
    """Put accounts into a thread; returns those who were not in it."""
    added = [
        entry
        for entry in found
        if connection.execute(
            f"INSERT OR IGNORE INTO thread_members ({_MEMBER}) VALUES (?, ?, ?, ?, ?)",  # noqa: S608
            attrs.astuple(entry),
        ).rowcount
    ]
    for entry in added:
        connection.execute("UPDATE threads SET member_count = member_count + 1 WHERE id = ?", (entry.thread_id,))
    return added


def remove_member(connection: sqlite3.Connection, thread_id: int, user_id: int) -> bool:
    """Take an account out of a thread; returns whether it was in it."""
    removed = connection.execute(
        "DELETE FROM thread_members WHERE thread_id = ? AND user_id = ?", (thread_id, user_id)
    ).rowcount
    if removed:
        connection.execute("UPDATE threads SET member_count = member_count - 1 WHERE id = ?", (thread_id,))
    return bool(removed)


def change_member(connection: sqlite3.Connection, entry: ThreadMember) -> bool:
    """Write the settings of a membership; returns whether there is one."""
    cursor = connection.execute(
        "UPDATE thread_members SET flags = ?, muted = ? WHERE thread_id = ? AND user_id = ?",
        (entry.flags, entry.muted, entry.thread_id, entry.user_id),
    )
    return cursor.rowcount > 0
