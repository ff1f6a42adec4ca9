"""What the plugin `tests.units` holds requests against."""

from __future__ import annotations

import sqlite3

import pytest
from trio.testing import MockClock

from chat.compat.discord import own_operations
from chat.development.routes import ROUTES
from chat.domain.policy.errands import Errands
from chat.registries.jobs import ErrandKind
from chat.store.database import Database
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.answers import operations
from tests.durability.portions import REQUESTS
from tests.units import table


def test_the_table_names_what_there_is() -> None:
    modules = (*ROUTES, own_operations.routes)
    elsewhere = {f"{operation.method} {operation.path}" for module in modules for operation in module.operations}
    for name in table()["operations"].keys() - elsewhere:
        method, path = name.split(" ")
        found = operations().find(path)
        assert found is not None, name
        assert method in found[0], name
    assert table()["operations"].keys().isdisjoint(REQUESTS), "errands need no row"


async def test_every_kind_of_errand_is_done_by_somebody(chat_server: ChatServer) -> None:
    errands: Errands = chat_server.server.core.errands
    assert errands.handled == frozenset(ErrandKind)


async def test_a_request_of_two_units_is_found(
    chat_server: ChatServer,
    chat_world: World,
    autojump_clock: MockClock,
    requests_are_whole: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes = chat_server.server.areas.accounts.user_notes
    put = notes.put

    def twice(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE users SET last_active_at = 5")

    async def careless(*arguments: object) -> None:
        await put(*arguments)  # type: ignore[arg-type]
        database: Database = chat_server.database
        await database.write(twice)

    monkeypatch.setattr(type(notes), "put", lambda _, *arguments: careless(*arguments))
    (await chat_world.bob.rest.write_note(chat_world.carol.id, "x")).expect(204)
    (fault,) = requests_are_whole
    assert "takes 2 units of writing" in fault
    requests_are_whole.clear()
