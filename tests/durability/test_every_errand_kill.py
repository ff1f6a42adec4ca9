"""A server that is killed after every unit of every request that takes more than one: what was begun is done.

What `kill -9` leaves is what was committed (`tests.durability.ended_servers`); real processes are killed in
`test_errands_kill`.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import pytest
import trio
from trio.testing import MockClock

from chat.domain.guilds import claims, guild_ownership
from chat.domain.messages import author_messages, message_deletion, own_message_deletion
from chat.registries.jobs import ErrandKind
from chat.store import errands, whole_database
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import World
from tests.durability.ended_servers import Killer, next_server, numbers, picture_of
from tests.durability.portions import REQUESTS, everybody_is_there, make_bot_travel

LONGEST: Final = 20
"""Units that a request of these takes at most."""


@pytest.fixture(autouse=True)
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guild_ownership, "MEMBERS_AT_ONCE", 2)
    monkeypatch.setattr(claims, "AT_ONCE", 2)
    for module in (author_messages, own_message_deletion, message_deletion):
        monkeypatch.setattr(module, "BATCH_MESSAGES", 2)


async def prepared(folder: Path) -> set[int]:
    """A store in which everybody is there; the numbers in it."""
    async with open_chat_server(folder) as server, trio.open_nursery() as nursery:
        world = World(server.description(), server.route(), nursery)
        await make_bot_travel(world)
        await server.database.write(lambda connection: everybody_is_there(connection, messages=5, members=4))
        known = numbers(server.database.reader)
        await world.aclose()
        nursery.cancel_scope.cancel()
    return known


async def settled(server: ChatServer) -> None:
    """Returns once nothing is left to do, and what is left to sweeps is swept."""
    await trio.sleep(700)
    while errands.ids(server.database.reader):  # noqa: ASYNC110 - errands tell nobody
        await trio.sleep(1)


async def asked(server: ChatServer, name: str, killer: Killer) -> bool:
    """Whether the request was answered before the server was killed."""
    is_answered = False
    async with trio.open_nursery() as nursery:
        world = World(server.description(), server.route(), nursery)

        async def ask() -> None:
            nonlocal is_answered
            answer = await REQUESTS[name](world)
            assert answer.status < 300, answer.body
            is_answered = True
            nursery.cancel_scope.cancel()

        nursery.start_soon(ask)
        await killer.killed.wait()
        nursery.cancel_scope.cancel()
    await world.aclose()
    return is_answered


@pytest.mark.parametrize("name", REQUESTS)
async def test_what_was_begun_is_done_whenever_the_server_is_killed(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    base = tmp_path / "base"
    base.mkdir()
    known = await prepared(base)
    killer = Killer(monkeypatch)
    pictures, kills = [], 0
    for units in (None, 0, *range(1, LONGEST + 1)):
        folder = tmp_path / str(units)
        shutil.copytree(base, folder)
        async with open_chat_server(folder) as server:
            is_answered = False
            if units is not None:
                killer.units_left = units or None
                is_answered = await asked(server, name, killer)
            if units:
                await next_server(server, killer)
            await settled(server)
            found = picture_of(server.database.reader, known, uses_count=False)
            assert list(whole_database.leftovers(server.database.reader)) == []
            assert list(whole_database.wrong_counts(server.database.reader)) == []
        if not units:
            pictures.append(found)
            continue
        untouched, done = pictures
        if found != untouched or is_answered:
            for table, rows in done.items():
                assert found[table] == rows, (table, units)
            if is_answered:
                break
            kills += 1
    assert untouched != done
    assert 1 <= kills < LONGEST


def test_every_kind_of_errand_is_begun_by_one_of_these() -> None:
    assert len(REQUESTS) >= len(ErrandKind)
