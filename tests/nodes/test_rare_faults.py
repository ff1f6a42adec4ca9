"""What the simulation found, each as a history of its own (tests/nodes/simulation.py)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import trio
import trio.testing

from chat.nodes import link
from chat.nodes.broker import BrokerUnavailable
from chat.nodes.core import FENCE_SECONDS, FENCED
from chat.nodes.entries import StreamEntry, decode_entry
from chat.nodes.leases import lease_of
from chat.nodes.memory_broker import MemoryBroker
from chat.nodes.messages import Position, SessionFacts, WhenDrained
from chat.nodes.progress import CHECKPOINT_SECONDS
from chat.nodes.recovery import Lost, Remains
from chat.nodes.relay import HeldNumbering, Line
from chat.testing.gateway_client import GatewayClient
from chat.testing.gateway_node import GatewayNode
from tests.nodes.cluster import Cluster, open_cluster
from tests.nodes.test_nodes import hears, post, resume

Clock = trio.testing.MockClock

DEAD_SECONDS = 5.0
"""A node that is not heard of is dead by then."""


def line_of(cluster: Cluster, node: GatewayNode) -> Line:
    """What the core knows of a node."""
    nodes = cluster.core.server.nodes
    assert nodes is not None
    return nodes.lines[node.server.node.id]


async def is_on_its_way_home(cluster: Cluster, client: GatewayClient) -> None:
    """Return when the core waits for the numbers of the client's session."""
    assert client.session_id is not None
    session = cluster.core.server.gateway.table.get(client.session_id)
    assert session is not None
    while not isinstance(session.numbering, HeldNumbering):  # noqa: ASYNC110 - virtual time
        await trio.sleep(0.01)


async def moves(cluster: Cluster, client: GatewayClient, node: GatewayNode) -> None:
    """Return when the core has begun to move the client's session to the node."""
    assert client.session_id is not None
    session = cluster.core.server.gateway.table.get(client.session_id)
    assert session is not None
    while session.place is None or session.place.kept().node != node.server.node.id:  # noqa: ASYNC110 - virtual time
        await trio.sleep(0.01)


