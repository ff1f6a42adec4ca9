"""The index of messages as it should be: an entry for each message, and bringing the index up to date.

What is written down of changes, and why, is told in `chat/store/migrations/020_message_search.sql`.

The index can intersect terms only by walking the list of each, and the list of a channel has all its messages. So an
entry names the author and the place also in one term (Filter.AUTHOR_IN and those of threads): the list of that is as
long as what it finds. Entries from before that lie in an index of their own (`045_message_search_renewal.sql`): what
changes gets an entry of the present form, and `renew` brings the others over. Entries from before
`048_message_search_terms.sql` lie in the index with other terms than they should have: `renew_terms` writes them anew.
"""

from __future__ import annotations

import enum
import functools
import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.markdown.addresses import host_of
from chat.markdown.inline import links_of
from chat.registries.channel_types import THREAD_CHANNEL_TYPES, ChannelType
from chat.registries.message_types import WRITTEN_MESSAGE_TYPES, MessageFlag
from chat.snowflake import MAXIMUM
from chat.store.messages import messages
from chat.store.messages.messages import Message, MessageExtra
from chat.store.messages.search_terms import (
    MARK,
    author_group,
    entry_terms,
    entry_word_terms,
    id_term,
    name_term,
    pair_term,
)

HOSTS_MAXIMUM: Final = 20
"""Hosts of links in one message by which it is found."""


class Filter(enum.StrEnum):
    """The letters of filters in an entry."""

    CHANNEL = "c"
    """The channel, conversation or thread of the message."""

    PUBLIC_THREADS_OF = "t"
    """For a message in a public thread: the channel above."""

    PRIVATE_THREADS_OF = "q"
    """For a message in a private thread: the channel above."""

    AUTHOR_IN = "b"
    """Its author together with where it stands."""

    AUTHOR_IN_PUBLIC_THREADS_OF = "u"
    AUTHOR_IN_PRIVATE_THREADS_OF = "w"
    GUILD = "g"
    AUTHOR = "a"
    AUTHOR_TYPE = "y"
    MENTION = "m"
    MENTION_EVERYONE = "e"
    PINNED = "p"
    HAS = "h"
    LINK_HOSTNAME = "l"
    EMBED_TYPE = "k"
    EMBED_PROVIDER = "v"
    ATTACHMENT_FILENAME = "f"
    ATTACHMENT_EXTENSION = "x"


class AuthorType(enum.StrEnum):
    USER = "user"
    BOT = "bot"
    WEBHOOK = "webhook"


class ContentType(enum.StrEnum):
    """What a message contains. `image`, `video`, `sound` and `file` are about attachments; `file` means any
    attachment."""

    IMAGE = "image"
    SOUND = "sound"
    VIDEO = "video"
    FILE = "file"
    STICKER = "sticker"
    EMBED = "embed"
    LINK = "link"
    POLL = "poll"
    SNAPSHOT = "snapshot"
    """A forwarded message."""


class EmbedType(enum.StrEnum):
    """What an embed of a link shows; embeds that bots and webhooks write themselves are of none of these."""

    IMAGE = "image"
    VIDEO = "video"
    SOUND = "sound"
    ARTICLE = "article"


_EMBED_TYPES: Final[Mapping[str, EmbedType]] = {
    "image": EmbedType.IMAGE,
    "gifv": EmbedType.VIDEO,
    "video": EmbedType.VIDEO,
    "audio": EmbedType.SOUND,
    "article": EmbedType.ARTICLE,
    "link": EmbedType.ARTICLE,
    "bluesky": EmbedType.ARTICLE,
}
_MEDIA: Final[Mapping[str, ContentType]] = {
    "image": ContentType.IMAGE,
    "video": ContentType.VIDEO,
    "audio": ContentType.SOUND,
}

WITH_AUTHOR: Final[Mapping[Filter, Filter]] = {
    Filter.CHANNEL: Filter.AUTHOR_IN,
    Filter.PUBLIC_THREADS_OF: Filter.AUTHOR_IN_PUBLIC_THREADS_OF,
    Filter.PRIVATE_THREADS_OF: Filter.AUTHOR_IN_PRIVATE_THREADS_OF,
}
"""For each filter by place, the filter by place and author."""

