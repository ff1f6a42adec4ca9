"""The second mount at gateway nodes: the core puts events into its words, nodes number and send them (architecture.md,
Beyond one process). What a session hears there is in `tests/compat`; some of it is asked once more here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio.testing

from chat.compat.discord.intents import ALL_INTENTS
from chat.nodes.leases import lease_of
from chat.testing.gateway_client import GatewayClient
from tests.compat.mounted import NOT_CONTENT, QUERY, connected, resumed
from tests.compat.test_mounted_gateway import (  # noqa: F401
    test_a_session_is_resumed_only_where_it_was_begun,
    test_a_session_outlives_a_restart_with_its_intents,
    test_events_come_with_their_intent_and_take_numbers_only_then,
    test_intents_that_are_none_close_the_socket,
    test_ready_has_what_libraries_demand_and_nothing_of_our_clients,
    test_what_the_server_says_is_one_stream,
    test_without_the_setting_there_is_no_such_version,
)
from tests.nodes.cluster import Cluster, open_cluster

Clock = trio.testing.MockClock

pytestmark = pytest.mark.at_node


@pytest.fixture
def chat_server_options(chat_server_options: dict[str, Any]) -> dict[str, Any]:
    """For the tests of the mount: a node beside the server."""
    return {**chat_server_options, "at_node": True}


async def post(cluster: Cluster, text: str) -> None:
    (await cluster.world.alice.rest.send_message(cluster.world.channel_id, text)).expect(200)


def heard(client: GatewayClient) -> list[tuple[int | None, str]]:
    """Sequence and content of each message that the client was told."""
    said = [payload for payload in client.dispatches if payload.name == "MESSAGE_CREATE"]
    return [(payload.sequence, payload.data["content"]) for payload in said]


async def test_a_session_of_the_mount_moves_with_its_words(tmp_path: Path, autojump_clock: Clock) -> None:
    """From a node that is killed to another one, to the core, and back."""
    async with open_cluster(tmp_path, nodes=2) as cluster:
        world, (one, other) = cluster.world, cluster.nodes
        bot = await connected(world.bot, intents=NOT_CONTENT, route=one.route())
        await bot.expect("GUILD_CREATE")
        await trio.sleep(6)  # a checkpoint lies between
        await one.kill()
        for route in (other.route(), cluster.core.route(), other.route()):
            bot.drop()
            last = bot.sequence
            assert last is not None
            await post(cluster, "while it moves")
            await post(cluster, f"to <@{world.bot.id}>")
            bot = await resumed(world, bot, route=route)
            await bot.expect("RESUMED")
            await post(cluster, "there")
            await bot.expect("MESSAGE_CREATE", where=lambda data: data["content"] == "")
            assert heard(bot) == [(last + 1, ""), (last + 2, f"to <@{world.bot.id}>"), (last + 3, "")]
        assert len(other.server.node.table) == 1


async def test_sessions_that_hear_the_same_are_told_together(tmp_path: Path, autojump_clock: Clock) -> None:
    """However many there are, an event goes to a node once for each way to say it."""
    async with open_cluster(tmp_path) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        ours = await world.bot.connect(route=node.route())
        whole = [await connected(world.bot, intents=ALL_INTENTS, route=node.route()) for _ in range(3)]
        bare = [await connected(world.bot, intents=NOT_CONTENT, route=node.route()) for _ in range(3)]
        nothing = await connected(world.bot, intents=0, route=node.route())
        await trio.sleep(1)
        assert cluster.core.server.nodes is not None
        (line,) = cluster.core.server.nodes.lines.values()
        before = line.link.number
        await post(cluster, "hello")
        await trio.sleep(1)
        assert line.link.number == before + 3
        told = {client: [content for _, content in heard(client)] for client in (ours, *whole, *bare, nothing)}
        assert [told[client] for client in (ours, *whole)] == [["hello"]] * 4
        assert [told[client] for client in (*bare, nothing)] == [[""]] * 3 + [[]]


async def test_a_node_that_begins_anew_knows_the_mount_at_once(tmp_path: Path, autojump_clock: Clock) -> None:
    """A library gives up for good where its version is refused."""
    async with open_cluster(tmp_path) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        life = node.server.node
        await cluster.core.stop()
        await cluster.broker.seize(lease_of(life.id), b"taken", seconds=60)
        while node.server.node is life:  # noqa: ASYNC110 - no event says so
            await trio.sleep(0.01)
        bot = await world.bot.open(query=QUERY, route=node.route())
        assert not node.server.node.is_up
        await bot.identify(world.bot.token, intents=0)
        await cluster.core.start()
        await bot.expect("READY")


async def test_a_core_without_the_mount_starts_no_session_of_it(tmp_path: Path, autojump_clock: Clock) -> None:
    """A socket can have been opened while the core still had it."""
    async with open_cluster(tmp_path, settings={"compat.discord": "off"}) as cluster:
        world, (node,) = cluster.world, cluster.nodes
        node.server.node.mounts = ("discord",)
        bot = await world.bot.open(query=QUERY, route=node.route())
        await bot.identify(world.bot.token, intents=0)
        assert (await bot.closed()).code == 4000
