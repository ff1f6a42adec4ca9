"""Finding messages in the full-text index, by text and by what is known about them; and where an account may look.

One expression of the index says it all: words, filters, and where to look. It is put together from terms of
`chat.store.messages.search_terms`, which hold neither quotes nor spaces. Each is quoted, so that no text of a request
is ever read as the index's own query language.

Where to look is named in the expression if it is a handful of channels. Where it is more, the index gives what the
guilds hold, and the table of messages says of each find whether its channel is among them: so the work grows with what
is found, never with the number of channels times that. At most FINDS_MAXIMUM are looked at, counted and paged.

What a handful of accounts wrote in a handful of channels is looked for by the pairs of them, in the part of the index
that has them (`plain_until`).
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.registries.channel_types import ChannelType
from chat.snowflake import MAXIMUM
from chat.store.messages.message_search_entries import (
    WITH_AUTHOR,
    AuthorType,
    ContentType,
    EmbedType,
    Filter,
    plain_until,
    value_term,
)
from chat.store.messages.search_terms import chunks, id_term, name_term, pair_term, terms, word_terms

PREFIX_LENGTH: Final = 3
"""Characters from which the last word may be the beginning of a longer one; fewer begin too many."""

CHUNKS_MAXIMUM: Final = 32
"""Different words of a text that are looked for; further ones are left out, so that one request asks only so much."""

FINDS_MAXIMUM: Final = 10_000
"""Messages that one search finds at most."""

RANKED_MAXIMUM: Final = 5_000
"""Of those, the newest that are put in order of relevance; older ones follow in order of time."""

NAMED_PLACES: Final = 64
"""Places that an expression names at most."""

AVERAGE_WORDS: Final = 12
"""Words of a message of usual length; a word counts for more in a shorter one."""

STEPS: Final = 20_000
"""Instructions of SQLite's machine between two looks at the time: some hundred microseconds."""

_PRIVATE_THREAD: Final = int(ChannelType.PRIVATE_THREAD)
_PUBLIC_THREADS: Final = f"{int(ChannelType.ANNOUNCEMENT_THREAD)}, {int(ChannelType.PUBLIC_THREAD)}"
_AMONG: Final = f"""
    messages.id >= ? AND (
        messages.channel_id IN (SELECT value FROM json_each(?))
        OR (channels.type IN ({_PUBLIC_THREADS}) AND channels.parent_id IN (SELECT value FROM json_each(?)))
        OR (channels.type = {_PRIVATE_THREAD} AND channels.parent_id IN (SELECT value FROM json_each(?)))
    )
"""  # noqa: S608 - our own words, here and below


def phrase(sequence: Sequence[str], *, begins: bool = False) -> str:
    """These terms one after the other; with `begins` the last one may go on."""
    return f'"{" ".join(sequence)}"{" *" if begins else ""}'


def every(expressions: Iterable[str]) -> str:
    """What all of these find; at least one."""
    return f"({' AND '.join(expressions)})"


def some(expressions: Iterable[str]) -> str:
    """What one of these finds; at least one."""
    return f"({' OR '.join(expressions)})"


def without(expression: str, excluded: Iterable[str]) -> str:
    """What the expression finds and none of the others does."""
    others = list(excluded)
    return f"({expression} NOT {some(others)})" if others else expression


def containing(text: str) -> str | None:
    """What has every word of the text, in any order; the last may be the beginning of a word. None when the text has no
    word, which nothing contains."""
    found = chunks(text)
    if not found:
        return None
    *others, last = found
    distinct = list({tuple(chunk): None for chunk in others})[: CHUNKS_MAXIMUM - 1]
    return every([*(phrase(chunk) for chunk in distinct), phrase(last, begins=may_go_on(last))])


def may_go_on(chunk: Sequence[str]) -> bool:
    """Whether a text that ends with this chunk may end in the middle of a word."""
    return len(chunk[-1]) >= PREFIX_LENGTH


def containing_phrase(text: str) -> str | None:
    """What has the words of the text one after the other; None when it has none."""
    sequence = terms(text)
    return phrase(sequence) if sequence else None


