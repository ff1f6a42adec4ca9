"""A channel with any number of messages to measure, written straight into the database of a `chat.bench.world`."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from chat.bench.world import World
from chat.clock import SystemClock
from chat.registries.message_types import MessageType
from chat.snowflake import snowflake_at
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.messages import message_search_entries

APART_MS: Final = 1_000
"""Time between two messages."""

RARE_MESSAGES: Final = 100
"""So many messages have the rare word, however many there are, evenly spread."""

RARE_WORD: Final = "saskatoon"
COMMON_WORD: Final = "w0"
VOCABULARY: Final = 5_000
WORDS_PER_MESSAGE: Final = 12
SLICE_MESSAGES: Final = 20_000


@attrs.frozen
class Messages:
    """What a measurement needs to know."""

    middle_id: int
    """A message with as many before it as behind it."""

    author_id: int


def fill(directory: Path, world: World, count: int) -> Messages:
    """Write so many messages into the world's channel, and bring their index up to date."""
    with contextlib.closing(connect(DataDirectory(directory).database, durable=False)) as connection:
        authors = [row[0] for row in connection.execute("SELECT user_id FROM members ORDER BY user_id")]
        now = SystemClock().now_ms()
        first = now - (count + 60) * APART_MS
        ids = [snowflake_at(first + number * APART_MS) for number in range(count)]
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO messages (id, channel_id, author_id, type, content) VALUES (?, ?, ?, ?, ?)",
            (
                (message_id, world.channel_id, authors[number % len(authors)], int(MessageType.DEFAULT), content)
                for number, (message_id, content) in enumerate(zip(ids, _contents(count), strict=True))
            ),
        )
        connection.execute("UPDATE channels SET last_message_id = ? WHERE id = ?", (ids[-1], world.channel_id))
        connection.execute("COMMIT")
        _index(connection)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Messages(ids[count // 2], authors[0])


def _index(connection: sqlite3.Connection) -> None:
    left = SLICE_MESSAGES
    while left == SLICE_MESSAGES:
        connection.execute("BEGIN")
        left = message_search_entries.bring_up_to_date(connection, SLICE_MESSAGES)
        connection.execute("COMMIT")


def _contents(count: int) -> Iterator[str]:
    """Texts whose words are as unevenly spread as those of a language: the n-th is there 1/n times as often."""
    chance = random.Random(0)  # noqa: S311 -- words, not secrets
    words = [f"w{number}" for number in range(VOCABULARY)]
    weights = [0.0]
    for number in range(VOCABULARY):
        weights.append(weights[-1] + 1 / (1 + number))
    every = max(1, count // RARE_MESSAGES)
    for number in range(count):
        text = " ".join(chance.choices(words, cum_weights=weights[1:], k=WORDS_PER_MESSAGE))
        yield f"{text} {RARE_WORD}" if number % every == 0 else text