_PAIRS: Final = tuple(f"{MARK}{kind}" for kind in WITH_AUTHOR.values())
_FILENAME: Final = f"{MARK}{Filter.ATTACHMENT_FILENAME}"

Entry = tuple[str, str]
"""The columns `words` and `filters`."""


@frozen
class MessageSurroundings:
    """What an entry holds about a message that is not in the message's own row."""

    guild_id: int | None
    channel_type: int
    parent_id: int | None
    is_bot: bool = attrs.field(converter=bool)
    """Whether the account that wrote it is a bot's."""


def old_until(connection: sqlite3.Connection) -> int:
    """Up to which message entries of the old index count; 0 where none does."""
    (message_id,) = connection.execute("SELECT old_until FROM message_search_parts").fetchone()
    return int(message_id)


def entry_of(message: Message, around: MessageSurroundings) -> Entry | None:
    """The entry of a message; None for a system message, which has no words of its own and is not found."""
    if message.type not in WRITTEN_MESSAGE_TYPES:
        return None
    return _words(message), " ".join(_filters(message, around))


def words_of(words: str, *, is_old: bool) -> list[str]:
    """The terms of the text, from the column `words` of an entry."""
    return words.split() if is_old else [word[1:] for word in words.split()]


def _words(message: Message) -> str:
    group = author_group(message.author_id)
    found = entry_terms("\n".join(_texts(message)))
    return group + f" {group}".join(found) if found else ""


def _texts(message: Message) -> Iterator[str]:
    """What people read in the message: its text, and the words of its poll."""
    yield message.content
    poll = None if message.extra is None else message.extra.poll
    if poll is not None:
        yield poll["question"]["text"]
        yield from (answer["poll_media"].get("text", "") for answer in poll["answers"])


def pending(connection: sqlite3.Connection, most: int) -> int:
    """How many messages have an entry that is not what it should be; counted up to `most`."""
    row = connection.execute("SELECT count(*) FROM (SELECT 1 FROM message_search_queue LIMIT ?)", (most,)).fetchone()
    return int(row[0])


def pending_among(connection: sqlite3.Connection, message_ids: Iterable[int]) -> set[int]:
    """The messages among these whose entry is missing or out of date."""
    rows = connection.execute(
        "SELECT message_id FROM message_search_queue WHERE message_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(message_ids)),),
    )
    return {message_id for (message_id,) in rows}


def bring_up_to_date(connection: sqlite3.Connection, most: int) -> int:
    """Mend the entries of up to `most` messages, the newest first; returns of how many. Part of a unit."""
    rows = connection.execute("SELECT message_id FROM message_search_queue ORDER BY message_id DESC LIMIT ?", (most,))
    ids = [message_id for (message_id,) in rows]
    _mend(connection, ids)
    return len(ids)


def entries_of(written: Iterable[tuple[Message, MessageSurroundings]]) -> list[tuple[int, str, str]]:
    """The entries of messages, each behind its id, in ascending order, for which the index has not to be written out in
    between. System messages have none."""
    found = ((message.id, entry_of(message, around)) for message, around in written)
    return sorted((message_id, *entry) for message_id, entry in found if entry is not None)


def add(connection: sqlite3.Connection, ids: Sequence[int], entries: Sequence[tuple[int, str, str]]) -> None:
    """Index messages in the unit that writes them, in which nothing else has touched them; `entries` are theirs.

    A message with the same id may have been here and gone, and its entry wait for `bring_up_to_date`.
    """
    listed = json.dumps(list(ids))
    for message_id in _held(connection, listed):
        connection.execute("DELETE FROM message_search WHERE rowid = ?", (message_id,))
    for message_id in _held_of_old(connection, listed):
        connection.execute("DELETE FROM message_search_old WHERE rowid = ?", (message_id,))
    connection.executemany("INSERT INTO message_search (rowid, words, filters) VALUES (?, ?, ?)", entries)
    connection.execute(
        "DELETE FROM message_search_queue WHERE message_id IN (SELECT value FROM json_each(?))", (listed,)
    )


