"""How much room files take: by kind, by guild and by account, and what deleted accounts left behind. These counts scan
tables: run them in a reader's thread."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from chat.classes import frozen
from chat.registries.user_flags import UserFlag


@frozen
class StoragePart:
    """A group of files, with their number and size."""

    part: str
    bytes: int
    files: int


@frozen
class Share:
    """The room that a guild or an account takes. `name` is None if it no longer exists."""

    id: int
    name: str | None
    detail: Any
    """The icon of a guild, the discriminator of an account."""
    bytes: int
    files: int


_EACH_FILE_ONCE: Final = """
    attachments.stored AND (
        attachments.file_id IS NULL
        OR NOT EXISTS (SELECT 1 FROM attachments AS first
                        WHERE first.id = attachments.file_id AND first.file_id IS NULL)
           AND NOT EXISTS (SELECT 1 FROM attachments AS first
                            WHERE first.file_id = attachments.file_id AND first.id < attachments.id)
    )
"""
"""A file that several messages show is that of the first of them that is left."""


def parts(connection: sqlite3.Connection) -> list[StoragePart]:
    """Files and pages by what they are, the largest first."""
    rows = connection.execute(
        f"""
        SELECT iif(message_id IS NOT NULL, 'message_files', iif(expires_at IS NOT NULL, 'waiting_files', 'kept_files')),
               coalesce(sum(size), 0), count(*)
          FROM attachments WHERE {_EACH_FILE_ONCE} GROUP BY 1
         UNION ALL
        SELECT iif(kind LIKE '% of guild %', 'member_images', kind), sum(size), count(*)
          FROM assets WHERE source_url IS NULL GROUP BY 1
         UNION ALL
        SELECT 'archives', coalesce(sum(file_size), 0), count(*) FROM archives WHERE file_size IS NOT NULL
         UNION ALL
        SELECT 'database', (SELECT page_count FROM pragma_page_count()) * (SELECT page_size FROM pragma_page_size()), 1
         ORDER BY 2 DESC
        """  # noqa: S608 - our own text, here and below
    )
    return [StoragePart(*row) for row in rows]


def largest_guilds(connection: sqlite3.Connection, limit: int) -> list[Share]:
    """The guilds with the most bytes of files in their channels, the largest first; 0 stands for private
    conversations."""
    rows = connection.execute(
        f"""
        SELECT coalesce(channels.guild_id, 0) AS guild_id, guilds.name, guilds.icon, sum(attachments.size), count(*)
          FROM attachments
          LEFT JOIN channels ON channels.id = attachments.channel_id
          LEFT JOIN guilds ON guilds.id = channels.guild_id
         WHERE {_EACH_FILE_ONCE}
         GROUP BY 1 ORDER BY 4 DESC, 1 LIMIT ?
        """,  # noqa: S608
        (limit,),
    )
    return [Share(*row) for row in rows]


def largest_accounts(connection: sqlite3.Connection, limit: int) -> list[Share]:
    """The accounts that have uploaded the most bytes, the largest first."""
    rows = connection.execute(
        f"""
        SELECT attachments.user_id, users.username, users.discriminator, sum(attachments.size), count(*)
          FROM attachments LEFT JOIN users ON users.id = attachments.user_id
         WHERE {_EACH_FILE_ONCE}
         GROUP BY 1 ORDER BY 4 DESC, 1 LIMIT ?
        """,  # noqa: S608
        (limit,),
    )
    return [Share(*row) for row in rows]


_OWNED_BY_NOBODY: Final = """
    source_url IS NULL AND kind IN ('avatars', 'banners') AND (
        owner_id IN (SELECT user_id FROM account_deletions WHERE erased_at IS NOT NULL)
        OR NOT EXISTS (SELECT 1 FROM users WHERE users.id = owner_id)
           AND NOT EXISTS (SELECT 1 FROM guilds WHERE guilds.id = owner_id)
           AND NOT EXISTS (SELECT 1 FROM webhooks WHERE webhooks.id = owner_id)
           AND NOT EXISTS (SELECT 1 FROM channels WHERE channels.id = owner_id)
           AND NOT EXISTS (SELECT 1 FROM applications WHERE applications.id = owner_id)
    )
"""
"""Images of accounts that are erased or gone; those of guilds, webhooks, groups and applications are not meant."""

_UNSENT_BY_NOBODY: Final = f"""
    message_id IS NULL AND expires_at IS NOT NULL
    AND user_id IN (SELECT id FROM users WHERE flags & {int(UserFlag.DELETED)})
"""  # noqa: S608 - our own number
"""Files that a deleted account has uploaded and never sent."""


def left_by_deleted_accounts(connection: sqlite3.Connection) -> StoragePart:
    """The files that belonged to accounts which are deleted."""
    row = connection.execute(
        f"""
        SELECT coalesce(sum(bytes), 0), coalesce(sum(files), 0)
          FROM (SELECT sum(size) AS bytes, count(*) AS files FROM assets WHERE {_OWNED_BY_NOBODY}
                 UNION ALL
                SELECT sum(size), count(*) FROM attachments WHERE {_UNSENT_BY_NOBODY})
        """  # noqa: S608 - our own text
    ).fetchone()
    return StoragePart("deleted_accounts", *row)


def delete_left_by_deleted_accounts(connection: sqlite3.Connection, most: int) -> StoragePart:
    """In a unit of writing: delete up to `most` rows of each table of what deleted accounts left behind; their files go
    with the next sweep."""
    gone: list[tuple[int]] = connection.execute(
        f"DELETE FROM attachments WHERE id IN (SELECT id FROM attachments WHERE {_UNSENT_BY_NOBODY} LIMIT ?)"  # noqa: S608
        " RETURNING size",
        (most,),
    ).fetchall()
    gone += connection.execute(
        f"DELETE FROM assets WHERE id IN (SELECT id FROM assets WHERE {_OWNED_BY_NOBODY} LIMIT ?) RETURNING size",  # noqa: S608
        (most,),
    ).fetchall()
    return StoragePart("deleted_accounts", sum(size for (size,) in gone), len(gone))


def administrators_with_mail(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    """The people who may do everything, with the addresses that they have verified."""
    return connection.execute(
        """
        SELECT id, email FROM users
         WHERE NOT bot AND email_verified AND email IS NOT NULL AND NOT flags & ?
           AND EXISTS (SELECT 1 FROM json_each(users.acls) WHERE value = '*')
         ORDER BY id LIMIT 20
        """,
        (int(UserFlag.DELETED),),
    ).fetchall()
