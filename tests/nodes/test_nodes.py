"""Gateway nodes: sessions live at a node, and move (architecture.md, Beyond one process)."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
import trio.testing

from chat.nodes.core import DRAIN_SECONDS
from chat.testing.gateway_client import GatewayClient, HandshakeRefused
from chat.testing.network import MemoryRoute
from chat.testing.world import Actor
from tests.nodes.cluster import Cluster, open_cluster

Clock = trio.testing.MockClock


async def post(cluster: Cluster, text: str) -> str:
    """The id of a message of Bob's."""
    answer = await cluster.world.bob.rest.send_message(cluster.world.channel_id, text)
    return str(answer.expect(200)["id"])


async def hears(client: GatewayClient, message_id: str) -> None:
    await client.expect("MESSAGE_CREATE", where=lambda data: data["id"] == message_id)


async def resume(actor: Actor, client: GatewayClient, route: MemoryRoute) -> GatewayClient:
    successor = await actor.open(route=route)
    await successor.resume(actor.token, client.session_id, client.sequence)
    successor.session_id = client.session_id
    return successor


async def test_a_session_lives_at_a_node(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=node.route(), heartbeats=False)
        assert len(node.server.node.table) == 1
        await hears(client, await post(cluster, "hello"))
        await client.heartbeat()
        await client.expect_opcode(11)
        await client.update_presence("idle")
        client.drop()
        await trio.sleep(1)
        second = await post(cluster, "again")
        again = await resume(world.alice, client, node.route())
        await hears(again, second)
        await again.expect("RESUMED")
        assert (await world.session_of(again) or {})["attached"]


@pytest.mark.parametrize("drops", [True, False])
async def test_a_session_is_resumed_at_another_node(tmp_path: Path, autojump_clock: Clock, drops: bool) -> None:
    async with open_cluster(tmp_path, nodes=2) as cluster:
        world, (one, other) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=one.route())
        await hears(client, await post(cluster, "1"))
        sequence = client.sequence
        if drops:
            client.drop()
        missed = [await post(cluster, text) for text in "234"]
        again = await world.alice.open(route=other.route())
        await again.resume(world.alice.token, client.session_id, sequence)
        for message_id in missed:
            await hears(again, message_id)
        resumed = await again.expect("RESUMED")
        assert resumed.sequence == sequence + 3
        if not drops:
            await client.expect_opcode(7)
            assert (await client.closed()).code == 4000
        await hears(again, await post(cluster, "5"))
        assert (len(one.server.node.table), len(other.server.node.table)) == (0, 1)


async def test_a_session_moves_to_the_core_and_back(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=node.route())
        for route in (cluster.core.route(), node.route(), cluster.core.route()):
            client.drop()
            missed = await post(cluster, "while it moves")
            client = await resume(world.alice, client, route)
            await hears(client, missed)
            await client.expect("RESUMED")
            await hears(client, await post(cluster, "there"))
        assert not len(node.server.node.table)
        assert cluster.core.server.nodes is not None
        assert not cluster.core.server.nodes.relay.sessions


async def test_a_killed_node_loses_nothing(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path, nodes=2) as cluster:
        world, (one, other) = cluster.world, cluster.nodes
        clients = [await actor.connect(route=one.route()) for actor in (world.alice, world.bot, world.carol)]
        for text in "1234":
            sent = await post(cluster, text)
        for client in clients:
            await hears(client, sent)
        await trio.sleep(7)  # a checkpoint lies between
        sent = await post(cluster, "5")
        for client in clients:
            await hears(client, sent)
        await one.kill()
        missed = [await post(cluster, text) for text in "678"]
        began = trio.current_time()
        for actor, client in zip((world.alice, world.bot, world.carol), clients, strict=True):
            again = await resume(actor, client, other.route())
            for message_id in missed:
                await hears(again, message_id)
            await again.expect("RESUMED")
            await hears(again, await post(cluster, "9"))
        assert trio.current_time() - began < 5  # virtual time: the lease, and nothing else


async def test_a_revoked_session_ends_at_its_node(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=node.route())
        (await world.alice.rest.post("/v1/auth/logout")).expect(204)
        await client.expect_opcode(9)
        assert not len(node.server.node.table)


async def test_a_node_that_drains_sends_its_sessions_elsewhere(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path, nodes=2) as cluster:
        world, (one, other) = cluster.world, cluster.nodes
        clients = [await actor.connect(route=one.route()) for actor in (world.alice, world.carol)]
        await hears(clients[0], await post(cluster, "1"))
        one.server.node.drain()
        for client in clients:
            await client.expect_opcode(7)
            assert (await client.closed()).code == 4000
        missed = await post(cluster, "2")
        soon = await resume(world.alice, clients[0], other.route())
        await hears(soon, missed)
        await one.over.wait()
        late = await resume(world.carol, clients[1], other.route())
        await hears(late, missed)
        await late.expect("RESUMED")


async def test_a_core_that_is_restarted_keeps_the_sessions_of_nodes(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=node.route())
        await hears(client, await post(cluster, "1"))
        await cluster.core.restart()
        await client.expect_opcode(7)
        missed = await post(cluster, "2")
        again = await resume(world.alice, client, node.route())
        await hears(again, missed)
        await again.expect("RESUMED")
        await hears(again, await post(cluster, "3"))


