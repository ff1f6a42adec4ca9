"""A database for tests of the index of messages: two guilds with channels and threads, a conversation, two accounts."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from chat.registries.channel_types import ChannelType
from chat.registries.jobs import JobType
from chat.snowflake import MAXIMUM
from chat.store.administration import jobs
from chat.store.administration.jobs import Job
from chat.store.connections import connect
from chat.store.messages.message_search_entries import old_entries
from chat.store.migrations import migrate

GUILD, OTHER_GUILD = 1, 2
TEXT, VOICE, FORUM, ELSEWHERE, CONVERSATION = 10, 11, 12, 13, 14
PUBLIC, PRIVATE, POST = 20, 21, 22
CHANNELS = {
    TEXT: (GUILD, ChannelType.GUILD_TEXT, None),
    VOICE: (GUILD, ChannelType.GUILD_VOICE, None),
    FORUM: (GUILD, ChannelType.GUILD_FORUM, None),
    ELSEWHERE: (OTHER_GUILD, ChannelType.GUILD_TEXT, None),
    CONVERSATION: (None, ChannelType.DM, None),
    PUBLIC: (GUILD, ChannelType.PUBLIC_THREAD, TEXT),
    PRIVATE: (GUILD, ChannelType.PRIVATE_THREAD, TEXT),
    POST: (GUILD, ChannelType.PUBLIC_THREAD, FORUM),
}
PERSON, BOT, NOBODY = 100, 101, 102
WEBHOOK = 110
USERS = (PERSON, BOT, NOBODY)


@contextlib.contextmanager
def opened(path: Path | str = ":memory:") -> Iterator[sqlite3.Connection]:
    """A new database with these accounts, guilds and channels, and no message."""
    connection = connect(path, durable=False)
    migrate(connection)
    for guild_id in (GUILD, OTHER_GUILD):
        connection.execute(
            "INSERT INTO users (id, username, username_key, discriminator, created_at) VALUES (?, 'o', ?, 1, 0)",
            (guild_id, str(guild_id)),
        )
        connection.execute(
            "INSERT INTO guilds (id, owner_id, name, features, created_at) VALUES (?, ?, 'g', '[]', 0)",
            (guild_id, guild_id),
        )
    for user_id in (PERSON, BOT):
        connection.execute(
            """
            INSERT INTO users (id, username, username_key, discriminator, bot, created_at) VALUES (?, 'u', ?, 1, ?, 0)
            """,
            (user_id, str(user_id), user_id == BOT),
        )
    for channel_id, (guild, kind, parent) in CHANNELS.items():
        connection.execute(
            "INSERT INTO channels (id, guild_id, type, parent_id) VALUES (?, ?, ?, ?)",
            (channel_id, guild, int(kind), parent),
        )
    yield connection
    connection.close()


@contextlib.contextmanager
def rolled_back(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def age(connection: sqlite3.Connection, until: int) -> None:
    """Have the entries of messages up to this one be as earlier versions wrote them, where a migration leaves them."""
    rows = connection.execute("SELECT rowid, words, filters FROM message_search WHERE rowid <= ?", (until,)).fetchall()
    for message_id, words, filters in rows:
        ungrouped = " ".join(word[1:] for word in words.split())
        alone = " ".join(term for term in filters.split() if term[1] not in "buw")
        connection.execute(
            "INSERT INTO message_search_old (rowid, words, filters) VALUES (?, ?, ?)", (message_id, ungrouped, alone)
        )
        connection.execute("DELETE FROM message_search WHERE rowid = ?", (message_id,))
    connection.execute("UPDATE message_search_parts SET old_until = ?", (until,))


def order_renewal(connection: sqlite3.Connection) -> int:
    """Leave everything as a migration from an earlier version does, with the job; how many entries there are."""
    age(connection, MAXIMUM)
    job = Job(id=1, task_type=JobType.MESSAGE_SEARCH_RENEWAL, payload={}, run_at=0, created_at=0, changed_at=0)
    jobs.insert(connection, job)
    return old_entries(connection)
