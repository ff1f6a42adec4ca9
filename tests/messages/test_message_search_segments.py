"""Merging the index of messages at rest, on a file: what is found stays the same, it ends, and it begins again."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.domain.messages import message_search
from chat.store.connections import connect, merge_index
from chat.store.messages import message_search_segments, messages
from chat.store.messages.message_search import in_order
from chat.store.messages.message_search_entries import bring_up_to_date, discrepancies, pending
from chat.store.messages.message_search_expressions import Criteria, Scope, SearchPlace
from chat.store.messages.message_search_segments import SEGMENTS_MAXIMUM, are_many, merge_some
from chat.store.messages.messages import Message
from chat.store.migrations import prepare
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.messages.search_world import BOT, GUILD, PERSON, TEXT, VOICE, opened, rolled_back

SCOPE = Scope((SearchPlace(TEXT), SearchPlace(VOICE)), (GUILD,))
CRITERIA = (
    Criteria(),
    Criteria(content="cat"),
    Criteria(content="cat", author_ids=(BOT,)),
    Criteria(content="w1"),
    Criteria(content="word"),
    Criteria(exact_phrases=("cat w1",)),
    Criteria(content="gone"),
)
BATCH = 5
PROGRAM = """
import sys
from chat.store.connections import connect
from chat.store.messages import message_search_segments

message_search_segments.PORTION_PAGES = 1
connection = connect(sys.argv[1], durable=False)
is_due = True
while is_due:
    connection.execute("BEGIN IMMEDIATE")
    is_due = message_search_segments.merge_some(connection)
    print("merged", flush=True)
    sys.stdin.readline()
    connection.execute("COMMIT")
"""
"""Waits in the middle of every portion."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "messages.sqlite3"
    prepare(path, durable=False)
    return path


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with opened_with_small_pages(path) as connection:
        yield connection


@contextlib.contextmanager
def opened_with_small_pages(path: Path) -> Iterator[sqlite3.Connection]:
    with opened(path) as connection:
        with_small_pages(connection)
        yield connection


def with_small_pages(connection: sqlite3.Connection) -> None:
    """Give the index a page for each handful of words, so that a few messages fill many."""
    connection.execute("INSERT INTO message_search (message_search, rank) VALUES ('pgsz', 100)")


@pytest.fixture
def reader(path: Path, connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(connect(path, read_only=True)) as reader:
        yield reader


@pytest.fixture
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_search_segments, "PORTION_PAGES", 1)


def write(connection: sqlite3.Connection, first: int, batches: int) -> int:
    """Write messages in batches; some change or go later. Gives the number behind the last message."""
    for start in range(first, first + batches * BATCH, BATCH):
        for number in range(start, start + BATCH):
            author, place = (PERSON, BOT)[number % 2], (TEXT, VOICE)[number % 3 == 0]
            content = f"cat w{number % 4} word{number}"
            assert messages.insert(connection, Message(number, place, author, 0, content))
        connection.execute("UPDATE messages SET content = 'cat gone' WHERE id = ?", (start - BATCH,))
        connection.execute("DELETE FROM messages WHERE id = ?", (start - 2 * BATCH + 1,))
        unit(connection, lambda connection: bring_up_to_date(connection, 100))
    return first + batches * BATCH


def unit(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], Any]) -> Any:
    connection.execute("BEGIN IMMEDIATE")
    result = work(connection)
    connection.execute("COMMIT")
    return result


def found(connection: sqlite3.Connection) -> list[tuple[list[int], int]]:
    """What searches find, from either end, and how many of all."""
    return [
        in_order(connection, SCOPE, criteria, ascending=ascending, most=20)
        for criteria in CRITERIA
        for ascending in (False, True)
    ]


def segments(connection: sqlite3.Connection) -> dict[int, int]:
    """The pages of each segment, as they lie in the table that FTS5 keeps."""
    rows = connection.execute(
        "SELECT id >> 37, count(*) FROM message_search_data WHERE id >= 1 << 37 GROUP BY 1 ORDER BY 1"
    )
    return dict(rows.fetchall())


@pytest.mark.usefixtures("small_portions")
def test_what_is_found_stays_the_same_through_every_portion_which_come_to_an_end_and_begin_again(
    connection: sqlite3.Connection, reader: sqlite3.Connection
) -> None:
    behind = write(connection, 100, 60)
    for _ in range(2):
        present = segments(connection)
        expected = found(reader)
        assert (len(present) > SEGMENTS_MAXIMUM, are_many(connection)) == (True, True)
        portions = 1
        while unit(connection, merge_some):
            portions += 1
            assert found(reader) == found(connection) == expected
            assert discrepancies(connection) == []
        assert portions > 3
        assert len(segments(connection)) <= SEGMENTS_MAXIMUM
        assert found(reader) == found(connection) == expected
        assert discrepancies(connection) == []
        assert not are_many(connection)
        assert not merge_index(connection, "message_search", 1)  # FTS5 itself has nothing left to merge
        before = connection.total_changes, segments(connection)
        assert not unit(connection, merge_some)
        assert (connection.total_changes, segments(connection)) == before
        behind = write(connection, behind, 40)


