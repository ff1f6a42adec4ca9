"""The index of messages, case by case: its parts, its entries, and what changes them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import attrs
import pytest

from chat.store.connections import connect
from chat.store.messages import message_search_entries, messages
from chat.store.messages.message_search import (
    QueryTooSlow,
    by_relevance,
    given_up_after,
    in_order,
    matching,
)
from chat.store.messages.message_search_entries import (
    Borders,
    ContentType,
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
from tests.messages.search_world import BOT, GUILD, PERSON, PRIVATE, TEXT, VOICE, opened, rolled_back


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    with opened() as connection:
        yield connection


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
