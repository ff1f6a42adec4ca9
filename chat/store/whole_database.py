"""The database as a whole: its highest id, a copy of it and the way back to one, emptying it for `/v1/_dev/reset`, and
whether it is in order, for `chat check`.

The check reads on a connection of its own and changes nothing: pages, references, and counts beside what is there. Each
part tells a few of the things that are wrong and how many more there are, so that a broken disk makes no endless list.
"""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from chat.classes import frozen
from chat.clock import iso_timestamp
from chat.snowflake import snowflake_time_ms
from chat.store.administration.instance import NEWEST_DELETED, newest_deleted, remove_value
from chat.store.connections import connect
from chat.store.guilds import guilds
from chat.store.messages.attachments import INSTANCE

TABLES: Final = (
    "admin_api_keys",
    "admin_audit_log",
    "application_commands",
    "applications",
    "archives",
    "assets",
    "attachments",
    "brought_exports",
    "channels",
    "ephemeral_messages",
    "expressions",
    "favorite_memes",
    "guild_audit_log",
    "guilds",
    "imports",
    "interactions",
    "jobs",
    "messages",
    "oauth2_grants",
    "reports",
    "roles",
    "scheduled_messages",
    "store_purchases",
    "users",
    "webhooks",
)
"""Tables whose `id` is a snowflake. Each has it as its key or in an index: asking for the highest reads one page."""

_QUERY: Final = f"SELECT max(id) FROM ({' UNION ALL '.join(f'SELECT max(id) AS id FROM {table}' for table in TABLES)})"  # noqa: S608 - our own names


def last_id(connection: sqlite3.Connection) -> int:
    """The highest snowflake of all, 0 in an empty database: new ones are above it, even if the clock was set back."""
    highest: int | None = connection.execute(_QUERY).fetchone()[0]
    return max(highest or 0, newest_deleted(connection))


AHEAD_MS: Final = 86_400_000
"""How far ahead a clock may have been when it made an id."""


def last_id_ahead(connection: sqlite3.Connection, now_ms: int) -> Iterator[str]:
    """The moment of the highest id, where that is of the future: so are all that are made from now on."""
    moment = snowflake_time_ms(last_id(connection))
    if moment > now_ms + AHEAD_MS:
        yield f"the last id is of {iso_timestamp(moment)}, and new ones go on from there: --deep names the rows"


PAGES_AT_ONCE: Final = 1_024
"""Pages that are copied between two words of progress (4 MB)."""


def take_snapshot(database: Path, copy: Path, tell: Callable[[float], None]) -> None:
    """Copy the database as it is at one moment, while others write to it.

    A transaction that only reads sees one state of the database for as long as it lasts (WAL), and SQLite's own copying
    goes on under it: no task waits. `tell` hears how many percent are done, after each PAGES_AT_ONCE; it may wait, so
    that others have the disk. To bring the copy to the disk is up to the caller. Raises sqlite3.Error.
    """
    with (
        contextlib.closing(connect(database, read_only=True)) as source,
        contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as target,
    ):
        target.execute("PRAGMA synchronous = OFF")
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # from here on it sees one state
        source.backup(
            target,
            pages=PAGES_AT_ONCE,
            progress=lambda _, left, total: tell(100.0 * (total - left) / max(1, total)),
            sleep=0.0,
        )
        # A file alone, without a log beside it; a server that opens it makes its own again.
        target.execute("PRAGMA journal_mode = DELETE")


def put_back(copy: Path, database: Path) -> None:
    """Replace the content of the database by that of a copy, in one transaction, while others have it open.

    Who writes waits; who reads sees the content before or after. Raises sqlite3.Error.
    """
    with (
        contextlib.closing(connect(copy, read_only=True)) as source,
        contextlib.closing(connect(database, durable=False)) as target,
    ):
        source.backup(target)


KEPT: Final = frozenset({"instance", "media_garbage", "media_usage", "message_search_parts"})
"""Tables that keep their rows. What is in `media_garbage` afterwards are the files whose rows went; `media_usage` has
come down to nothing with them."""


def erase_everything(connection: sqlite3.Connection) -> None:
    """Delete every row of this program's tables but those of `KEPT`, and of the indexes for searching.

    What was created last goes first, so that no row refers to one that is gone.
    """
    tables = connection.execute(
        """
        SELECT tables.name
          FROM pragma_table_list AS tables
          JOIN sqlite_master AS master ON master.type = 'table' AND master.name = tables.name
         WHERE tables.schema = 'main' AND tables.type IN ('table', 'virtual')
           AND tables.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND tables.name NOT LIKE '\\_%' ESCAPE '\\'
         ORDER BY master.rowid DESC
        """
    ).fetchall()
    for (name,) in tables:
        if name not in KEPT:
            connection.execute(f"DELETE FROM {name}")  # noqa: S608 - the name is one of the schema's own
    connection.execute("DELETE FROM caller_changes")  # what the schema noted of all that
    remove_value(connection, NEWEST_DELETED)


TOLD_MAXIMUM: Final = 20
"""Things of one kind that are told one by one."""


@frozen
class StoredFile:
    """A file that rows speak of: its key, its bytes, and its SHA-256 or how that begins, None where no row knows it."""

    key: str
    size: int
    digest: str | None = None


def few(found: Iterable[str]) -> Iterator[str]:
    """The first TOLD_MAXIMUM, and how many more there are."""
    entries = iter(found)
    yield from itertools.islice(entries, TOLD_MAXIMUM)
    more = sum(1 for _ in entries)
    if more:
        yield f"... and {more} more"


def damages(connection: sqlite3.Connection) -> Iterator[str]:
    """What SQLite's checks find wrong with pages, indexes and constraints."""
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
    """Stored counts that differ from what they count."""
    for words, query in _COUNTS:
        parameters = (INSTANCE,) if "?1" in query else ()
        yield from few(words.format(*row) for row in connection.execute(query, parameters))


_WAITING: Final = "EXISTS (SELECT 1 FROM errand_accounts WHERE errand_accounts.user_id = {}.user_id)"
"""An SQL condition on rows of an account: an errand of the server has yet to come to that account
(`chat.domain.policy.errands`)."""

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
    """Names rows that outlived what they belong to, for tables where no foreign key would tell."""
    for words, query in _LEFTOVERS:
        yield from few(words.format(*row) for row in connection.execute(query))


def stored_files(connection: sqlite3.Connection) -> Iterator[StoredFile]:
    """Every file that must be on the disk."""
    rows = connection.execute(
        """
        SELECT 'attachments/' || coalesce(file_id, id), max(size), max(content_hash)
          FROM attachments WHERE stored
         GROUP BY 1
         UNION ALL
        SELECT 'assets/' || id, size, coalesce(content_hash, replace(hash, 'a_', ''))
          FROM assets WHERE source_url IS NULL
        """
    )
    return (StoredFile(*row) for row in rows)
