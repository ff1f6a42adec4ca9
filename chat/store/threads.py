"""Threads and who is in them: the rows of `threads` and `thread_members`, with the thread's row of `channels`."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.registries.channel_types import ChannelType
from chat.registries.limits import THREAD_MEMBER_IDS_SHOWN
from chat.snowflake import EPOCH_MS, MAXIMUM
from chat.store.guilds import channels
from chat.store.guilds.channels import Channel

MINUTE_MS: Final = 60_000
"""Milliseconds of a minute."""


def _optional_truth(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _ids(value: str | Iterable[int]) -> tuple[int, ...]:
    """A column that holds ids as JSON, or the ids themselves."""
    return tuple(json.loads(value)) if isinstance(value, str) else tuple(value)


def _mute(value: str | Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A column that holds it as JSON, or the thing itself."""
    return json.loads(value) if isinstance(value, str) else value


@frozen
class Thread:
    """One row of `threads` with its channel. Times are Unix milliseconds, `auto_archive_duration` minutes.

    `archive_at` is when the thread archives itself unless something is written in it; None while it is archived.
    """

    channel: Channel
    archived: bool = attrs.field(converter=bool)
    auto_archive_duration: int
    archive_timestamp: int
    locked: bool = attrs.field(converter=bool)
    invitable: bool | None = attrs.field(converter=_optional_truth)
    message_count: int
    total_message_sent: int
    member_count: int
    created_at: int
    archive_at: int | None
    applied_tags: tuple[int, ...] = attrs.field(default=(), converter=_ids)

    @property
    def id(self) -> int:
        """The thread's snowflake, which is its channel's."""
        return self.channel.id

    @property
    def is_private(self) -> bool:
        """Whether only those in it, and who manages threads, see it."""
        return self.channel.type == ChannelType.PRIVATE_THREAD


@frozen
class ThreadMember:
    """One row of `thread_members`; `mute_config` as the wire has it."""

    thread_id: int
    user_id: int
    joined_at: int
    flags: int = 0
    muted: bool = attrs.field(default=False, converter=bool)
    mute_config: Mapping[str, Any] | None = attrs.field(default=None, converter=_mute)


@frozen
class ShownThread:
    """A thread with the membership in it of the account that it is shown to."""

    thread: Thread
    own: ThreadMember | None = None


@frozen(kw_only=True)
class ThreadQuery:
    """What to search the threads below a channel for. The name holds all words of `name`, without regard to case;
    without `tag_ids` tags do not matter; `archived` None takes both."""

    name: str = ""
    tag_ids: tuple[int, ...] = ()
    every_tag: bool = False
    archived: bool | None = None
    sort_by: str = "last_message_time"
    ascending: bool = False
    limit: int = 25
    offset: int = 0
    after_id: int = 0
    before_id: int = MAXIMUM


@frozen
class FoundThreads:
    """A page of what a search found, and how many there are."""

    threads: list[ShownThread]
    total: int


