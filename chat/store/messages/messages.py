"""Messages: the rows of `messages`, `message_mentions` and `message_role_mentions`."""

from __future__ import annotations

import json
import operator
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import attrs

from chat import wire
from chat.classes import frozen
from chat.registries.message_types import THREAD_MESSAGE_FLAGS, THREAD_MESSAGE_TYPES, MessageReferenceType
from chat.snowflake import MAXIMUM
from chat.store.administration import instance
from chat.store.messages import attachments, read_states
from chat.store.messages.attachments import Attachment

THREAD_FLAGS: Final = THREAD_MESSAGE_FLAGS.value


@frozen
class MessageReference:
    """The message that another one answers."""

    channel_id: int
    message_id: int
    guild_id: int | None
    type: int


def _reference(value: str | MessageReference | None) -> MessageReference | None:
    """A column that holds a reference as JSON, or the reference itself."""
    return MessageReference(**json.loads(value)) if isinstance(value, str) else value


@frozen
class MessageExtra:
    """Fields that few messages have. Dicts are parts of the wire object (messages.md, Message object)."""

    webhook_name: str | None = None
    """The name under which a webhook wrote the message."""
    webhook_avatar: str | None = None
    attachments: int = 0
    """How many attachments the message has; a forward's attachments belong to its snapshot."""
    embeds: tuple[Mapping[str, Any], ...] = attrs.field(default=(), converter=tuple)
    """Embeds out of the message's body."""
    link_embeds: tuple[Mapping[str, Any], ...] = attrs.field(default=(), converter=tuple)
    """Embeds that the server made of links in the text; shown after the others."""
    stickers: tuple[wire.StickerItem, ...] = attrs.field(default=(), converter=tuple)
    snapshots: tuple[Mapping[str, Any], ...] = attrs.field(default=(), converter=tuple)
    """The messages that a forward carries, without their attachments."""
    mention_channels: tuple[wire.MentionedChannel, ...] = attrs.field(default=(), converter=tuple)
    nsfw_emojis: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    call: wire.MessageCall | None = None
    """`participants` and `ended_timestamp` of the call that the message tells of."""
    components: tuple[Mapping[str, Any], ...] = attrs.field(default=(), converter=tuple)
    poll: Mapping[str, Any] | None = None
    """The poll as it was asked, without its results."""
    interaction: Mapping[str, Any] | None = None
    """The interaction that an application answers with the message: `id`, `type`, `user_id` and the like."""

    def of_webhook(self) -> MessageExtra | None:
        """The name and avatar that a webhook spoke under, alone."""
        if self.webhook_name is None:
            return None
        return MessageExtra(webhook_name=self.webhook_name, webhook_avatar=self.webhook_avatar)


_EXTRA_DEFAULTS: Final = {field.name: field.default for field in attrs.fields(MessageExtra)}


def _extra(value: str | MessageExtra | None) -> MessageExtra | None:
    """A column that holds it as JSON, or the thing itself."""
    return MessageExtra(**json.loads(value)) if isinstance(value, str) else value


@frozen
class Message:
    """One row of `messages` with whom it mentions, in ascending order of id, and its attachments. `edited_at` and
    `pinned_at` are Unix milliseconds; `has_reactions` says that another table holds reactions."""

    id: int
    channel_id: int
    author_id: int
    type: int
    content: str
    flags: int = 0
    webhook_id: int | None = None
    edited_at: int | None = None
    pinned_at: int | None = None
    mention_everyone: bool = attrs.field(default=False, converter=bool)
    tts: bool = attrs.field(default=False, converter=bool)
    nonce: str | None = None
    reference: MessageReference | None = attrs.field(default=None, converter=_reference)
    extra: MessageExtra | None = attrs.field(default=None, converter=_extra)
    has_reactions: bool = attrs.field(default=False, converter=bool)
    mentioned_user_ids: tuple[int, ...] = ()
    mentioned_role_ids: tuple[int, ...] = ()
    attachments: tuple[Attachment, ...] = ()

    def as_reference(self, guild_id: int | None) -> MessageReference:
        """A reference of another message to this one, which that does not carry."""
        return MessageReference(self.channel_id, self.id, guild_id, MessageReferenceType.REPLY.value)


class MessageRow(NamedTuple):
    """The columns of a message: the fields of `Message` in their order, as the table holds them."""

    id: int
    channel_id: int
    author_id: int
    type: int
    content: str
    flags: int
    webhook_id: int | None
    edited_at: int | None
    pinned_at: int | None
    mention_everyone: int
    tts: int
    nonce: str | None
    reference: str | None
    extra: str | None
    has_reactions: int


