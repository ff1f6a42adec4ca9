"""What a server measures of itself, and the history that it shows."""

from __future__ import annotations

import contextlib
import json
import signal
from pathlib import Path

import trio
from trio.testing import MockClock

from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.figures import AtHand, FigureKeeper
from chat.observation import Observation
from chat.registries.events import EventName
from chat.store.administration import figures
from chat.store.administration.figures import MINUTE, Figures
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.durability.server_process import running

HELD_SECONDS = 0.05
"""How long another writer holds the database."""


def keeper_of(server: ChatServer) -> FigureKeeper:
    """A keeper beside a server in memory, whose own does not run on virtual time."""
    parts = server.server
    at_hand = AtHand(sessions=lambda: len(parts.gateway.table), online=lambda: 3)
    file = Path(parts.surroundings.directory) / "chat.sqlite3"
    return FigureKeeper(parts.database, file, parts.clock, parts.core.bus, at_hand)


def minutes(server: ChatServer) -> list[Figures]:
    return list(figures.of_span(server.database.reader, MINUTE, 0, 1 << 62))


def seen(status: int, seconds: float) -> Observation:
    one = Observation("GET")
    one.began -= seconds  # type: ignore[misc]
    one.status = status
    return one


async def test_a_minute_is_counted_written_and_shown(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    keeper, admin = keeper_of(chat_server), chat_world.admin.rest
    await chat_world.bob.connect()
    for status, seconds in ((200, 0.004), (200, 0.004), (503, 2.0), (101, 900.0)):
        keeper.observe(seen(status, seconds))
    for content in ("one", "two"):
        path = f"/v1/channels/{chat_world.channel_id}/messages"
        (await chat_world.bob.rest.post(path, {"content": content})).expect(200)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(keeper.run, trio.sleep)
        await trio.sleep(61)
        nursery.cancel_scope.cancel()
    (row,) = minutes(chat_server)
    assert (row.messages, row.requests, row.failures) == (2, 3, 1)
    assert (row.sessions, row.online) == (1, 3)
    assert row.memory_bytes > 0
    assert row.database_bytes > 0
    history = (await admin.get("/v1/admin/instance/figures/history")).expect(200)
    assert (history["period"], history["step_seconds"]) == ("day", 300)
    (point,) = history["points"]
    assert (point["messages"], point["requests"], point["failures"], point["online"]) == (2, 3, 1, 3)
    assert 3.5 < point["p50_ms"] < 4.5
    assert 1_800 < point["p99_ms"] < 2_200
    week = (await admin.get("/v1/admin/instance/figures/history?period=week")).expect(200)
    assert week["points"][0]["messages"] == 2
    answer = await admin.get("/v1/admin/instance/figures/history?period=month")
    assert answer.expect(400)["code"] == "INVALID_FORM_BODY"


async def test_what_the_store_does_not_take_is_dropped(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    keeper = keeper_of(chat_server)
    keeper.observe(seen(200, 0.1))
    chat_server.database.failing = True
    await keeper.finish()
    chat_server.database.failing = False
    keeper.observe(seen(200, 0.1))
    await keeper.finish()
    assert sum(row.requests for row in minutes(chat_server)) == 1


async def test_messages_are_counted_from_the_bus(chat_server: ChatServer, chat_world: World) -> None:
    keeper = keeper_of(chat_server)
    for name in (EventName.MESSAGE_CREATE, EventName.MESSAGE_UPDATE):
        chat_server.server.core.bus.publish(Event(name, {}, ToAccounts(())))
    await keeper.finish()
    assert [row.messages for row in minutes(chat_server)] == [1]


async def test_slow_work_is_logged_and_the_last_minute_written_at_the_end(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        async with running(
            tmp_path / "data", log=log, prepared=False, CHAT_SLOW_REQUEST_MS="1", CHAT_SLOW_STATEMENT_MS="1"
        ) as server:
            path = f"/v1/channels/{server.channel_id}/messages"
            (await server.alice.post(path, {"content": "a"})).expect(200)
            with contextlib.closing(connect(DataDirectory(tmp_path / "data").database)) as other:
                # Another writer keeps the server waiting, however fast the disk is.
                async with trio.open_nursery() as nursery:
                    other.execute("BEGIN IMMEDIATE")
                    nursery.start_soon(server.alice.post, path, {"content": "b"})
                    await trio.sleep(HELD_SECONDS)
                    other.execute("ROLLBACK")
            (await server.alice.get("/v1/users/@me")).expect(200)
            assert await server.end(signal.SIGTERM) == 0
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines() if line.startswith("{")]
    slow = [line for line in lines if line["logger"] == "chat.slow"]
    requests = [line for line in slow if line["event"] == "slow request"]
    assert "POST /v1/channels/{channel_id}/messages" in {line["operation"] for line in requests}
    assert all(line["ms"] >= 1 and line["request_id"] for line in requests)
    statements = [line for line in slow if line["event"] == "slow statement"]
    assert "lock" in {line["kind"] for line in statements}
    sends = [line for line in statements if line["operation"] == "POST /v1/channels/{channel_id}/messages"]
    assert sends
    assert all(line["ms"] >= 1 for line in statements)
    with contextlib.closing(connect(DataDirectory(tmp_path / "data").database)) as connection:
        minutes = figures.of_span(connection, MINUTE, 0, 1 << 62)
    assert sum(row.requests for row in minutes) >= 3
    assert sum(row.messages for row in minutes) == 2
    assert minutes[0].memory_bytes > 10_000_000
