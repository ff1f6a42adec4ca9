"""Finding messages in the full-text index, by text and by what is known about them; and where an account may look.

Where to look is named in the expression if it is a handful of channels. Where it is more, the index gives what the
guilds hold, and the table of messages says of each find whether its channel is among them: so the work grows with what
is found, never with the number of channels times that. At most FINDS_MAXIMUM are looked at, counted and paged.

A search for what a few accounts wrote in a few channels uses pairs of account and channel; a search for what accounts
wrote uses the words of their groups. The old index, while there is one (`old_until`), has neither.

How much a search costs is decided by how the index walks its lists. Forwards it takes half the time of backwards, and
a row that comes to Python costs several times what it takes to find it. So a page is walked to from its own end, and
what there is besides is only counted, forwards, or the find is asked for that is the last to be counted, which SQLite
comes to in three quarters of the time. A word that may go on has no list: the index reads those of all words that
it begins, however little is asked of them. So a search asks for it once, and not at all where the word itself
is in enough messages to be counted to the end without it.
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
    AuthorType,
    Filter,
    old_until,
    value_term,
    words_of,
    words_of_messages,
)
from chat.store.messages.message_search_expressions import (
    Criteria,
    Scope,
    SearchPlace,
    every,
    may_go_on,
    phrase,
    place_terms,
    says,
    some,
    unwanted_expressions,
    wanted_expressions,
    without,
)
from chat.store.messages.search_terms import AUTHOR_GROUPS, author_group, chunks, id_term, terms

FINDS_MAXIMUM: Final = 10_000
"""Messages that one search finds at most."""

RANKED_MAXIMUM: Final = 5_000
"""Of those, the newest that are put in order of relevance; older ones follow in order of time."""

RARE: Final = 500
"""A word in at most this many messages is searched for everywhere: checking the place of each find is cheaper than
walking the lists of the places."""

READ_MAXIMUM: Final = 1_000
"""Messages that are read for a page of a word that many have."""

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


_FIRST_AND_LAST: Final = "SELECT (SELECT min(id) FROM messages), (SELECT max(id) FROM messages)"


def in_order(
    connection: sqlite3.Connection,
    scope: Scope,
    criteria: Criteria,
    *,
    ascending: bool = False,
    most: int,
    after: int | None = None,
) -> tuple[list[int], int]:
    """The ids of the first `most` messages that are found, newest or oldest first, or those that come behind `after`;
    and how many are found in all, up to FINDS_MAXIMUM. Without `after` no more than these are
    paged."""
    if after is None:
        most, wanted = min(most, FINDS_MAXIMUM), criteria
    else:
        wanted = _behind(criteria, after, ascending=ascending)
    if not _begins_words(criteria):
        found = matching(connection, scope, wanted, ascending=ascending, most=most)
        if after is None and len(found) < most:
            return found, len(found)
        return found, _total(connection, scope, criteria, found)
    having = _having_last_word(connection, criteria)
    if having == FINDS_MAXIMUM and not criteria.contents:
        read = _read_through(connection, scope, wanted, ascending=ascending, most=most)
        if read is not None and has(connection, scope, _of_whole_words(criteria), FINDS_MAXIMUM):
            return read, FINDS_MAXIMUM
    found = _whole_list(connection, scope, criteria, ascending=ascending, having=having)
    if after is None:
        return found[:most], len(found)
    if len(found) == FINDS_MAXIMUM:
        return matching(connection, scope, wanted, ascending=ascending, most=most), FINDS_MAXIMUM
    return [each for each in found if wanted.min_id <= each <= wanted.max_id][:most], len(found)


def whole_list(
    connection: sqlite3.Connection, scope: Scope, criteria: Criteria, *, ascending: bool = False
) -> list[int]:
    """All messages that `matching` finds, up to FINDS_MAXIMUM, in the way that is probably cheapest."""
    having = _having_last_word(connection, criteria)
    return _whole_list(connection, scope, criteria, ascending=ascending, having=having)


def _whole_list(
    connection: sqlite3.Connection, scope: Scope, criteria: Criteria, *, ascending: bool, having: int | None
) -> list[int]:
    """As `whole_list`, with what `_having_last_word` says. Where few have the word the list is likely to have an end,
    to which it is walked forwards. Whether many have a longer word turns out only then: so one way is tried."""
    if having is not None and having <= RARE and not criteria.author_ids:
        rare = _rare(connection, scope, criteria)
        if rare is not None:
            return sorted(rare, reverse=not ascending)[:FINDS_MAXIMUM]
    elif having is not None and 2 * having < FINDS_MAXIMUM and not ascending:
        found = matching(connection, scope, criteria, ascending=True, most=FINDS_MAXIMUM)
        if len(found) < FINDS_MAXIMUM:
            return found[::-1]
    return matching(connection, scope, criteria, ascending=ascending, most=FINDS_MAXIMUM)


def _rare(connection: sqlite3.Connection, scope: Scope, criteria: Criteria) -> list[int] | None:
    """What `matching` finds, in no order; None where more than RARE are found everywhere."""
    everywhere = attrs.evolve(scope, is_everywhere=True)
    found = matching(connection, everywhere, criteria, ascending=True, most=RARE + 1)
    if len(found) > RARE:
        return None
    if not found:
        return []
    condition, parameters = _among(scope.places)
    rows = connection.execute(
        f"""
        SELECT messages.id
          FROM json_each(?) AS found
         CROSS JOIN messages ON messages.id = found.value
         CROSS JOIN channels ON channels.id = messages.channel_id
         WHERE {condition}
        """,  # noqa: S608
        (json.dumps(found), *parameters),
    )
    return [message_id for (message_id,) in rows]


def matching(
    connection: sqlite3.Connection,
    scope: Scope,
    criteria: Criteria,
    *,
    ascending: bool = False,
    most: int = FINDS_MAXIMUM,
) -> list[int]:
    """The ids of the messages that are found, newest or oldest first, up to the limit."""
    order = "ASC" if ascending else "DESC"
    found: list[int] = []
    for source in _sources(connection, scope, criteria):
        (listed,) = connection.execute(
            f"""
            SELECT json_group_array(id)
              FROM (SELECT entries.rowid AS id {source.text} ORDER BY entries.rowid {order} LIMIT ?)
            """,  # noqa: S608
            (*source.parameters, most),
        ).fetchone()
        found += json.loads(listed)
    found.sort(reverse=not ascending)  # of each source too: SQLite does not promise the order of such a list
    return found[:most]


def count(connection: sqlite3.Connection, scope: Scope, criteria: Criteria, *, most: int = FINDS_MAXIMUM) -> int:
    """How many messages `matching` finds, counted up to `most`."""
    counted = 0
    for source in _sources(connection, scope, criteria):
        (number,) = connection.execute(
            f"SELECT count(*) FROM (SELECT 1 {source.text} ORDER BY entries.rowid LIMIT ?)",  # noqa: S608
            (*source.parameters, most - counted),
        ).fetchone()
        counted += number
    return counted


def has(connection: sqlite3.Connection, scope: Scope, criteria: Criteria, number: int) -> bool:
    """Whether `matching` finds at least `number` messages; quicker than counting them all."""
    sources = list(_sources(connection, scope, criteria))
    for source in sources:
        statement = f"SELECT 1 {source.text} ORDER BY entries.rowid LIMIT 1 OFFSET ?"
        if connection.execute(statement, (*source.parameters, number - 1)).fetchone() is not None:
            return True
    return len(sources) > 1 and count(connection, scope, criteria, most=number) == number


def _total(connection: sqlite3.Connection, scope: Scope, criteria: Criteria, found: Sequence[int]) -> int:
    """How many messages are found of all, up to FINDS_MAXIMUM; `found` are some that follow on one another. Where they
    are so close together that there are likely to be that many, they need not be counted one by one."""
    first, last = connection.execute(_FIRST_AND_LAST).fetchone()
    is_likely = len(found) > 1 and len(found) * (last - first) > 2 * FINDS_MAXIMUM * abs(found[0] - found[-1])
    if is_likely and has(connection, scope, criteria, FINDS_MAXIMUM):
        return FINDS_MAXIMUM
    return count(connection, scope, criteria, most=FINDS_MAXIMUM)


def _of_whole_words(criteria: Criteria) -> Criteria:
    return attrs.evolve(criteria, whole_words=True)


def _read_through(
    connection: sqlite3.Connection, scope: Scope, criteria: Criteria, *, ascending: bool, most: int
) -> list[int] | None:
    """What `matching` finds, by reading messages: all that fulfil the other criteria and come no later than the last
    find of the whole words. None if these are more than READ_MAXIMUM messages, or if fewer than FINDS_MAXIMUM fulfil
    the other criteria. For criteria with `content` and without `contents`."""
    others = attrs.evolve(criteria, content=None)
    if not has(connection, scope, others, FINDS_MAXIMUM):
        return None
    whole = matching(connection, scope, _of_whole_words(criteria), ascending=ascending, most=most)
    if len(whole) < most:
        return None
    near = attrs.evolve(others, max_id=whole[-1]) if ascending else attrs.evolve(others, min_id=whole[-1])
    if has(connection, scope, near, READ_MAXIMUM + 1):
        return None
    found = [
        message_id
        for source in _sources(connection, scope, near)
        for message_id, words in connection.execute(
            f"SELECT entries.rowid, entries.words {source.text}", source.parameters
        )
        if says(words_of(words, is_old=source.is_old), criteria.content or "")
    ]
    return sorted(found, reverse=not ascending)[:most]


def _having_last_word(connection: sqlite3.Connection, criteria: Criteria) -> int | None:
    """How many messages have the last word of the text, anywhere and up to FINDS_MAXIMUM; None where there is none.
    This is soon known."""
    found = chunks(criteria.content or "")
    if not found:
        return None
    counted, until = 0, old_until(connection)
    for is_old in (False, True) if until else (False,):
        table, last = _part(until, is_old=is_old)
        words = some(phrase([group + term for term in found[-1]]) for group in _groups(criteria, is_old=is_old))
        bound, bounds = (" AND rowid <= ?", [last]) if is_old else ("", [])
        (number,) = connection.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ?{bound} LIMIT ?)",  # noqa: S608
            (words, *bounds, FINDS_MAXIMUM - counted),
        ).fetchone()
        counted += number
    return counted


def _behind(criteria: Criteria, message_id: int, *, ascending: bool) -> Criteria:
    """The criteria, narrowed to what comes behind that message."""
    if ascending:
        return attrs.evolve(criteria, min_id=max(criteria.min_id, min(message_id + 1, MAXIMUM)))
    return attrs.evolve(criteria, max_id=min(criteria.max_id, message_id - 1))


def _begins_words(criteria: Criteria) -> bool:
    """Whether the search has a word that may be the beginning of a longer one."""
    return not criteria.whole_words and bool(_counted(criteria)[1])


@frozen
class _IndexSource:
    """What finds messages in an index: FROM and WHERE of a statement about `entries`, and the parameters in them."""

    is_old: bool
    text: str
    parameters: Sequence[Any]


def _sources(connection: sqlite3.Connection, scope: Scope, criteria: Criteria) -> Iterator[_IndexSource]:
    """The index queries that together find the messages. Two sources find different messages, whose ids interleave."""
    until = old_until(connection)
    for is_old in (False, True):
        source = _source(scope, criteria, until, is_old=is_old)
        if source is not None:
            yield source


def _part(until: int, *, is_old: bool) -> tuple[str, int]:
    """An index, and up to which message its entries count, where those of the old one do `until` there."""
    return ("message_search_old", until) if is_old else ("message_search", MAXIMUM)


def _groups(criteria: Criteria, *, is_old: bool) -> tuple[str, ...]:
    """The groups of authors in which to search."""
    if is_old:
        return ("",)
    return tuple(sorted({author_group(each) for each in criteria.author_ids})) or tuple(AUTHOR_GROUPS)


def _source(scope: Scope, criteria: Criteria, until: int, *, is_old: bool) -> _IndexSource | None:
    """As `_sources`, in one index. None if the index can have no match."""
    table, last = _part(until, is_old=is_old)
    if last < criteria.min_id or last == 0:
        return None
    in_pairs = not is_old and 0 < len(criteria.author_ids) * len(scope.places) <= NAMED_PLACES
    author_ids = criteria.author_ids if in_pairs else ()
    places = [term for place in scope.places for term in place_terms(place, author_ids)]
    groups = _groups(criteria, is_old=is_old)
    wanted = wanted_expressions(attrs.evolve(criteria, author_ids=()) if in_pairs else criteria, groups)
    if not places or wanted is None:
        return None
    is_named = in_pairs or len(places) <= NAMED_PLACES
    if scope.is_everywhere:
        where = ""
    elif is_named:
        where = some(places)
    elif 0 < len(scope.guild_ids) <= NAMED_PLACES:
        where = some(phrase([id_term(Filter.GUILD, guild_id)]) for guild_id in scope.guild_ids)
    else:
        where = some(phrase([value_term(Filter.AUTHOR_TYPE, kind)]) for kind in AuthorType)
    unwanted = [*unwanted_expressions(criteria), *(term for place in scope.excluded for term in place_terms(place))]
    expression = without(every([*wanted, *([where] if where else [])]), unwanted)
    asked: list[Any] = [expression]
    bounds = ""  # each costs a tenth of a search, because SQLite looks at every find once more
    for comparison, bound, is_bound in (
        (">=", criteria.min_id, criteria.min_id > 1),
        ("<=", min(criteria.max_id, last), min(criteria.max_id, last) < MAXIMUM),
    ):
        if is_bound:
            bounds += f" AND entries.rowid {comparison} ?"
            asked.append(bound)
    if scope.is_everywhere or (is_named and not any(place.floor for place in scope.places)):
        return _IndexSource(is_old, f"FROM {table} AS entries WHERE entries.{table} MATCH ?{bounds}", asked)
    condition, parameters = _among(scope.places)
    joined = f"""
        FROM {table} AS entries
        CROSS JOIN messages ON messages.id = entries.rowid
        CROSS JOIN channels ON channels.id = messages.channel_id
        WHERE entries.{table} MATCH ?{bounds} AND ({condition})
    """
    return _IndexSource(is_old, joined, [*asked, *parameters])


def by_relevance(connection: sqlite3.Connection, criteria: Criteria, found: Sequence[int]) -> list[int]:
    """Messages that `matching` found, newest first, put in order: first those that hold the words most often in the
    shortest text, and of equals the newer. Without any text they stay as they are."""
    words, beginnings = _counted(criteria)
    if not words and not beginnings:
        return list(found)
    ranked, rest = found[:RANKED_MAXIMUM], found[RANKED_MAXIMUM:]
    scores = {message_id: _score(text, words, beginnings) for message_id, text in words_of_messages(connection, ranked)}
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


def _among(places: Iterable[SearchPlace]) -> tuple[str, list[Any]]:
    """A condition on `messages` and `channels`: that the message is in one of the places; and its parameters."""
    by_floor: dict[int, list[SearchPlace]] = defaultdict(list)
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
