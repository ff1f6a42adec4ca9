"""The node's state on demand, and what clients of a real server see of each."""

from __future__ import annotations

import pytest
import trio

from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import GatewayClient
from chat.testing.world import World
from tests.development.waiting import connected
from tests.patience import PATIENCE_SECONDS

STOCK: dict[str, object] = {
    "draining": False,
    "at_capacity": False,
    "starts_paused": False,
    "rollout_user_ids": None,
    "rpc_failing": False,
    "storage_failing": False,
    "missing_guild_ids": [],
}


async def identified(world: World) -> GatewayClient:
    """A client of alice's that has sent Identify and waits."""
    client = await world.open()
    await client.identify(world.alice.token)
    return client


async def test_every_member_is_answered_and_omitted_ones_keep_theirs(world: World) -> None:
    assert await world.anyone.node() == STOCK
    assert await world.anyone.node(at_capacity=True) == {**STOCK, "at_capacity": True}
    changed = await world.anyone.node(rollout_user_ids=[world.bob.id], missing_guild_ids=["5", "4"])
    assert changed == {
        **STOCK,
        "at_capacity": True,
        "rollout_user_ids": [world.bob.id],
        "missing_guild_ids": ["4", "5"],
    }
    assert await world.anyone.node(at_capacity=False, rollout_user_ids=None, missing_guild_ids=[]) == STOCK


async def test_a_reset_returns_to_the_stock_state(world: World) -> None:
    await world.anyone.node(draining=True, rpc_failing=True, storage_failing=True, missing_guild_ids=[world.guild_id])
    (await world.anyone.post("/v1/_dev/reset")).expect(204)
    assert await world.anyone.node() == STOCK


@pytest.mark.parametrize("member", ["draining", "at_capacity", "starts_paused", "rpc_failing"])
async def test_identify_is_held_until_the_cause_is_gone(world: World, member: str) -> None:
    await world.anyone.node(**{member: True})
    alice = await identified(world)
    await alice.expect_silence(0.2)
    await world.anyone.node(**{member: False})
    await world.anyone.advance_clock(2_000)
    await alice.expect("READY")


async def test_accounts_outside_the_rollout_are_held(world: World) -> None:
    await world.anyone.node(rollout_user_ids=[world.bob.id])
    alice = await identified(world)
    await world.bob.connect()
    await alice.expect_silence(0.2)
    await world.anyone.node(rollout_user_ids=[world.bob.id, world.alice.id])
    await world.anyone.advance_clock(2_000)
    await alice.expect("READY")


async def test_draining_sends_sessions_elsewhere(world: World) -> None:
    alice = await world.alice.connect()
    await world.anyone.node(draining=True)
    await alice.expect_opcode(Opcode.RECONNECT)
    assert (await alice.closed()).code == 4000
    await world.anyone.node(draining=False)
    resumed = await world.alice.resume(alice)
    await resumed.expect("RESUMED")


async def test_while_sessions_cannot_be_reached(world: World) -> None:
    alice, bob = await world.alice.connect(), await connected(world.bob, heartbeats=False)
    alice.drop()
    await world.anyone.node(rpc_failing=True)
    successor = await world.alice.resume(alice)
    close = await successor.closed()
    assert (close.code, close.reason) == (4000, "Session unavailable")
    await bob.heartbeat(bob.sequence)
    # Let the heartbeat arrive before the clock moves.
    await bob.expect_silence(0.2)
    await world.anyone.advance_clock(5_100)
    close = await bob.closed()
    assert (close.code, close.reason) == (4007, "Invalid sequence")


async def test_while_the_store_fails(world: World) -> None:
    await world.anyone.node(storage_failing=True)
    alice = await identified(world)
    close = await alice.closed()
    assert (close.code, close.reason) == (4000, "Failed to start session")
    answer = await world.alice.rest.send_message(world.channel_id, "lost")
    assert (answer.status, answer.code) == (503, "SERVICE_UNAVAILABLE")
    await world.anyone.node(storage_failing=False)
    (await world.alice.rest.send_message(world.channel_id, "kept")).expect(200)


async def test_a_guild_that_the_gateway_does_not_know(world: World) -> None:
    alice = await world.alice.connect()
    await world.anyone.node(missing_guild_ids=[world.guild_id])
    assert (await alice.expect("GUILD_DELETE")).data == {"id": world.guild_id, "unavailable": True}
    answer = await world.alice.rest.get(f"/v1/guilds/{world.guild_id}")
    assert (answer.status, answer.code) == (403, "ACCESS_DENIED")
    await world.anyone.node(missing_guild_ids=[])
    assert (await alice.expect("GUILD_CREATE")).data["id"] == world.guild_id
    (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}")).expect(200)


async def test_wrong_values_change_nothing(world: World) -> None:
    for body in ({"draining": "yes"}, {"rollout_user_ids": ["x"]}, {"missing_guild_ids": None}, {"at_capacity": None}):
        answer = await world.anyone.post("/v1/_dev/gateway", {**body, "starts_paused": True})
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), body
    assert await world.anyone.node() == STOCK


async def test_sessions_are_shown_with_their_numbers(world: World) -> None:
    assert await world.anyone.gateway_sessions() == []
    alice = await world.alice.connect(presence={"status": "idle", "afk": False})
    bot = await world.bot.connect(shard=[0, 1])
    with trio.fail_after(PATIENCE_SECONDS):
        await bot.expect("GUILD_CREATE")
    await alice.heartbeat()
    shown = {session["id"]: session for session in await world.anyone.gateway_sessions()}
    assert set(shown) == {alice.session_id, bot.session_id}
    assert list(shown[alice.session_id]) == [
        "id",
        "user_id",
        "bot",
        "shard",
        "sequence",
        "acknowledged",
        "replay_floor",
        "retained_dispatches",
        "attached",
        "address",
        "status",
    ]
    of_alice, of_bot = shown[alice.session_id], shown[bot.session_id]
    assert (of_alice["user_id"], of_alice["bot"], of_alice["shard"]) == (world.alice.id, False, None)
    assert (of_alice["attached"], of_alice["address"], of_alice["status"]) == (True, "127.0.0.1", "idle")
    assert of_alice["sequence"] >= 1
    assert of_alice["replay_floor"] == 0
    assert (of_bot["user_id"], of_bot["bot"], of_bot["shard"]) == (world.bot.id, True, [0, 1])
    assert of_bot["sequence"] == bot.sequence
