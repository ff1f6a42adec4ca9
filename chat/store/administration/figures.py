"""How much there is of everything: counts that scan, for a reader's thread."""

from __future__ import annotations

import sqlite3

import attrs

from chat.store.messages.attachments import INSTANCE


@attrs.frozen
class StoredFigures:
    """What the store holds. `upload_bytes` is all files and images, `database_bytes` the database's pages."""

    people: int
    bots: int
    deleted_accounts: int
    guilds: int
    channels: int
    messages: int
    upload_bytes: int
    database_bytes: int
    waiting_jobs: int


@attrs.frozen
class WaitingFigures:
    """What is still to be done, and what has been stored: counts that take no time."""

    pending_jobs: int
    running_jobs: int
    mails: int
    upload_bytes: int


def waiting(connection: sqlite3.Connection) -> WaitingFigures:
    """Count what is still to be done."""
    row = connection.execute(
        """
        SELECT (SELECT count(*) FROM jobs WHERE status = 'pending'),
               (SELECT count(*) FROM jobs WHERE status = 'running'),
               (SELECT count(*) FROM mail_outbox),
               coalesce((SELECT bytes FROM media_usage WHERE user_id = ?1), 0)
        """,
        (INSTANCE,),
    ).fetchone()
    return WaitingFigures(*row)


def stored(connection: sqlite3.Connection, deleted_flag: int) -> StoredFigures:
    """Count everything once; `deleted_flag` is the bit of `users.flags` of an account that is gone."""
    row = connection.execute(
        """
        SELECT (SELECT count(*) FROM users WHERE NOT bot AND NOT flags & ?1),
               (SELECT count(*) FROM users WHERE bot AND NOT flags & ?1),
               (SELECT count(*) FROM users WHERE flags & ?1),
               (SELECT count(*) FROM guilds),
               (SELECT count(*) FROM channels),
               (SELECT count(*) FROM messages),
               coalesce((SELECT bytes FROM media_usage WHERE user_id = ?2), 0),
               (SELECT page_count FROM pragma_page_count()) * (SELECT page_size FROM pragma_page_size()),
               (SELECT count(*) FROM jobs WHERE status IN ('pending', 'running'))
        """,
        (deleted_flag, INSTANCE),
    ).fetchone()
    return StoredFigures(*row)