@frozen
class Place:
    """A channel, thread or conversation, from the message `floor` on: its own messages, those of the public and those
    of the private threads below it."""

    channel_id: int
    floor: int = 0
    itself: bool = True
    public_threads: bool = False
    private_threads: bool = False


@frozen
class Scope:
    """Where to look: in `places`, and not in what `excluded` names. `guild_ids` are the guilds that hold all of the
    places; none where one lies outside guilds."""

    places: tuple[Place, ...]
    guild_ids: tuple[int, ...] = ()
    excluded: tuple[Place, ...] = ()


@frozen(kw_only=True)
class Criteria:
    """What to look for. All of it has to hold; of a tuple, one member has to, but every phrase and everything of
    `has`. Ids include their bounds. An empty tuple asks for nothing."""

    content: str | None = None
    contents: tuple[str, ...] = ()
    exact_phrases: tuple[str, ...] = ()
    author_ids: tuple[int, ...] = ()
    author_types: tuple[AuthorType, ...] = ()
    mentions: tuple[int, ...] = ()
    mention_everyone: bool | None = None
    pinned: bool | None = None
    has: tuple[ContentType, ...] = ()
    embed_types: tuple[EmbedType, ...] = ()
    embed_providers: tuple[str, ...] = ()
    link_hostnames: tuple[str, ...] = ()
    attachment_filenames: tuple[str, ...] = ()
    attachment_extensions: tuple[str, ...] = ()
    excluded_author_ids: tuple[int, ...] = ()
    excluded_author_types: tuple[AuthorType, ...] = ()
    excluded_mentions: tuple[int, ...] = ()
    excluded_has: tuple[ContentType, ...] = ()
    excluded_embed_types: tuple[EmbedType, ...] = ()
    excluded_embed_providers: tuple[str, ...] = ()
    excluded_link_hostnames: tuple[str, ...] = ()
    excluded_attachment_filenames: tuple[str, ...] = ()
    excluded_attachment_extensions: tuple[str, ...] = ()
    min_id: int = 0
    max_id: int = MAXIMUM


def matching(
    connection: sqlite3.Connection,
    scope: Scope,
    criteria: Criteria,
    *,
    ascending: bool = False,
    most: int = FINDS_MAXIMUM,
) -> list[int]:
    """The messages that are looked for, at most so many, by their ids: the newest first, or the oldest."""
    if not 0 < len(criteria.author_ids) * len(scope.places) <= NAMED_PLACES:
        return _matching(connection, scope, criteria, ascending=ascending, most=most)
    border = plain_until(connection)
    parts = [
        (max(criteria.min_id, 1), min(criteria.max_id, border), False),
        (max(criteria.min_id, border + 1), criteria.max_id, True),
    ]
    found: list[int] = []
    for min_id, max_id, in_pairs in parts if ascending else reversed(parts):
        if min_id <= max_id and len(found) < most:
            part = attrs.evolve(criteria, min_id=min_id, max_id=max_id)
            left = most - len(found)
            found += _matching(connection, scope, part, ascending=ascending, most=left, in_pairs=in_pairs)
    return found


def _matching(
    connection: sqlite3.Connection,
    scope: Scope,
    criteria: Criteria,
    *,
    ascending: bool,
    most: int,
    in_pairs: bool = False,
) -> list[int]:
    """As `matching`, in one part of the index; with `in_pairs` in that which has authors and places together."""
    author_ids = criteria.author_ids if in_pairs else ()
    places = [term for place in scope.places for term in _place_terms(place, author_ids)]
    wanted = _wanted(attrs.evolve(criteria, author_ids=()) if in_pairs else criteria)
    if not places or wanted is None:
        return []
    is_named = in_pairs or len(places) <= NAMED_PLACES
    if is_named:
        where = some(places)
    elif 0 < len(scope.guild_ids) <= NAMED_PLACES:
        where = some(phrase([id_term(Filter.GUILD, guild_id)]) for guild_id in scope.guild_ids)
    else:
        where = some(phrase([value_term(Filter.AUTHOR_TYPE, kind)]) for kind in AuthorType)
    unwanted = [*_unwanted(criteria), *(term for place in scope.excluded for term in _place_terms(place))]
    expression = without(every([*wanted, where]), unwanted)
    bounds = (expression, criteria.min_id, criteria.max_id)
    order = "ASC" if ascending else "DESC"
    if is_named and not any(place.floor for place in scope.places):
        rows = connection.execute(
            f"""
            SELECT rowid FROM message_search
             WHERE message_search MATCH ? AND rowid BETWEEN ? AND ?
             ORDER BY rowid {order} LIMIT ?
            """,  # noqa: S608
            (*bounds, most),
        )
    else:
        condition, parameters = _among(scope.places)
        rows = connection.execute(
            f"""
            SELECT message_search.rowid
              FROM message_search
             CROSS JOIN messages ON messages.id = message_search.rowid
             CROSS JOIN channels ON channels.id = messages.channel_id
             WHERE message_search MATCH ? AND message_search.rowid BETWEEN ? AND ? AND ({condition})
             ORDER BY message_search.rowid {order} LIMIT ?
            """,  # noqa: S608
            (*bounds, *parameters, most),
        )
    return [message_id for (message_id,) in rows]


