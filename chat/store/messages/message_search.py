"""Finding messages in the full-text index, by text and by what is known about them.

One expression of the index says it all: words, filters, and where to look. Where that is a handful of channels they are
named in it. Where it is more, the index gives what the guilds hold, and the table of messages says of each find whether
its channel is among them: so the work grows with what is found, never with the number of channels times that.

No more than FINDS_MAXIMUM are ever looked at: they are counted that far, and paged that far.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import attrs

from chat.registries.channel_types import ChannelType
from chat.snowflake import MAXIMUM
from chat.store.messages.message_search_entries import AuthorType, ContentType, EmbedType, Filter, value_term
from chat.store.messages.search_expressions import (
    containing,
    containing_phrase,
    every,
    may_go_on,
    phrase,
    some,
    without,
)
from chat.store.messages.search_terms import chunks, id_term, name_term, terms, word_terms

FINDS_MAXIMUM: Final = 10_000
"""Messages that one search finds at most."""

RANKED_MAXIMUM: Final = 5_000
"""Of those, the newest that are put in order of relevance; older ones follow in order of time."""

NAMED_PLACES: Final = 64
"""Places that an expression names at most."""

AVERAGE_WORDS: Final = 12
"""Words of a message of usual length; a word counts for more in a shorter one."""


@attrs.frozen
class Place:
    """A channel, thread or conversation, from the message `floor` on: its own messages, those of the public and those
    of the private threads below it."""

    channel_id: int
    floor: int = 0
    itself: bool = True
    public_threads: bool = False
    private_threads: bool = False


@attrs.frozen
class Scope:
    """Where to look: in `places`, and not in what `excluded` names. `guild_ids` are the guilds that hold all of the
    places; none where one lies outside guilds."""

    places: tuple[Place, ...]
    guild_ids: tuple[int, ...] = ()
    excluded: tuple[Place, ...] = ()


@attrs.frozen(kw_only=True)
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

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text that is looked for."""
        content = () if self.content is None else (self.content,)
        return (*content, *self.contents, *self.exact_phrases)


def matching(
    connection: sqlite3.Connection,
    scope: Scope,
    criteria: Criteria,
    *,
    ascending: bool = False,
    most: int = FINDS_MAXIMUM,
) -> list[int]:
    """The messages that are looked for, at most so many, by their ids: the newest first, or the oldest."""
    places = [term for place in scope.places for term in _place_terms(place)]
    wanted = _wanted(criteria)
    if not places or wanted is None:
        return []
    is_named = len(places) <= NAMED_PLACES
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
            """,  # noqa: S608 - our own words, here and below
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


def _place_terms(place: Place) -> Iterator[str]:
    for holds, kind in (
        (place.itself, Filter.CHANNEL),
        (place.public_threads, Filter.PUBLIC_THREADS_OF),
        (place.private_threads, Filter.PRIVATE_THREADS_OF),
    ):
        if holds:
            yield phrase([id_term(kind, place.channel_id)])


def _wanted(criteria: Criteria) -> list[str] | None:
    """What has to hold, as expressions; None when it cannot."""
    texts = [*((criteria.content,) if criteria.content is not None else ())]
    wanted = [containing(text) for text in texts]
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


_PRIVATE_THREAD: Final = int(ChannelType.PRIVATE_THREAD)
_PUBLIC_THREADS: Final = f"{int(ChannelType.ANNOUNCEMENT_THREAD)}, {int(ChannelType.PUBLIC_THREAD)}"


_AMONG: Final = f"""
    messages.id >= ? AND (
        messages.channel_id IN (SELECT value FROM json_each(?))
        OR (channels.type IN ({_PUBLIC_THREADS}) AND channels.parent_id IN (SELECT value FROM json_each(?)))
        OR (channels.type = {_PRIVATE_THREAD} AND channels.parent_id IN (SELECT value FROM json_each(?)))
    )
"""  # noqa: S608


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
