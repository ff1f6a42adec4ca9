"""Pictures, films and sounds that accounts keep at hand: the rows of `favorite_memes`, each with its file."""

from __future__ import annotations

import json
import sqlite3
from typing import Final

import attrs

from chat.classes import frozen
from chat.store.messages import attachments
from chat.store.messages.attachments import Attachment


@frozen
class FavoriteMeme:
    """One row with its file; both have the same id."""

    file: Attachment
    name: str
    alt_text: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def id(self) -> int:
        """The meme's id."""
        return self.file.id

    @property
    def user_id(self) -> int:
        """The account that keeps the meme."""
        return self.file.user_id


_FILE: Final = tuple(field.name for field in attrs.fields(Attachment))
_FILE_COLUMNS: Final = ", ".join(f"attachments.{name}" for name in _FILE)
_SELECT: Final = f"""
    SELECT favorite_memes.name, favorite_memes.alt_text, favorite_memes.tags, {_FILE_COLUMNS}
      FROM favorite_memes JOIN attachments ON attachments.id = favorite_memes.id
     WHERE favorite_memes.user_id = ?
"""  # noqa: S608 - our own names


def of_user(connection: sqlite3.Connection, user_id: int) -> list[FavoriteMeme]:
    """The account's memes, the oldest first."""
    rows = connection.execute(f"{_SELECT} ORDER BY favorite_memes.id", (user_id,))
    return [_meme(*row) for row in rows]


def by_id(connection: sqlite3.Connection, user_id: int, meme_id: int) -> FavoriteMeme | None:
    """One of the account's memes."""
    row = connection.execute(f"{_SELECT} AND favorite_memes.id = ?", (user_id, meme_id)).fetchone()
    return None if row is None else _meme(*row)


def count(connection: sqlite3.Connection, user_id: int) -> int:
    """How many memes the account has."""
    row = connection.execute("SELECT count(*) FROM favorite_memes WHERE user_id = ?", (user_id,)).fetchone()
    return int(row[0])


def has_content(connection: sqlite3.Connection, user_id: int, content_hash: str | None) -> bool:
    """Whether one of the account's memes has these very bytes."""
    row = connection.execute(
        """
        SELECT 1 FROM favorite_memes JOIN attachments ON attachments.id = favorite_memes.id
         WHERE favorite_memes.user_id = ? AND attachments.content_hash = ? LIMIT 1
        """,
        (user_id, content_hash),
    ).fetchone()
    return row is not None


def insert(connection: sqlite3.Connection, meme: FavoriteMeme) -> bool:
    """Add one with its file; False, and nothing added, when the account is gone."""
    if not attachments.insert(connection, meme.file):
        return False
    connection.execute(
        "INSERT INTO favorite_memes (id, user_id, name, alt_text, tags) VALUES (?, ?, ?, ?, ?)",
        (meme.id, meme.user_id, meme.name, meme.alt_text, json.dumps(meme.tags)),
    )
    return True


def describe(connection: sqlite3.Connection, meme: FavoriteMeme) -> None:
    """Write its words."""
    connection.execute(
        "UPDATE favorite_memes SET name = ?, alt_text = ?, tags = ? WHERE id = ?",
        (meme.name, meme.alt_text, json.dumps(meme.tags), meme.id),
    )


def delete(connection: sqlite3.Connection, user_id: int, meme_id: int) -> bool:
    """Remove one of the account's memes, and its file if nothing else has it; False when there was none."""
    cursor = connection.execute("DELETE FROM favorite_memes WHERE id = ? AND user_id = ?", (meme_id, user_id))
    return cursor.rowcount > 0


def _meme(name: str, alt_text: str | None, tags: str, *file: object) -> FavoriteMeme:
    return FavoriteMeme(Attachment(*file), name, alt_text, tuple(json.loads(tags)))  # type: ignore[arg-type]