PageRow = tuple[int, int, str, int, int | None, int | None, int, str | None, int]
"""The columns of a message on a page (`_PAGE_COLUMNS`). They are all of a message that is plain: nothing but text, of
which no other table holds anything, and which mentions no one. The last says whether it is."""

# A message of a person names whom it answers, or whom its text names by "<@".
_PAGE_COLUMNS: Final = f"""id, author_id, content, flags, edited_at, pinned_at, tts, nonce,
    webhook_id IS NULL AND reference IS NULL AND extra IS NULL AND NOT has_reactions AND type = 0
        AND NOT mention_everyone AND NOT flags & {THREAD_FLAGS} AND instr(content, '<@') = 0"""
_COLUMNS: Final = ", ".join(MessageRow._fields)
_VALUES: Final = operator.attrgetter(*MessageRow._fields)
_SELECT: Final = f"SELECT {_COLUMNS} FROM messages"  # noqa: S608 - our own names, here and below
_BY_ID: Final = f"{_SELECT} WHERE id = ? AND channel_id = ?"
_BY_IDS: Final = f"{_SELECT} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608
_THREAD_TYPES: Final = ", ".join(str(int(kind)) for kind in sorted(THREAD_MESSAGE_TYPES))
_WANTED: Final = {True: "", False: f"AND type NOT IN ({_THREAD_TYPES})"}
"""A condition, by whether messages that tell of threads are wanted."""

_BELOW: Final = "SELECT {} FROM messages WHERE channel_id = ? AND id < ? AND id >= ? {} ORDER BY id DESC LIMIT ?"
_ABOVE: Final = "SELECT {} FROM messages WHERE channel_id = ? AND id > ? AND id >= ? {} ORDER BY id ASC LIMIT ?"
_MESSAGES_BELOW: Final = {threads: _BELOW.format(_COLUMNS, wanted) for threads, wanted in _WANTED.items()}
_MESSAGES_ABOVE: Final = {threads: _ABOVE.format(_COLUMNS, wanted) for threads, wanted in _WANTED.items()}
_ROWS_BELOW: Final = {threads: _BELOW.format(_PAGE_COLUMNS, wanted) for threads, wanted in _WANTED.items()}
_ROWS_ABOVE: Final = {threads: _ABOVE.format(_PAGE_COLUMNS, wanted) for threads, wanted in _WANTED.items()}
_PINS: Final = f"""
    {_SELECT}
     WHERE channel_id = ? AND pinned_at IS NOT NULL AND pinned_at < ? AND id >= ?
     ORDER BY pinned_at DESC, id DESC
     LIMIT ?
"""
_MENTIONED_USERS: Final = """
    SELECT message_id, user_id FROM message_mentions
     WHERE message_id IN (SELECT value FROM json_each(?)) ORDER BY message_id, user_id
"""
_MENTIONED_ROLES: Final = """
    SELECT message_id, role_id FROM message_role_mentions
     WHERE message_id IN (SELECT value FROM json_each(?)) ORDER BY message_id, role_id
"""
_INSERT: Final = f"INSERT INTO messages ({_COLUMNS}) VALUES ({', '.join('?' * len(MessageRow._fields))})"  # noqa: S608


def by_id(connection: sqlite3.Connection, channel_id: int, message_id: int) -> Message | None:
    """One message of a channel."""
    return next(iter(from_rows(connection, connection.execute(_BY_ID, (message_id, channel_id)).fetchall())), None)


def exists(connection: sqlite3.Connection, channel_id: int, message_id: int) -> bool:
    """Whether there is such a message in the channel."""
    return any(connection.execute("SELECT 1 FROM messages WHERE id = ? AND channel_id = ?", (message_id, channel_id)))


def by_ids(connection: sqlite3.Connection, message_ids: Iterable[int]) -> list[Message]:
    """The messages among these ids, in no order."""
    rows = connection.execute(_BY_IDS, (json.dumps(list(message_ids)),)).fetchall()
    return from_rows(connection, rows)


def below(
    connection: sqlite3.Connection,
    channel_id: int,
    limit: int,
    *,
    before: int | None = None,
    floor: int = 0,
    threads: bool = True,
) -> list[Message]:
    """The newest messages of a channel, with an id under `before` and at least `floor`, at most `limit`; without
    `threads` none of those that tell of threads."""
    wanted = (channel_id, MAXIMUM if before is None else before, floor, limit)
    return from_rows(connection, connection.execute(_MESSAGES_BELOW[threads], wanted).fetchall())


def rows_below(
    connection: sqlite3.Connection,
    channel_id: int,
    limit: int,
    *,
    before: int | None = None,
    floor: int = 0,
    threads: bool = True,
) -> list[PageRow]:
    """What a page shows of the messages that `below` gives."""
    wanted = (channel_id, MAXIMUM if before is None else before, floor, limit)
    return connection.execute(_ROWS_BELOW[threads], wanted).fetchall()


