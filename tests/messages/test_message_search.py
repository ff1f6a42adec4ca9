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
from chat.store.connections import connect
from chat.store.messages import message_search, message_search_entries, messages
from chat.store.messages.message_search import (
    QueryTooSlow,
    by_relevance,
    count,
    given_up_after,
    in_order,
    matching,
    whole_list,
)
from chat.store.messages.message_search_entries import (
    AuthorType,
    Borders,
    ContentType,
    EmbedType,
    borders,
    bring_up_to_date,
    discrepancies,
    pending,
    pending_among,
)
from chat.store.messages.message_search_expressions import Criteria, Place, Scope
from chat.store.messages.messages import Message, MessageExtra
from chat.store.messages.search_terms import author_group
from chat.store.migrations import MIGRATIONS, migrate

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


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    connection = connect(":memory:")
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
    Place,
    st.sampled_from(sorted(CHANNELS)),
    st.sampled_from([0, 0, 0, 5, 12]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
excluded_places = st.builds(Place, st.sampled_from(sorted(CHANNELS)), public_threads=st.booleans())


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


def is_at(message: Message, place: Place) -> bool:
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
        st.sampled_from(["write", "write", "write", "edit", "delete", "pin", "index"]), written(), st.integers(0, 30)
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
def rolled_back(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


@contextlib.contextmanager
def in_parts(connection: sqlite3.Connection, limits: dict[str, int], until: tuple[int, int]) -> Iterator[None]:
    """With these limits of the search, and borders between the parts of the index."""
    with pytest.MonkeyPatch.context() as patch, rolled_back(connection):
        for name, value in limits.items():
            patch.setattr(message_search, name, value)
        connection.execute("UPDATE message_search_parts SET last_id = ?, ungrouped_until = ?", until)
        yield


def look_at_pages(connection: sqlite3.Connection, scope: Scope, criteria: Criteria, ids: list[int]) -> None:
    """The beginnings of what is found, and what comes behind each message, with the number of all."""
    bound = message_search.FINDS_MAXIMUM
    total = min(len(ids), bound)
    assert count(connection, scope, criteria, most=bound) == total
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
    st.sampled_from([(0, 0), (0, 9), (5, 5), (5, 15), (15, 15), (31, 31)]),
)
def test_a_search_finds_what_a_look_at_every_message_finds(
    connection: sqlite3.Connection,
    actions: list[tuple[str, Message, int]],
    searches: list[tuple[Scope, Criteria]],
    limits: dict[str, int],
    until: tuple[int, int],
) -> None:
    with in_parts(connection, limits, until):
        found: dict[int, Message] = {}
        for number, (action, drawn, choice) in enumerate(actions, start=1):
            ids = sorted(found)
            chosen = ids[choice % len(ids)] if ids else None
            if action == "write":
                found[number] = attrs.evolve(drawn, id=number)
                assert messages.insert(connection, found[number])
            elif action == "index":
                bring_up_to_date(connection, 1 + choice % 5)
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
spots = st.sampled_from([(Place(TEXT),), (Place(TEXT), Place(VOICE)), (Place(TEXT, floor=6),)])


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.builds(Message, st.just(0), st.sampled_from([TEXT, TEXT, VOICE]), st.sampled_from(USERS), st.just(0), said),
        min_size=8,
        max_size=24,
    ),
    st.lists(st.tuples(spots, asked_of_many), min_size=3, max_size=3),
    st.sampled_from(LIMITS),
    st.sampled_from([(0, 0), (0, 9), (5, 12)]),
)
def test_every_way_of_searching_finds_the_same(
    connection: sqlite3.Connection,
    drawn: list[Message],
    searches: list[tuple[tuple[Place, ...], Criteria]],
    limits: dict[str, int],
    until: tuple[int, int],
) -> None:
    """Where many messages say the same; the history above seldom has so many."""
    with in_parts(connection, limits, until):
        found = {number: attrs.evolve(message, id=number) for number, message in enumerate(drawn, start=1)}
        for message in found.values():
            assert messages.insert(connection, message)
        assert bring_up_to_date(connection, 100) == len(found)
        for places, criteria in searches:
            scope = Scope(places, (GUILD,))
            look_at_pages(connection, scope, criteria, expected(found, scope, criteria))


