"""Payloads and opcodes as a client hears and says them.

Area: conformance. Rules: 000.connect, 000.events, 000.identify, 000.opcodes, 000.payload, 000.resume, 000.states,
000.surfaces.
"""

from __future__ import annotations

from typing import Any, Final

import pytest
import trio
import trio.testing

from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import PROPERTIES
from chat.testing.world import World
from tests.conformance.outcomes import Outcome, end, outcome, table
from tests.spec.gateway_tables import IDENTIFY, RESUME, rules_of
from tests.spec.ledger import cases_of, proves

IDENTIFY_CASES: Final = table("identify_cases")
RESUME_CASES: Final = table("resume_cases")["payload"]
OPCODES: Final = table("opcodes")

INVALID_TOKEN: Final = (4004, "Invalid token")
INVALID_IDENTIFY: Final = (4002, "Invalid identify payload")
INVALID_SHARD: Final = (4010, "Invalid shard")


def expected(case: dict[str, Any]) -> Outcome:
    """The tables' tokens are nobody's: what is well formed fails there and no earlier."""
    if case["verdict"] == "ok":
        return INVALID_TOKEN
    code, reason = case["verdict"]
    return code, reason


async def verdicts(world: World, op: Opcode, cases: list[dict[str, Any]]) -> dict[str, Outcome]:
    """How a fresh socket takes each row's `d`."""
    got: dict[str, Outcome] = {}
    for case in cases:
        client = await world.open(heartbeats=False)
        await client.send(op, case["d"])
        got[case["name"]] = await outcome(client)
        client.drop()
    return got


