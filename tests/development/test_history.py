"""The history: what went over the wire, in order, found by what it is about; a ring with bounds."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from chat.development import history as history_module
from chat.development.history import EntryFilter, History, search
from chat.development.watching import batches
from chat.protocol.frames import OutgoingEvent
from chat.registries.events import EventName
from chat.testing.gateway_client import GatewayClient
from chat.testing.server import clock_of_this_run
from chat.testing.world import World


async def found(world: World, **query: str | int) -> list[dict[str, Any]]:
    answer = (await world.anyone.get("/v1/_dev/history", query)).expect(200)
    entries: list[dict[str, Any]] = answer["entries"]
    numbers = [entry["number"] for entry in entries]
    assert numbers == sorted(set(numbers))
    return entries


async def session_frames(world: World, client: GatewayClient, **query: str | int) -> list[dict[str, Any]]:
    return await found(world, session_id=client.session_id or "", kind="frame", limit=1_000, **query)


@pytest.mark.parametrize("compressed", [False, True])
async def test_frames_of_a_session_in_both_directions(
    chat_world: World, autojump_clock: MockClock, compressed: bool
) -> None:
    bob = await chat_world.bob.connect(compressed=compressed, heartbeats=False)
    await bob.heartbeat()
    await bob.expect_opcode(11)
    sent = (await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")).expect(200)
    await bob.expect("MESSAGE_CREATE")
    frames = await session_frames(chat_world, bob)
    told = [(frame["direction"], frame["op"], frame["event"], frame["sequence"]) for frame in frames]
    assert told[0] == ("out", 0, "READY", 1)
    assert ("in", 1, None, None) in told
    assert ("out", 11, None, None) in told
    assert told[-1] == ("out", 0, "MESSAGE_CREATE", bob.sequence)
    assert frames[-1]["payload"]["d"]["id"] == sent["id"]
    assert frames[-1]["payload"] == {"op": 0, "t": "MESSAGE_CREATE", "s": bob.sequence, "d": frames[-1]["payload"]["d"]}
    received = [payload for payload in bob.payloads if payload.op != 10]
    outwards = [frame for frame in frames if frame["direction"] == "out"]
    assert [(payload.op, payload.sequence) for payload in received] == [
        (frame["op"], frame["sequence"]) for frame in outwards
    ], "it has what the client has, in that order"
    [identify] = await found(chat_world, op=2, direction="in", socket=frames[0]["socket"])
    assert identify["payload"]["d"]["token"] == chat_world.bob.token
    assert identify["session_id"] is None


async def test_queries(chat_world: World, autojump_clock: MockClock) -> None:
    bob, carol = await chat_world.bob.connect(), await chat_world.carol.connect()
    await trio.sleep(10)
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "one")).expect(200)
    await bob.expect("MESSAGE_CREATE")
    await trio.sleep(1)
    middle = (await chat_world.anyone.get("/v1/_dev/clock")).expect(200)["now"]
    await trio.sleep(10)
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "two")).expect(200)
    await bob.expect("MESSAGE_CREATE")

    async def contents(**query: str | int) -> list[str]:
        entries = await found(chat_world, event="MESSAGE_CREATE", **query)
        return [entry["payload"]["d"]["content"] for entry in entries]

    assert await contents() == ["one", "one", "two", "two"], "bob and carol each"
    assert await contents(session_id=bob.session_id or "") == ["one", "two"]
    assert await contents(user_id=chat_world.carol.id, since=middle) == ["two"]
    assert await contents(until=middle) == ["one", "one"]
    assert await contents(limit=1) == ["two"]
    [_, second, *_] = await found(chat_world, event="MESSAGE_CREATE")
    assert await contents(after=second["number"]) == ["two", "two"]
    assert await contents(before=second["number"]) == ["one"]
    assert [entry["op"] for entry in await found(chat_world, direction="in", session_id=carol.session_id or "")] == []
    bare = await found(chat_world, event="MESSAGE_CREATE", payloads="false")
    assert all("payload" not in entry for entry in bare)
    one = (await chat_world.anyone.get(f"/v1/_dev/history/{second['number']}")).expect(200)
    assert one == second
    for number in ("0", "999999999", "x", "-1", "9" * 40):
        assert (await chat_world.anyone.get(f"/v1/_dev/history/{number}")).status == 404, number


async def test_requests_with_their_answers(chat_world: World, autojump_clock: MockClock) -> None:
    limits = {"buckets": {"channel:message:create::channel_id": {"limit": 1, "window_ms": 10_000}}}
    (await chat_world.anyone.post("/v1/_dev/limits", limits)).expect(200)
    path = f"/v1/channels/{chat_world.channel_id}/messages"
    (await chat_world.bot.rest.send_message(chat_world.channel_id, "one")).expect(200)
    assert (await chat_world.bot.rest.send_message(chat_world.channel_id, "two")).status == 429
    (await chat_world.anyone.get("/v1/_dev/sessions")).expect(200)
    (await chat_world.anyone.post("/v1/_dev/faults", {"action": "http", "status": 502})).expect(200)
    assert (await chat_world.bot.rest.get("/v1/users/@me", {"x": "y"})).status == 502

    first, second = await found(chat_world, kind="request", path=path, method="post")
    assert (first["status"], first["body"], first["answer"]["content"]) == (200, {"content": "one"}, "one")
    assert (first["route"], first["bucket"]) == (
        "/v1/channels/{channel_id}/messages",
        "channel:message:create::channel_id",
    )
    assert first["limits"]["remaining"] == "0"
    assert first["user_id"] == chat_world.bot.id
    assert (second["status"], second["answer"]["code"]) == (429, "RATE_LIMITED")
    assert second["limits"]["retry_after"] is not None
    told = [(entry["method"], entry["path"], entry["status"]) for entry in await found(chat_world, kind="request")]
    assert ("POST", "/v1/_dev/faults", 200) in told, "levers are a part of what happened"
    assert not any(path.startswith("/v1/_dev/") for method, path, _ in told if method == "GET")
    assert told[-1] == ("GET", "/v1/users/@me?x=y", 502)
    assert [entry["status"] for entry in await found(chat_world, status=429)] == [429]


async def test_sockets_come_and_go(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    await bob.aclose(1001)
    carol = await chat_world.carol.connect()
    fault = {"action": "close", "target": "all", "code": 4001, "reason": "enough"}
    (await chat_world.anyone.post("/v1/_dev/faults", fault)).expect(200)
    await carol.closed()
    dropped = await chat_world.bob.connect()
    dropped.drop()
    await trio.sleep(1)
    opened = await found(chat_world, kind="opened")
    assert len(opened) == 3
    assert opened[0]["address"] == "127.0.0.1"
    ended = await found(chat_world, kind="ended")
    assert [(entry["code"], entry["reason"], entry["by_client"], entry["session_id"]) for entry in ended] == [
        (1001, "", True, bob.session_id),
        (4001, "enough", False, carol.session_id),
        (1006, "", True, dropped.session_id),
    ]


async def test_what_is_no_payload_is_shown_as_text(chat_world: World, autojump_clock: MockClock) -> None:
    anyone = await chat_world.open()
    await anyone.send_text("{nonsense")
    await anyone.closed()
    [entry] = await found(chat_world, direction="in")
    assert (entry["text"], entry["op"], entry["refused"]) == ("{nonsense", None, "Decode failed")


async def test_it_can_be_switched_off_and_cleared(chat_world: World, autojump_clock: MockClock) -> None:
    (await chat_world.anyone.post("/v1/_dev/history", {"recording": False})).expect(200)
    await chat_world.bob.connect()
    before = (await chat_world.anyone.get("/v1/_dev/history")).expect(200)
    assert (before["recording"], before["entries"]) == (False, [])
    state = (await chat_world.anyone.post("/v1/_dev/history", {"recording": True})).expect(200)
    assert state["recording"] is True
    await chat_world.carol.connect()
    assert await found(chat_world, event="READY") != []
    (await chat_world.anyone.delete("/v1/_dev/history")).expect(204)
    entries = await found(chat_world)
    assert [entry["method"] for entry in entries] == ["DELETE"]
    assert entries[0]["number"] >= before["next"], "numbers are not used again"
    assert (await chat_world.anyone.post("/v1/_dev/history", {})).status == 400


async def test_who_looks_on_is_told_in_batches(chat_world: World, autojump_clock: MockClock) -> None:
    bob = await chat_world.bob.connect()
    stream = await chat_world.route.connect()
    await stream.send_all(b"GET /v1/_dev/history/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    await trio.sleep(0.01)
    for number in range(5):
        (await chat_world.alice.rest.send_message(chat_world.channel_id, str(number))).expect(200)
        await bob.expect("MESSAGE_CREATE")
    await trio.sleep(1)
    received = bytearray()
    with trio.move_on_after(0.5):
        while True:
            received += await stream.receive_some(65_536)
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    assert b"application/x-ndjson" in head
    lines = [json.loads(line) for line in body.split(b"\r\n") if line.startswith(b"{")]
    entries = [entry for line in lines for entry in line["entries"]]
    assert [entry["event"] for entry in entries if entry["kind"] == "frame"].count("MESSAGE_CREATE") == 5
    assert "payload" not in entries[0]
    assert lines[0]["entries"] == [], "it comes at once"
    assert all(line["dropped"] == 0 for line in lines)
    assert len(lines) <= 3, "what happens within a fifth of a second comes together"
    await trio.aclose_forcefully(stream)


async def test_who_is_too_slow_is_told_how_much_was_left_out(autojump_clock: MockClock) -> None:
    clock = clock_of_this_run()
    history = History(clock)
    looking = batches(history, clock, None)
    event = OutgoingEvent(EventName.MESSAGE_CREATE, b"{}")
    tap = history.tap("127.0.0.1")
    began = history.next
    looking_after = batches(history, clock, began - 1)
    for sequence in range(3_000):
        tap.dispatched(None, sequence, event)
    told = json.loads(await anext(looking_after))
    assert (told["dropped"], len(told["entries"]), told["next"]) == (2_000, 1_000, history.next)
    assert told["entries"][-1]["sequence"] == 2_999
    await looking.aclose()
    await looking_after.aclose()


@given(sizes=st.lists(st.integers(0, 500), max_size=60), wanted=st.integers(1, 30))
def test_the_ring_is_bounded_and_keeps_the_latest(sizes: list[int], wanted: int) -> None:
    class Standing:
        def now_ms(self) -> int:
            return 0

    entries_maximum, bytes_maximum = history_module.HISTORY_ENTRIES, history_module.HISTORY_BYTES
    history_module.HISTORY_ENTRIES, history_module.HISTORY_BYTES = 20, 2_000  # type: ignore[misc]
    try:
        history = History(Standing())
        tap = history.tap("127.0.0.1")
        for size in sizes:
            tap.sent(None, bytes(size))
        first, entries = history.whole()
        assert len(entries) <= 20
        assert sum(entry.size for entry in entries) <= 2_000
        assert (first + len(entries), first) == (history.next, history.first) == (len(sizes) + 2, first)
        kept = [entry.size for entry in entries if isinstance(entry.what, bytes)]
        assert kept == sizes[len(sizes) - len(kept) :]
        for number, entry in enumerate(entries, first):
            assert history.at(number) is entry
        assert history.at(first - 1) is history.at(history.next) is None
        start, latest = history.since(1, wanted)
        assert latest == entries[-wanted:]
        assert start == history.next - len(latest)
        found_all = trio.run(search, history, EntryFilter(), 1_000)
        assert [entry for _, entry in found_all] == entries
    finally:
        history_module.HISTORY_ENTRIES, history_module.HISTORY_BYTES = entries_maximum, bytes_maximum  # type: ignore[misc]