EVERYWHERE = Scope((Place(TEXT, public_threads=True, private_threads=True), Place(VOICE)), (GUILD,))


@pytest.fixture
def clean(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    with rolled_back(connection):
        yield connection


def write(connection: sqlite3.Connection, *contents: str, first: int = 1) -> None:
    for number, content in enumerate(contents, start=first):
        assert messages.insert(connection, Message(number, TEXT, PERSON, 0, content))


def test_relevance_puts_first_what_says_it_often_in_few_words(clean: sqlite3.Connection) -> None:
    write(clean, "cat", "cat " + "and many other things " * 5, "cat cat", "cats", "cat")
    bring_up_to_date(clean, 100)
    asked = Criteria(content="cat")
    found = matching(clean, EVERYWHERE, asked)
    assert found == [5, 4, 3, 2, 1]
    assert by_relevance(clean, asked, found) == [3, 5, 4, 1, 2]
    assert by_relevance(clean, Criteria(), found) == found


def test_what_an_account_wrote_is_found_in_every_part_of_the_index(clean: sqlite3.Connection) -> None:
    clean.execute("UPDATE message_search_parts SET last_id = 4, ungrouped_until = 6")
    for number in range(1, 9):
        author_id = PERSON if number % 2 else BOT
        place = PRIVATE if number > 6 else TEXT
        assert messages.insert(clean, Message(number, place, author_id, 0, "cat"))
    bring_up_to_date(clean, 100)
    entries = clean.execute("SELECT words, filters FROM message_search ORDER BY rowid").fetchall()
    pairs = [sum(term[1] in {"b", "w"} for term in filters.split()) for _, filters in entries]
    assert pairs == [0, 0, 0, 0, 1, 1, 2, 2]
    assert author_group(PERSON) != author_group(BOT)
    assert [words for words, _ in entries] == ["cat"] * 6 + [f"{author_group(each)}cat" for each in (PERSON, BOT)]
    by_person = Criteria(content="cat", author_ids=(PERSON,))
    assert matching(clean, EVERYWHERE, by_person) == [7, 5, 3, 1]
    assert matching(clean, EVERYWHERE, by_person, most=3) == [7, 5, 3]
    assert matching(clean, EVERYWHERE, by_person, ascending=True, most=3) == [1, 3, 5]
    assert matching(clean, Scope((Place(TEXT, floor=3),)), by_person) == [5, 3]
    assert matching(clean, Scope((Place(PRIVATE),)), Criteria(author_ids=(PERSON, BOT))) == [8, 7]
    assert matching(clean, EVERYWHERE, attrs.evolve(by_person, min_id=2, max_id=4)) == [3]
    assert matching(clean, EVERYWHERE, attrs.evolve(by_person, min_id=6)) == [7]
    assert matching(clean, EVERYWHERE, Criteria(author_ids=(PERSON,), excluded_author_ids=(PERSON,))) == []
    assert discrepancies(clean) == []


@pytest.mark.parametrize(
    ("until", "criteria", "parts"),
    [
        ((0, 0), Criteria(content="cat"), 1),
        ((4, 4), Criteria(content="cat"), 2),
        ((4, 6), Criteria(content="cat"), 3),
        ((4, 6), Criteria(content="cat", min_id=7), 1),
        ((4, 6), Criteria(content="cat", max_id=5), 2),
    ],
)
def test_only_parts_of_the_index_that_may_have_finds_are_searched(
    clean: sqlite3.Connection, until: tuple[int, int], criteria: Criteria, parts: int
) -> None:
    clean.execute("UPDATE message_search_parts SET last_id = ?, ungrouped_until = ?", until)
    statements: list[str] = []
    clean.set_trace_callback(statements.append)
    try:
        assert matching(clean, EVERYWHERE, criteria) == []
    finally:
        clean.set_trace_callback(None)
    assert sum("MATCH" in statement for statement in statements) == parts


def test_what_deletes_a_channel_takes_its_messages_out_of_the_index(clean: sqlite3.Connection) -> None:
    write(clean, "cat", "dog")
    bring_up_to_date(clean, 100)
    clean.execute("DELETE FROM channels WHERE id = ?", (TEXT,))
    assert pending_among(clean, [1, 2, 3]) == {1, 2}
    assert bring_up_to_date(clean, 100) == 2
    assert clean.execute("SELECT rowid FROM message_search").fetchall() == []
    assert discrepancies(clean) == []


def test_a_change_that_concerns_no_search_is_not_noted(clean: sqlite3.Connection) -> None:
    write(clean, "cat")
    bring_up_to_date(clean, 100)
    clean.execute("UPDATE messages SET edited_at = 5, nonce = 'n', has_reactions = 1")
    assert pending(clean, 5) == 0
    clean.execute("UPDATE messages SET flags = 32")
    assert pending(clean, 5) == 1
    assert bring_up_to_date(clean, 100) == 1


def test_the_newest_get_into_the_index_first(clean: sqlite3.Connection) -> None:
    write(clean, *["cat"] * 10)
    assert bring_up_to_date(clean, 3) == 3
    assert matching(clean, EVERYWHERE, Criteria(content="cat")) == [10, 9, 8]
    assert pending(clean, 5) == 5
    assert pending(clean, 50) == 7


def test_a_wrong_entry_is_noticed(clean: sqlite3.Connection) -> None:
    write(clean, "cat", "dog", "cow")
    assert bring_up_to_date(clean, 100) == 3
    clean.execute("DELETE FROM message_search WHERE rowid = 1")
    clean.execute("UPDATE message_search SET words = 'bird' WHERE rowid = 2")
    clean.execute("INSERT INTO message_search (rowid, words, filters) VALUES (9, 'ghost', '')")
    assert discrepancies(clean) == [1, 2, 9]
    assert discrepancies(clean, 1) == [1]


def test_files_are_found_by_kind_name_and_ending(clean: sqlite3.Connection) -> None:
    for number, (name, kind) in enumerate(
        [("Holiday Photo (1).PNG", "image/png"), ("song.mp3", "audio/mpeg"), ("notes", "text/plain")], start=1
    ):
        extra = MessageExtra(attachments=1)
        assert messages.insert(clean, Message(number, TEXT, PERSON, 0, "", extra=extra))
        clean.execute(
            """
            INSERT INTO attachments (id, channel_id, message_id, user_id, filename, content_type, size, stored)
            VALUES (?, ?, ?, ?, ?, ?, 1, 1)
            """,
            (number, TEXT, number, PERSON, name, kind),
        )
    bring_up_to_date(clean, 100)

    def found(**asked: Any) -> list[int]:
        return matching(clean, EVERYWHERE, Criteria(**asked))

    assert found(has=(ContentType.FILE,)) == [3, 2, 1]
    assert found(has=(ContentType.IMAGE,)) == [1]
    assert found(has=(ContentType.SOUND, ContentType.FILE)) == [2]
    assert found(has=(ContentType.VIDEO,)) == []
    assert found(attachment_extensions=("png",)) == [1]
    assert found(attachment_extensions=("MP3", "png")) == [2, 1]
    assert found(excluded_attachment_extensions=("png",)) == [3, 2]
    assert found(attachment_filenames=("holiday photo",)) == [1]
    assert found(attachment_filenames=("photo holiday",)) == []
    assert found(attachment_filenames=("notes", "song.mp3")) == [3, 2]
    assert found(attachment_filenames=("...",)) == []
    assert found(excluded_attachment_filenames=("photo",)) == [3, 2]
    assert found(content="holiday") == []


def test_many_places_are_not_named_one_by_one(clean: sqlite3.Connection) -> None:
    write(clean, "cat", "dog")
    bring_up_to_date(clean, 100)
    many = tuple(Place(1_000 + number, public_threads=True) for number in range(5_000))
    assert matching(clean, Scope((Place(TEXT), *many), (GUILD,)), Criteria(content="cat")) == [1]
    assert matching(clean, Scope((Place(TEXT), *many)), Criteria()) == [2, 1]
    assert matching(clean, Scope((Place(TEXT), *many), tuple(range(500))), Criteria(content="dog")) == [2]
    assert matching(clean, Scope(many, (GUILD,)), Criteria()) == []
    assert matching(clean, EVERYWHERE, Criteria(author_ids=tuple(range(100)), contents=("cat ox " * 170,) * 100)) == []


def test_messages_of_an_older_database_are_noted_when_it_gets_its_index() -> None:
    connection = connect(":memory:")
    names = [migration.__name__ for migration in MIGRATIONS]
    migrate(connection, MIGRATIONS[: names.index("message_search")])
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("INSERT INTO channels (id, type) VALUES (1, 0)")
    connection.executemany(
        "INSERT INTO messages (id, channel_id, author_id, type, content) VALUES (?, 1, 1, 0, 'cat')",
        [(number,) for number in range(1, 8)],
    )
    migrate(connection)
    assert pending(connection, 100) == 7
    while bring_up_to_date(connection, 3):
        pass
    assert matching(connection, Scope((Place(1),)), Criteria(content="cat")) == [7, 6, 5, 4, 3, 2, 1]
    assert discrepancies(connection) == []
    connection.close()


def test_entries_from_before_words_had_groups_are_found_beside_those_of_now() -> None:
    connection = connect(":memory:")
    names = [migration.__name__ for migration in MIGRATIONS]
    migrate(connection, MIGRATIONS[: names.index("words_by_author_group")])
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("INSERT INTO channels (id, type) VALUES (1, 1)")
    around = message_search_entries.Surroundings(None, 1, None, is_bot=False)
    for number in range(1, 6):
        message = Message(number, 1, PERSON if number % 2 else BOT, 0, "cat cat" if number == 3 else "cat cow")
        assert messages.insert(connection, message)
        _, filters = message_search_entries.entry_of(message, around) or ("", "")
        entry = (number, message.content, filters)
        connection.execute("INSERT INTO message_search (rowid, words, filters) VALUES (?, ?, ?)", entry)
    connection.execute("DELETE FROM message_search_queue")
    migrate(connection)
    assert borders(connection) == Borders(plain_until=0, ungrouped_until=5)
    for number in range(6, 9):
        assert messages.insert(connection, Message(number, 1, PERSON if number % 2 else BOT, 0, "cat cow"))
    connection.execute("UPDATE messages SET content = 'cat ox' WHERE id = 2")
    assert bring_up_to_date(connection, 100) == 4
    assert discrepancies(connection) == []
    stored = connection.execute("SELECT words FROM message_search WHERE rowid IN (2, 7) ORDER BY rowid").fetchall()
    assert stored == [("cat ox",), ("{0}cat {0}cow".format(author_group(PERSON)),)]
    scope, asked = Scope((Place(1),)), Criteria(content="cat")
    assert in_order(connection, scope, asked, most=4) == ([8, 7, 6, 5], 8)
    assert in_order(connection, scope, asked, ascending=True, most=9) == ([1, 2, 3, 4, 5, 6, 7, 8], 8)
    assert in_order(connection, scope, attrs.evolve(asked, author_ids=(BOT,)), most=9) == ([8, 6, 4, 2], 4)
    assert by_relevance(connection, asked, [8, 7, 6, 5, 4, 3, 2, 1])[:2] == [3, 8]
    assert matching(connection, scope, Criteria(exact_phrases=("cat cow",))) == [8, 7, 6, 5, 4, 1]
    connection.close()


def test_a_query_that_takes_too_long_is_given_up_and_the_connection_stays_good(clean: sqlite3.Connection) -> None:
    endless = "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(QueryTooSlow), given_up_after(clean, 0.05):
        clean.execute(endless).fetchone()
    with pytest.raises(sqlite3.OperationalError, match="no such table"), given_up_after(clean, 5):
        clean.execute("SELECT * FROM absent")
    assert clean.execute("SELECT 1").fetchone() == (1,)


def test_entries_are_of_what_people_write() -> None:
    around = message_search_entries.Surroundings(GUILD, 0, None, 0)
    assert message_search_entries.entry_of(Message(1, TEXT, PERSON, 7, "x"), around) is None
    entry = message_search_entries.entry_of(Message(1, TEXT, PERSON, 19, "X y"), around)
    assert entry is not None
    assert entry[0] == "{0}x {0}y".format(author_group(PERSON))
