"""Calls in conversations: begun over the gateway and over HTTP, rung, declined, ended, and seen by whom."""

from __future__ import annotations

from typing import Any

from trio.testing import MockClock

from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import GatewayClient
from chat.testing.world import Person, World

FRIEND, BLOCKED = 1, 2
FRIENDS_OF_FRIENDS, GUILD_MEMBERS, EVERYONE, FRIENDS_ONLY, NOBODY, SILENT_EVERYONE = (1 << bit for bit in range(6))


async def relate(world: World, one: Person, other: Person, kind: int) -> None:
    answer = await world.anyone.post(
        "/v1/_dev/relationships", {"user_id": one.id, "target_user_id": other.id, "type": kind}
    )
    assert answer.status in (200, 204)


async def conversation(world: World, one: Person, other: Person) -> str:
    """The conversation of two, who are friends."""
    await relate(world, one, other, FRIEND)
    channel_id: str = (await one.rest.post("/v1/users/@me/channels", {"recipient_id": other.id})).json()["id"]
    return channel_id


async def connect_to_call(client: GatewayClient, channel_id: str, **members: object) -> None:
    await client.send(Opcode.VOICE_STATE_UPDATE, {"guild_id": None, "channel_id": channel_id, **members})


async def call_message(person: Person, channel_id: str) -> dict[str, Any]:
    """The newest message of the conversation."""
    message: dict[str, Any] = (await person.rest.get(f"/v1/channels/{channel_id}/messages")).json()[0]
    return message


async def test_a_call_from_its_first_ring_to_its_end(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    channel_id = await conversation(chat_world, alice, bob)
    at_alice, at_bob = await alice.connect(), await bob.connect()

    eligible = await alice.rest.get(f"/v1/channels/{channel_id}/call")
    assert eligible.json() == {"ringable": True, "silent": False}

    rung = await alice.rest.post(f"/v1/channels/{channel_id}/call/ring")
    assert rung.status == 204
    message = (await at_bob.expect("MESSAGE_CREATE")).data
    assert (message["type"], message["author"]["id"]) == (3, alice.id)
    assert message["call"] == {"participants": [alice.id], "ended_timestamp": None}
    created = (await at_bob.expect("CALL_CREATE")).data
    assert created == {
        "channel_id": channel_id,
        "message_id": message["id"],
        "region": None,
        "ringing": [],
        "voice_states": [],
        "recipients": created["recipients"],
        "created_at": created["created_at"],
    }
    assert set(created["recipients"]) == {alice.id, bob.id}
    assert (await at_bob.expect("CALL_UPDATE")).data["ringing"] == [bob.id]

    await connect_to_call(at_alice, channel_id, mutation_id="m", self_video=True)
    state = (await at_bob.expect("VOICE_STATE_UPDATE")).data
    assert (state["guild_id"], state["channel_id"], state["user_id"]) == (None, channel_id, alice.id)
    assert (state["member"], state["mute"], state["suppress"], state["self_video"]) == (None, False, False, True)
    ack = (await at_alice.expect("VOICE_STATE_ACK")).data
    assert (ack["status"], ack["connection_id"]) == ("applied", state["connection_id"])

    await connect_to_call(at_bob, channel_id)
    assert (await at_alice.expect("CALL_UPDATE", where=lambda data: not data["ringing"])).data["ringing"] == []
    updated = (await at_alice.expect("MESSAGE_UPDATE")).data
    assert updated["call"] == {"participants": [alice.id, bob.id], "ended_timestamp": None}
    assert updated["edited_timestamp"] is None

    await at_alice.send(
        Opcode.VOICE_STATE_UPDATE,
        {"guild_id": None, "channel_id": None, "connection_id": state["connection_id"]},
    )
    left = (await at_bob.expect("VOICE_STATE_UPDATE", where=lambda data: data["user_id"] == alice.id)).data
    assert left["channel_id"] is None
    await at_bob.send(Opcode.VOICE_STATE_UPDATE, {"guild_id": None, "channel_id": None})
    assert (await at_alice.expect("CALL_DELETE")).data == {"channel_id": channel_id}
    ended = await call_message(alice, channel_id)
    assert ended["call"]["participants"] == [alice.id, bob.id]
    assert ended["call"]["ended_timestamp"] >= ended["timestamp"]
    assert (await alice.rest.post(f"/v1/channels/{channel_id}/call/end")).code == "NO_ACTIVE_CALL"
