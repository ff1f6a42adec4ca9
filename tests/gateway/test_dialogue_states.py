"""Document 000, States and transitions: every row as a conversation with a whole server, on virtual time.

Area: gateway. Rules: 000.limits, 000.reconnect, 000.sequencing, 000.states.
"""

from __future__ import annotations

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from chat.registries.close_codes import (
    ALREADY_AUTHENTICATED,
    FAILED_TO_START_SESSION,
    HEARTBEAT_TIMEOUT,
    INVALID_API_VERSION,
    INVALID_TOKEN,
    NOT_AUTHENTICATED,
    RATE_LIMITED,
    UNKNOWN_OPCODE,
)
from chat.registries.opcodes import SESSION_COMMANDS, Opcode
from chat.testing import ChatServer, World
from tests.gateway.conversations import (
    acknowledged,
    closes,
    invalidated,
    is_unauthenticated,
    long_replay,
    no_turns,
    post,
    resumed,
    session_of,
)
from tests.spec.ledger import proves

HOLDING = [{"draining": True}, {"at_capacity": True}, {"starts_paused": True}, {"rollout_user_ids": []}]
RELEASED = {"draining": False, "at_capacity": False, "starts_paused": False, "rollout_user_ids": None}


# Opening


@pytest.mark.rule("000.states.1")
async def test_hello_comes_first_and_the_socket_waits(chat_world: World, autojump_clock: MockClock) -> None:
    client = await chat_world.open(hello=False, heartbeats=False)
    hello = await client.next_payload()
    assert dict(hello.members) == {"op": 10, "d": {"heartbeat_interval": 41_250}}
    await client.expect_silence(5)
    await is_unauthenticated(client)


@pytest.mark.rule("000.states.2", "000.states.3")
@pytest.mark.parametrize("query", ["", "encoding=json", "v=", "v=2", "v=01", "v=1.0", "v=2&v=1"])
async def test_another_version_is_refused_before_hello(
    chat_world: World, autojump_clock: MockClock, query: str
) -> None:
    client = await chat_world.open(query=query, hello=False)
    await closes(client, INVALID_API_VERSION)
    assert not client.payloads


# Identify is held


@pytest.mark.parametrize(
    "obstacle",
    [
        pytest.param(obstacle, marks=pytest.mark.rule(f"000.states.{number}"))
        for number, obstacle in enumerate(HOLDING, 5)
    ],
    ids=lambda obstacle: next(iter(obstacle)),
)
async def test_an_identify_is_held_until_the_obstacle_is_gone(
    chat_world: World, autojump_clock: MockClock, obstacle: dict[str, object]
) -> None:
    await chat_world.anyone.node(**obstacle)
    client = await chat_world.bob.open()
    await client.identify(chat_world.bob.token)
    await client.expect_silence(30)
    await is_unauthenticated(client)
    await chat_world.anyone.node(**RELEASED)
    with proves("000.states.9"):
        await client.expect("READY", seconds=2)


@pytest.mark.rule("000.states.9")
async def test_the_first_retry_comes_after_one_to_two_seconds(chat_world: World, autojump_clock: MockClock) -> None:
    for _ in range(10):
        await chat_world.anyone.node(at_capacity=True)
        client = await chat_world.bot.open()
        await client.identify(chat_world.bot.token)
        held_at = trio.current_time()
        await is_unauthenticated(client)
        await chat_world.anyone.node(at_capacity=False)
        await client.expect("READY")
        assert 0.999 <= trio.current_time() - held_at <= 2.0


@pytest.mark.rule("000.states.8")
async def test_accounts_inside_the_rollout_start(chat_world: World, autojump_clock: MockClock) -> None:
    await chat_world.anyone.node(rollout_user_ids=[chat_world.bob.id])
    await chat_world.bob.connect()
    carol = await chat_world.carol.open()
    await carol.identify(chat_world.carol.token)
    await carol.expect_silence(10)


@pytest.mark.rule("000.states.10")
async def test_a_later_identify_replaces_the_held_one(chat_world: World, autojump_clock: MockClock) -> None:
    await chat_world.anyone.node(at_capacity=True)
    client = await chat_world.open()
    await client.identify(chat_world.bob.token)
    await is_unauthenticated(client)
    await client.identify(chat_world.carol.token)
    await is_unauthenticated(client)
    await chat_world.anyone.node(at_capacity=False)
    ready = await client.expect("READY")
    assert ready.data["user"]["id"] == chat_world.carol.id
    await client.expect_silence(10)
    assert [session["user_id"] for session in await chat_world.anyone.gateway_sessions()] == [chat_world.carol.id]


