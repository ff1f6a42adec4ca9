"""Uploaded files and the attachments they become: the rows of `attachments` and `media_garbage`."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

import attrs

from chat.classes import frozen

INSTANCE: Final = -1
"""In `media_usage`, in place of an account: the files of all accounts and all images."""

PURGED_AT_ONCE: Final = 500
"""Rows that one unit of the sweep clears away."""


@frozen
class Attachment:
    """One row of `attachments`. `size` is bytes, `width` and `height` pixels, `expires_at` Unix milliseconds,
    `duration` seconds."""

    id: int
    channel_id: int
    user_id: int
    filename: str
    content_type: str
    size: int
    message_id: int | None = None
    position: int = 0
    title: str | None = None
    description: str | None = None
    content_hash: str | None = None
    width: int | None = None
    height: int | None = None
    flags: int = 0
    stored: bool = attrs.field(default=False, converter=bool)
    capability_hash: bytes | None = attrs.field(default=None, repr=False)
    expires_at: int | None = None
    file_id: int | None = None
    """The attachment whose file this one shares, or the number of a file that was made again; None for the file that
    was uploaded with it."""
    duration: int | None = None
    waveform: str | None = None
    placeholder: str | None = None

    @property
    def shared_id(self) -> int:
        """The number of its file: its own id, unless it is a copy, or the file was made anew."""
        return self.id if self.file_id is None else self.file_id

    @property
    def key(self) -> str:
        """The name of its file."""
        return f"attachments/{self.shared_id}"

    def copied(self, attachment_id: int, channel_id: int, user_id: int, **changes: Any) -> Attachment:
        """A row of its own with the same file, of no message unless `changes` name one."""
        place = {"id": attachment_id, "channel_id": channel_id, "user_id": user_id, "message_id": None}
        return attrs.evolve(self, **{**place, "file_id": self.shared_id, **changes})


_FIELDS: Final = tuple(field.name for field in attrs.fields(Attachment))
_COLUMNS: Final = ", ".join(_FIELDS)
_SELECT: Final = f"SELECT {_COLUMNS} FROM attachments"  # noqa: S608 - our own names, here and below
_BY_ID: Final = f"{_SELECT} WHERE id = ?"
_BY_CAPABILITY: Final = f"{_SELECT} WHERE capability_hash = ? AND expires_at > ?"
_OF_MESSAGES: Final = f"""
    {_SELECT} WHERE message_id IN (SELECT value FROM json_each(?)) ORDER BY message_id, position
