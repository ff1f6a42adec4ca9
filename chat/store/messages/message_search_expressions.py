"""What a search for messages asks for, and the expressions of the full-text index that ask for it.

One expression says it all: words, filters, and where to look. It is put together from terms of
`chat.store.messages.search_terms`, which hold neither quotes nor spaces. Each is quoted, so that no text of a request
is ever read as the index's own query language.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from chat.classes import frozen
from chat.markdown.addresses import host_of
from chat.snowflake import MAXIMUM
from chat.store.messages.message_search_entries import (
    WITH_AUTHOR,
    AuthorType,
    ContentType,
    EmbedType,
    Filter,
    value_term,
)
from chat.store.messages.search_terms import chunks, id_term, name_term, pair_term, terms, word_terms

PREFIX_LENGTH: Final = 3
"""Characters from which the last word may be the beginning of a longer one; fewer begin too many."""

CHUNKS_MAXIMUM: Final = 32
"""How many different words of a text are searched for; the rest are left out, which bounds the cost of a request."""


def phrase(sequence: Sequence[str], *, begins: bool = False) -> str:
    """These terms one after the other; with `begins` the last one may go on."""
    return f'"{" ".join(sequence)}"{" *" if begins else ""}'


def every(expressions: Iterable[str]) -> str:
    """An expression for the messages that all of these find; at least one."""
    return f"({' AND '.join(expressions)})"


def some(expressions: Iterable[str]) -> str:
    """An expression for the messages that any of these finds; at least one."""
    return f"({' OR '.join(expressions)})"


def without(expression: str, excluded: Iterable[str]) -> str:
    """An expression for the messages that the first finds and none of the others does."""
    others = list(excluded)
    return f"({expression} NOT {some(others)})" if others else expression


def containing(text: str, *, group: str = "", whole_words: bool = False) -> str | None:
    """What has every word of the text, in any order; the last may be the beginning of a word, but with `whole_words`.
    None when the text has no word, which nothing contains. With `group` of what accounts of that group wrote."""
    found = _asked_chunks(text)
    if not found:
        return None
    *others, last = ([group + term for term in chunk] for chunk in found)
    begins = not whole_words and may_go_on(found[-1])
    return every([*(phrase(chunk) for chunk in others), phrase(last, begins=begins)])


def says(words: Sequence[str], text: str) -> bool:
    """Whether a message with these words is among what `containing` finds for the text."""
    found = _asked_chunks(text)
    if not found:
        return False
    *others, last = found
    end = "" if may_go_on(last) else " "
    padded = f" {' '.join(words)} "
    return f" {' '.join(last)}{end}" in padded and all(f" {' '.join(chunk)} " in padded for chunk in others)


def _asked_chunks(text: str) -> list[tuple[str, ...]]:
    """The chunks of a text that a search asks for; the last chunk of the text stays the last."""
    found = [tuple(chunk) for chunk in chunks(text)]
    return [*list(dict.fromkeys(found[:-1]))[: CHUNKS_MAXIMUM - 1], *found[-1:]]


def may_go_on(chunk: Sequence[str]) -> bool:
    """Whether a text that ends with this chunk may end in the middle of a word."""
    return len(chunk[-1]) >= PREFIX_LENGTH


def containing_phrase(text: str, *, group: str = "") -> str | None:
    """An expression for messages with the words of the text one after the other; None if the text has no word. `group`
    as in `containing`."""
    sequence = [group + term for term in terms(text)]
    return phrase(sequence) if sequence else None


@frozen
class SearchPlace:
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

    places: tuple[SearchPlace, ...]
    guild_ids: tuple[int, ...] = ()
    excluded: tuple[SearchPlace, ...] = ()
    is_everywhere: bool = False
    """Whether what is outside the places is found too: by a first look, after which each find is asked where it is."""


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
    whole_words: bool = False
    """Whether the last word of a text is a whole one too."""


def place_terms(place: SearchPlace, author_ids: Sequence[int] = ()) -> Iterator[str]:
    """The terms of a place; with `author_ids` only those of messages that one of these accounts wrote there."""
    for holds, kind in (
        (place.itself, Filter.CHANNEL),
        (place.public_threads, Filter.PUBLIC_THREADS_OF),
        (place.private_threads, Filter.PRIVATE_THREADS_OF),
    ):
        if holds and author_ids:
            yield from (phrase([pair_term(WITH_AUTHOR[kind], author, place.channel_id)]) for author in author_ids)
        elif holds:
            yield phrase([id_term(kind, place.channel_id)])


def wanted_expressions(criteria: Criteria, groups: Iterable[str]) -> list[str] | None:
    """The conditions that must hold, as expressions; None if they cannot. The words are those of authors of these
    groups."""
    wanted: list[str | None] = []
    if criteria.content is not None or criteria.contents or criteria.exact_phrases:
        texts = [_text_expression(criteria, group) for group in groups]
        wanted.append(some(text for text in texts if text is not None) if None not in texts else None)
    for asked, expressions in _alternatives(criteria, excluded=False):
        if asked:
            wanted.append(some(expressions) if expressions else None)
    wanted += [phrase([value_term(Filter.HAS, kind)]) for kind in criteria.has]
    wanted += [phrase([term]) for asked, term in _truths(criteria) if asked]
    found = [expression for expression in wanted if expression is not None]
    return found if len(found) == len(wanted) else None


def _text_expression(criteria: Criteria, group: str) -> str | None:
    """An expression for messages that hold every required text; None if no message can."""
    whole = criteria.whole_words
    wanted = [] if criteria.content is None else [containing(criteria.content, group=group, whole_words=whole)]
    wanted += [containing_phrase(text, group=group) for text in criteria.exact_phrases]
    if criteria.contents:
        found = (containing(text, group=group, whole_words=whole) for text in criteria.contents)
        alternatives = [expression for expression in found if expression is not None]
        wanted.append(some(alternatives) if alternatives else None)
    expressions = [expression for expression in wanted if expression is not None]
    return every(expressions) if len(expressions) == len(wanted) else None


def unwanted_expressions(criteria: Criteria) -> Iterator[str]:
    """The conditions that must not hold, as expressions."""
    for _, expressions in _alternatives(criteria, excluded=True):
        yield from expressions
    yield from (phrase([value_term(Filter.HAS, kind)]) for kind in criteria.excluded_has)
    yield from (phrase([term]) for asked, term in _truths(criteria) if asked is False)


def _truths(criteria: Criteria) -> Iterator[tuple[bool | None, str]]:
    yield criteria.mention_everyone, value_term(Filter.MENTION_EVERYONE)
    yield criteria.pinned, value_term(Filter.PINNED)


def _alternatives(criteria: Criteria, *, excluded: bool) -> Iterator[tuple[bool, list[str]]]:
    """For each filter with alternatives: whether it has any, and their expressions."""

    def values(name: str) -> tuple[Any, ...]:
        chosen: tuple[Any, ...] = getattr(criteria, f"excluded_{name}" if excluded else name)
        return chosen

    for name, kind in (("author_ids", Filter.AUTHOR), ("mentions", Filter.MENTION)):
        yield bool(values(name)), [phrase([id_term(kind, value)]) for value in values(name)]
    for name, kind in (("author_types", Filter.AUTHOR_TYPE), ("embed_types", Filter.EMBED_TYPE)):
        yield bool(values(name)), [phrase([value_term(kind, value)]) for value in values(name)]
    for name, kind in (
        ("embed_providers", Filter.EMBED_PROVIDER),
        ("attachment_extensions", Filter.ATTACHMENT_EXTENSION),
    ):
        yield bool(values(name)), [phrase([name_term(kind, value)]) for value in values(name)]
    hosts = [host_of(f"https://{name}") or name for name in values("link_hostnames")]
    yield bool(hosts), [phrase([name_term(Filter.LINK_HOSTNAME, host)]) for host in hosts]
    names = values("attachment_filenames")
    sequences = [word_terms(Filter.ATTACHMENT_FILENAME, name) for name in names]
    yield bool(names), [phrase(sequence) for sequence in sequences if sequence]