def above(
    connection: sqlite3.Connection, channel_id: int, limit: int, *, after: int, floor: int = 0, threads: bool = True
) -> list[Message]:
    """The oldest messages of a channel with an id over `after` and at least `floor`, at most `limit`; newest first;
    without `threads` none of those that tell of threads."""
    found = connection.execute(_MESSAGES_ABOVE[threads], (channel_id, after, floor, limit)).fetchall()
    return from_rows(connection, found[::-1])


def rows_above(
    connection: sqlite3.Connection, channel_id: int, limit: int, *, after: int, floor: int = 0, threads: bool = True
) -> list[PageRow]:
    """What a page shows of the messages that `above` gives."""
    return connection.execute(_ROWS_ABOVE[threads], (channel_id, after, floor, limit)).fetchall()[::-1]


def insert(connection: sqlite3.Connection, message: Message) -> bool:
    """Add a message; False, and nothing added, when its channel is gone."""
    try:
        connection.execute(_INSERT, row_of(message))
    except sqlite3.IntegrityError:
        return False
    if message.mentioned_user_ids or message.mentioned_role_ids:
        _insert_mentions(connection, message)
    return True


def row_of(message: Message) -> MessageRow:
    """The columns of a message, as the table holds them."""
    reference = None if message.reference is None else json.dumps(attrs.asdict(message.reference))
    return MessageRow._make(_VALUES(message))._replace(reference=reference, extra=_extra_text(message.extra))


def update(connection: sqlite3.Connection, message: Message) -> bool:
    """Write what an edit may change: text, flags, moment of the edit, mentions, how many attachments are left. False
    when the message is gone."""
    written = message.content, message.flags, message.edited_at, message.mention_everyone, _extra_text(message.extra)
    cursor = connection.execute(
        "UPDATE messages SET content = ?, flags = ?, edited_at = ?, mention_everyone = ?, extra = ? WHERE id = ?",
        (*written, message.id),
    )
    if cursor.rowcount == 0:
        return False
    unnamed = connection.execute(
        """
        DELETE FROM message_mentions WHERE message_id = ? AND user_id NOT IN (SELECT value FROM json_each(?))
        RETURNING user_id, counted
        """,
        (message.id, json.dumps(message.mentioned_user_ids)),
    ).fetchall()
    if unnamed:
        read_states.take_back_from(connection, message.id, [user_id for user_id, counted in unnamed if counted])
    read_states.keep_mass_mentions(
        connection, message.id, message.mentioned_role_ids, everyone=message.mention_everyone
    )
    connection.execute("DELETE FROM message_role_mentions WHERE message_id = ?", (message.id,))
    _insert_mentions(connection, message)
    return True


def change_extra(connection: sqlite3.Connection, channel_id: int, message_id: int, **changes: object) -> Message | None:
    """Write some members of a message's `extra` and leave the others; gives the message as it is then, None if missing.

    This does not count as an edit.
    """
    message = by_id(connection, channel_id, message_id)
    if message is None:
        return None
    extra: MessageExtra = attrs.evolve(message.extra or MessageExtra(), **changes)  # type: ignore[arg-type]
    connection.execute("UPDATE messages SET extra = ? WHERE id = ?", (_extra_text(extra), message_id))
    return attrs.evolve(message, extra=extra)


def change_flags(connection: sqlite3.Connection, message_id: int, *, added: int = 0, removed: int = 0) -> bool:
    """Set and clear bits of a message's flags, which does not count as an edit; returns whether that changed any."""
    cursor = connection.execute(
        "UPDATE messages SET flags = (flags | ?1) & ~?2 WHERE id = ?3 AND flags <> (flags | ?1) & ~?2",
        (added, removed, message_id),
    )
    return cursor.rowcount > 0


def last_of_channel(connection: sqlite3.Connection, channel_id: int) -> int:
    """The newest message of a channel; 0 without one."""
    row = connection.execute("SELECT max(id) FROM messages WHERE channel_id = ?", (channel_id,)).fetchone()
    return row[0] or 0


def ids_up_to(connection: sqlite3.Connection, channel_id: int, last_id: int, limit: int) -> list[int]:
    """The oldest messages of a channel with an id of at most `last_id`, at most `limit` of them."""
    rows = connection.execute(
        "SELECT id FROM messages WHERE channel_id = ? AND id <= ? ORDER BY id LIMIT ?", (channel_id, last_id, limit)
    )
    return [message_id for (message_id,) in rows]