async def test_a_node_learns_of_its_death_from_a_broker_that_had_forgotten_it(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with open_cluster(tmp_path, nodes=2) as cluster:
        world, node = cluster.world, cluster.nodes[0]
        client = await world.alice.connect(route=node.route())
        node.broker.cut_off = True
        await trio.sleep(DEAD_SECONDS)
        assert line_of(cluster, node).is_dead
        cluster.broker.lose_everything()
        node.broker.cut_off = False
        await client.expect_opcode(7)
        assert (await client.closed()).code == 4000
        await (await world.bob.connect(route=node.route())).heartbeat()


async def test_a_node_is_dead_whose_name_was_taken_by_a_call_that_seemed_to_fail(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with open_cluster(tmp_path, nodes=2) as cluster:
        one, other = cluster.nodes
        client = await cluster.world.alice.connect(route=one.route())
        line = line_of(cluster, one)
        await one.kill()
        await cluster.broker.seize(lease_of(line.id), FENCED, seconds=FENCE_SECONDS)
        again = await resume(cluster.world.alice, client, other.route())
        await again.expect("RESUMED")
        assert line.is_dead


async def test_a_node_that_is_dead_for_the_core_while_it_drains_ends(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path, nodes=2) as cluster:
        node = cluster.nodes[0]
        node.broker.cut_off = True
        await trio.sleep(DEAD_SECONDS)
        node.server.node.drain()
        node.broker.cut_off = False
        with trio.fail_after(20):
            await node.over.wait()


@pytest.mark.parametrize("pause", [0, 3])
async def test_a_move_home_goes_on_without_the_socket_that_asked_for_it(
    tmp_path: Path, autojump_clock: Clock, pause: float
) -> None:
    async with open_cluster(tmp_path) as cluster:
        world = cluster.world
        client = await world.alice.connect(route=cluster.nodes[0].route())
        await hears(client, await post(cluster, "1"))
        client.drop()
        cluster.broker.engine.delay_seconds = 0.3
        impatient = await resume(world.alice, client, cluster.core.route())
        await is_on_its_way_home(cluster, client)
        missed = await post(cluster, "2")
        impatient.drop()
        await trio.sleep(pause)
        again = await resume(world.alice, client, cluster.core.route())
        await hears(again, missed)
        await again.expect("RESUMED")
        await hears(again, await post(cluster, "3"))


@pytest.mark.parametrize("arrives", [True, False])
async def test_a_core_that_ends_waits_for_a_move_or_tells(tmp_path: Path, autojump_clock: Clock, arrives: bool) -> None:
    async with open_cluster(tmp_path) as cluster:
        world = cluster.world
        client = await world.alice.connect(route=cluster.nodes[0].route())
        await hears(client, await post(cluster, "1"))
        client.drop()
        cluster.broker.engine.delay_seconds = 0.3
        await resume(world.alice, client, cluster.core.route())
        await is_on_its_way_home(cluster, client)
        missed = await post(cluster, "2")
        cluster.broker.engine.stalled = not arrives
        await cluster.core.drain()
        cluster.broker.engine.stalled = False
        await cluster.core.start()
        again = await resume(world.alice, client, cluster.core.route())
        if arrives:
            await hears(again, missed)
            await again.expect("RESUMED")
        else:
            await again.expect_opcode(9)


async def test_a_node_that_ends_while_the_core_does_leaves_its_sessions(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path, nodes=2) as cluster:
        world, (node, other) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=node.route())
        await client.update_voice_state(world.guild_id, world.voice_channel_id)
        await client.expect("VOICE_STATE_UPDATE")
        cluster.broker.engine.delay_seconds = 0.3
        core = cluster.core.server.nodes
        assert core is not None
        async with trio.open_nursery() as both:
            both.start_soon(cluster.core.drain)
            while not core.is_ending:  # noqa: ASYNC110 - virtual time
                await trio.sleep(0.01)
            node.server.node.drain()  # it reads no more, and says so
            await client.expect_opcode(7)
            await client.closed()
        await cluster.core.start()
        await trio.sleep(DEAD_SECONDS)
        again = await resume(world.alice, client, other.route())
        await again.expect("VOICE_STATE_UPDATE", where=lambda data: data["channel_id"] is None)
        await again.expect("RESUMED")


async def test_numbers_that_arrive_for_a_session_that_has_ended_are_not_given_to_the_next_in_its_slot(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with open_cluster(tmp_path, nodes=3) as cluster:
        world, (one, two, three) = cluster.world, cluster.nodes
        stays = await world.carol.connect(route=two.route())
        await hears(stays, await post(cluster, "1"))
        ends = await world.alice.connect(route=one.route())
        await hears(stays, await post(cluster, "2"))
        ends.drop()
        stays.drop()
        cluster.broker.engine.delay_seconds = 0.3
        await resume(world.alice, ends, three.route())
        await moves(cluster, ends, three)
        one.broker.cut_off = True
        (await world.alice.rest.post("/v1/auth/logout")).expect(204)
        again = await resume(world.carol, stays, three.route())
        await moves(cluster, stays, three)
        two.broker.cut_off, one.broker.cut_off = True, False
        await trio.sleep(1.5)
        two.broker.cut_off = False
        await again.expect("RESUMED")
        await hears(again, await post(cluster, "3"))


async def test_a_node_that_dies_soon_after_the_broker_forgot_everything_leaves_its_sessions(
    tmp_path: Path, autojump_clock: Clock
) -> None:
    async with open_cluster(tmp_path, nodes=2) as cluster:
        world, (one, other) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=one.route())
        await trio.sleep(CHECKPOINT_SECONDS - 0.5)
        cluster.broker.down = True  # when a checkpoint is due
        cluster.broker.lose_everything()
        await trio.sleep(1)
        cluster.broker.down = False
        await trio.sleep(2)
        await hears(client, await post(cluster, "1"))
        await one.kill()
        again = await resume(world.alice, client, other.route())
        await again.expect("RESUMED")


async def test_a_core_that_ends_waits_for_what_it_says_while_it_waits(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path, nodes=2) as cluster:
        world, (one, other) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=one.route())
        await (await world.bob.connect(route=other.route())).heartbeat()
        await client.update_voice_state(world.guild_id, world.voice_channel_id)
        await client.expect("VOICE_STATE_UPDATE")
        core, (first, second) = cluster.core.server.nodes, [line_of(cluster, node) for node in (one, other)]
        assert core is not None
        async with trio.open_nursery() as both:
            both.start_soon(cluster.core.drain)
            while not core.is_ending:  # noqa: ASYNC110 - virtual time
                await trio.sleep(0.01)
            other.broker.cut_off = True
            await first.link.confirmed()
            one.broker.cut_off, other.broker.cut_off = True, False
            first.send(WhenDrained(0, 0, 0))
            await second.link.confirmed()
            await trio.sleep(0.1)
            one.broker.cut_off = False
        await cluster.core.start()
        await client.expect_opcode(7)
        await (await resume(world.alice, client, one.route())).expect("RESUMED")


