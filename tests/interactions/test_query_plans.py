"""Every statement about interactions finds its rows by an index, since there may be many of them at once."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

from chat.registries.interactions import CallbackType, InteractionType
from chat.store.connections import connect
from chat.store.interactions import interactions
from chat.store.interactions.interactions import Interaction
from chat.store.migrations import prepare

ROW: Final = Interaction(
    id=1,
    application_id=2,
    user_id=3,
    type=InteractionType.APPLICATION_COMMAND.value,
    channel_id=4,
    guild_id=None,
    message_id=None,
    token_hash=b"hash",
    session_id=None,
    nonce=None,
    name="ping",
    created_at=5,
    due_at=6,
)

USES: Final[dict[str, Callable[[sqlite3.Connection], Any]]] = {
    "insert": lambda connection: interactions.insert(connection, attrs.evolve(ROW, id=9, token_hash=b"other")),
    "by_id": lambda connection: interactions.by_id(connection, 1),
    "by_token": lambda connection: interactions.by_token(connection, 2, b"hash"),
    "answer": lambda connection: interactions.answer(connection, 1, CallbackType.MODAL.value),
    "give_up": lambda connection: interactions.give_up(connection, 7, 100),
    "keep_delivery": lambda connection: interactions.keep_delivery(connection, 1, b"sealed"),
    "waiting_deliveries": lambda connection: interactions.waiting_deliveries(connection, 5),
    "next_due": interactions.next_due,
    "oldest": interactions.oldest,
    "latest": lambda connection: interactions.latest(connection, 7, 100),
    "forget_older": lambda connection: interactions.forget_older(connection, 7),
    "put_ephemeral": lambda connection: interactions.put_ephemeral(connection, 1, 8, {}),
    "ephemeral": lambda connection: interactions.ephemeral(connection, 8),
    "delete_ephemeral": lambda connection: interactions.delete_ephemeral(connection, 8),
    "erasure": lambda connection: connection.execute("SELECT id FROM interactions WHERE user_id = 3 LIMIT 9"),
    "an application goes": lambda connection: connection.execute(
        "SELECT id FROM interactions WHERE application_id = 2"
    ),
    "an interaction goes": lambda connection: connection.execute(
        "SELECT id FROM ephemeral_messages WHERE interaction_id = 1"
    ),
}


def test_every_function_of_the_module_is_looked_at() -> None:
    there = {
        name
        for name, value in vars(interactions).items()
        if callable(value) and getattr(value, "__module__", "") == interactions.__name__ and not name.startswith("_")
    }
    assert there - {"Interaction"} <= USES.keys()


@pytest.mark.parametrize("name", USES)
def test_no_statement_reads_a_whole_table(tmp_path: Path, name: str) -> None:
    prepare(tmp_path / "chat.db", durable=False)
    with contextlib.closing(connect(tmp_path / "chat.db")) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        interactions.insert(connection, ROW)
        said: list[str] = []
        connection.set_trace_callback(said.append)
        USES[name](connection)
        connection.set_trace_callback(None)
        statements = [text for text in said if re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE)\b", text)]
        assert statements
        for statement in statements:
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
            assert not [step for step in plan if step.startswith("SCAN") and "CONSTANT" not in step], (statement, plan)