def _mend(connection: sqlite3.Connection, ids: list[int]) -> None:
    """Have the entries of these messages be as they should; the ids descend."""
    if not ids:
        return
    listed = json.dumps(ids)
    should, held = _entries(connection, ids, listed), _held(connection, listed)
    old = _held_of_old(connection, listed)
    for message_id in reversed(ids):  # in ascending order, for which the index has not to be written out in between
        entry, present = should.get(message_id), held.get(message_id)
        if message_id in old:
            connection.execute("DELETE FROM message_search_old WHERE rowid = ?", (message_id,))
        if entry == present:
            continue
        if present is not None:
            connection.execute("DELETE FROM message_search WHERE rowid = ?", (message_id,))
        if entry is not None:
            connection.execute(
                "INSERT INTO message_search (rowid, words, filters) VALUES (?, ?, ?)", (message_id, *entry)
            )
    connection.execute(
        "DELETE FROM message_search_queue WHERE message_id IN (SELECT value FROM json_each(?))", (listed,)
    )


def renew(connection: sqlite3.Connection, most: int) -> int:
    """Bring up to `most` messages over from the old index, the newest first; returns how many. Part of a unit."""
    rows = connection.execute(
        "SELECT rowid FROM message_search_old WHERE rowid <= ? ORDER BY rowid DESC LIMIT ?",
        (old_until(connection), most),
    )
    ids = [message_id for (message_id,) in rows]
    until = ids[-1] - 1 if len(ids) == most else 0
    connection.execute("UPDATE message_search_parts SET old_until = ?", (until,))
    _mend(connection, ids)
    return len(ids)


def terms_until(connection: sqlite3.Connection) -> int:
    """Up to which message entries of the present index may have the terms of an earlier version; 0 where none has."""
    (message_id,) = connection.execute("SELECT terms_until FROM message_search_parts").fetchone()
    return int(message_id)


def renew_terms(connection: sqlite3.Connection, most: int) -> int:
    """Look at up to `most` entries that may have the terms of an earlier version, the newest first, and write those
    anew that differ; returns at how many. Part of a unit."""
    rows = connection.execute(
        "SELECT id FROM message_search_content WHERE id <= ? ORDER BY id DESC LIMIT ?", (terms_until(connection), most)
    )
    ids = [message_id for (message_id,) in rows]
    until = ids[-1] - 1 if len(ids) == most else 0
    connection.execute("UPDATE message_search_parts SET terms_until = ?", (until,))
    _mend(connection, ids)
    return len(ids)


def old_entries(connection: sqlite3.Connection) -> int:
    """How many entries `renew` and `renew_terms` have to look at. Looks at all of a table."""
    row = connection.execute(
        """
        SELECT (SELECT count(*) FROM message_search_old_content WHERE id <= ?)
             + (SELECT count(*) FROM message_search_content WHERE id <= ?)
        """,
        (old_until(connection), terms_until(connection)),
    ).fetchone()
    return int(row[0])


def discard_old(connection: sqlite3.Connection, most: int) -> bool:
    """Throw away up to `most` rows of the old index, of which no entry counts any more, past the index itself, which
    would see to each word; whether there are more. Part of a unit."""
    for table, first in (("content", 1), ("data", 11)):  # what is before tells SQLite how the index is made
        some = f"SELECT id FROM message_search_old_{table} WHERE id >= ? LIMIT ?"  # noqa: S608 - our own words
        statement = f"DELETE FROM message_search_old_{table} WHERE id IN ({some})"  # noqa: S608
        if connection.execute(statement, (first, most)).rowcount == most:
            return True
    connection.execute("INSERT INTO message_search_old (message_search_old) VALUES ('rebuild')")  # as an empty one
    return False


def discrepancies(connection: sqlite3.Connection, most: int = 100) -> list[int]:
    """Messages whose entry is wrong though nothing is noted of them, and entries without a message; none, unless
    something is broken. Looks at everything."""
    connection.execute("INSERT INTO message_search (message_search) VALUES ('integrity-check')")
    return list(itertools.islice(wrong_entries(connection), most))


