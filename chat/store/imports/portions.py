"""Messages that an import writes, many at a time: the rows of `messages` and of what belongs to them, with their
entries in the search index, and of `imported_messages`.

Nothing of it counts as unread, and nobody is mentioned by it.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from chat.classes import frozen
from chat.snowflake import snowflake_time_ms
from chat.store.messages import attachments, message_search_entries
from chat.store.messages.attachments import Attachment
from chat.store.messages.message_search_entries import MessageSurroundings
from chat.store.messages.messages import Message, MessageRow, row_of
from chat.store.messages.reactions import Emoji

_INSERT: Final = (
    f"INSERT INTO messages ({', '.join(MessageRow._fields)}) VALUES ({', '.join('?' * len(MessageRow._fields))})"  # noqa: S608 - our own names
)

_PLAIN: Final = ("id", "channel_id", "author_id", "type", "content", "flags")
_INSERT_PLAIN: Final = f"INSERT INTO messages ({', '.join(_PLAIN)}) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608
"""Python's sqlite3 asks for an adapter of each None and each bool, which costs more than writing the column."""


@frozen
class GivenReaction:
    """An emoji under a message, and the accounts that reacted with it."""

    emoji: Emoji
    user_ids: tuple[int, ...]


@frozen
class ImportedMessage:
    """A message, what stands under it, who wrote it in the old place, and what the search has to know of it."""

    message: Message
    reactions: tuple[GivenReaction, ...]
    person_id: int
    around: MessageSurroundings
    is_in_thread: bool


@frozen
class Known:
    """Of some ids: which messages have them, with their channels, and which of them came by an import, and by which."""

    channels: Mapping[int, int]
    imports: Mapping[int, int]


def known_among(connection: sqlite3.Connection, message_ids: Sequence[int]) -> Known:
    """What is here under these ids."""
    listed = json.dumps(message_ids)
    rows = connection.execute(
        "SELECT id, channel_id FROM messages WHERE id IN (SELECT value FROM json_each(?))", (listed,)
    )
    noted = connection.execute(
        "SELECT message_id, import_id FROM imported_messages WHERE message_id IN (SELECT value FROM json_each(?))",
        (listed,),
    )
    return Known(dict(rows.fetchall()), dict(noted.fetchall()))


def channels_among(connection: sqlite3.Connection, channel_ids: Iterable[int]) -> set[int]:
    """The channels among these ids that are here."""
    rows = connection.execute(
        "SELECT id FROM channels WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(channel_ids)),)
    )
    return {channel_id for (channel_id,) in rows}


def guild_of_channel(connection: sqlite3.Connection, channel_id: int) -> int | None:
    """The guild that has this channel; None where there is no such channel. One outside of guilds is in guild 0."""
    row = connection.execute("SELECT coalesce(guild_id, 0) FROM channels WHERE id = ?", (channel_id,)).fetchone()
    return None if row is None else int(row[0])


def is_elsewhere(connection: sqlite3.Connection, message_id: int, channel_id: int | None) -> bool:
    """Whether there is a message with this id in another channel."""
    row = connection.execute("SELECT channel_id FROM messages WHERE id = ?", (message_id,)).fetchone()
    return row is not None and row[0] != channel_id


@frozen
class PortionRows:
    """Messages as the tables have them."""

    ids: list[int]
    plain: list[tuple[int, int, int, int, str, int]]
    """Messages of which nothing but the columns of `_PLAIN` is to be said, as of most."""
    messages: list[MessageRow]
    noted: list[tuple[int, int, int]]
    people: list[tuple[int, int]]
    roles: list[tuple[int, int]]
    files: list[Attachment]
    reactions: list[tuple[int, GivenReaction]]
    entries: list[tuple[int, str, str]]
    moves: list[ChannelGrowth]


@frozen
class ChannelGrowth:
    """How a channel goes on by a portion: its newest message, its newest pin or 0, and by how many messages a thread
    grows, None for another channel."""

    channel_id: int
    newest: int
    pinned_at: int
    grown: int | None


