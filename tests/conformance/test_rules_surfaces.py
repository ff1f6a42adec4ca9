"""What the service is: one instance on one port that tells without being polled; and who may start a session.

Area: conformance. Rules: 000.connect, 000.events, 000.heartbeat, 000.overview, 000.query, 000.states, 000.surfaces,
000.versioning.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
import trio
import trio.testing
from trio_websocket import open_websocket_url

from chat.registries.limits import COMMAND_BUDGET, HEARTBEAT_INTERVAL_MS, PRESENCE_BUDGET
from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import GatewayClient, HandshakeRefused
from chat.testing.network import TcpRoute
from chat.testing.rest_client import RestClient
from chat.testing.world import World
from tests.conformance.outcomes import end, outcome
from tests.durability.server_process import running
from tests.spec.ledger import proves

HOUR: Final = 3_600


async def test_one_instance_answers_http_and_the_gateway_it_publishes(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        base_url = server.world["base_url"]
        origin = base_url.removesuffix("/v1")
        rest = RestClient(TcpRoute.of(base_url))
        gateway_url = (await rest.get("/.well-known/chat")).expect(200)["endpoints"]["gateway"]
        await rest.aclose()
        with proves("000.connect.1"):
            assert gateway_url == server.world["gateway_url"]
        assert gateway_url.partition("://")[2].partition("/")[0] == origin.partition("://")[2]
        follows = "000.connect.3"
        for rules, suffix, kind in (
            (("000.overview.1", "000.connect.2"), "?v=1&encoding=json", str),
            ((follows,), "?v=1&encoding=json&compress=zstd-stream", str),
            ((follows, "000.query.15"), "?v=1&encoding=json&compress=zstd-stream&stream=1", bytes),
        ):
            async with open_websocket_url(gateway_url + suffix) as websocket:
                with proves(*rules), trio.fail_after(10):
                    assert isinstance(await websocket.get_message(), kind)


@pytest.mark.rule("000.overview.2")
async def test_a_connected_client_is_told_of_its_account_and_its_guilds(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world = chat_world
    bob, carol = await world.bob.connect(), await world.carol.connect()
    (await world.bob.rest.patch("/v1/users/@me", {"global_name": "Bobby"})).expect(200)
    assert (await bob.expect("USER_UPDATE")).data["global_name"] == "Bobby"
    said = (await world.alice.rest.send_message(world.channel_id, "hello")).expect(200)
    (await world.alice.rest.edit_message(world.channel_id, said["id"], "goodbye")).expect(200)
    (await world.alice.rest.start_typing(world.channel_id)).expect(204)
    (await world.alice.rest.delete_message(world.channel_id, said["id"])).expect(204)
    for client in (bob, carol):
        assert (await client.expect("MESSAGE_CREATE")).data["id"] == said["id"]
        assert (await client.expect("MESSAGE_UPDATE")).data["content"] == "goodbye"
        assert (await client.expect("TYPING_START")).data["user_id"] == world.alice.id
        assert (await client.expect("MESSAGE_DELETE")).data["id"] == said["id"]
    founded = (await world.bob.rest.create_guild("Bob's")).expect(200)
    assert (await bob.expect("GUILD_CREATE")).data["id"] == founded["id"]
    channel = next(row for row in await channels(world, founded["id"]) if row["type"] == 0)
    invite = (await world.bob.rest.create_channel_invite(channel["id"])).expect(200)
    (await world.carol.rest.accept_invite(invite["code"])).expect(200)
    assert (await carol.expect("GUILD_CREATE")).data["id"] == founded["id"]
    assert (await bob.expect("GUILD_MEMBER_ADD")).data["user"]["id"] == world.carol.id


async def channels(world: World, guild_id: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (await world.bob.rest.get(f"/v1/guilds/{guild_id}/channels")).expect(200)
    return rows


@pytest.mark.rule("000.overview.3")
async def test_no_gateway_command_writes_what_http_writes(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world = chat_world

    async def everything() -> list[Any]:
        paths = (
            f"/v1/guilds/{world.guild_id}",
            f"/v1/guilds/{world.guild_id}/channels",
            f"/v1/guilds/{world.guild_id}/members?limit=100",
            f"/v1/channels/{world.channel_id}/messages",
            "/v1/users/@me",
            "/v1/users/@me/guilds",
        )
        return [(await world.alice.rest.get(path)).expect(200) for path in paths]

    before = await everything()
    wish = {
        "guild_id": world.guild_id, "channel_id": world.channel_id, "content": "written", "name": "renamed",
        "nick": "other", "user_ids": [world.bob.id], "subscriptions": {world.guild_id: {"sync": True}},
        "guild_ids": [world.guild_id], "status": "idle", "threads": [], "global_name": "other",
    }  # fmt: skip
    answers: dict[int, object] = {}
    for op in range(-1, 40):
        if op in {Opcode.HEARTBEAT, Opcode.IDENTIFY, Opcode.RESUME}:
            continue
        alice = await world.alice.connect(heartbeats=False)
        await alice.send_text(json.dumps({"op": op, "t": "MESSAGE_CREATE", "s": 2, "d": wish}))
        await alice.heartbeat(None)
        while (answer := await outcome(alice)) in {Opcode.DISPATCH, Opcode.GATEWAY_ERROR}:
            pass
        answers[op] = answer
        await world.anyone.fault("end_session", {"user_id": world.alice.id})
        alice.drop()
    accepted = {op for op, answer in answers.items() if answer == Opcode.HEARTBEAT_ACK}
    assert accepted <= {3, 4, 8, 13, 14, 15, 16, 28}
    assert {answer for op, answer in answers.items() if op not in accepted} == {(4001, "Unknown opcode")}
    assert await everything() == before


@pytest.mark.chat_settings(rate_limits=True)
@pytest.mark.rule("000.overview.4")
async def test_600_payloads_in_60_s_are_enough_and_one_more_closes(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    client = await chat_world.bob.open(heartbeats=False)
    neighbour = await chat_world.bob.connect()
    half = COMMAND_BUDGET // 2
    # Half of them every 30 s and a moment are 600 in any 60 s.
    for _ in range(4):
        for _ in range(half):
            await client.heartbeat(None)
        for _ in range(half):
            assert (await client.next_payload()).op == Opcode.HEARTBEAT_ACK
        await client.expect_silence(30.1)
    for _ in range(half + 1):
        await client.heartbeat(None)
    assert await end(client) == (4008, "Rate limited")
    assert neighbour.is_open


@pytest.mark.chat_settings(rate_limits=True)
@pytest.mark.rule("000.overview.5")
async def test_of_many_presence_commands_five_count_and_the_socket_stays(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect()
    statuses = ["idle", "dnd", "online", "dnd", "idle", "dnd", "online", "dnd"]
    for status in statuses:
        await bob.send(Opcode.PRESENCE_UPDATE, {"status": status})
    await trio.sleep(1)
    session = await chat_world.session_of(bob)
    assert session is not None
    assert session["status"] == statuses[PRESENCE_BUDGET - 1] == "idle"
    await trio.sleep(20)
    await bob.send(Opcode.PRESENCE_UPDATE, {"status": "dnd"})
    await trio.sleep(1)
    session = await chat_world.session_of(bob)
    assert session is not None
    assert session["status"] == "dnd"


@pytest.mark.rule("000.connect.5")
async def test_a_client_that_beats_at_the_interval_is_never_cut_off(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    until = trio.current_time() + 3 * HOUR
    beats = 0
    while trio.current_time() < until:
        await trio.sleep(HEARTBEAT_INTERVAL_MS / 1_000)
        (await chat_world.alice.rest.send_message(chat_world.channel_id, str(beats))).expect(200)
        assert (await bob.expect("MESSAGE_CREATE")).data["content"] == str(beats)
        await bob.heartbeat()
        await bob.expect_opcode(Opcode.HEARTBEAT_ACK)
        beats += 1
    assert bob.is_open
    assert beats >= 3 * HOUR * 1_000 // HEARTBEAT_INTERVAL_MS
    session = await chat_world.session_of(bob)
    assert session is not None
    assert (session["acknowledged"], session["retained_dispatches"]) == (bob.sequence, 0)


@pytest.mark.rule("000.heartbeat.9")
async def test_the_servers_request_is_answered_beside_the_clients_own_beat(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect()
    began = trio.current_time()
    await trio.sleep(HOUR)
    assert bob.is_open
    # The kit's client keeps its own beat and answers the requests besides: both are acknowledged.
    requests = sum(payload.op == Opcode.HEARTBEAT for payload in bob.payloads)
    beats = int((trio.current_time() - began) * 1_000 // HEARTBEAT_INTERVAL_MS)
    assert requests > 0
    assert bob.acknowledgements == pytest.approx(beats + requests, abs=1)


async def test_bot_tokens_and_session_tokens_start_sessions(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    for actor, bot in ((chat_world.bot, True), (chat_world.alice, False)):
        client = await actor.connect()
        assert client.ready is not None
        with proves("000.surfaces.1", "000.surfaces.2"):
            assert client.ready["user"]["id"] == actor.id
        assert bool(client.ready["user"].get("bot", False)) is bot
        await trio.sleep(1)
        with proves("000.events.1"):
            assert [payload.name for payload in client.dispatches].count("READY") == 1
        with proves("000.states.15"):
            session = await chat_world.session_of(client)
            assert session is not None
            assert (session["user_id"], session["bot"], session["attached"]) == (actor.id, bot, True)


@pytest.mark.rule("000.surfaces.3")
async def test_a_credential_in_the_upgrade_request_authenticates_nothing(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    for credential in (chat_world.alice.token, f"Bot {chat_world.bot.token}", f"Admin {chat_world.admin_key}", "x"):
        client = await GatewayClient.connect(
            chat_world.nursery, chat_world.route, heartbeats=False, headers={"Authorization": credential}
        )
        await client.send(Opcode.PRESENCE_UPDATE, {"status": "idle"})
        assert await end(client) == (4003, "Not authenticated")
        client = await GatewayClient.connect(
            chat_world.nursery, chat_world.route, headers={"Authorization": credential}
        )
        await client.identify(chat_world.bob.token)
        assert (await client.expect("READY")).data["user"]["id"] == chat_world.bob.id
    assert {session["user_id"] for session in await chat_world.anyone.gateway_sessions()} == {chat_world.bob.id}


@pytest.mark.rule("000.surfaces.4")
async def test_access_tokens_and_admin_keys_start_no_session(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bot, key = chat_world.bot, chat_world.admin_key
    for token in (key, f"Admin {key}", "A" * 43, bot.client_secret, bot.application_id, "cht_" + "a" * 36):
        client = await chat_world.open()
        await client.identify(token)
        assert await end(client) == (4004, "Invalid token"), token


@pytest.mark.rule("000.connect.4")
@pytest.mark.parametrize("origin", ["null", "https://evil.example", "http://127.0.0.1:8080", "", "%%%"])
async def test_no_origin_is_refused(chat_world: World, autojump_clock: trio.testing.MockClock, origin: str) -> None:
    client = await GatewayClient.connect(chat_world.nursery, chat_world.route, headers={"Origin": origin})
    await client.identify(chat_world.bob.token)
    await client.expect("READY")


@pytest.mark.rule("000.versioning.1")
async def test_the_gateway_is_nowhere_else_either(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    for path in ("/v1/gateway", "/gateways", "/api/gateway", "/v1"):
        answer = await chat_world.anyone.get(path)
        assert (answer.status, answer.code) == (404, "NOT_FOUND"), path
    with pytest.raises(HandshakeRefused):
        await GatewayClient.connect(chat_world.nursery, chat_world.route, headers={"Sec-WebSocket-Version": "12"})
