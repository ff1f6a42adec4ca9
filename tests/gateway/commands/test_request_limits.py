"""How many requests of one socket are in progress, for how long, and what becomes of the rest."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
import trio
from trio.testing import MockClock

from chat.gateway.commands import handler
from chat.registries.close_codes import UNKNOWN_OPCODE
from chat.registries.events import EventName
from chat.registries.opcodes import Opcode
from chat.store.database import Database
from tests.gateway.commands.stage import Client, Stage
from tests.guilds.guild_world import GuildPlace

T = TypeVar("T")
MEMBERS = Opcode.REQUEST_GUILD_MEMBERS


class SlowReads:
    """Stands before a database: reads wait until they are let go."""

    def __init__(self, database: Database) -> None:
        self._read = database.read
        self.waiting = 0
        self.gate = trio.Event()
        database.read = self.read  # type: ignore[method-assign]

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        self.waiting += 1
        try:
            await self.gate.wait()
        finally:
            self.waiting -= 1
        return await self._read(query)


class Desk:
    """Alice and her client, in her own guild, over slow reads."""

    def __init__(self, stage: Stage, guild: GuildPlace, alice: Client) -> None:
        self.stage = stage
        self.guild = guild
        self.alice = alice
        self.reads = SlowReads(stage.world.database)

    def asks_for_members(self, nonce: str) -> None:
        """Send opcode 8."""
        d = {"guild_id": str(self.guild.id), "user_ids": [str(self.alice.session.user_id)], "nonce": nonce}
        assert self.alice.sends(MEMBERS, d) is None

    def asks_for_counts(self) -> None:
        """Send opcode 16."""
        d = {"guild_id": str(self.guild.id), "channel_id": str(self.guild.general)}
        assert self.alice.sends(Opcode.REQUEST_CHANNEL_MEMBER_COUNTS, d) is None

    async def answered(self) -> list[str]:
        """The nonces of the chunks so far."""
        await self.stage.settled()
        return sorted(data["nonce"] for data in self.alice.heard(EventName.GUILD_MEMBERS_CHUNK))


@pytest.fixture
async def desk(stage: Stage) -> Desk:
    alice = await stage.world.person("alice")
    guild = await stage.world.guild(alice)
    return Desk(stage, guild, stage.connect(alice, guild))


async def test_four_requests_run_and_the_excess_is_dropped(desk: Desk) -> None:
    for _ in range(5):
        desk.asks_for_counts()
    await desk.stage.settled()
    desk.reads.gate.set()
    await desk.stage.settled()
    assert len(desk.alice.heard(EventName.CHANNEL_MEMBER_COUNTS_UPDATE)) == 4
    desk.asks_for_counts()
    await desk.stage.settled()
    assert len(desk.alice.heard(EventName.CHANNEL_MEMBER_COUNTS_UPDATE)) == 5


async def test_every_kind_of_request_takes_one_of_the_four_places(desk: Desk) -> None:
    desk.asks_for_members("a")
    desk.asks_for_counts()
    for _ in range(2):
        channels = {str(desk.guild.general): [[0, 99]]}
        desk.alice.sends(
            Opcode.LAZY_REQUEST, {"subscriptions": {str(desk.guild.id): {"member_list_channels": channels}}}
        )
    desk.alice.sends(Opcode.REQUEST_GUILD_COUNTS, {"guild_ids": [desk.guild.id]})
    await desk.stage.settled()
    assert desk.alice.heard(EventName.GUILD_COUNTS_UPDATE) == []
    desk.reads.gate.set()
    await desk.stage.settled()
    assert len(desk.alice.heard(EventName.GUILD_MEMBER_LIST_UPDATE)) == 2


async def test_one_request_for_members_waits_for_a_place_and_a_later_one_replaces_it(desk: Desk) -> None:
    for nonce in "abcdef":
        desk.asks_for_members(nonce)
    await desk.stage.settled()
    assert desk.reads.waiting == 4
    desk.reads.gate.set()
    assert await desk.answered() == ["a", "b", "c", "d", "f"]


async def test_another_socket_has_its_own_places(desk: Desk) -> None:
    for _ in range(4):
        desk.asks_for_counts()
    await desk.stage.settled()
    other = desk.stage.connect(await desk.stage.world.person("bob"))
    ((event, _),) = await other.asks(Opcode.REQUEST_GUILD_COUNTS, {"guild_ids": ["1"]})
    assert event == EventName.GUILD_COUNTS_UPDATE


async def test_a_request_that_takes_ten_seconds_is_abandoned(autojump_clock: MockClock, desk: Desk) -> None:
    desk.asks_for_members("slow")
    await trio.sleep(9.9)
    assert desk.reads.waiting == 1
    await trio.sleep(0.2)
    assert desk.reads.waiting == 0
    desk.reads.gate.set()
    assert await desk.answered() == []
    desk.asks_for_members("next")
    assert await desk.answered() == ["next"]


async def test_a_request_answered_within_ten_seconds_is_heard(autojump_clock: MockClock, desk: Desk) -> None:
    desk.asks_for_members("slow")
    await trio.sleep(9.9)
    desk.reads.gate.set()
    assert await desk.answered() == ["slow"]


async def test_a_request_that_waits_runs_when_others_are_abandoned(autojump_clock: MockClock, desk: Desk) -> None:
    for nonce in "abcde":
        desk.asks_for_members(nonce)
    await trio.sleep(10.1)
    desk.reads.gate.set()
    assert await desk.answered() == ["e"]


async def test_with_the_socket_its_requests_go_too(desk: Desk) -> None:
    for nonce in "abcde":
        desk.asks_for_members(nonce)
    await desk.stage.settled()
    desk.alice.drops()
    await desk.stage.settled()
    assert desk.reads.waiting == 0
    desk.reads.gate.set()
    desk.alice.resumes()
    assert await desk.answered() == []


async def test_a_session_that_ends_is_not_answered(desk: Desk) -> None:
    desk.asks_for_members("a")
    await desk.stage.settled()
    desk.stage.end(desk.alice)
    desk.reads.gate.set()
    assert await desk.answered() == []


async def test_requests_of_all_sockets_together_are_bounded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    people = [desk.stage.connect(await desk.stage.world.person(f"p{number}")) for number in range(5)]
    for client in people:
        desk.stage.hub.connect(client.session, desk.guild.id)
        for _ in range(4):
            client.sends(MEMBERS, {"guild_id": desk.guild.id, "user_ids": [client.session.user_id]})
    await desk.stage.settled()
    assert desk.reads.waiting == handler.REQUESTS_AT_ONCE
    desk.reads.gate.set()
    await desk.stage.settled()
    assert [len(client.heard(EventName.GUILD_MEMBERS_CHUNK)) for client in people] == [4] * 5


async def test_an_opcode_that_no_session_may_send_closes(desk: Desk) -> None:
    assert desk.alice.sends(Opcode.HELLO, {}) is UNKNOWN_OPCODE


async def test_a_defect_met_by_one_request_does_not_end_the_others(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(query: Any) -> Any:
        raise ZeroDivisionError

    working = desk.stage.world.database.read
    monkeypatch.setattr(desk.stage.world.database, "read", broken)
    desk.asks_for_members("broken")
    await desk.stage.settled()
    monkeypatch.setattr(desk.stage.world.database, "read", working)
    desk.reads.gate.set()
    desk.asks_for_members("works")
    assert await desk.answered() == ["works"]
