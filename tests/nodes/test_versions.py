"""Core and nodes of different versions: one protocol apart they work together, further apart the node ends and says so.

A version to come is this one behind a broker client that rewrites what it says: every message has a member that this
version does not know, Hello and Welcome name another protocol, and now and then there is a message of an unknown kind.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
import orjson
import pytest
import structlog.testing
import trio
import trio.testing

from chat import __version__
from chat.errors import OperatorError
from chat.nodes.entries import decode_entry, encode_entry
from chat.nodes.leases import lease_of
from chat.nodes.memory_broker import MemoryBroker
from chat.nodes.messages import PROTOCOL, Hello, NodeMessage, Welcome
from chat.nodes.standing import standing_of
from chat.testing.gateway_node import GatewayNode
from tests.nodes.cluster import open_cluster

Clock = trio.testing.MockClock
HEAD = struct.Struct("!BIB")
"""Of a message: its kind, the length of its members, the number of its byte strings."""


@attrs.frozen
class OfAnotherTime(NodeMessage):
    """What this version has never heard of."""

    kind = 200
    blobs = ("data",)

    data: tuple[bytes, ...] = (b"?",)
    purpose: str = "unknown"


class OtherVersion(MemoryBroker):
    """A client of the broker for a core or a node whose protocol is `apart` from this one."""

    def __init__(self, broker: MemoryBroker, apart: int) -> None:
        super().__init__(engine=broker.engine)
        self.apart = apart
        self.rewritten = 0

    def client(self) -> OtherVersion:
        """Itself: whoever asks is the only one."""
        return self

    async def append(self, stream: str, entries: Sequence[bytes], *, keep_seconds: float) -> None:
        written = [self._entry(entry, self.apart) for entry in entries]
        await super().append(stream, written, keep_seconds=keep_seconds)

    async def read(self, stream: str, after: str, *, wait_seconds: float, most: int = 256) -> list[tuple[str, bytes]]:
        found = await super().read(stream, after, wait_seconds=wait_seconds, most=most)
        return [(entry_id, self._entry(entry, -self.apart)) for entry_id, entry in found]

    def _entry(self, data: bytes, shift: int) -> bytes:
        entry = decode_entry(data)
        return encode_entry(attrs.evolve(entry, messages=[self._message(one, shift) for one in entry.messages]))

    def _message(self, data: bytes, shift: int) -> bytes:
        kind, length, count = HEAD.unpack_from(data)
        members = orjson.loads(data[HEAD.size : HEAD.size + length])
        if kind in (Hello.kind, Welcome.kind):
            members["protocol"] += shift
        members["since_another_time"] = {"a": [1, 2]}
        header = orjson.dumps(members)
        self.rewritten += 1
        return HEAD.pack(kind, len(header), count) + header + data[HEAD.size + length :]


@pytest.mark.parametrize("apart", [-1, 1])
@pytest.mark.parametrize("core_is_other", [True, False], ids=["core", "node"])
async def test_one_protocol_apart_everything_works(
    tmp_path: Path, autojump_clock: Clock, apart: int, core_is_other: bool
) -> None:
    others: list[OtherVersion] = []

    def other(broker: MemoryBroker) -> OtherVersion:
        others.append(OtherVersion(broker, apart))
        return others[-1]

    to_broker = other if core_is_other else MemoryBroker.client
    async with open_cluster(tmp_path, nodes=0, to_broker=to_broker) as cluster:
        one = await cluster.start_node(None if core_is_other else other(cluster.broker))
        nodes, alice = cluster.core.server.nodes, cluster.world.alice
        assert nodes is not None
        line = nodes.lines[one.server.node.id]
        client = await alice.connect(route=one.route())
        for _ in range(2):  # with what the other side has never heard of in between
            line.send(OfAnotherTime())
            one.server.node.say(OfAnotherTime())
            sent = (await cluster.world.bob.rest.send_message(cluster.world.channel_id, "hello")).expect(200)
            await client.expect("MESSAGE_CREATE", where=lambda data, sent=sent: data["id"] == sent["id"])  # type: ignore[misc]
        await client.request_members(cluster.world.guild_id, user_ids=[cluster.world.bob.id])
        (member,) = (await client.expect("GUILD_MEMBERS_CHUNK")).data["members"]
        assert member["user"]["id"] == cluster.world.bob.id

        # A session goes on at a node of this version, and comes back.
        for place in (await cluster.start_node(), one):
            client.drop()
            sent = (await cluster.world.bob.rest.send_message(cluster.world.channel_id, "again")).expect(200)
            again = await alice.open(route=place.route())
            await again.resume(alice.token, client.session_id, client.sequence)
            assert (await again.expect("MESSAGE_CREATE")).data["id"] == sent["id"]
            await again.expect("RESUMED")
            again.session_id, client = client.session_id, again
        assert others[0].rewritten > 5
        assert not line.is_refused


async def words_at_the_end(node: GatewayNode) -> str:
    """Runs a node until it ends by itself; what it says then."""
    words: list[str] = []
    try:
        await node.live()
    except* OperatorError as errors:
        words += [str(error) for error in leaves(errors)]
    (only,) = words
    return only


def leaves(errors: BaseExceptionGroup[OperatorError]) -> Iterator[OperatorError]:
    for error in errors.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from leaves(error)
        else:
            yield error


def told(core: int, node: int) -> str:
    return (
        f"the core has version {__version__} (protocol {core}), this node {__version__} (protocol {node}): "
        "they may be one protocol apart; bring this node to the version of the core"
    )


@pytest.mark.parametrize("apart", [-2, 2])
async def test_a_node_two_protocols_apart_ends_and_the_core_says_why(
    tmp_path: Path, autojump_clock: Clock, apart: int
) -> None:
    async with open_cluster(tmp_path) as cluster:
        client = await cluster.world.alice.connect(route=cluster.nodes[0].route())
        stranger = GatewayNode.beside(OtherVersion(cluster.broker, apart), random.Random(2), "stranger")
        with structlog.testing.capture_logs() as lines:
            assert await words_at_the_end(stranger) == told(PROTOCOL - apart, PROTOCOL)
        assert not stranger.server.node.is_up
        (line,) = [line for line in lines if line["log_level"] == "error"]
        assert line["event"] == "a gateway node is refused: its version is too far from this one"
        assert (line["node"], line["version"], line["core"]) == ("stranger", __version__, __version__)
        nodes = cluster.core.server.nodes
        assert nodes is not None
        states = {node.name: node.state for node in standing_of(nodes, cluster.core.clock).nodes}
        assert states == {"node 1": "up", "stranger": "refused"}
        sent = (await cluster.world.bob.rest.send_message(cluster.world.channel_id, "all the same")).expect(200)
        assert (await client.expect("MESSAGE_CREATE")).data["id"] == sent["id"]


@pytest.mark.parametrize("apart", [-2, 2])
async def test_a_core_two_protocols_apart_is_left(tmp_path: Path, autojump_clock: Clock, apart: int) -> None:
    far: list[OtherVersion] = []

    def core_of_another_version(broker: MemoryBroker) -> OtherVersion:
        far.append(OtherVersion(broker, 0))
        return far[0]

    async with open_cluster(tmp_path, nodes=0, to_broker=core_of_another_version) as cluster:
        node = GatewayNode.beside(cluster.broker, random.Random(3), "node")
        words: list[str] = []

        async def lives() -> None:
            words.append(await words_at_the_end(node))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(lives)
            await node.serves()
            client = await cluster.world.alice.connect(route=node.route())
            far[0].apart = apart
            await cluster.core.restart()
            assert (await client.closed()).code == 4000
        assert words == [told(PROTOCOL + apart, PROTOCOL)]
        assert await cluster.broker.get(lease_of(node.server.node.id)) == [None]
