"""Nothing on the broker signs anybody in: no token crosses between nodes and core. That none lies in a dump of the
engine is in `test_manual_of_nodes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs
import pytest
import trio.testing

from chat.auth.tokens import TokenDigest
from chat.nodes.memory_broker import MemoryBroker
from chat.nodes.messages import DIGESTS, KINDS, PROTOCOL, WITHHELD, AskIdentify, AskResume
from chat.testing.gateway_client import GatewayClient
from tests.nodes.cluster import open_cluster
from tests.nodes.test_versions import OtherVersion

Clock = trio.testing.MockClock

SECRET_WORDS: Final = ("token", "secret", "password", "ticket", "credential")
MAY_NAME_SECRETS: Final = {
    (AskResume, "token"): "empty where `credential` stands for it",
    (AskResume, "credential"): "a digest",
    (AskIdentify, "credential"): "a digest",
}


class Overheard(MemoryBroker):
    """The way of one process to the broker, with all that it wrote there."""

    def __init__(self, broker: MemoryBroker) -> None:
        super().__init__(engine=broker.engine)
        self.written: list[bytes] = []

    def client(self) -> Overheard:
        return self

    async def append(self, stream: str, entries: Sequence[bytes], *, keep_seconds: float) -> None:
        self.written += [stream.encode(), *entries]
        await super().append(stream, entries, keep_seconds=keep_seconds)

    async def put(self, values: Mapping[str, bytes], *, seconds: float) -> None:
        self.written += [part for key, value in values.items() for part in (key.encode(), value)]
        await super().put(values, seconds=seconds)

    async def claim(self, key: str, value: bytes, *, seconds: float) -> bool:
        self.written += [key.encode(), value]
        return await super().claim(key, value, seconds=seconds)


def test_no_message_has_a_member_for_a_secret() -> None:
    named = {
        (kind, member.name)
        for kind in KINDS.values()
        for member in attrs.fields(kind)
        if any(word in member.name for word in SECRET_WORDS)
    }
    assert named == MAY_NAME_SECRETS.keys()


def secrets_of(token: str) -> tuple[bytes, ...]:
    """The token, and its part that nobody could guess."""
    return token.encode(), token.rpartition("." if "." in token else "_")[2].encode()


async def sessions_at_nodes(tmp_path: Path, overheard: list[Overheard]) -> list[str]:
    """People and bots identify, ask, move and resume at nodes, at both mounts, with right tokens and with wrong ones;
    the tokens that they showed."""

    def listened(broker: MemoryBroker) -> Overheard:
        overheard.append(Overheard(broker))
        return overheard[-1]

    shown: list[str] = []
    async with open_cluster(tmp_path, nodes=0, settings={"compat.discord": "on"}, to_broker=listened) as cluster:
        world = cluster.world
        one, other = [await cluster.start_node(listened(cluster.broker)) for _ in range(2)]
        (
            alice,
            bot,
        ) = world.alice, world.bot
        client = await alice.connect(route=one.route())
        await client.request_members(world.guild_id, user_ids=[world.bob.id])
        await client.expect("GUILD_MEMBERS_CHUNK")
        client.drop()
        again = await alice.open(route=other.route())
        await again.resume(alice.token, client.session_id, client.sequence)
        await again.expect("RESUMED")
        theirs = await GatewayClient.connect(world.nursery, one.route())
        await theirs.identify(bot.token)
        await theirs.expect("READY")
        for query in ("v=10&encoding=json", "v=1"):
            wrong = "cht_" + "W" * 36 if query == "v=1" else f"{bot.token[:-4]}WWWW"
            stranger = await GatewayClient.connect(world.nursery, one.route(), query=query)
            await stranger.identify(wrong, intents=1)
            assert (await stranger.closed()).code == 4004
            shown.append(wrong)
        mounted = await GatewayClient.connect(world.nursery, one.route(), query="v=10&encoding=json")
        await mounted.identify(f"Bot {bot.token}", intents=1)
        await mounted.expect("READY")
        shown += [alice.token, bot.token]
    return shown


async def test_no_token_crosses_the_broker(tmp_path: Path, autojump_clock: Clock) -> None:
    overheard: list[Overheard] = []
    shown = await sessions_at_nodes(tmp_path, overheard)
    written = b"\n".join(part for each in overheard for part in each.written)
    assert written.count(WITHHELD.encode()) >= 5  # that it was listened to
    for token in shown:
        for secret in secrets_of(token):
            assert secret not in written


async def test_a_digest_signs_nobody_in(tmp_path: Path, autojump_clock: Clock) -> None:
    """Neither as a token of a client nor as the word in its place."""
    async with open_cluster(tmp_path) as cluster:
        world = cluster.world
        for token in (TokenDigest.of(world.alice.token).digest, WITHHELD):
            client = await GatewayClient.connect(world.nursery, cluster.nodes[0].route())
            await client.identify(token, credential=attrs.asdict(TokenDigest.of(world.alice.token)))
            assert (await client.closed()).code == 4004


@pytest.mark.parametrize("core_is_other", [True, False], ids=["core", "node"])
async def test_the_version_before_is_understood(tmp_path: Path, autojump_clock: Clock, core_is_other: bool) -> None:
    """A core knew tokens in clear alone: its node sends them so, and this core understands such a node."""

    def step_before(broker: MemoryBroker) -> OtherVersion:
        return OtherVersion(broker, DIGESTS - 1 - PROTOCOL)

    def step_behind(broker: MemoryBroker) -> OtherVersion:  # to whom this core is a step before
        return OtherVersion(broker, PROTOCOL - DIGESTS + 1)

    to_broker = step_before if core_is_other else MemoryBroker.client
    async with open_cluster(tmp_path, nodes=0, to_broker=to_broker) as cluster:
        node = await cluster.start_node(None if core_is_other else step_behind(cluster.broker))
        assert node.server.node.starts.sends_digests is False
        client = await cluster.world.alice.connect(route=node.route())
        client.drop()
        again = await cluster.world.alice.open(route=node.route())
        await again.resume(cluster.world.alice.token, client.session_id, client.sequence)
        await again.expect("RESUMED")