def by_relevance(connection: sqlite3.Connection, criteria: Criteria, found: Sequence[int]) -> list[int]:
    """Messages that `matching` found, newest first, put in order: those first that say what is looked for most often in
    the fewest words, of equals the newer. Without any text they stay as they are."""
    words, beginnings = _counted(criteria)
    if not words and not beginnings:
        return list(found)
    ranked, rest = found[:RANKED_MAXIMUM], found[RANKED_MAXIMUM:]
    scores = {
        message_id: _score(text.split(), words, beginnings)
        for message_id, text in connection.execute(
            "SELECT rowid, words FROM message_search WHERE rowid IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ranked)),),
        )
    }
    return [*sorted(ranked, key=lambda message_id: (-scores.get(message_id, 0.0), -message_id)), *rest]


def _score(text: Sequence[str], words: Iterable[str], beginnings: Iterable[str]) -> float:
    """Okapi BM25 without the rarity of words: every find has all of them."""
    slack = 1.2 * (0.25 + 0.75 * len(text) / AVERAGE_WORDS)
    counts = [text.count(word) for word in words]
    counts += [sum(term.startswith(beginning) for term in text) for beginning in beginnings]
    return sum(count * 2.2 / (count + slack) for count in counts)


def _counted(criteria: Criteria) -> tuple[list[str], list[str]]:
    """The words that speak for a message, and beginnings of words that do."""
    words = [term for text in criteria.exact_phrases for term in terms(text)]
    beginnings = []
    for text in (() if criteria.content is None else (criteria.content,)) + criteria.contents:
        found = chunks(text)
        words += [term for chunk in found for term in chunk]
        if found and may_go_on(found[-1]):
            beginnings.append(words.pop())
    return list(dict.fromkeys(words)), list(dict.fromkeys(beginnings))


def _place_terms(place: Place, author_ids: Sequence[int] = ()) -> Iterator[str]:
    """Where it is; with `author_ids` only what one of these accounts wrote there."""
    for holds, kind in (
        (place.itself, Filter.CHANNEL),
        (place.public_threads, Filter.PUBLIC_THREADS_OF),
        (place.private_threads, Filter.PRIVATE_THREADS_OF),
    ):
        if holds and author_ids:
            yield from (phrase([pair_term(WITH_AUTHOR[kind], author, place.channel_id)]) for author in author_ids)
        elif holds:
            yield phrase([id_term(kind, place.channel_id)])


def _wanted(criteria: Criteria) -> list[str] | None:
    """What has to hold, as expressions; None when it cannot."""
    wanted = [] if criteria.content is None else [containing(criteria.content)]
    wanted += [containing_phrase(text) for text in criteria.exact_phrases]
    if criteria.contents:
        alternatives = [expression for text in criteria.contents if (expression := containing(text)) is not None]
        wanted.append(some(alternatives) if alternatives else None)
    for asked, expressions in _alternatives(criteria, excluded=False):
        if asked:
            wanted.append(some(expressions) if expressions else None)
    wanted += [phrase([value_term(Filter.HAS, kind)]) for kind in criteria.has]
    wanted += [phrase([term]) for asked, term in _truths(criteria) if asked]
    found = [expression for expression in wanted if expression is not None]
    return found if len(found) == len(wanted) else None