async def test_a_core_that_ends_waits_for_what_it_says_at_the_very_end(tmp_path: Path, autojump_clock: Clock) -> None:
    async with open_cluster(tmp_path, nodes=2) as cluster:
        world, (one, other) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=one.route())
        await hears(client, await post(cluster, "1"))
        line, core = line_of(cluster, one), cluster.core.server.nodes
        assert core is not None
        one.server.node.drain()  # its sessions wait for a Resume anywhere
        await one.over.wait()
        await client.expect_opcode(7)
        cluster.broker.engine.delay_seconds = 0.3
        async with trio.open_nursery() as both:
            both.start_soon(cluster.core.drain)
            while not core.is_ending:  # noqa: ASYNC110 - virtual time
                await trio.sleep(0.01)
            await line.link.confirmed()
            await trio.sleep(0.25)
            line.send(WhenDrained(0, 0, 0))
        cluster.broker.engine.delay_seconds = 0.0
        await cluster.core.start()
        missed = await post(cluster, "2")
        await trio.sleep(DEAD_SECONDS)
        again = await resume(world.alice, client, other.route())
        await hears(again, missed)
        await again.expect("RESUMED")


@pytest.mark.parametrize("beyond", [1, 1_000])
async def test_a_resume_from_a_wrong_sequence_costs_a_session_of_a_dead_node_nothing(
    tmp_path: Path, autojump_clock: Clock, beyond: int
) -> None:
    async with open_cluster(tmp_path, nodes=2) as cluster:
        world, (one, other) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=one.route())
        await hears(client, await post(cluster, "1"))
        await client.heartbeat()
        client.drop()
        missed = []
        for number in range(2, 5):  # with a checkpoint behind each
            missed.append(await post(cluster, str(number)))
            await trio.sleep(CHECKPOINT_SECONDS + 1)
        assert client.session_id is not None
        session, known = one.server.node.table.get(client.session_id), client.sequence
        assert session is not None
        assert known is not None
        await one.kill()
        client.sequence = session.numbering.sequence + beyond
        refused = await resume(world.alice, client, other.route())
        assert (await refused.closed()).code == 4007
        client.sequence = known
        again = await resume(world.alice, client, other.route())
        for message_id in missed:
            await hears(again, message_id)
        await again.expect("RESUMED")