_IDS_BEHIND: Final = """
    SELECT id
      FROM (SELECT id FROM (SELECT id FROM messages WHERE id > :last ORDER BY id LIMIT :most)
             UNION
            SELECT id FROM (
                SELECT rowid AS id FROM message_search WHERE rowid > :last ORDER BY rowid LIMIT :most
            )
             UNION
            SELECT id FROM (
                SELECT rowid AS id FROM message_search_old
                 WHERE rowid > :last AND rowid <= (SELECT old_until FROM message_search_parts)
                 ORDER BY rowid LIMIT :most
            ))
     ORDER BY id
     LIMIT :most
"""
"""Messages and entries behind one. Each table is asked for as many, or SQLite would read all of it every time."""


def wrong_entries(connection: sqlite3.Connection) -> Iterator[int]:
    """As `discrepancies`, as far as a connection that may only read can tell."""
    last, earlier = -1, terms_until(connection)
    while ids := [row[0] for row in connection.execute(_IDS_BEHIND, {"last": last, "most": 500})]:
        last, listed = ids[-1], json.dumps(ids)
        should, held = _entries(connection, ids, listed), _held(connection, listed)
        old, noted = _held_of_old(connection, listed), pending_among(connection, ids)
        for message_id in ids:
            entries = should.get(message_id), held.get(message_id), old.get(message_id)
            if message_id not in noted and not _is_right(*entries, is_earlier=message_id <= earlier):
                yield message_id


def _is_right(should: Entry | None, held: Entry | None, old: Entry | None, *, is_earlier: bool) -> bool:
    if old is None and (held is None or should is None or not is_earlier):
        return held == should
    if old is not None and (held is not None or should is None):
        return False
    return should is not None and _apart_from_terms(should) == _apart_from_terms(held or old or ("", ""))


def _apart_from_terms(entry: Entry) -> list[str]:
    """The filters that every version writes alike: without names of files, which are terms too, and without author and
    place together, which not every old entry lacks."""
    return [term for term in entry[1].split() if not term.startswith((*_PAIRS, _FILENAME))]


def words_of_messages(connection: sqlite3.Connection, ids: Iterable[int]) -> Iterator[tuple[int, list[str]]]:
    """The terms of the text of each of these messages that has an entry."""
    listed = json.dumps(list(ids))
    for is_old, table, last in (
        (True, "message_search_old", old_until(connection)),
        (False, "message_search", MAXIMUM),
    ):
        if last:
            rows = connection.execute(
                f"SELECT rowid, words FROM {table} WHERE rowid IN (SELECT value FROM json_each(?)) AND rowid <= ?",  # noqa: S608
                (listed, last),
            )
            yield from ((message_id, words_of(words, is_old=is_old)) for message_id, words in rows)


def _held(connection: sqlite3.Connection, listed: str) -> dict[int, Entry]:
    """The entries that the index has for these messages."""
    rows = connection.execute(
        "SELECT rowid, words, filters FROM message_search WHERE rowid IN (SELECT value FROM json_each(?))", (listed,)
    )
    return {message_id: (words, filters) for message_id, words, filters in rows}


def _held_of_old(connection: sqlite3.Connection, listed: str) -> dict[int, Entry]:
    """As `_held`, for the old index."""
    until = old_until(connection)
    if not until:
        return {}
    rows = connection.execute(
        """
        SELECT rowid, words, filters FROM message_search_old
         WHERE rowid IN (SELECT value FROM json_each(?)) AND rowid <= ?
        """,
        (listed, until),
    )
    return {message_id: (words, filters) for message_id, words, filters in rows}


def _entries(connection: sqlite3.Connection, ids: list[int], listed: str) -> dict[int, Entry]:
    around = {
        row[0]: MessageSurroundings(*row[1:])
        for row in connection.execute(
            """
            SELECT messages.id, channels.guild_id, channels.type, channels.parent_id, coalesce(users.bot, 0)
              FROM messages
              JOIN channels ON channels.id = messages.channel_id
              LEFT JOIN users ON users.id = messages.author_id
             WHERE messages.id IN (SELECT value FROM json_each(?))
            """,
            (listed,),
        )
    }
    found = ((message.id, entry_of(message, around[message.id])) for message in messages.by_ids(connection, ids))
    return {message_id: entry for message_id, entry in found if entry is not None}


