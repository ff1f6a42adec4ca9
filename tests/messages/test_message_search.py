"""The index of messages against a plain look at every message, through whatever happens to them."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from chat.registries.channel_types import ChannelType
from chat.registries.message_types import MessageType
from chat.store.messages import message_search, messages
from chat.store.messages.message_search import (
    by_relevance,
    count,
    has,
    in_order,
    matching,
    whole_list,
)
from chat.store.messages.message_search_entries import (
    AuthorType,
    ContentType,
    EmbedType,
    bring_up_to_date,
    discrepancies,
    old_until,
    pending,
    renew,
)
from chat.store.messages.message_search_expressions import Criteria, Scope, SearchPlace
from chat.store.messages.messages import Message, MessageExtra
from tests.messages.search_world import (
    BOT,
    CHANNELS,
    GUILD,
    NOBODY,
    PERSON,
    TEXT,
    USERS,
    VOICE,
    WEBHOOK,
    age,
    opened,
    rolled_back,
)


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    with opened() as connection:
        yield connection


words = st.sampled_from(["cat", "cats", "catalogue", "dog", "Dog!", "café", "世界", "世", "界人", "👍", "x", '"', "OR"])
texts = st.lists(words, max_size=6).map(" ".join)
links = st.sampled_from(
    ["", " https://example.com/a", " http://me@Other.example:80/", " https://", " ftp://example.com"]
)
embeds = st.lists(
    st.sampled_from(
        [
            {"type": "rich"},
            {"type": "video", "provider": {"name": "Tube"}},
            {"type": "article", "provider": {"name": "News"}},
            {"type": "gifv"},
            {"type": "image", "provider": {}},
        ]
    ),
    max_size=2,
)
extras = st.builds(
    MessageExtra,
    embeds=st.just(()),
    link_embeds=embeds,
    stickers=st.sampled_from([(), ({"id": "1", "name": "s", "animated": False},)]),
    snapshots=st.sampled_from([(), ({"content": "cat", "timestamp": "x", "type": 0, "flags": 0},)]),
)


@st.composite
def written(draw: st.DrawFn) -> Message:
    """A message as somebody may have written it; its id is given later."""
    author_id = draw(st.sampled_from((*USERS, WEBHOOK)))
    return Message(
        id=0,
        channel_id=draw(st.sampled_from(sorted(CHANNELS))),
        author_id=author_id,
        webhook_id=WEBHOOK if author_id == WEBHOOK else None,
        type=draw(st.sampled_from([MessageType.DEFAULT, MessageType.REPLY, MessageType.CHANNEL_PINNED_MESSAGE])).value,
        content=draw(texts) + draw(links),
        flags=draw(st.sampled_from([0, 4])),
        mention_everyone=draw(st.booleans()),
        extra=draw(st.none() | extras),
        mentioned_user_ids=tuple(sorted(draw(st.sets(st.sampled_from(USERS), max_size=2)))),
    )


def some_of(values: Any) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from(list(values)), max_size=2).map(tuple)


ASKED: dict[str, st.SearchStrategy[Any]] = {
    "content": texts,
    "contents": st.lists(texts, max_size=2).map(tuple),
    "exact_phrases": st.lists(texts, max_size=2).map(tuple),
    "author_ids": some_of((*USERS, WEBHOOK)),
    "author_types": some_of(AuthorType),
    "mentions": some_of(USERS),
    "mention_everyone": st.booleans(),
    "pinned": st.booleans(),
    "has": some_of(ContentType),
    "embed_types": some_of(EmbedType),
    "embed_providers": some_of(["tube", "NEWS", ""]),
    "link_hostnames": some_of(["EXAMPLE.com", "other.example"]),
    "excluded_author_ids": some_of((*USERS, WEBHOOK)),
    "excluded_author_types": some_of(AuthorType),
    "excluded_mentions": some_of(USERS),
    "excluded_has": some_of(ContentType),
    "excluded_embed_types": some_of(EmbedType),
    "excluded_embed_providers": some_of(["tube"]),
    "excluded_link_hostnames": some_of(["example.COM"]),
    "min_id": st.integers(0, 30),
    "max_id": st.integers(0, 30),
}


@st.composite
def wanted(draw: st.DrawFn) -> Criteria:
    """One, two or three things at once, so that something is found now and then."""
    names = draw(st.sets(st.sampled_from(sorted(ASKED)), max_size=3))
    return Criteria(**{name: draw(ASKED[name]) for name in sorted(names)})


places = st.builds(
    SearchPlace,
    st.sampled_from(sorted(CHANNELS)),
    st.sampled_from([0, 0, 0, 5, 12]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
excluded_places = st.builds(SearchPlace, st.sampled_from(sorted(CHANNELS)), public_threads=st.booleans())


@st.composite
def scopes(draw: st.DrawFn) -> Scope:
    found = {place.channel_id: place for place in draw(st.lists(places, max_size=8))}
    guilds: set[int] = set()
    for channel_id in found:
        guild_id = CHANNELS[channel_id][0]
        if guild_id is None:
            return Scope(tuple(found.values()), (), tuple(draw(st.lists(excluded_places, max_size=2))))
        guilds.add(guild_id)
    return Scope(tuple(found.values()), tuple(guilds), tuple(draw(st.lists(excluded_places, max_size=2))))


# The plain look: what is written here knows nothing of terms, but how texts of this test are to be read.


def is_at(message: Message, place: SearchPlace) -> bool:
    _, kind, parent = CHANNELS[message.channel_id]
    if message.channel_id == place.channel_id:
        return place.itself
    if parent != place.channel_id:
        return False
    return place.private_threads if kind == ChannelType.PRIVATE_THREAD else place.public_threads


def read(text: str) -> list[list[str]]:
    """Chunks of the alphabet above."""
    plain = text.lower().replace("é", "e")
    return [re.findall(r"[a-z0-9]+|[世界人👍]", chunk) for chunk in re.findall(r"[a-z0-9世界人👍]+", plain)]


def has_phrase(text: str, sequence: list[str], *, begins: bool = False) -> bool:
    terms = [term for chunk in read(text) for term in chunk]
    for start in range(len(terms) - len(sequence) + 1):
        part = terms[start : start + len(sequence)]
        if part[:-1] == sequence[:-1] and (part[-1].startswith(sequence[-1]) if begins else part[-1] == sequence[-1]):
            return True
    return False


def has_all(text: str, asked: list[list[str]]) -> bool:
    return bool(asked) and has_phrase(text, [term for chunk in asked for term in chunk])


def contains(text: str, asked: str) -> bool:
    *others, last = read(asked) or [[]]
    if not last:
        return False
    return all(has_phrase(text, chunk) for chunk in others) and has_phrase(text, last, begins=len(last[-1]) >= 3)


def kinds_of(message: Message) -> set[str]:
    extra = message.extra or MessageExtra()
    kinds = set()
    if re.search(r"https?://\w", message.content):
        kinds.add("link")
    if extra.link_embeds and not message.flags & 4:
        kinds.add("embed")
    if extra.stickers:
        kinds.add("sticker")
    if extra.snapshots:
        kinds.add("snapshot")
    return kinds


def hosts_of(message: Message) -> set[str]:
    return {
        host
        for host in ("example.com", "other.example")
        if re.search(rf"https?://(me@)?{host}", message.content.lower())
    }


def embed_types_of(message: Message) -> set[str]:
    shown = {"video": "video", "gifv": "video", "article": "article", "image": "image"}
    extra = message.extra or MessageExtra()
    return set() if message.flags & 4 else {shown[each["type"]] for each in extra.link_embeds if each["type"] in shown}


def providers_of(message: Message) -> set[str]:
    extra = message.extra or MessageExtra()
    names = [each.get("provider", {}).get("name") for each in extra.link_embeds]
    return set() if message.flags & 4 else {name.lower() for name in names if name}


def author_type_of(message: Message) -> str:
    if message.webhook_id is not None:
        return "webhook"
    return "bot" if message.author_id == BOT else "user"


def is_as_asked(message: Message, criteria: Criteria) -> bool:
    def any_of(values: Any, present: set[Any]) -> bool:
        return not values or bool({value.lower() if type(value) is str else value for value in values} & present)

    def none_of(values: Any, present: set[Any]) -> bool:
        return not values or not any_of(values, present)

    facts: dict[str, set[Any]] = {
        "author_ids": {message.author_id},
        "author_types": {author_type_of(message)},
        "mentions": set(message.mentioned_user_ids),
        "embed_types": embed_types_of(message),
        "embed_providers": providers_of(message),
        "link_hostnames": hosts_of(message),
    }
    text = message.content
    return (
        message.type in (0, 19)
        and criteria.min_id <= message.id <= criteria.max_id
        and (criteria.content is None or contains(text, criteria.content))
        and (not criteria.contents or any(contains(text, each) for each in criteria.contents))
        and all(has_all(text, read(each)) for each in criteria.exact_phrases)
        and all(any_of(getattr(criteria, name), present) for name, present in facts.items())
        and all(none_of(getattr(criteria, f"excluded_{name}"), present) for name, present in facts.items())
        and set(criteria.has) <= kinds_of(message)
        and not set(criteria.excluded_has) & kinds_of(message)
        and criteria.mention_everyone in (None, message.mention_everyone)
        and criteria.pinned in (None, message.pinned_at is not None)
    )


def expected(found: dict[int, Message], scope: Scope, criteria: Criteria) -> list[int]:
    return [
        message.id
        for message in sorted(found.values(), key=lambda message: -message.id)
        if any(is_at(message, place) and message.id >= place.floor for place in scope.places)
        and not any(is_at(message, place) for place in scope.excluded)
        and is_as_asked(message, criteria)
    ]


actions = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "write", "write", "edit", "edit", "delete", "pin", "index", "age", "renew"]),
        written(),
        st.integers(0, 30),
    ),
    max_size=30,
)


LIMITS = (
    {},
    {"NAMED_PLACES": 1},
    {"RARE": -1},
    {"RARE": 1},
    {"FINDS_MAXIMUM": 2},
    {"FINDS_MAXIMUM": 5, "RARE": -1},
    {"FINDS_MAXIMUM": 3, "READ_MAXIMUM": 2, "RARE": 2},
    {"FINDS_MAXIMUM": 4, "RARE": 1},
    {"FINDS_MAXIMUM": 4, "RARE": -1},
    {"FINDS_MAXIMUM": 1, "READ_MAXIMUM": 4, "NAMED_PLACES": 1},
)
"""Bounds of the search: those that there are, and such that a handful of messages comes beyond them."""


@contextlib.contextmanager
def limited(connection: sqlite3.Connection, limits: dict[str, int]) -> Iterator[None]:
    """With these limits of the search."""
    with pytest.MonkeyPatch.context() as patch, rolled_back(connection):
        for name, value in limits.items():
            patch.setattr(message_search, name, value)
        yield


def look_at_pages(connection: sqlite3.Connection, scope: Scope, criteria: Criteria, ids: list[int]) -> None:
    """The beginnings of what is found, and what comes behind each message, with the number of all."""
    bound = message_search.FINDS_MAXIMUM
    total = min(len(ids), bound)
    assert count(connection, scope, criteria, most=bound) == total
    for number in {1, 2, len(ids), len(ids) + 1} - {0}:
        assert has(connection, scope, criteria, number) == (len(ids) >= number)
    for ascending in (False, True):
        ordered = ids[::-1] if ascending else ids
        assert whole_list(connection, scope, criteria, ascending=ascending) == ordered[:bound]
        for most in (1, 2, 5, 40):
            page = in_order(connection, scope, criteria, ascending=ascending, most=most)
            assert page == (ordered[: min(most, bound)], total)
        for after in (0, 3, 12, 31):
            behind = [each for each in ordered if (each > after if ascending else each < after)]
            page = in_order(connection, scope, criteria, ascending=ascending, most=2, after=after)
            assert page == (behind[:2], total)


@pytest.mark.long
@settings(deadline=None, max_examples=250)
@given(
    actions,
    st.lists(st.tuples(scopes(), wanted()), min_size=1, max_size=5),
    st.sampled_from(LIMITS),
)
def test_a_search_finds_what_a_look_at_every_message_finds(
    connection: sqlite3.Connection,
    actions: list[tuple[str, Message, int]],
    searches: list[tuple[Scope, Criteria]],
    limits: dict[str, int],
) -> None:
    with limited(connection, limits):
        found: dict[int, Message] = {}
        is_aged = False
        for number, (action, drawn, choice) in enumerate(actions, start=1):
            ids = sorted(found)
            chosen = ids[choice % len(ids)] if ids else None
            if action == "write":
                found[number] = attrs.evolve(drawn, id=number)
                assert messages.insert(connection, found[number])
            elif action == "index":
                bring_up_to_date(connection, 1 + choice % 5)
            elif action == "age":
                if not is_aged:
                    age(connection, choice)
                is_aged = True
            elif action == "renew":
                assert renew(connection, 1 + choice % 5) or not old_until(connection)
                assert discrepancies(connection) == []
            elif chosen is None:
                continue
            elif action == "delete":
                messages.delete_many(connection, found.pop(chosen).channel_id, [chosen])
            elif action == "edit":
                found[chosen] = attrs.evolve(
                    found[chosen],
                    content=drawn.content,
                    flags=drawn.flags,
                    extra=drawn.extra,
                    mention_everyone=drawn.mention_everyone,
                    mentioned_user_ids=drawn.mentioned_user_ids,
                )
                messages.update(connection, found[chosen])
            else:
                pinned_at = None if found[chosen].pinned_at else choice + 1
                found[chosen] = attrs.evolve(found[chosen], pinned_at=pinned_at)
                connection.execute("UPDATE messages SET pinned_at = ? WHERE id = ?", (pinned_at, chosen))
        while bring_up_to_date(connection, 7):
            pass
        assert pending(connection, 1) == 0
        assert discrepancies(connection) == []
        event("in two indexes" if old_until(connection) else "in one index")
        for scope, criteria in searches:
            ids = expected(found, scope, criteria)
            event("finds something" if ids else "finds nothing")
            assert matching(connection, scope, criteria) == ids
            assert matching(connection, scope, criteria, ascending=True) == ids[::-1]
            assert matching(connection, scope, criteria, most=2) == ids[:2]
            assert sorted(by_relevance(connection, criteria, ids), reverse=True) == ids
        look_at_pages(connection, scope, criteria, ids)


said = st.sampled_from(["cat", "cat", "cats", "cat cow", "cow cats ox", "catalogue", "catalogue ox", "ox"])
asked_of_many = st.builds(
    Criteria,
    content=st.sampled_from(["cat", "cat", "cow cat", "cata", "cata", "ox"]),
    contents=st.sampled_from([(), (), (), ("cow",)]),
    author_ids=st.sampled_from([(), (), (PERSON,), (BOT, NOBODY)]),
    min_id=st.sampled_from([0, 0, 4]),
)
spots = st.sampled_from([(SearchPlace(TEXT),), (SearchPlace(TEXT), SearchPlace(VOICE)), (SearchPlace(TEXT, floor=6),)])


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.builds(Message, st.just(0), st.sampled_from([TEXT, TEXT, VOICE]), st.sampled_from(USERS), st.just(0), said),
        min_size=8,
        max_size=24,
    ),
    st.lists(st.tuples(spots, asked_of_many), min_size=3, max_size=3),
    st.sampled_from(LIMITS),
    st.sampled_from([0, 9, 12]),
    st.sets(st.integers(1, 12), max_size=4),
)
def test_every_way_of_searching_finds_the_same(
    connection: sqlite3.Connection,
    drawn: list[Message],
    searches: list[tuple[tuple[SearchPlace, ...], Criteria]],
    limits: dict[str, int],
    until: int,
    changed: set[int],
) -> None:
    """Where many messages say the same; the history above seldom has that."""
    with limited(connection, limits):
        found = {number: attrs.evolve(message, id=number) for number, message in enumerate(drawn, start=1)}
        for message in found.values():
            assert messages.insert(connection, message)
        assert bring_up_to_date(connection, 100) == len(found)
        age(connection, until)
        connection.executemany("UPDATE messages SET flags = 0 WHERE id = ?", [(each,) for each in changed])
        assert bring_up_to_date(connection, 100) == len(changed & found.keys())
        for places, criteria in searches:
            scope = Scope(places, (GUILD,))
            look_at_pages(connection, scope, criteria, expected(found, scope, criteria))