async def test_a_core_that_ends_waits_until_its_last_events_were_heard(tmp_path: Path, autojump_clock: Clock) -> None:
    """Voice ends with the core: each session is told, and none is lost because its node was just told something."""
    async with open_cluster(tmp_path) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=node.route())
        await client.update_voice_state(world.guild_id, world.voice_channel_id)
        await client.expect("VOICE_STATE_UPDATE")
        began = trio.current_time()
        await cluster.core.restart()
        assert trio.current_time() - began < DRAIN_SECONDS
        await client.expect("VOICE_STATE_UPDATE", where=lambda data: data["channel_id"] is None)
        await client.expect_opcode(7)
        again = await resume(world.alice, client, node.route())
        await again.expect("RESUMED")


async def test_a_core_that_is_killed_tells_each_session(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=node.route(), heartbeats=False)
        await hears(client, await post(cluster, "1"))
        await cluster.core.stop()
        await trio.sleep(4)
        assert client.is_open
        await client.heartbeat()
        await client.expect_opcode(11)
        held = await world.carol.open(route=node.route())
        await held.identify(world.carol.token)
        refused = await resume(world.alice, client, node.route())
        assert (await refused.closed()).code == 4000
        await cluster.core.start()
        began = trio.current_time()
        await client.expect_opcode(9)
        assert trio.current_time() - began <= 3
        assert client.is_open
        await client.identify(world.alice.token)
        await client.expect("READY")
        await held.expect("READY")
        await hears(client, await post(cluster, "2"))


async def test_a_broker_that_is_away_is_waited_for(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=node.route())
        cluster.broker.down = True
        sent = [await post(cluster, text) for text in "123"]
        await trio.sleep(5)
        assert client.is_open
        refused = await resume(world.alice, client, node.route())
        assert (await refused.closed()).code == 4000
        held = await world.carol.open(route=node.route())
        await held.identify(world.carol.token)
        cluster.broker.down = False
        for message_id in sent:
            await hears(client, message_id)
        await held.expect("READY")


@pytest.mark.parametrize("forgets", [True, False])
async def test_a_broker_that_forgets_everything_loses_nothing(
    tmp_path: Path, autojump_clock: Clock, forgets: bool
) -> None:
    async with open_cluster(tmp_path, nodes=2) as cluster:
        world, (one, other) = cluster.world, cluster.nodes
        clients = [await world.alice.connect(route=one.route()), await world.carol.connect(route=other.route())]
        for text in "12345":
            if forgets:
                cluster.broker.lose_everything()
            else:
                cluster.broker.engine.drop_appends = 2
            sent = await post(cluster, text)
            for client in clients:
                await hears(client, sent)
            await clients[0].request_members(world.guild_id, limit=10)
            await clients[0].expect("GUILD_MEMBERS_CHUNK")
        await trio.sleep(10)
        assert all(client.is_open for client in clients)


async def test_a_node_that_stood_still_closes_its_sockets(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path, nodes=2) as cluster:
        world, (one, other) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=one.route())
        one.broker.cut_off = True  # for the core it is as if the process stood still
        await trio.sleep(5)
        again = await resume(world.alice, client, other.route())
        await again.expect("RESUMED")
        one.broker.cut_off = False
        missed = await post(cluster, "1")
        await hears(again, missed)
        await client.expect_opcode(7)
        assert (await client.closed()).code == 4000
        assert not any(payload.name == "MESSAGE_CREATE" for payload in client.dispatches)
        await one.serves()
        later = await world.bob.connect(route=one.route())
        await later.heartbeat()


async def test_an_invalid_token_is_refused(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path) as cluster:
        client = await cluster.world.alice.open(route=cluster.nodes[0].route())
        await client.identify("nonsense")
        assert (await client.closed()).code == 4004


async def test_a_banned_network_opens_no_socket_at_a_node(tmp_path: Path, autojump_clock: Clock) -> None:
    settings = {"ip_ban.failures": 3, "ip_ban.duration_seconds": 600}
    async with open_cluster(tmp_path, settings=settings) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        for _ in range(3):
            guessing = await world.alice.open(route=node.route("203.0.113.7"))
            await guessing.identify("cht_" + "0" * 36)
            assert (await guessing.closed()).code == 4004
        await trio.sleep(2)
        for route in (node.route("203.0.113.7"), cluster.core.route("203.0.113.7")):
            with pytest.raises(HandshakeRefused) as refused:
                await world.alice.open(route=route)
            assert refused.value.status == 403
            assert b"GLOBAL_IP_TEMPORARILY_BANNED" in refused.value.body
        await world.alice.connect(route=node.route("203.0.113.8"))
        await trio.sleep(600)
        await world.alice.connect(route=node.route("203.0.113.7"))
        administrator = world.anyone.signed_in(f"Admin {world.admin_key}")
        path = "/v1/admin/blocklists/ip"
        (await administrator.post(path, {"value": "203.0.113.8"})).expect(200)
        await trio.sleep(2)
        with pytest.raises(HandshakeRefused) as refused:
            await world.alice.open(route=node.route("203.0.113.8"))
        assert refused.value.status == 403


async def test_the_workbench_says_that_it_does_not_see_the_frames_of_nodes(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with open_cluster(tmp_path) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        at_core = await world.bob.connect()
        client = await world.alice.connect(route=node.route())
        await hears(client, await post(cluster, "1"))
        shown = (await world.anyone.get("/v1/_dev/history", {"kind": "frame", "limit": 1_000})).expect(200)["entries"]
        assert {entry["session_id"] for entry in shown} == {None, at_core.session_id}
        stream = await cluster.core.route().connect()
        await stream.send_all(b"GET /v1/_dev/history/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        await trio.sleep(0.1)
        assert b'"sessions_at_nodes":1}' in await stream.receive_some(65_536)
        await trio.aclose_forcefully(stream)