@pytest.mark.parametrize("loses", [True, False])
async def test_a_log_whose_end_is_lost_before_a_restart_of_the_core_is_noticed(
    tmp_path: Path, autojump_clock: Clock, loses: bool
) -> None:
    async with open_cluster(tmp_path, nodes=2) as cluster:
        world, (one, other) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=one.route())
        await hears(client, await post(cluster, "1"))
        await one.kill()
        await trio.sleep(DEAD_SECONDS)
        cluster.broker.engine.drop_appends = int(loses)
        missed = [await post(cluster, "2")]
        await trio.sleep(0.5)
        await cluster.core.restart()
        await trio.sleep(2)  # nodes learn of the core's new life
        missed.append(await post(cluster, "3"))
        again = await resume(world.alice, client, other.route())
        if loses:
            await again.expect_opcode(9)
        else:
            for message_id in missed:
                await hears(again, message_id)
            await again.expect("RESUMED")


async def test_a_node_that_the_core_does_not_hear_begins_anew_before_its_memory_is_full(
    tmp_path: Path, autojump_clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_cluster(tmp_path) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=node.route())
        await trio.sleep(1)  # what the core has said is confirmed: its own queue is not what fills
        monkeypatch.setattr(link, "NODE_UNCONFIRMED_BYTES", 1_000)
        cluster.broker.engine.stalled = True
        for status in ("idle", "dnd", "online") * 10:
            await client.update_presence(status)
        await client.expect_opcode(7)
        assert (await client.closed()).code == 4000
        cluster.broker.engine.stalled = False
        await trio.sleep(1)
        await node.serves()
        await (await world.bob.connect(route=node.route())).heartbeat()


async def test_what_waits_for_the_heirs_of_a_dead_node_is_bounded_too(
    tmp_path: Path, autojump_clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_cluster(tmp_path) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=node.route())
        await node.kill()
        await trio.sleep(DEAD_SECONDS)
        assert await world.session_of(client) is not None
        monkeypatch.setattr(link, "NODE_UNCONFIRMED_BYTES", 5_000)
        cluster.broker.down = True
        for number in range(20):
            await post(cluster, f"{number}")
        assert await world.session_of(client) is None


async def test_a_core_whose_clock_was_set_back_is_met_by_its_nodes(tmp_path: Path, autojump_clock: Clock) -> None:
    """Neither a session nor the lease tells of the life before."""
    async with open_cluster(tmp_path) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        client = await world.alice.connect(route=node.route())
        await cluster.core.stop()
        await trio.sleep(DEAD_SECONDS)
        cluster.core.clock.set_back(-3_600_000)
        await cluster.core.start()
        with trio.fail_after(DEAD_SECONDS):
            await node.serves(cluster.core.server)
            await client.expect_opcode(9)
            await (await world.bob.connect(route=node.route())).heartbeat()


async def test_a_log_behind_a_broker_that_does_not_answer_is_not_lost(autojump_clock: Clock) -> None:
    broker = MemoryBroker(chance=random.Random(1))
    facts = SessionFacts("session", user_id=1, bot=False, threads=True)

    async def cut_off() -> None:
        await trio.sleep(0.5)
        broker.cut_off = True

    async with trio.open_nursery() as nursery:
        nursery.start_soon(cut_off)
        with pytest.raises(BrokerUnavailable):
            await Remains(broker, "node").numbering(0, facts, Position(1, 1), 1)
    broker.cut_off = False
    with pytest.raises(Lost, match="not whole"):
        await Remains(broker, "node").numbering(0, facts, Position(1, 1), 1)


async def test_a_gap_that_a_broker_away_was_not_told_of_is_complained_of_when_it_is_back(
    autojump_clock: Clock,
) -> None:
    broker = MemoryBroker(chance=random.Random(1))
    one = link.Link(broker, "stream", "one", 1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(one.run)
        broker.down = True
        assert one.accept(StreamEntry("other", 1, 5, 0, [b"the first four are missing"])) == ()
        await trio.sleep(5)
        broker.down = False
        await trio.sleep(2 * link.RETRY_MAXIMUM_SECONDS)
        entries = await broker.read("stream", "0", wait_seconds=0)
        assert [decode_entry(data).gap for _, data in entries] == [True]
        nursery.cancel_scope.cancel()
