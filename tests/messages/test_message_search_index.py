"""The index of messages, case by case: its parts, its entries, and what changes them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import attrs
import pytest

from chat.store.connections import connect
from chat.store.messages import message_search, message_search_entries, messages
from chat.store.messages.message_search import (
    QueryTooSlow,
    by_relevance,
    given_up_after,
    in_order,
    matching,
)
from chat.store.messages.message_search_entries import (
    ContentType,
    bring_up_to_date,
    discard_old,
    discrepancies,
    old_entries,
    old_until,
    pending,
    pending_among,
    renew,
    renew_terms,
    terms_until,
)
from chat.store.messages.message_search_expressions import Criteria, Scope, SearchPlace
from chat.store.messages.messages import Message, MessageExtra
from chat.store.messages.search_terms import author_group
from chat.store.migrations import MIGRATIONS, migrate
from tests.messages.search_world import BOT, GUILD, PERSON, PRIVATE, TEXT, VOICE, age, opened, rolled_back


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    with opened() as connection:
        yield connection


EVERYWHERE = Scope((SearchPlace(TEXT, public_threads=True, private_threads=True), SearchPlace(VOICE)), (GUILD,))


@pytest.fixture
def clean(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    with rolled_back(connection):
        yield connection


def write(connection: sqlite3.Connection, *contents: str, first: int = 1) -> None:
    for number, content in enumerate(contents, start=first):
        assert messages.insert(connection, Message(number, TEXT, PERSON, 0, content))


def entries_of_old(connection: sqlite3.Connection) -> list[int]:
    return [row[0] for row in connection.execute("SELECT rowid FROM message_search_old ORDER BY rowid")]


def test_relevance_puts_first_what_says_it_often_in_few_words(clean: sqlite3.Connection) -> None:
    write(clean, "cat", "cat " + "and many other things " * 5, "cat cat", "cats", "cat")
    bring_up_to_date(clean, 100)
    asked = Criteria(content="cat")
    found = matching(clean, EVERYWHERE, asked)
    assert found == [5, 4, 3, 2, 1]
    assert by_relevance(clean, asked, found) == [3, 5, 4, 1, 2]
    assert by_relevance(clean, Criteria(), found) == found


def test_finds_that_are_close_together_may_be_all_there_are(
    clean: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(clean, "go", *["dog"] * 30, "go", "go", "go", *["dog"] * 10, "go")
    bring_up_to_date(clean, 100)
    asked = Criteria(content="go")
    for most, total in ((3, 3), (4, 4), (5, 5), (6, 5)):
        monkeypatch.setattr(message_search, "FINDS_MAXIMUM", most)
        assert in_order(clean, EVERYWHERE, asked, most=2, after=45) == ([34, 33], total)
        assert in_order(clean, EVERYWHERE, asked, ascending=True, most=2, after=31) == ([32, 33], total)


def test_what_an_account_wrote_is_found_in_both_indexes(clean: sqlite3.Connection) -> None:
    for number in range(1, 9):
        author_id = PERSON if number % 2 else BOT
        place = PRIVATE if number > 6 else TEXT
        assert messages.insert(clean, Message(number, place, author_id, 0, "cat"))
    bring_up_to_date(clean, 100)
    age(clean, 6)
    clean.execute("UPDATE messages SET flags = 0 WHERE id = 3")
    assert bring_up_to_date(clean, 100) == 1
    entries = clean.execute("SELECT rowid, words, filters FROM message_search ORDER BY rowid").fetchall()
    pairs = [sum(term[1] in {"b", "w"} for term in filters.split()) for _, _, filters in entries]
    assert pairs == [1, 2, 2]
    assert author_group(PERSON) != author_group(BOT)
    words = [(number, f"{author_group(author)}cat") for number, author in ((3, PERSON), (7, PERSON), (8, BOT))]
    assert [entry[:2] for entry in entries] == words
    assert entries_of_old(clean) == [1, 2, 4, 5, 6]
    by_person = Criteria(content="cat", author_ids=(PERSON,))
    assert matching(clean, EVERYWHERE, by_person) == [7, 5, 3, 1]
    assert matching(clean, EVERYWHERE, by_person, most=3) == [7, 5, 3]
    assert matching(clean, EVERYWHERE, by_person, ascending=True, most=3) == [1, 3, 5]
    assert matching(clean, Scope((SearchPlace(TEXT, floor=3),)), by_person) == [5, 3]
    assert matching(clean, Scope((SearchPlace(PRIVATE),)), Criteria(author_ids=(PERSON, BOT))) == [8, 7]
    assert matching(clean, EVERYWHERE, attrs.evolve(by_person, min_id=2, max_id=4)) == [3]
    assert matching(clean, EVERYWHERE, attrs.evolve(by_person, min_id=6)) == [7]
    assert matching(clean, EVERYWHERE, Criteria(author_ids=(PERSON,), excluded_author_ids=(PERSON,))) == []
    assert discrepancies(clean) == []


@pytest.mark.parametrize(
    ("until", "criteria", "indexes"),
    [
        (0, Criteria(content="cat"), 1),
        (0, Criteria(content="cat", min_id=7), 1),
        (6, Criteria(content="cat"), 2),
        (6, Criteria(content="cat", min_id=6), 2),
        (6, Criteria(content="cat", min_id=7), 1),
    ],
)
def test_the_old_index_is_searched_only_where_it_may_have_finds(
    clean: sqlite3.Connection, until: int, criteria: Criteria, indexes: int
) -> None:
    age(clean, until)
    statements: list[str] = []
    clean.set_trace_callback(statements.append)
    try:
        assert matching(clean, EVERYWHERE, criteria) == []
    finally:
        clean.set_trace_callback(None)
    assert sum("MATCH" in statement for statement in statements) == indexes


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
    many = tuple(SearchPlace(1_000 + number, public_threads=True) for number in range(5_000))
    assert matching(clean, Scope((SearchPlace(TEXT), *many), (GUILD,)), Criteria(content="cat")) == [1]
    assert matching(clean, Scope((SearchPlace(TEXT), *many)), Criteria()) == [2, 1]
    assert matching(clean, Scope((SearchPlace(TEXT), *many), tuple(range(500))), Criteria(content="dog")) == [2]
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
    assert (old_until(connection), old_entries(connection)) == (7, 0)
    assert (renew(connection, 3), old_until(connection)) == (0, 0)
    assert matching(connection, Scope((SearchPlace(1),)), Criteria(content="cat")) == [7, 6, 5, 4, 3, 2, 1]
    assert discrepancies(connection) == []
    connection.close()


@pytest.mark.parametrize("migration", ["authors_in_places", "words_by_author_group"])
def test_entries_of_earlier_versions_are_found_and_renewed(migration: str) -> None:
    connection = connect(":memory:")
    names = [migration.__name__ for migration in MIGRATIONS]
    migrate(connection, MIGRATIONS[: names.index(migration)])
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("INSERT INTO channels (id, type) VALUES (1, 1)")
    around = message_search_entries.MessageSurroundings(None, 1, None, is_bot=False)
    for number in range(1, 6):
        message = Message(number, 1, PERSON if number % 2 else BOT, 0, "cat cat" if number == 3 else "cat cow")
        assert messages.insert(connection, message)
        _, filters = message_search_entries.entry_of(message, around) or ("", "")
        if migration == "authors_in_places":
            filters = " ".join(term for term in filters.split() if term[1] != "b")
        entry = (number, message.content, filters)
        connection.execute("INSERT INTO message_search (rowid, words, filters) VALUES (?, ?, ?)", entry)
    connection.execute("DELETE FROM message_search_queue")
    migrate(connection)
    assert (old_until(connection), old_entries(connection)) == (5, 5)
    assert connection.execute("SELECT task_type, status FROM jobs").fetchall() == [
        ("message_search_renewal", "pending")
    ]
    for number in range(6, 9):
        assert messages.insert(connection, Message(number, 1, PERSON if number % 2 else BOT, 0, "cat cow"))
    connection.execute("UPDATE messages SET content = 'cat ox' WHERE id = 2")
    assert bring_up_to_date(connection, 100) == 4
    look_at_old_and_new(connection)
    assert entries_of_old(connection) == [1, 3, 4, 5]
    assert (renew(connection, 2), old_until(connection)) == (2, 3)
    look_at_old_and_new(connection)
    assert (renew(connection, 2), old_until(connection)) == (2, 0)
    look_at_old_and_new(connection)
    assert entries_of_old(connection) == [1, 3, 4, 5]  # which do not count any more
    portions = 1
    while discard_old(connection, 2):
        portions += 1
        look_at_old_and_new(connection)
    assert portions > 3
    assert entries_of_old(connection) == []
    connection.execute("INSERT INTO message_search_old (message_search_old) VALUES ('integrity-check')")
    assert not discard_old(connection, 100)
    look_at_old_and_new(connection)
    connection.close()


def look_at_old_and_new(connection: sqlite3.Connection) -> None:
    assert discrepancies(connection) == []
    scope, asked = Scope((SearchPlace(1),)), Criteria(content="cat")
    assert in_order(connection, scope, asked, most=4) == ([8, 7, 6, 5], 8)
    assert in_order(connection, scope, asked, ascending=True, most=9) == ([1, 2, 3, 4, 5, 6, 7, 8], 8)
    assert in_order(connection, scope, attrs.evolve(asked, author_ids=(BOT,)), most=9) == ([8, 6, 4, 2], 4)
    assert by_relevance(connection, asked, [8, 7, 6, 5, 4, 3, 2, 1])[:2] == [3, 8]
    assert matching(connection, scope, Criteria(exact_phrases=("cat cow",))) == [8, 7, 6, 5, 4, 1]


EARLIER = {
    "서울에서 만나요": ("서울에서 만나요", "서울"),
    "Łódź": ("łodz", "lodz"),
    "v1.2.3-rc1": ("v1 2 3 rc1", "1.2.3"),
    "imp**ort**ant": ("imp ort ant", "important"),
    "cat": ("cat", "cat"),
}
"""By the text the terms that version 046 gave it, and what it should be found by."""


def test_entries_with_the_terms_of_earlier_versions_are_written_anew_in_portions() -> None:
    connection = connect(":memory:")
    names = [migration.__name__ for migration in MIGRATIONS]
    migrate(connection, MIGRATIONS[: names.index("message_search_terms")])
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("INSERT INTO channels (id, type) VALUES (1, 1)")
    around, group = message_search_entries.MessageSurroundings(None, 1, None, is_bot=False), author_group(PERSON)
    for number, (text, (words, _)) in enumerate(EARLIER.items(), start=1):
        message = Message(number, 1, PERSON, 0, text)
        assert messages.insert(connection, message)
        _, filters = message_search_entries.entry_of(message, around) or ("", "")
        entry = (number, " ".join(group + word for word in words.split()), filters)
        connection.execute("INSERT INTO message_search (rowid, words, filters) VALUES (?, ?, ?)", entry)
    connection.execute("DELETE FROM message_search_queue")
    migrate(connection)
    assert (old_until(connection), terms_until(connection), old_entries(connection)) == (0, 5, 5)
    assert connection.execute("SELECT task_type, status FROM jobs").fetchall() == [
        ("message_search_renewal", "pending")
    ]
    changes = []
    for left in (3, 1, 0):
        assert discrepancies(connection) == []
        before = connection.total_changes
        assert renew_terms(connection, 2) in {1, 2}
        changes.append(connection.total_changes - before)
        assert terms_until(connection) == left
    assert changes[0] < changes[1]  # what is as it should be stays
    for number, (_, asked) in enumerate(EARLIER.values(), start=1):
        assert matching(connection, Scope((SearchPlace(1),)), Criteria(content=asked)) == [number]
    assert discrepancies(connection) == []
    assert (renew_terms(connection, 2), terms_until(connection)) == (0, 0)
    connection.execute("UPDATE message_search_content SET c0 = '0dog' WHERE id = 5")
    assert list(message_search_entries.wrong_entries(connection)) == [5]
    connection.close()


def test_a_file_is_found_by_the_terms_of_its_name(clean: sqlite3.Connection) -> None:
    for number, name in enumerate(("Łódź v1.2.3-rc1.zip", "대한민국만세.png"), start=1):
        assert messages.insert(clean, Message(number, TEXT, PERSON, 0, "", extra=MessageExtra(attachments=1)))
        clean.execute(
            """
            INSERT INTO attachments (id, channel_id, message_id, user_id, filename, content_type, size, stored)
            VALUES (?, ?, ?, ?, ?, 'application/zip', 1, 1)
            """,
            (number, TEXT, number, PERSON, name),
        )
    bring_up_to_date(clean, 100)
    for asked, found in (("lodz", 1), ("1.2.3", 1), ("v1.2.3-rc1.zip", 1), ("민국", 2), ("zip 1", 0)):
        wanted = Criteria(attachment_filenames=(asked,))
        assert matching(clean, EVERYWHERE, wanted) == ([found] if found else [])


def test_an_index_between_two_versions_is_made_anew() -> None:
    connection = connect(":memory:")
    names = [migration.__name__ for migration in MIGRATIONS]
    migrate(connection, MIGRATIONS[: names.index("message_search_renewal")])
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("INSERT INTO channels (id, type) VALUES (1, 1)")
    assert messages.insert(connection, Message(5, 1, PERSON, 0, "cat"))
    connection.execute("INSERT INTO message_search (rowid, words, filters) VALUES (5, '0cat', '')")
    connection.execute("DELETE FROM message_search_queue")
    migrate(connection)
    assert (old_until(connection), connection.execute("SELECT count(*) FROM jobs").fetchone()) == (0, (0,))
    assert bring_up_to_date(connection, 100) == 1
    assert matching(connection, Scope((SearchPlace(1),)), Criteria(content="cat")) == [5]
    assert discrepancies(connection) == []
    connection.close()


def test_links_are_told_anew_by_a_later_version() -> None:
    connection = connect(":memory:")
    names = [migration.__name__ for migration in MIGRATIONS]
    migrate(connection, MIGRATIONS[: names.index("links_in_search")])
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("INSERT INTO channels (id, type) VALUES (1, 1)")
    assert messages.insert(connection, Message(5, 1, PERSON, 0, "`https://code.example/`"))
    assert messages.insert(connection, Message(6, 1, PERSON, 0, "\u89c1https://One.example/a\u3002"))
    assert messages.insert(connection, Message(7, 1, PERSON, 0, "none"))
    connection.execute("DELETE FROM message_search_queue")
    migrate(connection)
    assert bring_up_to_date(connection, 100) == 2
    assert matching(connection, Scope((SearchPlace(1),)), Criteria(has=(ContentType.LINK,))) == [6]
    assert matching(connection, Scope((SearchPlace(1),)), Criteria(link_hostnames=("ONE.example",))) == [6]
    connection.close()


def test_a_query_that_takes_too_long_is_given_up_and_the_connection_stays_good(clean: sqlite3.Connection) -> None:
    endless = "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(QueryTooSlow), given_up_after(clean, 0.05):
        clean.execute(endless).fetchone()
    with pytest.raises(sqlite3.OperationalError, match="no such table"), given_up_after(clean, 5):
        clean.execute("SELECT * FROM absent")
    assert clean.execute("SELECT 1").fetchone() == (1,)


def test_entries_are_of_what_people_write() -> None:
    around = message_search_entries.MessageSurroundings(GUILD, 0, None, 0)
    assert message_search_entries.entry_of(Message(1, TEXT, PERSON, 7, "x"), around) is None
    entry = message_search_entries.entry_of(Message(1, TEXT, PERSON, 19, "X y"), around)
    assert entry is not None
    assert entry[0] == "{0}x {0}y".format(author_group(PERSON))