_OWN: Final = tuple(field.name for field in attrs.fields(Thread) if field.name != "channel")
_MEMBER_FIELDS: Final = tuple(field.name for field in attrs.fields(ThreadMember))
_MEMBER: Final = ", ".join(_MEMBER_FIELDS)
_THREAD: Final = ", ".join([*(f"channels.{name}" for name in channels.FIELDS), *(f"threads.{name}" for name in _OWN)])
_OWN_MEMBER: Final = ", ".join(f"own.{name}" for name in _MEMBER_FIELDS)
_SELECT: Final = f"SELECT {_THREAD} FROM threads JOIN channels ON channels.id = threads.id"  # noqa: S608 - our own
# names, here and below
_SHOWN: Final = f"""
    SELECT {_THREAD}, {_OWN_MEMBER}
      FROM threads
      JOIN channels ON channels.id = threads.id
      LEFT JOIN thread_members AS own ON own.thread_id = threads.id AND own.user_id = :user_id
"""  # noqa: S608
_JOINED: Final = f"""
    SELECT {_THREAD}, {_OWN_MEMBER}
      FROM thread_members AS own
      JOIN threads ON threads.id = own.thread_id
      JOIN channels ON channels.id = threads.id
"""  # noqa: S608
_BY_ID: Final = f"{_SELECT} WHERE threads.id = ?"
_BY_IDS: Final = f"{_SELECT} WHERE threads.id IN (SELECT value FROM json_each(?))"  # noqa: S608 - our own columns
_ACTIVE_OF_GUILD: Final = (
    f"{_SHOWN} WHERE threads.guild_id = :guild_id AND threads.archived = 0 ORDER BY threads.id DESC"
)
_JOINED_IN_GUILDS: Final = f"""
    {_JOINED}
     WHERE own.user_id = :user_id AND threads.guild_id BETWEEN :first AND :last AND threads.archived <= :archived_too
     ORDER BY threads.id DESC
"""
_ARCHIVED: Final = f"""
    {_SHOWN}
     WHERE threads.parent_id = :parent_id
       AND threads.archived = 1
       AND threads.archive_timestamp < :before
       AND channels.type IN (SELECT value FROM json_each(:types))
     ORDER BY threads.archive_timestamp DESC, threads.id DESC
     LIMIT :limit
"""  # noqa: S608
_ARCHIVED_JOINED: Final = f"""
    {_JOINED}
     WHERE own.user_id = :user_id
       AND own.thread_id < :before
       AND threads.parent_id = :parent_id
       AND threads.archived = 1
       AND channels.type = {int(ChannelType.PRIVATE_THREAD)}
     ORDER BY own.thread_id DESC
     LIMIT :limit
"""
_DUE: Final = f"{_SELECT} WHERE threads.archive_at <= ? ORDER BY threads.archive_at LIMIT ?"
_INSERT: Final = f"""
    INSERT INTO threads (id, guild_id, parent_id, {", ".join(_OWN)}) VALUES (?, ?, ?, {", ".join("?" * len(_OWN))})
"""  # noqa: S608
_COUNT_MESSAGE: Final = f"""
    UPDATE threads
       SET message_count = message_count + 1,
           total_message_sent = total_message_sent + 1,
           archive_at = iif(
               archived,
               NULL,
               (SELECT (coalesce(last_message_id, id) >> 22) + {EPOCH_MS} FROM channels WHERE id = ?)
                   + auto_archive_duration * {MINUTE_MS})
     WHERE id = ?
"""  # noqa: S608
_SEARCHED: Final = """
    SELECT threads.id, channels.name, threads.applied_tags, threads.archive_timestamp, channels.last_message_id
      FROM threads
      JOIN channels ON channels.id = threads.id
      LEFT JOIN thread_members AS own ON own.thread_id = threads.id AND own.user_id = :user_id
     WHERE channels.parent_id = :parent_id
       AND threads.parent_id = :parent_id
       AND threads.id > :after_id
       AND threads.id < :before_id
       AND (:archived IS NULL OR threads.archived = :archived)
       AND (channels.type <> 12 OR :every_private OR own.user_id IS NOT NULL)
"""
_SHOWN_BY_IDS: Final = f"{_SHOWN} WHERE threads.id IN (SELECT value FROM json_each(:ids))"  # noqa: S608
_CHANGE: Final = """
    UPDATE threads
       SET archived = :archived, auto_archive_duration = :auto_archive_duration, locked = :locked,
           archive_timestamp = :archive_timestamp, archive_at = :archive_at, invitable = :invitable,
           applied_tags = :applied_tags
     WHERE id = :id
"""


def _thread(row: tuple[Any, ...]) -> Thread:
    width = len(channels.FIELDS)
    return Thread(Channel(*row[:width]), *row[width:])


def _own_columns(thread: Thread) -> Mapping[str, object]:
    """The columns of `threads` that its channel does not have."""
    return {**{name: getattr(thread, name) for name in _OWN}, "applied_tags": json.dumps(thread.applied_tags)}


def _shown(row: tuple[Any, ...]) -> ShownThread:
    width = len(channels.FIELDS) + len(_OWN)
    return ShownThread(_thread(row[:width]), None if row[width] is None else ThreadMember(*row[width:]))


def _all_shown(connection: sqlite3.Connection, statement: str, **names: Any) -> list[ShownThread]:
    return [_shown(row) for row in connection.execute(statement, names)]


def by_id(connection: sqlite3.Connection, thread_id: int) -> Thread | None:
    """The thread with this snowflake."""
    row = connection.execute(_BY_ID, (thread_id,)).fetchone()
    return None if row is None else _thread(row)


def by_ids(connection: sqlite3.Connection, thread_ids: Iterable[int]) -> dict[int, Thread]:
    """The threads among these ids."""
    found = (_thread(row) for row in connection.execute(_BY_IDS, (json.dumps(list(thread_ids)),)))
    return {thread.id: thread for thread in found}


def active_of_guild(connection: sqlite3.Connection, guild_id: int, user_id: int) -> list[ShownThread]:
    """The guild's threads that are not archived, the newest first, as they are shown to the account."""
    return _all_shown(connection, _ACTIVE_OF_GUILD, guild_id=guild_id, user_id=user_id)


def places_of_guild(connection: sqlite3.Connection, guild_id: int) -> list[tuple[int, int, int | None]]:
    """Every thread of the guild: its id, its type, and the channel above it."""
    return connection.execute(
        """
        SELECT channels.id, channels.type, channels.parent_id
          FROM threads JOIN channels ON channels.id = threads.id
         WHERE threads.guild_id = ?
        """,
        (guild_id,),
    ).fetchall()


