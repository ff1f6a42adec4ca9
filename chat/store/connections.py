"""Connections to the database file; numbers, lists and full-text indexes as SQLite has them."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

BUSY_TIMEOUT_SECONDS: Final = 5
"""How long SQLite waits for another process (the command line) to finish its transaction."""

CACHE_KIBIBYTES: Final = 8_192
"""Page cache of a connection, filled only as needed."""

CHECKPOINT_PAGES: Final = 2_000
"""The write-ahead log is carried over into the file when it has this many pages (8 MB)."""

LOG_BYTES: Final = 67_108_864
"""A log that a slow reader let grow is cut back to this size."""

_2_63: Final = 1 << 63
_2_64: Final = 1 << 64


def to_signed(value: int) -> int:
    """An unsigned 64-bit number as the signed one with the same bits, which is what SQLite stores."""
    if not 0 <= value < _2_64:
        raise ValueError("not an unsigned 64-bit number")
    return value - _2_64 if value >= _2_63 else value


def to_unsigned(value: int) -> int:
    """The reverse of `to_signed`."""
    if not -_2_63 <= value < _2_63:
        raise ValueError("not a signed 64-bit number")
    return value + _2_64 if value < 0 else value


def texts(value: str | Sequence[str]) -> tuple[str, ...]:
    """A column that holds a JSON list of text, or such a list itself; a converter of attrs."""
    return tuple(json.loads(value) if isinstance(value, str) else value)


def connect(
    path: Path | str,
    *,
    read_only: bool = False,
    durable: bool = True,
    for_this_thread: bool = False,
    factory: type[sqlite3.Connection] = sqlite3.Connection,
) -> sqlite3.Connection:
    """A connection with this program's settings, in autocommit mode: transactions are begun by hand.

    The journal mode is a property of the file, which `chat.store.migrations.prepare` sets.
    `read_only` refuses every write. `durable=False` leaves out the `fsync` (tests that never lose power). With
    `for_this_thread` another thread that uses it gets sqlite3.ProgrammingError; otherwise any may, one at a time.

    `casefold(text)` is Python's, for the triggers that keep `members.name_key` (044_members_by_name.sql). Without it
    SQLite refuses to write the names that they are made of, so no other connection can leave a key behind its name.
    """
    connection = sqlite3.connect(
        path,
        timeout=BUSY_TIMEOUT_SECONDS,
        isolation_level=None,
        check_same_thread=for_this_thread,
        cached_statements=512,
        factory=factory,
    )
    for pragma in (
        f"synchronous = {'FULL' if durable else 'OFF'}",
        "foreign_keys = ON",
        f"cache_size = -{CACHE_KIBIBYTES}",
        "mmap_size = 0",  # a map is made anew after each commit, which costs more than copying the pages does
        f"wal_autocheckpoint = {CHECKPOINT_PAGES}",
        f"journal_size_limit = {LOG_BYTES}",
        "temp_store = MEMORY",
        f"query_only = {'ON' if read_only else 'OFF'}",
    ):
        connection.execute(f"PRAGMA {pragma}")
    connection.create_function("casefold", 1, str.casefold, deterministic=True)
    return connection


WORDS_MAXIMUM: Final = 32
"""Words of one question; further ones are passed over."""

_WORD: Final = re.compile(r"\w", re.UNICODE)


def beginning_with(text: str) -> str | None:
    """An FTS5 question for rows that have words beginning with each word of the text; None if it has no words.

    All words are quoted, so nothing in the text is an operator.
    """
    words = [word for word in text.replace("\0", " ").split() if _WORD.search(word)]
    if not words:
        return None
    return " ".join('"' + word.replace('"', '""') + '"*' for word in words[:WORDS_MAXIMUM])


LEAST_CHANGES: Final = 2
"""Fewer rows than these change where the command finds nothing to do (SQLite, FTS5, the merge command)."""


def merge_index(connection: sqlite3.Connection, index: str, pages: int) -> bool:
    """In a unit: have a full-text index merge segments until it has written `pages` pages; tells whether it found any
    to merge. A negative number begins a merge of the whole index."""
    before = connection.total_changes
    connection.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('merge', ?)", (pages,))  # noqa: S608 - our own name
    return connection.total_changes - before >= LEAST_CHANGES