def rows_of(import_id: int, portion: Sequence[ImportedMessage]) -> PortionRows:
    """The rows of messages that are not here yet; made before the writer is held."""
    messages = [one.message for one in portion]
    return PortionRows(
        ids=[message.id for message in messages],
        plain=[
            (one.id, one.channel_id, one.author_id, one.type, one.content, one.flags)
            for one in messages
            if _is_plain(one)
        ],
        messages=[row_of(one) for one in messages if not _is_plain(one)],
        noted=[(one.message.id, import_id, one.person_id) for one in portion],
        people=[(one.id, user_id) for one in messages for user_id in one.mentioned_user_ids],
        roles=[(one.id, role_id) for one in messages for role_id in one.mentioned_role_ids],
        files=[file for one in messages for file in one.attachments],
        reactions=[(one.message.id, reaction) for one in portion for reaction in one.reactions],
        entries=message_search_entries.entries_of((one.message, one.around) for one in portion),
        moves=list(_moves(portion)),
    )


def _is_plain(one: Message) -> bool:
    if one.extra is not None or one.reference is not None or one.webhook_id is not None or one.has_reactions:
        return False
    return one.edited_at is None and one.pinned_at is None and not one.mention_everyone and not one.tts


def _moves(portion: Sequence[ImportedMessage]) -> Iterator[ChannelGrowth]:
    by_channel: dict[int, list[ImportedMessage]] = defaultdict(list)
    for one in portion:
        by_channel[one.message.channel_id].append(one)
    for channel_id, some in by_channel.items():
        newest = max(one.message.id for one in some)
        pinned = max(one.message.pinned_at or 0 for one in some)
        grown = sum(one.message.id != channel_id for one in some) if some[0].is_in_thread else None
        yield ChannelGrowth(channel_id, newest, pinned, grown)


def insert(connection: sqlite3.Connection, rows: PortionRows) -> None:
    """Write them, in channels that are here; ids of files are given out already."""
    connection.executemany(_INSERT_PLAIN, rows.plain)
    connection.executemany(_INSERT, rows.messages)
    connection.executemany(
        "INSERT OR REPLACE INTO imported_messages (message_id, import_id, person_id) VALUES (?, ?, ?)", rows.noted
    )
    if rows.people:
        connection.executemany(
            "INSERT OR IGNORE INTO message_mentions (message_id, user_id) VALUES (?, ?)", rows.people
        )
    if rows.roles:
        connection.executemany(
            "INSERT OR IGNORE INTO message_role_mentions (message_id, role_id) VALUES (?, ?)", rows.roles
        )
    for file in rows.files:
        attachments.insert(connection, file)
    for message_id, reaction in rows.reactions:
        _insert_reaction(connection, message_id, reaction)
    for move in rows.moves:
        _move_on(connection, move)
    message_search_entries.add(connection, rows.ids, rows.entries)


def _insert_reaction(connection: sqlite3.Connection, message_id: int, reaction: GivenReaction) -> None:
    emoji, people = reaction.emoji, dict.fromkeys(reaction.user_ids)
    made = connection.execute(
        """
        INSERT INTO message_reactions (message_id, emoji, emoji_id, emoji_name, animated, first_reacted_at, user_count)
        VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id
        """,
        (
            message_id,
            emoji.key,
            emoji.id,
            emoji.name,
            emoji.animated,
            snowflake_time_ms(message_id),
            len(people),
        ),
    ).fetchone()
    if made is not None:
        connection.executemany(
            "INSERT INTO message_reaction_users (reaction_id, user_id) VALUES (?, ?)",
            [(made[0], user_id) for user_id in people],
        )


