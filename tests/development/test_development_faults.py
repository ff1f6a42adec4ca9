"""Faults on demand, on a real server: what the clients see of each, and what becomes of the sessions."""

from __future__ import annotations

import pytest
import trio

from chat.registries.opcodes import Opcode
from chat.testing.world import World
from tests.development.waiting import connected, detached


async def test_a_dropped_socket_ends_without_a_close_frame_and_its_session_stays(world: World) -> None:
    alice, bob = await world.alice.connect(), await world.bob.connect()
    assert await world.anyone.fault("drop", {"session_id": alice.session_id}) == 1
    assert (await alice.closed()).code == 1006
    assert bob.is_open
    await detached(world, 1)
    session = await world.session_of(alice)
    assert session is not None
    assert not session["attached"]

    resumed = await world.alice.resume(alice)
    await resumed.expect("RESUMED")


async def test_a_socket_closes_with_the_code_and_reason_that_were_chosen(world: World) -> None:
    alice = await world.alice.connect()
    assert await world.anyone.fault("close", {"user_id": world.alice.id}, code=4242, reason="just so") == 1
    close = await alice.closed()
    assert (close.code, close.reason) == (4242, "just so")


async def test_reconnect_is_opcode_7_and_then_4000(world: World) -> None:
    alice, nobody = await world.alice.connect(), await world.open()
    assert await world.anyone.fault("reconnect", "all") == 1
    await alice.expect_opcode(Opcode.RECONNECT)
    close = await alice.closed()
    assert (close.code, close.reason) == (4000, "Session drain requested; reconnect to continue")
    assert nobody.is_open
    resumed = await world.alice.resume(alice)
    await resumed.expect("RESUMED")


@pytest.mark.parametrize("action", ["invalid_session", "end_session"])
async def test_a_session_that_ends_leaves_its_socket_open(world: World, action: str) -> None:
    alice = await world.alice.connect()
    session_id = alice.session_id
    assert await world.anyone.fault(action, {"session_id": session_id}) == 1
    assert (await alice.expect_opcode(Opcode.INVALID_SESSION)).data is False
    assert alice.is_open
    assert await world.anyone.gateway_sessions() == []
    await alice.identify(world.alice.token)
    await alice.expect("READY")


async def test_a_retained_session_can_end_too(world: World) -> None:
    alice = await world.alice.connect()
    alice.drop()
    await detached(world)
    assert await world.anyone.fault("end_session", {"user_id": world.alice.id}) == 1
    successor = await world.alice.resume(alice)
    await successor.expect_opcode(Opcode.INVALID_SESSION)


async def test_while_a_socket_stalls_nothing_arrives_and_then_everything_does(world: World) -> None:
    bob = await connected(world.bob)
    assert await world.anyone.fault("stall", {"user_id": world.bob.id}, ms=3000) == 1
    began = trio.current_time()
    for number in range(3):
        (await world.alice.rest.send_message(world.channel_id, str(number))).expect(200)
    await bob.expect_silence(0.2)
    contents = [(await bob.expect("MESSAGE_CREATE")).data["content"] for _ in range(3)]
    assert contents == ["0", "1", "2"]
    assert trio.current_time() - began >= 2.9


@pytest.mark.long
async def test_of_two_stalls_the_longer_one_counts(world: World) -> None:
    bob = await connected(world.bob)
    for milliseconds in (3000, 10):
        await world.anyone.fault("stall", {"user_id": world.bob.id}, ms=milliseconds)
    (await world.alice.rest.send_message(world.channel_id, "late")).expect(200)
    await bob.expect_silence(0.3)
    await bob.expect("MESSAGE_CREATE")


async def test_who_is_struck_is_counted(world: World) -> None:
    await world.alice.connect()
    await world.alice.connect()
    await world.bob.connect()
    assert await world.anyone.fault("stall", {"user_id": world.alice.id}, ms=0) == 2
    assert await world.anyone.fault("stall", "all", ms=0) == 3
    assert await world.anyone.fault("stall", {"session_id": "unknown"}, ms=0) == 0
    assert await world.anyone.fault("drop", {"user_id": "1"}) == 0


async def test_http_requests_are_answered_with_the_error_that_was_asked_for(world: World) -> None:
    fault = {"action": "http", "method": "GET", "path": "/v1/users/@me", "status": 503, "times": 2}
    assert (await world.anyone.post("/v1/_dev/faults", fault)).expect(200) == {"affected": 2}
    for _ in range(2):
        answer = await world.alice.rest.get("/v1/users/@me")
        assert (answer.status, answer.code, answer.header("retry-after")) == (503, "SERVICE_UNAVAILABLE", "1")
    (await world.alice.rest.get("/v1/users/@me")).expect(200)


async def test_a_rate_limit_answer_on_demand(world: World) -> None:
    fault = {"action": "http", "status": 429, "times": 1, "retry_after": 0.25}
    (await world.anyone.post("/v1/_dev/faults", fault)).expect(200)
    answer = await world.alice.rest.get("/v1/users/@me")
    assert answer.status == 429
    assert answer.header("retry-after") == "1"
    body = answer.json()
    assert (body["code"], body["global"], body["retry_after"]) == ("RATE_LIMITED", False, 0.25)


async def test_a_fault_meets_unknown_paths_too(world: World) -> None:
    (await world.anyone.post("/v1/_dev/faults", {"action": "http", "path": "/nowhere", "status": 502})).expect(200)
    assert (await world.anyone.get("/nowhere")).code == "BAD_GATEWAY"
    assert (await world.anyone.get("/nowhere")).code == "NOT_FOUND"


async def test_what_is_wrong_with_a_fault_is_named(world: World) -> None:
    answer = await world.anyone.post("/v1/_dev/faults", {"action": "stall", "target": "all"})
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert [(error["path"], error["code"]) for error in answer.json()["errors"]] == [("ms", "INVALID_FORMAT")]