@pytest.mark.rule("000.states.11")
async def test_a_resume_cancels_the_held_identify(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    bob.drop()
    await chat_world.anyone.node(at_capacity=True)
    client = await chat_world.bob.open()
    await client.identify(chat_world.carol.token)
    await client.resume(chat_world.bob.token, bob.session_id, bob.sequence)
    await client.expect("RESUMED")
    await chat_world.anyone.node(at_capacity=False)
    await client.expect_silence(10)
    assert [session["user_id"] for session in await chat_world.anyone.gateway_sessions()] == [chat_world.bob.id]


@pytest.mark.rule("000.states.12", "000.states.16")
async def test_a_held_identify_with_a_bad_token_is_judged_when_it_is_tried(
    chat_world: World, autojump_clock: MockClock
) -> None:
    await chat_world.anyone.node(at_capacity=True)
    client = await chat_world.open()
    await client.identify("cht_" + "0" * 36)
    await client.expect_silence(10)
    await chat_world.anyone.node(at_capacity=False)
    await closes(client, INVALID_TOKEN, seconds=2)


@pytest.mark.rule("000.states.13")
@pytest.mark.chat_settings(rate_limits=True)
async def test_beyond_300_identifies_a_minute_there_is_no_reply(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    await chat_world.anyone.node(at_capacity=True)
    first = await chat_world.bot.open()
    for _ in range(30):
        for _ in range(10):
            await first.identify(chat_world.bot.token)
        await trio.sleep(0.1)
    await is_unauthenticated(first)
    await chat_world.anyone.node(at_capacity=False)
    await first.expect("READY")
    second = await chat_world.bot.open()
    await second.identify(chat_world.bot.token)
    await second.expect_silence(20)
    await is_unauthenticated(second)
    await chat_world.bot.connect(route=chat_server.route("10.0.0.9"))
    await trio.sleep(40)
    await second.identify(chat_world.bot.token)
    await second.expect("READY")


# Unauthenticated


@pytest.mark.rule("000.states.14")
@pytest.mark.parametrize("opcode", sorted(SESSION_COMMANDS), ids=lambda opcode: opcode.name)
async def test_commands_need_a_session(chat_world: World, autojump_clock: MockClock, opcode: Opcode) -> None:
    client = await chat_world.open()
    await client.send(opcode, {})
    await closes(client, NOT_AUTHENTICATED)


@pytest.mark.rule("000.states.15")
async def test_identify_is_answered_with_ready(chat_world: World, autojump_clock: MockClock) -> None:
    client = await chat_world.bob.open()
    await client.identify(chat_world.bob.token)
    ready = await client.next_payload()
    assert (ready.op, ready.name, ready.sequence) == (0, "READY", 1)
    assert (await session_of(chat_world, client))["user_id"] == chat_world.bob.id


@pytest.mark.rule("000.states.16")
@pytest.mark.parametrize("token", ["cht_" + "0" * 36, "nonsense", "1.x", "Bearer x"])
async def test_an_invalid_token_closes(chat_world: World, autojump_clock: MockClock, token: str) -> None:
    client = await chat_world.open()
    await client.identify(token)
    await closes(client, INVALID_TOKEN)


@pytest.mark.rule("000.states.17")
async def test_a_start_that_fails_for_another_cause_closes(chat_world: World, autojump_clock: MockClock) -> None:
    await chat_world.anyone.node(storage_failing=True)
    client = await chat_world.open()
    await client.identify(chat_world.bob.token)
    await closes(client, FAILED_TO_START_SESSION)


# Starting


@pytest.mark.rule("000.states.18")
async def test_an_rpc_failure_holds_the_identify(chat_world: World, autojump_clock: MockClock) -> None:
    await chat_world.anyone.node(rpc_failing=True)
    client = await chat_world.bob.open()
    await client.identify(chat_world.bob.token)
    await client.expect_silence(20)
    await is_unauthenticated(client)
    await chat_world.anyone.node(rpc_failing=False)
    await client.expect("READY", seconds=2)


@pytest.mark.rule("000.states.19")
async def test_a_timeout_holds_the_identify(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    client = await chat_world.bob.open()
    async with no_turns(chat_server):
        await client.identify(chat_world.bob.token)
        await client.expect_silence(10.5)
    await client.expect("READY", seconds=2)
    impatient = await chat_world.carol.open()
    async with no_turns(chat_server):
        await impatient.identify(chat_world.carol.token)
        await trio.sleep(10.5)
        await impatient.send(Opcode.REQUEST_GUILD_COUNTS, {"guild_ids": []})
        await closes(impatient, NOT_AUTHENTICATED)


@pytest.mark.rule("000.states.31", "000.states.34", "000.states.30")
async def test_commands_wait_while_a_session_starts_and_heartbeats_do_not(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    client = await chat_world.bob.open(heartbeats=False)
    async with no_turns(chat_server):
        await client.identify(chat_world.bob.token)
        for status in ("idle", "invisible", "dnd"):
            await client.send(Opcode.PRESENCE_UPDATE, {"status": status})
        await acknowledged(client, "whatever")
        await client.expect_silence(1)
    await client.expect("READY")
    await acknowledged(client, None)
    assert (await session_of(chat_world, client))["status"] == "dnd"


@pytest.mark.rule("000.states.34")
async def test_what_waited_is_judged_in_the_state_that_was_reached(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    client = await chat_world.bob.open()
    async with no_turns(chat_server):
        await client.identify(chat_world.bob.token)
        await client.identify(chat_world.bob.token)
    await client.expect("READY")
    await closes(client, ALREADY_AUTHENTICATED)


@pytest.mark.rule("000.states.35")
async def test_more_than_64_waiting_commands_close(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    client = await chat_world.bob.open()
    async with no_turns(chat_server):
        await client.identify(chat_world.bob.token)
        for _ in range(64):
            await client.send(Opcode.REQUEST_GUILD_COUNTS, {"guild_ids": []})
        await is_unauthenticated(client)
        await client.send(Opcode.REQUEST_GUILD_COUNTS, {"guild_ids": []})
        await closes(client, RATE_LIMITED)


# Replaying


async def test_commands_and_heartbeats_during_a_replay(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    again = await long_replay(chat_world, bob)
    await again.send(Opcode.REQUEST_GUILD_COUNTS, {"guild_ids": [chat_world.guild_id], "nonce": "during"})
    await again.heartbeat(None)
    await trio.testing.wait_all_tasks_blocked()
    again.go_on_reading()
    names = [(await again.next_payload()).name for _ in range(203)]
    assert names.count("MESSAGE_CREATE") == 200
    with proves("000.states.32"):
        assert again.acknowledgements == 1
    with proves("000.states.21"):
        assert "GUILD_COUNTS_UPDATE" in names or (await again.expect("GUILD_COUNTS_UPDATE")).data["nonce"] == "during"
    with proves("000.states.20"):
        assert "RESUMED" in names or await again.expect("RESUMED")
    with proves("000.sequencing.5"):
        assert (await session_of(chat_world, again))["sequence"] == again.sequence


@pytest.mark.rule("000.states.22")
async def test_identify_during_a_replay_closes(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    again = await long_replay(chat_world, bob)
    await again.identify(chat_world.bob.token)
    again.go_on_reading()
    await closes(again, ALREADY_AUTHENTICATED)


@pytest.mark.rule("000.states.24")
async def test_resume_during_a_replay_attaches_the_named_session(chat_world: World, autojump_clock: MockClock) -> None:
    other = await chat_world.bob.connect()
    other.drop()
    bob = await chat_world.bob.connect(heartbeats=False)
    again = await long_replay(chat_world, bob)
    await again.resume(chat_world.bob.token, other.session_id, other.sequence)
    again.go_on_reading()
    await again.expect("RESUMED")
    sessions = {session["id"]: session["attached"] for session in await chat_world.anyone.gateway_sessions()}
    assert sessions == {bob.session_id: False, other.session_id: True}


# Ready


@pytest.mark.rule("000.states.23")
async def test_identify_on_a_ready_socket_closes(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    await bob.identify(chat_world.bob.token)
    await closes(bob, ALREADY_AUTHENTICATED)


@pytest.mark.rule("000.states.24")
async def test_resume_on_a_ready_socket_attaches_the_named_session(
    chat_world: World, autojump_clock: MockClock
) -> None:
    first = await chat_world.bob.connect()
    second = await chat_world.bob.connect()
    first.drop()
    await second.resume(chat_world.bob.token, first.session_id, first.sequence)
    await second.expect("RESUMED")
    shown = {session["id"]: session["attached"] for session in await chat_world.anyone.gateway_sessions()}
    assert shown[first.session_id or ""]
    assert list(shown.values()).count(False) == 1


@pytest.mark.rule("000.states.25")
async def test_a_command_is_processed_and_the_socket_stays(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    for nonce in ("one", "two"):
        await bob.send(Opcode.REQUEST_GUILD_COUNTS, {"guild_ids": [chat_world.guild_id], "nonce": nonce})
        assert (await bob.expect("GUILD_COUNTS_UPDATE")).data["nonce"] == nonce


@pytest.mark.rule("000.states.26")
async def test_a_session_that_ends_leaves_its_socket_unauthenticated(
    chat_world: World, autojump_clock: MockClock
) -> None:
    bob = await chat_world.bob.connect()
    assert await chat_world.anyone.fault("end_session", {"user_id": chat_world.bob.id}) == 1
    await invalidated(bob)


# Any open state


async def test_heartbeats_are_acknowledged_and_change_nothing(chat_world: World, autojump_clock: MockClock) -> None:
    client = await chat_world.bob.open(heartbeats=False)
    with proves("000.states.27"):
        await acknowledged(client, 12)
    await client.identify(chat_world.bob.token)
    await client.expect("READY")
    with proves("000.states.28"):
        await acknowledged(client, None)
    with proves("000.states.29"):
        await acknowledged(client, 1)
    await client.send(Opcode.REQUEST_GUILD_COUNTS, {"guild_ids": [chat_world.guild_id]})
    with proves("000.states.30"):
        await client.expect("GUILD_COUNTS_UPDATE")


@pytest.mark.rule("000.states.33", "000.limits.7")
@pytest.mark.parametrize("state", ["unauthenticated", "held", "ready"])
async def test_silence_closes_after_45_seconds(chat_world: World, autojump_clock: MockClock, state: str) -> None:
    client = await chat_world.bob.open(heartbeats=False)
    opened = trio.current_time()
    if state == "held":
        await chat_world.anyone.node(at_capacity=True)
    if state != "unauthenticated":
        await client.identify(chat_world.bob.token)
    await trio.sleep_until(opened + 45)
    assert client.is_open
    await closes(client, HEARTBEAT_TIMEOUT, seconds=0.1)


@pytest.mark.rule("000.states.36")
@pytest.mark.parametrize("end", ["drop", "close 1000", "close 4999", "half close", "4001", "4002", "4005", "4007"])
async def test_however_a_socket_ends_its_session_is_retained(
    chat_world: World, autojump_clock: MockClock, end: str
) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    match end:
        case "drop":
            bob.drop()
        case "close 1000" | "close 4999":
            await bob.aclose(int(end.split()[1]))
        case "half close":
            await bob.half_close()
        case "4001":
            await bob.send(99, {})
        case "4002":
            await bob.send_message("{")
        case "4005":
            await bob.identify(chat_world.bob.token)
        case "4007":
            await bob.heartbeat(-1)
    await bob.closed()
    await trio.sleep(59)
    assert not (await session_of(chat_world, bob))["attached"]
    again = await chat_world.bob.resume(bob)
    await resumed(again)


@pytest.mark.rule("000.states.37", "000.reconnect.6")
async def test_a_revoked_credential_ends_its_sessions_at_once(chat_world: World, autojump_clock: MockClock) -> None:
    attached = await chat_world.bob.connect()
    retained = await chat_world.bob.connect()
    retained.drop()
    assert (await chat_world.bob.rest.logout()).status == 204
    await invalidated(attached)
    assert await chat_world.anyone.gateway_sessions() == []
    await attached.identify(chat_world.bob.token)
    await closes(attached, INVALID_TOKEN)


@pytest.mark.rule("000.states.38", "000.states.40")
@pytest.mark.parametrize("opcode", [0, 5, 7, 9, 10, 11, 12, 17, 27, 29, 99, -1])
async def test_an_opcode_that_no_client_sends_closes_a_session_4001(
    chat_world: World, autojump_clock: MockClock, opcode: int
) -> None:
    bob = await chat_world.bob.connect()
    await bob.send(opcode, {})
    await closes(bob, UNKNOWN_OPCODE)


@pytest.mark.rule("000.states.39", "000.states.41")
@pytest.mark.parametrize("opcode", [0, 5, 7, 9, 10, 11, 12, 17, 27, 29, 99, -1])
async def test_an_opcode_that_no_client_sends_closes_without_a_session_4003(
    chat_world: World, autojump_clock: MockClock, opcode: int
) -> None:
    client = await chat_world.open()
    await client.send(opcode, {})
    await closes(client, NOT_AUTHENTICATED)


@pytest.mark.rule("000.states.36")
async def test_after_60_seconds_a_retained_session_is_gone(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    await post(chat_world)
    bob.drop()
    await trio.sleep(60.1)
    assert await chat_world.session_of(bob) is None
    again = await chat_world.bob.resume(bob)
    await invalidated(again)