@functools.lru_cache(2_048)
def _who_and_where(
    author_id: int, kind: AuthorType, channel_id: int, channel_type: int, parent_id: int | None, guild_id: int | None
) -> str:
    """The terms that all messages of an author in a channel have; somebody who writes goes on for a while."""
    places = [(Filter.CHANNEL, channel_id)]
    if parent_id is not None and channel_type in THREAD_CHANNEL_TYPES:
        is_private = channel_type == ChannelType.PRIVATE_THREAD
        places.append((Filter.PRIVATE_THREADS_OF if is_private else Filter.PUBLIC_THREADS_OF, parent_id))
    found = []
    for place, place_id in places:
        found += [id_term(place, place_id), pair_term(WITH_AUTHOR[place], author_id, place_id)]
    if guild_id is not None:
        found.append(id_term(Filter.GUILD, guild_id))
    return " ".join([*found, id_term(Filter.AUTHOR, author_id), value_term(Filter.AUTHOR_TYPE, kind)])


def _filters(message: Message, around: MessageSurroundings) -> Iterator[str]:
    if message.webhook_id is not None:
        kind = AuthorType.WEBHOOK
    else:
        kind = AuthorType.BOT if around.is_bot else AuthorType.USER
    of = around.channel_type, around.parent_id, around.guild_id
    yield _who_and_where(message.author_id, kind, message.channel_id, *of)
    for user_id in message.mentioned_user_ids:
        yield id_term(Filter.MENTION, user_id)
    if message.mention_everyone:
        yield value_term(Filter.MENTION_EVERYONE)
    if message.pinned_at is not None:
        yield value_term(Filter.PINNED)
    if "://" in message.content:
        yield from _of_links(message.content)
    if message.extra is not None:
        yield from _of_extra(message, message.extra)


def value_term(kind: Filter, value: str = "") -> str:
    """The term of a filter by one of a few values."""
    return f"{MARK}{kind}{value}"


def _of_links(content: str) -> Iterator[str]:
    hosts = list(dict.fromkeys(host_of(link.href) for link in links_of(content)))
    if hosts:
        yield value_term(Filter.HAS, ContentType.LINK)
    for host in hosts[:HOSTS_MAXIMUM]:
        yield name_term(Filter.LINK_HOSTNAME, host)


def _of_extra(message: Message, extra: MessageExtra) -> Iterator[str]:
    if extra.stickers:
        yield value_term(Filter.HAS, ContentType.STICKER)
    if extra.snapshots:
        yield value_term(Filter.HAS, ContentType.SNAPSHOT)
    if extra.poll is not None:
        yield value_term(Filter.HAS, ContentType.POLL)
    if (extra.embeds or extra.link_embeds) and not message.flags & MessageFlag.SUPPRESS_EMBEDS:
        yield from _of_embeds([*extra.embeds, *extra.link_embeds])
    if message.attachments:
        yield from _of_attachments(message)


def _of_embeds(embeds: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    yield value_term(Filter.HAS, ContentType.EMBED)
    kinds = {_EMBED_TYPES[embed["type"]] for embed in embeds if embed.get("type") in _EMBED_TYPES}
    yield from (value_term(Filter.EMBED_TYPE, kind) for kind in sorted(kinds))
    providers = {name for embed in embeds if (name := (embed.get("provider") or {}).get("name"))}
    yield from (name_term(Filter.EMBED_PROVIDER, name) for name in sorted(providers))


def _of_attachments(message: Message) -> Iterator[str]:
    yield value_term(Filter.HAS, ContentType.FILE)
    kinds = {attachment.content_type.partition("/")[0] for attachment in message.attachments}
    yield from (value_term(Filter.HAS, _MEDIA[kind]) for kind in sorted(kinds & _MEDIA.keys()))
    for attachment in message.attachments:
        yield value_term(Filter.ATTACHMENT_FILENAME)  # so that no phrase goes on from one name to the next
        yield from entry_word_terms(Filter.ATTACHMENT_FILENAME, attachment.filename)
        _, dot, extension = attachment.filename.rpartition(".")
        if dot and extension:
            yield name_term(Filter.ATTACHMENT_EXTENSION, extension)