"""  # noqa: S608
_INSERT: Final = f"INSERT INTO attachments ({_COLUMNS}) VALUES ({', '.join('?' * len(_FIELDS))})"  # noqa: S608


def by_id(connection: sqlite3.Connection, attachment_id: int) -> Attachment | None:
    """One attachment, uploaded or only promised; None if missing."""
    row = connection.execute(_BY_ID, (attachment_id,)).fetchone()
    return None if row is None else Attachment(*row)


def by_capability(connection: sqlite3.Connection, capability_hash: bytes, now: int) -> Attachment | None:
    """The upload that an address promises, until it expires or a message has it."""
    row = connection.execute(_BY_CAPABILITY, (capability_hash, now)).fetchone()
    return None if row is None else Attachment(*row)


def of_messages(connection: sqlite3.Connection, message_ids: Iterable[int]) -> dict[int, tuple[Attachment, ...]]:
    """The attachments of these messages, in order; messages without any are left out."""
    found: dict[int, list[Attachment]] = defaultdict(list)
    for row in connection.execute(_OF_MESSAGES, (json.dumps(list(message_ids)),)):
        attachment = Attachment(*row)
        if attachment.message_id is not None:
            found[attachment.message_id].append(attachment)
    return {message_id: tuple(attachments) for message_id, attachments in found.items()}


def insert(connection: sqlite3.Connection, attachment: Attachment) -> bool:
    """Add one; False, and nothing added, when its channel or its message is gone."""
    try:
        connection.execute(_INSERT, tuple(getattr(attachment, name) for name in _FIELDS))
    except sqlite3.IntegrityError:
        return False
    return True


def note_stored(connection: sqlite3.Connection, attachment: Attachment, now: int) -> bool:
    """The promised file has come; False when it came before, or its promise has expired."""
    cursor = connection.execute(
        """
        UPDATE attachments
           SET stored = 1, size = :size, content_type = :content_type, content_hash = :content_hash, width = :width,
               height = :height, flags = :flags, duration = :duration, placeholder = :placeholder
         WHERE id = :id AND NOT stored AND expires_at > :now
        """,
        {**attrs.asdict(attachment), "now": now},
    )
    return cursor.rowcount > 0


def put_into_message(connection: sqlite3.Connection, attachment: Attachment, now: int) -> bool:
    """A stored file becomes part of a message; False when another message has it, or it has expired."""
    cursor = connection.execute(
        """
        UPDATE attachments
           SET message_id = :message_id, position = :position, filename = :filename, title = :title,
               description = :description, flags = :flags, duration = :duration, waveform = :waveform,
               capability_hash = NULL, expires_at = NULL
         WHERE id = :id AND stored AND message_id IS NULL AND expires_at > :now
        """,
        {**attrs.asdict(attachment), "now": now},
    )
    return cursor.rowcount > 0


def of_scheduled(connection: sqlite3.Connection, scheduled_id: int) -> tuple[Attachment, ...]:
    """The files of a scheduled message, in order."""
    rows = connection.execute(f"{_SELECT} WHERE scheduled_id = ? ORDER BY position", (scheduled_id,))
    return tuple(Attachment(*row) for row in rows)


def put_into_scheduled(connection: sqlite3.Connection, attachment: Attachment, scheduled_id: int, now: int) -> bool:
    """A stored file that waits for a message, or that this scheduled message has already, becomes or stays part of it;
    False when another message has it, or it has expired."""
    cursor = connection.execute(
        """
        UPDATE attachments
           SET scheduled_id = :scheduled_id, position = :position, filename = :filename, title = :title,
               description = :description, flags = :flags, duration = :duration, waveform = :waveform,
               capability_hash = NULL, expires_at = NULL
         WHERE id = :id AND stored AND message_id IS NULL
           AND (scheduled_id = :scheduled_id OR (scheduled_id IS NULL AND expires_at > :now))
        """,
        {**attrs.asdict(attachment), "scheduled_id": scheduled_id, "now": now},
    )
    return cursor.rowcount > 0


def release_scheduled(connection: sqlite3.Connection, scheduled_id: int, expires_at: int) -> None:
    """The files of a scheduled message wait for a message until `expires_at`, as uploads do."""
    connection.execute(
        "UPDATE attachments SET scheduled_id = NULL, expires_at = ? WHERE scheduled_id = ?", (expires_at, scheduled_id)
    )


def describe(connection: sqlite3.Connection, attachment: Attachment) -> None:
    """Write the words that a message has for one of its files, and where it stands among them."""
    connection.execute(
        "UPDATE attachments SET title = ?, description = ?, position = ? WHERE id = ?",
        (attachment.title, attachment.description, attachment.position, attachment.id),
    )


def delete(connection: sqlite3.Connection, attachment_ids: Iterable[int]) -> None:
    """Remove rows; their files go with the next sweep."""
    connection.execute(
        "DELETE FROM attachments WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(attachment_ids)),)
    )


@frozen
class Usage:
    """How much room files take: bytes of an account, stored or promised; how many of its files wait for a message; and
    the bytes of all accounts, with all images."""

    bytes: int
    waiting: int
    instance_bytes: int


def usage(connection: sqlite3.Connection, user_id: int) -> Usage:
    """How much the account, and all accounts together, have stored or promised."""
    row = connection.execute(
        """
        SELECT coalesce((SELECT bytes FROM media_usage WHERE user_id = ?1), 0),
               (SELECT count(*) FROM attachments WHERE user_id = ?1 AND expires_at > 0),
               coalesce((SELECT bytes FROM media_usage WHERE user_id = ?2), 0)
        """,
        (user_id, INSTANCE),
    ).fetchone()
    return Usage(*row)


def any_expired(connection: sqlite3.Connection, now: int) -> bool:
    """Whether an upload waits that no message has taken in time."""
    return connection.execute("SELECT 1 FROM attachments WHERE expires_at <= ? LIMIT 1", (now,)).fetchone() is not None


def delete_expired(connection: sqlite3.Connection, now: int) -> int:
    """Remove uploads that no message has taken in time, at most PURGED_AT_ONCE; returns how many."""
    cursor = connection.execute(
        "DELETE FROM attachments WHERE id IN (SELECT id FROM attachments WHERE expires_at <= ? LIMIT ?)",
        (now, PURGED_AT_ONCE),
    )
    return cursor.rowcount


def garbage(connection: sqlite3.Connection) -> list[str]:
    """Keys of files that nothing refers to any more, at most PURGED_AT_ONCE."""
    rows = connection.execute("SELECT key FROM media_garbage LIMIT ?", (PURGED_AT_ONCE,))
    return [key for (key,) in rows]


def forget_garbage(connection: sqlite3.Connection, keys: Iterable[str]) -> None:
    """These files are deleted."""
    connection.execute(
        "DELETE FROM media_garbage WHERE key IN (SELECT value FROM json_each(?))", (json.dumps(list(keys)),)
    )


def unreferenced(connection: sqlite3.Connection, keys: Iterable[str]) -> list[str]:
    """The files among these to which no row refers."""
    rows = connection.execute(
        """
        SELECT files.value
          FROM json_each(?) AS files
         WHERE NOT EXISTS (SELECT 1 FROM attachments WHERE 'attachments/' || id = files.value
                              AND id = CAST(substr(files.value, 13) AS INTEGER) AND file_id IS NULL)
           AND NOT EXISTS (SELECT 1 FROM attachments WHERE 'attachments/' || file_id = files.value
                              AND file_id = CAST(substr(files.value, 13) AS INTEGER))
           AND NOT EXISTS (SELECT 1 FROM assets WHERE 'assets/' || id = files.value
                              AND id = CAST(substr(files.value, 8) AS INTEGER))
        """,
        (json.dumps(list(keys)),),
    )
    return [key for (key,) in rows]


def ownerless(connection: sqlite3.Connection, keys: Iterable[str]) -> list[str]:
    """The files among these to which no row refers and that are not marked for deletion."""
    wanted = unreferenced(connection, keys)
    noted = connection.execute(
        "SELECT key FROM media_garbage WHERE key IN (SELECT value FROM json_each(?))", (json.dumps(wanted),)
    )
    return sorted(set(wanted).difference(key for (key,) in noted))