async def test_every_identify_of_the_table_gets_its_verdict(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    got = await verdicts(chat_world, Opcode.IDENTIFY, IDENTIFY_CASES)
    for case in IDENTIFY_CASES:
        with proves(*rules_of(IDENTIFY, case["name"])):
            assert got[case["name"]] == expected(case), case["name"]
    assert got == {case["name"]: expected(case) for case in IDENTIFY_CASES}


async def test_every_resume_of_the_table_gets_its_verdict(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    got = await verdicts(chat_world, Opcode.RESUME, RESUME_CASES)
    for case in RESUME_CASES:
        with proves(*rules_of(RESUME, case["name"])):
            assert got[case["name"]] == expected(case), case["name"]
    assert got == {case["name"]: expected(case) for case in RESUME_CASES}


@pytest.mark.rule("000.opcodes.5", "000.surfaces.4")
async def test_a_scheme_word_before_the_token_makes_it_invalid(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bot, bob = chat_world.bot.token, chat_world.bob.token
    for token in (f"Bot {bot}", f"bot {bot}", f"Bearer {bob}", f"Bearer {bot}", f" {bob}", f"{bob} ", f"Bot {bob}"):
        client = await chat_world.open()
        await client.identify(token)
        assert await end(client) == INVALID_TOKEN, token


async def test_hello_comes_first_and_once_and_its_interval_holds(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    client = await chat_world.bob.open(hello=False, heartbeats=False)
    with proves("000.opcodes.12", "000.opcodes.11", "000.states.1"):
        hello = await client.next_payload()
        assert dict(hello.members) == {"op": 10, "d": {"heartbeat_interval": 41_250}}
    greeted = trio.current_time()
    await client.identify(chat_world.bob.token)
    await client.expect("READY")
    # The server's own request keeps to that interval (90 per cent of it) before and after whatever else happens.
    await client.expect_opcode(Opcode.HEARTBEAT, seconds=40)
    with proves("000.opcodes.13"):
        assert trio.current_time() - greeted == pytest.approx(37.125, abs=0.05)
    await client.heartbeat()
    await client.expect_opcode(Opcode.HEARTBEAT_ACK)
    await chat_world.anyone.fault("end_session", {"session_id": client.session_id})
    await client.expect_opcode(Opcode.INVALID_SESSION)
    await client.identify(chat_world.bob.token)
    await client.expect("READY")
    await client.expect_opcode(Opcode.HEARTBEAT, seconds=40)
    with proves("000.opcodes.13"):
        assert trio.current_time() - greeted == pytest.approx(2 * 37.125, abs=0.1)
    with proves("000.opcodes.13"):
        assert sum(payload.op == Opcode.HELLO for payload in client.payloads) == 1
        assert not any("heartbeat_interval" in str(payload.members) for payload in client.payloads if payload.op != 10)


async def test_what_travels_besides_dispatches_is_exactly_this(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    await bob.heartbeat()
    with proves("000.payload.3", "000.payload.5", "000.payload.6"):
        assert dict((await bob.expect_opcode(Opcode.HEARTBEAT_ACK)).members) == {"op": 11}
    with proves("000.opcodes.1"):
        assert dict((await bob.expect_opcode(Opcode.HEARTBEAT, seconds=40)).members) == {"op": 1, "d": None}
    await bob.heartbeat()
    await chat_world.anyone.fault("reconnect", {"session_id": bob.session_id})
    with proves("000.payload.4"):
        assert dict((await bob.expect_opcode(Opcode.RECONNECT)).members) == {"op": 7}
    stranger = await chat_world.open()
    await stranger.resume(chat_world.bob.token, "0" * 32, 0)
    with proves("000.opcodes.10"):
        assert dict((await stranger.expect_opcode(Opcode.INVALID_SESSION)).members) == {"op": 9, "d": False}


@pytest.mark.rule("000.payload.2", "000.opcodes.2")
async def test_a_client_writes_d_always_and_null_before_the_first_dispatch(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    client = await chat_world.bob.open(heartbeats=False)
    assert client.sequence is None
    await client.send_text('{"op": 1, "d": null}')
    assert await outcome(client) == Opcode.HEARTBEAT_ACK
    await client.identify(chat_world.bob.token)
    await client.expect("READY")
    await client.send_text('{"op": 1, "d": 1}')
    await client.expect_opcode(Opcode.HEARTBEAT_ACK)
    session = await chat_world.session_of(client)
    assert session is not None
    assert session["acknowledged"] == 1
    await client.send_text('{"op": 1}')
    assert await end(client) == (4001, "Unknown opcode")


async def test_the_session_id_of_ready_is_what_a_resume_at_the_same_address_names(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    for actor in (chat_world.bob, chat_world.bot):
        client = await actor.connect()
        assert client.ready is not None
        with proves("000.opcodes.14"):
            assert isinstance(client.ready["session_id"], str)
        assert client.ready["session_id"]
        with proves("000.opcodes.16"):
            assert isinstance(client.ready["guilds"], list)
        with proves("000.connect.6"):
            assert not any("gateway_url" in name for name in client.ready)
        client.drop()
        again = await actor.open()
        await again.send(
            Opcode.RESUME,
            {"token": actor.token, "session_id": client.ready["session_id"], "seq": client.sequence},
        )
        with proves("000.opcodes.14", "000.connect.6"):
            await again.expect("RESUMED")
        with proves("000.events.1"):
            assert not any(payload.name == "READY" for payload in again.payloads)


@pytest.mark.rule("000.opcodes.15", "000.opcodes.17", "000.opcodes.18")
async def test_ready_echoes_the_shard_pair_and_nothing_where_none_was_sent(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    for actor in (chat_world.bot, chat_world.bob):
        for pair in ([0, 1], [1, 2], [16_383, 16_384]):
            sharded = await actor.connect(shard=pair)
            assert sharded.ready is not None
            assert sharded.ready["shard"] == pair
        for whole in (await actor.connect(), await actor.connect(shard=None)):
            assert whole.ready is not None
            assert "shard" not in whole.ready
            assert [guild["id"] for guild in whole.ready["guilds"]] == [chat_world.guild_id]


@pytest.mark.parametrize(
    "pair",
    [
        *cases_of("000.opcodes.19", [1, 1], [2, 1]),
        *cases_of("000.opcodes.20", [-1, 1]),
        *cases_of("000.opcodes.23", [0, 0]),
        *cases_of("000.opcodes.24", [0, 16_385]),
        [0, -1],
        *cases_of("000.opcodes.19", [16_384, 16_384]),
    ],
)
async def test_a_shard_pair_outside_its_bounds_closes_even_with_a_good_token(
    chat_world: World, autojump_clock: trio.testing.MockClock, pair: list[int]
) -> None:
    for actor in (chat_world.bot, chat_world.bob):
        client = await actor.open()
        await client.identify(actor.token, shard=pair)
        assert await end(client) == INVALID_SHARD


@pytest.mark.parametrize(
    "members",
    [
        *cases_of("000.identify.17", {"token": None}),
        *cases_of("000.identify.18", {"token": ""}),
        *cases_of("000.opcodes.4", {"token": 7}),
        *cases_of("000.opcodes.7", {"properties": None}, {"properties": []}, {"properties": "x"}),
    ],
)
async def test_a_malformed_identify_closes_whatever_else_it_says(
    chat_world: World, autojump_clock: trio.testing.MockClock, members: dict[str, object]
) -> None:
    client = await chat_world.open()
    identify = {"token": chat_world.bob.token, "properties": dict(PROPERTIES), **members}
    await client.send(Opcode.IDENTIFY, identify)
    assert await end(client) == INVALID_IDENTIFY


async def test_without_a_session_every_opcode_but_three_is_closed_with_4003(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    others = {row["op"] for row in OPCODES} | {-1, 17, 27, 29, 99}
    server = "000.states.41"
    of_one = {
        99: ("000.states.39",),
        Opcode.INVALID_SESSION: (server, "000.opcodes.10"),
        Opcode.HELLO: (server, "000.opcodes.11"),
        Opcode.HEARTBEAT_ACK: (server,),
    }
    for op in sorted(others - {Opcode.HEARTBEAT, Opcode.IDENTIFY, Opcode.RESUME}):
        client = await chat_world.open(heartbeats=False)
        await client.send(op, {})
        with proves("000.states.14", *of_one.get(op, ())):
            assert await end(client) == (4003, "Not authenticated"), op


@pytest.mark.rule("000.states.38", "000.states.40", "000.states.25")
async def test_with_a_session_opcodes_of_the_server_and_unknown_ones_are_closed_with_4001(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    of_the_server = {row["op"] for row in OPCODES if row["direction"] in ("server", "reserved")}
    for op in sorted(of_the_server | {-1, 17, 27, 29, 99}):
        client = await chat_world.bob.connect(heartbeats=False)
        await client.send(op, {})
        assert await end(client) == (4001, "Unknown opcode"), op


@pytest.mark.rule("000.states.23", "000.states.25")
async def test_a_second_identify_is_closed_and_the_session_stays(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect()
    await bob.identify(chat_world.bob.token)
    assert await end(bob) == (4005, "Already authenticated")
    again = await chat_world.bob.resume(bob)
    await again.expect("RESUMED")