def _move_on(connection: sqlite3.Connection, move: ChannelGrowth) -> None:
    connection.execute(
        """
        UPDATE channels
           SET last_message_id = max(coalesce(last_message_id, 0), ?1),
               last_pin_timestamp = iif(?2 > 0, max(coalesce(last_pin_timestamp, 0), ?2), last_pin_timestamp)
         WHERE id = ?3
        """,
        (move.newest, move.pinned_at, move.channel_id),
    )
    if move.grown is not None:
        connection.execute(
            """
            UPDATE threads SET message_count = message_count + ?1, total_message_sent = total_message_sent + ?1
             WHERE id = ?2
            """,
            (move.grown, move.channel_id),
        )


def mark_read(connection: sqlite3.Connection, channel_id: int, before: int, most: int) -> int:
    """Up to `most` members of the channel's guild who had read up to the message `before` (0 for an empty channel) have
    read what was imported behind it; returns of how many that is true now and was not before."""
    return connection.execute(
        """
        INSERT INTO read_states (user_id, channel_id, last_message_id, counted_id)
             SELECT members.user_id, channels.id, channels.last_message_id, channels.last_message_id
               FROM channels
               JOIN members ON members.guild_id = channels.guild_id
               LEFT JOIN read_states AS old ON old.user_id = members.user_id AND old.channel_id = channels.id
              WHERE channels.id = ?1 AND coalesce(old.last_message_id, 0) >= ?2
                AND coalesce(old.last_message_id, 0) < channels.last_message_id
              LIMIT ?3
            ON CONFLICT (user_id, channel_id)
            DO UPDATE SET last_message_id = excluded.last_message_id, counted_id = excluded.counted_id
        """,
        (channel_id, before, most),
    ).rowcount


def page_of(connection: sqlite3.Connection, import_id: int, after: int, look_at: int) -> tuple[list[int], int | None]:
    """Of the next `look_at` imported messages behind an id those of one import; and the last one that was looked at,
    None at the end."""
    rows = connection.execute(
        "SELECT message_id, import_id FROM imported_messages WHERE message_id > ? ORDER BY message_id LIMIT ?",
        (after, look_at),
    ).fetchall()
    return [row[0] for row in rows if row[1] == import_id], rows[-1][0] if len(rows) == look_at else None


def untouched_among(connection: sqlite3.Connection, message_ids: Sequence[int], since: int) -> list[int]:
    """The messages among these that nobody here has changed, claimed or reacted to since a moment (Unix ms)."""
    rows = connection.execute(
        """
        SELECT messages.id
          FROM messages
         WHERE messages.id IN (SELECT value FROM json_each(?1))
           AND coalesce(messages.edited_at, 0) < ?2
           AND NOT EXISTS (SELECT 1 FROM placeholders AS people WHERE people.claimed_by = messages.author_id)
           AND NOT EXISTS (SELECT 1 FROM placeholders AS people
                            WHERE people.user_id = messages.author_id AND people.claimed_by IS NOT NULL)
           AND NOT EXISTS (SELECT 1 FROM saved_messages WHERE saved_messages.message_id = messages.id)
           AND NOT EXISTS (SELECT 1
                             FROM message_reactions AS reactions
                             JOIN message_reaction_users AS reacted ON reacted.reaction_id = reactions.id
                            WHERE reactions.message_id = messages.id AND reacted.claimed_from IS NULL
                              AND NOT EXISTS (SELECT 1 FROM placeholders WHERE placeholders.user_id = reacted.user_id))
        """,
        (json.dumps(list(message_ids)), since),
    )
    return [message_id for (message_id,) in rows]


def missing_among(connection: sqlite3.Connection, message_ids: Sequence[int]) -> list[int]:
    """The ids among these that no message has."""
    rows = connection.execute(
        "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM messages WHERE id = value)",
        (json.dumps(message_ids),),
    )
    return [message_id for (message_id,) in rows]


def forget(connection: sqlite3.Connection, message_ids: Iterable[int]) -> None:
    """These messages are no import's any more."""
    connection.execute(
        "DELETE FROM imported_messages WHERE message_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(message_ids)),),
    )
