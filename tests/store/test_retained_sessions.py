"""Gateway sessions at rest, and the instance's own notes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat.store import retained_sessions
from chat.store.administration import instance
from chat.store.connections import connect
from chat.store.migrations import migrate
from chat.store.retained_sessions import RetainedEvent, RetainedSession


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = connect(tmp_path / "chat.sqlite3")
    migrate(connection)
    connection.execute(
        "INSERT INTO users (id, username, username_key, discriminator, created_at) VALUES (7, 'alice', 'alice', 1, 0)"
    )
    yield connection
    connection.close()


ONE = RetainedSession("1" * 32, user_id=7, body=b"\x00one\xff", stored_at=20)
TWO = RetainedSession("2" * 32, user_id=7, body=b"", stored_at=10)


EVENTS = [RetainedEvent(0, "TYPING_START", b"{}"), RetainedEvent(1, "MESSAGE_CREATE", b'{"content":"hi"}')]


def test_all_are_taken_the_oldest_first_and_once(connection: sqlite3.Connection) -> None:
    retained_sessions.store(connection, [ONE, TWO], EVENTS)
    assert retained_sessions.take_all(connection) == ([TWO, ONE], EVENTS)
    assert retained_sessions.take_all(connection) == ([], [])


def test_what_is_kept_replaces_what_was_kept_before(connection: sqlite3.Connection) -> None:
    retained_sessions.store(connection, [ONE, TWO], EVENTS)
    later = RetainedSession(ONE.session_id, user_id=7, body=b"later", stored_at=30)
    retained_sessions.store(connection, [later], EVENTS[:1])
    assert retained_sessions.take_all(connection) == ([later], EVENTS[:1])


def test_sessions_go_with_their_account(connection: sqlite3.Connection) -> None:
    retained_sessions.store(connection, [ONE], [])
    connection.execute("DELETE FROM users WHERE id = 7")
    assert retained_sessions.take_all(connection) == ([], [])


def test_the_instance_remembers_a_text_until_it_is_told_to_forget(connection: sqlite3.Connection) -> None:
    assert instance.value_of(connection, "world") is None
    instance.set_value(connection, "world", "")
    assert instance.value_of(connection, "world") == ""
    instance.set_value(connection, "world", "seeded")
    assert instance.value_of(connection, "world") == "seeded"
    instance.remove_value(connection, "world")
    assert instance.value_of(connection, "world") is None
