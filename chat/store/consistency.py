"""Whether a database is in order: its pages, what its rows refer to, and what is counted beside what is there.

For `chat check`. Everything is read on a connection of its own and nothing is changed. Each check tells a few of the
things that are wrong and how many more there are, so that a broken disk makes no endless list.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from chat.store.guilds import guilds
from chat.store.messages.attachments import INSTANCE

TOLD_MAXIMUM: Final = 20
"""Things of one kind that are told one by one."""


@attrs.frozen
class StoredFile:
    """A file that rows speak of: its key, and its bytes."""

    key: str
    size: int


def few(found: Iterable[str]) -> Iterator[str]:
    """The first TOLD_MAXIMUM, and how many more there are."""
    entries = iter(found)
    yield from itertools.islice(entries, TOLD_MAXIMUM)
    more = sum(1 for _ in entries)
    if more:
        yield f"... and {more} more"


def damages(connection: sqlite3.Connection) -> Iterator[str]:
    """What SQLite finds wrong with pages, indexes and constraints."""
    rows = connection.execute("PRAGMA integrity_check")
    return few(text for (text,) in rows if text != "ok")


def broken_references(connection: sqlite3.Connection) -> Iterator[str]:
    """Rows that refer to rows which are not there."""
    rows = connection.execute("PRAGMA foreign_key_check")
    return few(
        f"a row of {table}{'' if row is None else f' (rowid {row})'} refers to none of {referred}"
        for table, row, referred, _ in rows
    )


_COUNTS: Final = (
    (
        "guild {} counts {} members, and has {}",
        """
        SELECT guilds.id, guilds.member_count, count(members.user_id) AS present
          FROM guilds LEFT JOIN members ON members.guild_id = guilds.id
         GROUP BY guilds.id HAVING guilds.member_count <> present
        """,
    ),
    (
        "thread {} counts {} members, and has {}",
        """
        SELECT threads.id, threads.member_count, count(thread_members.user_id) AS present
          FROM threads LEFT JOIN thread_members ON thread_members.thread_id = threads.id
         GROUP BY threads.id HAVING threads.member_count <> present
        """,
    ),
    (
        "account {} counts {} bytes of files, and has {}",
        """
        SELECT user_id, sum(counted) AS said, sum(present) AS found
          FROM (SELECT user_id, bytes AS counted, 0 AS present FROM media_usage WHERE user_id <> ?1
                 UNION ALL
                SELECT user_id, 0, size FROM attachments)
         GROUP BY user_id HAVING said <> found
        """,
    ),
    (
        "all accounts together ({}) count {} bytes of files, and have {}",
        """
        SELECT ?1, counted, present
          FROM (SELECT coalesce((SELECT bytes FROM media_usage WHERE user_id = ?1), 0) AS counted,
                       (SELECT coalesce(sum(size), 0) FROM attachments)
                       + (SELECT coalesce(sum(size), 0) FROM assets) AS present)
         WHERE counted <> present
        """,
    ),
)


def wrong_counts(connection: sqlite3.Connection) -> Iterator[str]:
    """What is counted as it changes, where that is not what is there."""
    for words, query in _COUNTS:
        parameters = (INSTANCE,) if "?1" in query else ()
        yield from few(words.format(*row) for row in connection.execute(query, parameters))


_WAITING: Final = "EXISTS (SELECT 1 FROM errand_accounts WHERE errand_accounts.user_id = {}.user_id)"
"""Whose turn is still to come in what a server goes on with (`chat.domain.policy.errands`)."""

_LEFTOVERS: Final = (
    (
        "account {} has settings for guild {}, which is gone",
        f"""
        SELECT user_id, guild_id FROM user_guild_settings
         WHERE guild_id <> 0 AND guild_id NOT IN (SELECT id FROM guilds)
           AND NOT {_WAITING.format("user_guild_settings")}
        """,  # noqa: S608 - our own text
    ),
    (
        "account {} has guild {} in its folders, which is gone",
        f"""
        SELECT DISTINCT user_id, place.value
          FROM user_settings, json_each(user_settings.body, '$.guild_folders') AS folder,
               json_each(folder.value, '$.guild_ids') AS place
         WHERE {guilds.GONE.format("place.value")} AND NOT {_WAITING.format("user_settings")}
        """,  # noqa: S608
    ),
    (
        "account {} restricts guild {}, which is gone",
        f"""
        SELECT DISTINCT user_id, place.value
          FROM user_settings, json_each(user_settings.body) AS setting, json_each(setting.value) AS place
         WHERE setting.key IN ('restricted_guilds', 'bot_restricted_guilds')
           AND {guilds.GONE.format("place.value")} AND NOT {_WAITING.format("user_settings")}
        """,  # noqa: S608
    ),
    (
        "account {} is erased, and a member of guild {}",
        """
        SELECT members.user_id, members.guild_id
          FROM account_deletions JOIN members ON members.user_id = account_deletions.user_id
         WHERE account_deletions.erased_at IS NOT NULL
        """,
    ),
    (
        "account {} has the address {}, by which nobody signs in",
        """
        SELECT id, address_key FROM users
         WHERE address_key IS NOT NULL AND address_key NOT IN (SELECT email_key FROM users WHERE email_key IS NOT NULL)
        """,
    ),
)


def leftovers(connection: sqlite3.Connection) -> Iterator[str]:
    """What there is of something that has gone, where no reference tells."""
    for words, query in _LEFTOVERS:
        yield from few(words.format(*row) for row in connection.execute(query))


def stored_files(connection: sqlite3.Connection) -> Iterator[StoredFile]:
    """Every file that must be on the disk."""
    rows = connection.execute(
        """
        SELECT 'attachments/' || coalesce(file_id, id), max(size) FROM attachments WHERE stored GROUP BY 1
         UNION ALL
        SELECT 'assets/' || id, size FROM assets WHERE source_url IS NULL
        """
    )
    return (StoredFile(key, size) for key, size in rows)
