"""`chat nodes`: what an operator sees of nodes, and how one is drained."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
import trio.testing

from chat.domain.administration.gateway_nodes import NodesStanding, NodeStanding, NodeState
from chat.store.data_directory import DataDirectory
from tests.cli.command_line import Outcome, Run
from tests.cli.conftest import run as run
from tests.nodes.cluster import Cluster, open_cluster

Clock = trio.testing.MockClock
WRITTEN_SECONDS = 5
"""Virtual time after which what nodes told is in the file."""


@pytest.fixture
def owned(tmp_path: Path) -> Iterator[Path]:
    """A data directory that this process owns, as a server's does."""
    directory = DataDirectory(tmp_path)
    with directory.locked():
        yield tmp_path


async def command(run: Run, *arguments: object) -> Outcome:
    """A command beside the server; virtual time may pass meanwhile."""
    return await trio.to_thread.run_sync(lambda: run("nodes", *arguments))


async def listed(run: Run, data: Path) -> list[dict[str, object]]:
    await trio.sleep(WRITTEN_SECONDS)
    outcome = await command(run, "list", "--data", data)
    assert (outcome.status, outcome.err) == (0, "")
    found: list[dict[str, object]] = outcome.json
    return found


async def connected(cluster: Cluster, number: int) -> None:
    await cluster.world.alice.connect(route=cluster.nodes[number].route())


async def test_nodes_are_listed_and_one_is_drained(run: Run, owned: Path, autojump_clock: Clock) -> None:
    async with open_cluster(owned, nodes=2) as cluster:
        await connected(cluster, 0)
        one, other = await listed(run, owned)
        assert [one["name"], one["state"], one["sockets"], one["attached"], one["sessions"]] == [
            "node 1",
            "up",
            1,
            1,
            1,
        ]
        assert [other["name"], other["state"], other["sockets"], other["sessions"]] == ["node 2", "up", 0, 0]
        assert one["deliveries"] >= 0
        assert (one["unheard_messages"], one["heard_seconds_ago"] <= WRITTEN_SECONDS) == (0, True)
        assert one["id"] == cluster.nodes[0].server.node.id

        shown = await trio.to_thread.run_sync(lambda: run("nodes", "list", "--data", owned, terminal=True))
        assert shown.table[0] == ["name", "id", "version", "state", "sockets", "sessions", "unheard", "memory", "heard"]
        assert shown.table[1][0] == "node 1"

        status = await trio.to_thread.run_sync(lambda: run("status", "--data", owned))
        assert status.json["nodes"] == {"broker_is_up": True, "up": 2, "sessions": 1}
        shown = await trio.to_thread.run_sync(lambda: run("status", "--data", owned, terminal=True))
        assert "gateway nodes: 2 up; sessions at them: 1; the broker answers" in shown.out
        admin = (await cluster.world.admin.rest.get("/v1/admin/gateway/nodes")).expect(200)
        assert admin["broker_is_up"] is True
        assert [(node["name"], node["state"], node["sessions"]) for node in admin["nodes"]] == [
            ("node 1", "up", 1),
            ("node 2", "up", 0),
        ]

        unknown = await command(run, "drain", "node 3", "--data", owned)
        assert (unknown.status, unknown.err) == (1, "chat: there is no node node 3; here are: node 1, node 2\n")
        asked = await command(run, "drain", "node 2", "--timeout", 0, "--data", owned)
        assert (asked.status, asked.json["id"]) == (0, other["id"])
        await cluster.nodes[1].over.wait()
        _, ended = await listed(run, owned)
        assert (ended["id"], ended["state"]) == (other["id"], "ended")
        again = await command(run, "drain", str(other["id"]), "--data", owned)
        assert again.err == f"chat: {other['id']} is ended already\n"


async def test_a_killed_node_is_dead_and_another_of_its_name_is_meant(
    run: Run, owned: Path, autojump_clock: Clock
) -> None:
    async with open_cluster(owned, nodes=1) as cluster:
        await connected(cluster, 0)
        await cluster.nodes[0].kill()
        await trio.sleep(WRITTEN_SECONDS)
        (dead,) = await listed(run, owned)
        assert (dead["state"], dead["sockets"], dead["sessions"]) == ("dead", 0, 1)
        cluster.nodes.clear()
        successor = await cluster.start_node()
        assert {node["state"] for node in await listed(run, owned)} == {"dead", "up"}
        asked = await command(run, "drain", "node 1", "--timeout", 0, "--data", owned)
        assert asked.json["id"] == successor.server.node.id


async def test_two_of_a_name_are_told_apart_by_their_ids(run: Run, owned: Path, autojump_clock: Clock) -> None:
    async with open_cluster(owned, nodes=1) as cluster:
        first = cluster.nodes[0].server.node.id
        cluster.nodes.clear()
        await cluster.start_node()
        assert len(await listed(run, owned)) == 2
        outcome = await command(run, "drain", "node 1", "--timeout", 0, "--data", owned)
        assert outcome.err.startswith("chat: several nodes are called node 1: name one by its id (")
        assert first in outcome.err
        asked = await command(run, "drain", first, "--timeout", 0, "--data", owned)
        assert (asked.status, asked.json["id"]) == (0, first)


def test_each_node_has_a_label_of_its_own() -> None:
    def node(name: str, node_id: str, state: NodeState) -> NodeStanding:
        return NodeStanding(id=node_id, name=name, version="1", state=state, sessions=0, unheard_messages=0, heard_at=0)

    up, dead, draining = NodeState.UP, NodeState.DEAD, NodeState.DRAINING
    nodes = [
        node("alone", "1", up),
        node("back", "2", dead),
        node("back", "3", up),
        node("both", "4", up),
        node("both", "5", draining),
        node("gone", "6", dead),
    ]
    labels = NodesStanding(at=0, process=1, broker_is_up=True, nodes=nodes).labels()
    assert [(label, node.id) for label, node in labels] == [
        ("alone", "1"),
        ("back", "3"),
        ("both 4", "4"),
        ("both 5", "5"),
        ("gone", "6"),
    ]


async def test_the_broker_is_away(run: Run, owned: Path, autojump_clock: Clock) -> None:
    async with open_cluster(owned, nodes=1) as cluster:
        await listed(run, owned)
        cluster.broker.down = True
        await trio.sleep(WRITTEN_SECONDS)
        outcome = await command(run, "list", "--data", owned)
        assert outcome.err == "chat: the broker does not answer: this is what nodes told before\n"
        assert len(json.loads(outcome.out)) == 1
        cluster.broker.down = False


def test_where_there_are_no_nodes_the_command_says_so(run: Run, tmp_path: Path) -> None:
    DataDirectory(tmp_path).bring_database_up_to_date()
    for arguments in (("list",), ("drain", "node 1")):
        outcome = run("nodes", *arguments, "--data", tmp_path)
        assert (outcome.status, outcome.out) == (1, "")
        assert outcome.err.startswith("chat: no server runs on ")
    with DataDirectory(tmp_path).locked():
        (tmp_path / "nodes.json").write_text('{"at": 0, "process": 1, "broker_is_up": true, "nodes": []}')
        outcome = run("nodes", "list", "--data", tmp_path)
        assert outcome.err == "chat: the server runs without gateway nodes: `chat serve --nodes URL` is their core\n"
        (tmp_path / "nodes.json").write_text("[")
        assert run("nodes", "list", "--data", tmp_path).status == 1