def test_a_few_segments_are_left_alone(connection: sqlite3.Connection) -> None:
    behind = 100
    assert (segments(connection), are_many(connection), merge_some(connection)) == ({}, False, False)
    while len(segments(connection)) < SEGMENTS_MAXIMUM:
        behind = write(connection, behind, 1)
        assert not are_many(connection)
    write(connection, behind, 1)
    assert (len(segments(connection)), are_many(connection)) == (SEGMENTS_MAXIMUM + 1, True)
    # SQLite 3.43 has another form of the record too, for indexes that ours is none of.
    connection.execute("UPDATE message_search_data SET block = x'00000000ff00000102' WHERE id = 10")
    assert (are_many(connection), merge_some(connection)) == (False, False)


def test_segments_that_are_large_together_stay_apart(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_search_segments, "LEVEL_PAGES", 200)
    monkeypatch.setattr(message_search_segments, "SEGMENTS_MAXIMUM", 1)
    behind, left_apart = 100, 0
    for turn in range(70):
        behind = write(connection, behind, (1, 1, 2, 2, 30)[turn % 5])
        large = {number: pages for number, pages in segments(connection).items() if pages > 200}
        while merge_some(connection):
            pass
        assert not are_many(connection)
        present = segments(connection)
        assert all(present.get(number, 0) >= pages for number, pages in large.items())
        assert all(pages <= 200 for number, pages in present.items() if number not in large)
        with rolled_back(connection):
            if merge_index(connection, "message_search", 50):  # as FTS5 would by itself
                left_apart += 1
                assert sum(pages for _, pages in present.items() - segments(connection).items()) > 100
    assert 10 < left_apart < 60
    assert discrepancies(connection) == []


def test_killed_in_the_middle_of_a_portion_it_goes_on_from_the_one_before(path: Path, tmp_path: Path) -> None:
    with opened_with_small_pages(path) as connection:
        write(connection, 100, 60)
        expected, present = found(connection), segments(connection)
    for portions in (1, 3, 2):
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for number in range(portions):
                if number:
                    process.stdin.write("\n")
                    process.stdin.flush()
                assert process.stdout.readline() == "merged\n"
            process.send_signal(signal.SIGKILL)
            process.wait()
        with contextlib.closing(connect(path, durable=False)) as connection:
            assert found(connection) == expected
            assert discrepancies(connection) == []
            assert (segments(connection) == present) == (portions == 1)
    with contextlib.closing(connect(path, durable=False)) as connection:
        while merge_some(connection):
            pass
        assert len(segments(connection)) <= SEGMENTS_MAXIMUM
        assert found(connection) == expected


async def say(world: World, content: str) -> None:
    """A message, and a search, which has it in a segment of its own."""
    (await world.alice.rest.send_message(world.channel_id, content)).expect(200)
    await hits(world, content)


async def hits(world: World, content: str) -> tuple[list[str], int]:
    body = {"context_channel_id": world.channel_id, "content": content}
    answer = (await world.bob.rest.post("/v1/search/messages", body)).expect(200)
    return [message["content"] for message in answer["messages"]], answer["total"]


@pytest.mark.usefixtures("small_portions")
async def test_a_server_merges_while_nobody_writes(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock
) -> None:
    database = chat_server.database
    await database.write(with_small_pages)
    for number in range(12):
        await say(chat_world, f"cat {number}")
        await trio.sleep(message_search.QUIET_SECONDS - 1)
    written, expected = await database.read(segments), await hits(chat_world, "cat")
    assert len(written) > SEGMENTS_MAXIMUM
    assert expected[1] == 12
    await trio.sleep(message_search.QUIET_SECONDS + 1)
    merged = await database.read(segments)
    assert len(merged) == 1
    assert await hits(chat_world, "cat") == expected
    await trio.sleep(3 * message_search.LOOK_SECONDS)
    assert await database.read(segments) == merged


async def test_a_message_ends_the_rest(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, portions = trio.Event(), list[int]()

    def merge_without_end(connection: sqlite3.Connection) -> bool:
        portions.append(1)
        begun.set()
        return True

    monkeypatch.setattr(message_search_segments, "are_many", lambda connection: True)
    monkeypatch.setattr(message_search_segments, "merge_some", merge_without_end)
    await begun.wait()
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "cat")).expect(200)
    await trio.sleep(0.5)  # a portion may be under way
    done = len(portions)
    await trio.sleep(2 * message_search.BEHIND_SECONDS)
    assert len(portions) == done
    assert await chat_server.database.read(lambda connection: pending(connection, 1)) == 0