def delete_many(connection: sqlite3.Connection, channel_id: int, message_ids: Iterable[int]) -> list[tuple[int, bool]]:
    """Remove messages of a channel and their mentions; returns those that there were, oldest first, and whether each
    was pinned."""
    gone = []
    for message_id in sorted(set(message_ids)):
        read_states.take_back_mention(connection, channel_id, message_id)
        row = connection.execute(
            "DELETE FROM messages WHERE id = ? AND channel_id = ? RETURNING pinned_at IS NOT NULL",
            (message_id, channel_id),
        ).fetchone()
        if row is not None:
            gone.append((message_id, bool(row[0])))
    if gone:
        instance.note_deleted(connection, gone[-1][0])
    return gone


def pin(connection: sqlite3.Connection, message_id: int, pinned_at: int | None) -> None:
    """Pin a message at this moment (Unix milliseconds); None takes the pin away."""
    connection.execute("UPDATE messages SET pinned_at = ? WHERE id = ?", (pinned_at, message_id))


def pins(
    connection: sqlite3.Connection, channel_id: int, limit: int, *, before: int | None = None, floor: int = 0
) -> list[Message]:
    """The channel's pinned messages with an id of at least `floor`, at most `limit`; the one that was pinned last
    comes first. `before` is a moment in Unix milliseconds."""
    rows = connection.execute(_PINS, (channel_id, MAXIMUM if before is None else before, floor, limit)).fetchall()
    return from_rows(connection, rows)


def count_pins(connection: sqlite3.Connection, channel_id: int) -> int:
    """How many messages of the channel are pinned."""
    row = connection.execute(
        "SELECT count(*) FROM messages WHERE channel_id = ? AND pinned_at IS NOT NULL", (channel_id,)
    ).fetchone()
    return int(row[0])


def count_after(connection: sqlite3.Connection, channel_id: int, message_id: int, most: int) -> int:
    """How many messages of the channel are newer than this one, counted up to `most`."""
    row = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM messages WHERE channel_id = ? AND id > ? LIMIT ?)",
        (channel_id, message_id, most),
    ).fetchone()
    return int(row[0])


def last_pin(connection: sqlite3.Connection, channel_id: int, *, besides: int = 0) -> int | None:
    """When the newest of the channel's pins was made, in Unix milliseconds; `besides` is a message that does not
    count."""
    row = connection.execute(
        """
        SELECT pinned_at FROM messages
         WHERE channel_id = ? AND pinned_at IS NOT NULL AND id <> ?
         ORDER BY pinned_at DESC
         LIMIT 1
        """,
        (channel_id, besides),
    ).fetchone()
    return None if row is None else int(row[0])


def newest_of_channels(
    connection: sqlite3.Connection, floors: Mapping[int, int], *, threads: bool = True
) -> list[Message]:
    """The newest message of each of these channels that has one with an id of at least its floor; without `threads`
    none of those that tell of threads."""
    statement = f"""
        SELECT id FROM messages WHERE channel_id = ? AND id >= ? {_WANTED[threads]} ORDER BY id DESC LIMIT 1
    """  # noqa: S608
    newest = (connection.execute(statement, place).fetchone() for place in floors.items())
    return by_ids(connection, [row[0] for row in newest if row is not None])


def _extra_text(extra: MessageExtra | None) -> str | None:
    if extra is None:
        return None
    present = {
        name: getattr(extra, name) for name, default in _EXTRA_DEFAULTS.items() if getattr(extra, name) != default
    }
    return json.dumps(present) if present else None


def _insert_mentions(connection: sqlite3.Connection, message: Message) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO message_mentions (message_id, user_id) VALUES (?, ?)",
        [(message.id, user_id) for user_id in message.mentioned_user_ids],
    )
    connection.executemany(
        "INSERT INTO message_role_mentions (message_id, role_id) VALUES (?, ?)",
        [(message.id, role_id) for role_id in message.mentioned_role_ids],
    )


def _named(connection: sqlite3.Connection, statement: str, ids: str) -> dict[int, list[int]]:
    named: dict[int, list[int]] = defaultdict(list)
    for message_id, named_id in connection.execute(statement, (ids,)):
        named[message_id].append(named_id)
    return named


def from_rows(connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> list[Message]:
    """Messages from rows, in the order of the rows."""
    if not rows:
        return []
    ids = json.dumps([row[0] for row in rows])
    users = _named(connection, _MENTIONED_USERS, ids)
    roles = _named(connection, _MENTIONED_ROLES, ids)
    found = [Message(*(*row, tuple(users.get(row[0], ())), tuple(roles.get(row[0], ())))) for row in rows]
    with_files = [message.id for message in found if message.extra is not None and message.extra.attachments]
    if not with_files:
        return found
    files = attachments.of_messages(connection, with_files)
    return [attrs.evolve(message, attachments=files.get(message.id, ())) for message in found]