def _unwanted(criteria: Criteria) -> Iterator[str]:
    """What may not hold, as expressions."""
    for _, expressions in _alternatives(criteria, excluded=True):
        yield from expressions
    yield from (phrase([value_term(Filter.HAS, kind)]) for kind in criteria.excluded_has)
    yield from (phrase([term]) for asked, term in _truths(criteria) if asked is False)


def _truths(criteria: Criteria) -> Iterator[tuple[bool | None, str]]:
    yield criteria.mention_everyone, value_term(Filter.MENTION_EVERYONE)
    yield criteria.pinned, value_term(Filter.PINNED)


def _alternatives(criteria: Criteria, *, excluded: bool) -> Iterator[tuple[bool, list[str]]]:
    """For each filter with alternatives: whether there are any, and their expressions."""

    def values(name: str) -> tuple[Any, ...]:
        chosen: tuple[Any, ...] = getattr(criteria, f"excluded_{name}" if excluded else name)
        return chosen

    for name, kind in (("author_ids", Filter.AUTHOR), ("mentions", Filter.MENTION)):
        yield bool(values(name)), [phrase([id_term(kind, value)]) for value in values(name)]
    for name, kind in (("author_types", Filter.AUTHOR_TYPE), ("embed_types", Filter.EMBED_TYPE)):
        yield bool(values(name)), [phrase([value_term(kind, value)]) for value in values(name)]
    for name, kind in (
        ("embed_providers", Filter.EMBED_PROVIDER),
        ("link_hostnames", Filter.LINK_HOSTNAME),
        ("attachment_extensions", Filter.ATTACHMENT_EXTENSION),
    ):
        yield bool(values(name)), [phrase([name_term(kind, value)]) for value in values(name)]
    names = values("attachment_filenames")
    sequences = [word_terms(Filter.ATTACHMENT_FILENAME, name) for name in names]
    yield bool(names), [phrase(sequence) for sequence in sequences if sequence]


def _among(places: Iterable[Place]) -> tuple[str, list[Any]]:
    """A condition on `messages` and `channels`: that the message is in one of the places; and its parameters."""
    by_floor: dict[int, list[Place]] = defaultdict(list)
    for place in places:
        by_floor[place.floor].append(place)
    conditions = []
    parameters: list[Any] = []
    for floor, group in by_floor.items():
        conditions.append(_AMONG)
        parameters += [
            floor,
            json.dumps([place.channel_id for place in group if place.itself]),
            json.dumps([place.channel_id for place in group if place.public_threads]),
            json.dumps([place.channel_id for place in group if place.private_threads]),
        ]
    return " OR ".join(conditions), parameters


def conversations(connection: sqlite3.Connection, user_id: int, *, shown_only: bool) -> list[int]:
    """The conversations that the account is in, its notes to itself included; with `shown_only` those in its list."""
    rows = connection.execute(
        """
        SELECT channel_id FROM private_channel_recipients WHERE user_id = ? AND is_shown >= ?
         UNION
        SELECT id FROM channels WHERE id = ? AND type = ?
        """,
        (user_id, shown_only, user_id, int(ChannelType.DM_PERSONAL_NOTES)),
    )
    return [channel_id for (channel_id,) in rows]


def private_threads(connection: sqlite3.Connection, user_id: int) -> list[tuple[int, int, int]]:
    """The private threads that the account is in: thread, channel above, guild."""
    return connection.execute(
        """
        SELECT channels.id, channels.parent_id, channels.guild_id
          FROM thread_members JOIN channels ON channels.id = thread_members.thread_id
         WHERE thread_members.user_id = ? AND channels.type = ?
           AND channels.parent_id IS NOT NULL AND channels.guild_id IS NOT NULL
        """,
        (user_id, int(ChannelType.PRIVATE_THREAD)),
    ).fetchall()


class QueryTooSlow(Exception):
    """The query was given up."""


@contextlib.contextmanager
def given_up_after(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Give queries on the connection up when they together take longer than this; QueryTooSlow is raised then.

    It is the machine's own time, also where the server runs on a virtual clock: what is limited is work.
    """
    deadline = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > deadline, STEPS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            raise QueryTooSlow from error
        raise
    finally:
        connection.set_progress_handler(None, STEPS)