def joined(
    connection: sqlite3.Connection, guild_id: int, user_id: int, *, archived_too: bool = False
) -> list[ShownThread]:
    """The guild's threads that the account is in, newest first; only the active ones unless all are asked for."""
    return joined_in_guilds(connection, guild_id, guild_id, user_id, archived_too=archived_too)


def joined_in_guilds(
    connection: sqlite3.Connection, first: int, last: int, user_id: int, *, archived_too: bool = False
) -> list[ShownThread]:
    """The same for all guilds with ids from `first` to `last` together."""
    return _all_shown(connection, _JOINED_IN_GUILDS, first=first, last=last, user_id=user_id, archived_too=archived_too)


def archived(
    connection: sqlite3.Connection, parent_id: int, user_id: int, *, private: bool, before: int, limit: int
) -> list[ShownThread]:
    """Threads below a channel that were archived before a moment (Unix milliseconds), the last one archived first."""
    public = (ChannelType.PUBLIC_THREAD, ChannelType.ANNOUNCEMENT_THREAD)
    types = json.dumps([int(kind) for kind in ((ChannelType.PRIVATE_THREAD,) if private else public)])
    return _all_shown(
        connection, _ARCHIVED, parent_id=parent_id, user_id=user_id, types=types, before=before, limit=limit
    )


def archived_and_joined(
    connection: sqlite3.Connection, parent_id: int, user_id: int, *, before: int, limit: int
) -> list[ShownThread]:
    """Archived private threads below a channel that the account is in, with an id under `before`, the newest first."""
    return _all_shown(connection, _ARCHIVED_JOINED, parent_id=parent_id, user_id=user_id, before=before, limit=limit)


def search(
    connection: sqlite3.Connection, parent_id: int, user_id: int, asked: ThreadQuery, *, every_private: bool
) -> FoundThreads:
    """Threads below a channel by name and tags, as they are shown to the account; private ones that it is not in only
    with `every_private`. Looks at every one of them, so it is for a reader's thread."""
    names = {
        "parent_id": parent_id,
        "user_id": user_id,
        "after_id": asked.after_id,
        "before_id": asked.before_id,
        "archived": asked.archived,
        "every_private": every_private,
    }
    words, wanted = asked.name.casefold().split(), set(asked.tag_ids)
    found: list[tuple[int, int]] = []
    for thread_id, name, tags, archive_timestamp, last_message_id in connection.execute(_SEARCHED, names):
        if not all(word in (name or "").casefold() for word in words):
            continue
        if wanted:
            common = wanted.intersection(json.loads(tags))
            if not common or (asked.every_tag and common != wanted):
                continue
        key = {"last_message_time": last_message_id or thread_id, "archive_time": archive_timestamp}.get(
            asked.sort_by, thread_id
        )
        found.append((key, thread_id))
    found.sort(reverse=not asked.ascending)
    page = [thread_id for _, thread_id in found[asked.offset : asked.offset + asked.limit]]
    shown = {each.thread.id: each for each in shown_by_ids(connection, user_id, page)}
    return FoundThreads([shown[thread_id] for thread_id in page], len(found))


def shown_by_ids(connection: sqlite3.Connection, user_id: int, thread_ids: Iterable[int]) -> list[ShownThread]:
    """The threads among these ids, as the account sees them."""
    return _all_shown(connection, _SHOWN_BY_IDS, user_id=user_id, ids=json.dumps(list(thread_ids)))


def active_below(connection: sqlite3.Connection, guild_id: int, parent_id: int) -> list[Thread]:
    """The threads below a channel that are not archived."""
    rows = connection.execute(
        f"{_SELECT} WHERE threads.guild_id = ? AND threads.parent_id = ? AND threads.archived = 0",
        (guild_id, parent_id),
    )
    return [_thread(row) for row in rows]


def parents_of_active(connection: sqlite3.Connection, guild_id: int) -> frozenset[int]:
    """The guild's channels below which there are threads that are not archived."""
    rows = connection.execute("SELECT DISTINCT parent_id FROM threads WHERE guild_id = ? AND archived = 0", (guild_id,))
    return frozenset(parent_id for (parent_id,) in rows)


def parents_of_private(connection: sqlite3.Connection, guild_id: int) -> frozenset[int]:
    """The guild's channels below which there are private threads that are not archived."""
    rows = connection.execute(
        """
        SELECT DISTINCT threads.parent_id
          FROM threads JOIN channels ON channels.id = threads.id
         WHERE threads.guild_id = ? AND threads.archived = 0 AND channels.type = ?
        """,
        (guild_id, int(ChannelType.PRIVATE_THREAD)),
    )
    return frozenset(parent_id for (parent_id,) in rows)


def count_active(connection: sqlite3.Connection, guild_id: int) -> int:
    """How many of the guild's threads are not archived."""
    row = connection.execute("SELECT count(*) FROM threads WHERE guild_id = ? AND archived = 0", (guild_id,)).fetchone()
    return int(row[0])


def any_below(connection: sqlite3.Connection, parent_id: int) -> bool:
    """Whether there is any thread below a channel, archived or not."""
    row = connection.execute(
        "SELECT 1 FROM channels WHERE parent_id = ? AND type IN (10, 11, 12) LIMIT 1", (parent_id,)
    ).fetchone()
    return row is not None


def pinned_below(connection: sqlite3.Connection, parent_id: int, flag: int) -> list[int]:
    """The active threads below a channel whose `flags` hold this bit."""
    rows = connection.execute(
        """
        SELECT threads.id
          FROM threads JOIN channels ON channels.id = threads.id
         WHERE threads.parent_id = ? AND threads.archived = 0 AND threads.guild_id = channels.guild_id
           AND channels.flags & ?
        """,
        (parent_id, flag),
    )
    return [thread_id for (thread_id,) in rows]


def due(connection: sqlite3.Connection, now_ms: int, limit: int) -> list[Thread]:
    """Threads that archive themselves by now, the one that should have first."""
    return [_thread(row) for row in connection.execute(_DUE, (now_ms, limit))]


def next_due(connection: sqlite3.Connection) -> int | None:
    """When the next thread archives itself (Unix milliseconds); None when none does."""
    row = connection.execute("SELECT min(archive_at) FROM threads WHERE archive_at IS NOT NULL").fetchone()
    return None if row is None else row[0]


def insert(connection: sqlite3.Connection, thread: Thread) -> None:
    """Add a thread with its channel."""
    channels.insert(connection, [thread.channel])
    own = _own_columns(thread).values()
    connection.execute(_INSERT, (thread.id, thread.channel.guild_id, thread.channel.parent_id, *own))


def change(connection: sqlite3.Connection, thread: Thread) -> None:
    """Write what is changed of a thread by hand, its channel included; counts stay."""
    channels.replace(connection, thread.channel)
    connection.execute(_CHANGE, {**_own_columns(thread), "id": thread.id})


def postpone(connection: sqlite3.Connection, thread_id: int, archive_at: int) -> None:
    """Set the moment at which the thread is archived."""
    connection.execute("UPDATE threads SET archive_at = ? WHERE id = ?", (archive_at, thread_id))


def discount_first(connection: sqlite3.Connection, thread_id: int) -> None:
    """The message that was just written opens the thread: it does not count among those written there."""
    connection.execute("UPDATE threads SET message_count = 0, total_message_sent = 0 WHERE id = ?", (thread_id,))


def member_ids_shown(connection: sqlite3.Connection, thread_ids: Iterable[int]) -> dict[int, list[int]]:
    """For each thread its first members, by id."""
    rows = connection.execute(
        """
        SELECT wanted.value, thread_members.user_id
          FROM json_each(?) AS wanted JOIN thread_members
            ON thread_members.thread_id = wanted.value
           AND thread_members.user_id IN (
                   SELECT user_id FROM thread_members WHERE thread_id = wanted.value ORDER BY user_id LIMIT ?)
         ORDER BY wanted.value, thread_members.user_id
        """,
        (json.dumps(list(thread_ids)), THREAD_MEMBER_IDS_SHOWN),
    )
    shown: dict[int, list[int]] = defaultdict(list)
    for thread_id, user_id in rows:
        shown[thread_id].append(user_id)
    return shown


def count_message(connection: sqlite3.Connection, thread_id: int) -> None:
    """Count a message that was just written in the thread, and postpone the moment at which the thread is archived.
    Does nothing for a channel that is no thread."""
    connection.execute(_COUNT_MESSAGE, (thread_id, thread_id))


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
            f"INSERT OR IGNORE INTO thread_members ({_MEMBER}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
            (entry.thread_id, entry.user_id, entry.joined_at, entry.flags, entry.muted, _mute_text(entry)),
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
        "UPDATE thread_members SET flags = ?, muted = ?, mute_config = ? WHERE thread_id = ? AND user_id = ?",
        (entry.flags, entry.muted, _mute_text(entry), entry.thread_id, entry.user_id),
    )
    return cursor.rowcount > 0


def _mute_text(entry: ThreadMember) -> str | None:
    return None if entry.mute_config is None else json.dumps(dict(entry.mute_config))
