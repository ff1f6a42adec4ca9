"""Calls in conversations: begun over the gateway and over HTTP, rung, declined, ended, and seen by whom."""

from __future__ import annotations

from typing import Any

import pytest
from trio.testing import MockClock

from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import GatewayClient
from chat.testing.server import ChatServer
from chat.testing.world import Person, World
from tests.people.friends import make_group

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
    await client.update_voice_state(None, channel_id, **members)


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


async def test_who_comes_and_goes_changes_the_call(chat_world: World) -> None:
    """Everybody in the conversation hears who is in the call, whether or not they are in it; of its end alone not."""
    alice, bob = chat_world.alice, chat_world.bob
    channel_id = await conversation(chat_world, alice, bob)
    at_alice, at_bob = await alice.connect(), await bob.connect()

    async def present(client: GatewayClient) -> list[str]:
        return [state["user_id"] for state in (await client.expect("CALL_UPDATE")).data["voice_states"]]

    await connect_to_call(at_alice, channel_id)
    assert await present(at_bob) == [alice.id]
    await connect_to_call(at_bob, channel_id, self_mute=True)
    assert await present(at_bob) == [alice.id, bob.id]
    await at_alice.send(Opcode.VOICE_STATE_UPDATE, {"guild_id": None, "channel_id": None})
    assert await present(at_bob) == [bob.id]
    await at_bob.send(Opcode.VOICE_STATE_UPDATE, {"guild_id": None, "channel_id": None})
    await at_bob.expect("CALL_DELETE")
    assert [payload.name for payload in at_bob.dispatches].count("CALL_UPDATE") == 3


async def allow_calls(person: Person, flags: int) -> None:
    (await person.rest.patch("/v1/users/@me/settings", {"incoming_call_flags": flags})).expect(200)


async def rung(client: GatewayClient) -> list[str]:
    """Who is rung, as the next change of the call says."""
    ringing: list[str] = (await client.expect("CALL_UPDATE")).data["ringing"]
    return ringing


async def test_nobody_answers_within_a_minute(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    channel_id = await conversation(chat_world, alice, bob)
    at_bob = await bob.connect()
    (await alice.rest.ring(channel_id)).expect(204)
    assert await rung(at_bob) == [bob.id]
    assert (await at_bob.expect("CALL_DELETE", seconds=70)).data == {"channel_id": channel_id}
    assert (await call_message(bob, channel_id))["call"]["ended_timestamp"] is not None
    (await alice.rest.ring(channel_id)).expect(204)  # and again
    assert (await at_bob.expect("CALL_CREATE")).data["channel_id"] == channel_id


async def test_a_call_is_declined(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    channel_id = await conversation(chat_world, alice, bob)
    at_alice = await alice.connect()
    await connect_to_call(at_alice, channel_id)
    await at_alice.expect("VOICE_STATE_UPDATE")
    assert await rung(at_alice) == []  # she came
    (await alice.rest.ring(channel_id, bob.id)).expect(204)
    assert await rung(at_alice) == [bob.id]
    (await bob.rest.stop_ringing(channel_id)).expect(204)
    assert await rung(at_alice) == []
    # Bob is not in the call, so he stops nobody else's telephone.
    others = {"recipients": [alice.id]}
    assert (await bob.rest.post(f"/v1/channels/{channel_id}/call/stop-ringing", others)).code == "MISSING_PERMISSIONS"


@pytest.mark.parametrize(
    ("flags", "eligible", "rings"),
    [
        (FRIENDS_ONLY, {"ringable": True, "silent": False}, True),
        (NOBODY, {"ringable": False, "silent": False}, False),
        (NOBODY | EVERYONE, {"ringable": False, "silent": False}, False),
        (SILENT_EVERYONE, {"ringable": True, "silent": True}, False),
        (SILENT_EVERYONE | FRIENDS_OF_FRIENDS, {"ringable": True, "silent": False}, True),
    ],
)
async def test_whose_telephone_rings(chat_world: World, flags: int, eligible: dict[str, bool], rings: bool) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    channel_id = await conversation(chat_world, alice, bob)
    await allow_calls(bob, flags)
    assert (await alice.rest.get(f"/v1/channels/{channel_id}/call")).expect(200) == eligible
    at_bob = await bob.connect()
    (await alice.rest.ring(channel_id)).expect(204)
    assert (await at_bob.expect("CALL_CREATE")).data["ringing"] == []  # there is a call, whoever rings
    (await bob.rest.send_message(channel_id, "yes?")).expect(200)
    await at_bob.expect("MESSAGE_CREATE", where=lambda data: data["content"] == "yes?")
    heard = [payload.data["ringing"] for payload in at_bob.dispatches if payload.name == "CALL_UPDATE"]
    assert heard == ([[bob.id]] if rings else [])


async def test_only_conversations_have_calls(chat_world: World) -> None:
    alice = chat_world.alice
    for channel_id in (chat_world.channel_id, chat_world.voice_channel_id, alice.id):
        refused = await alice.rest.post(f"/v1/channels/{channel_id}/call/ring")
        assert refused.code in {"INVALID_CHANNEL_TYPE_FOR_CALL", "UNKNOWN_CHANNEL"}
    channel_id = await conversation(chat_world, alice, chat_world.bob)
    assert (await chat_world.carol.rest.post(f"/v1/channels/{channel_id}/call/ring")).code == "UNKNOWN_CHANNEL"
    assert (await chat_world.bot.rest.post(f"/v1/channels/{channel_id}/call/ring")).status == 403
    stranger = {"recipients": [chat_world.carol.id]}
    refused = await alice.rest.post(f"/v1/channels/{channel_id}/call/ring", stranger)
    assert [error["path"] for error in refused.expect(400)["errors"]] == ["recipients.0"]
    for method, path in (("POST", "stop-ringing"), ("POST", "end"), ("PATCH", "")):
        answer = await alice.rest.request(method, f"/v1/channels/{channel_id}/call/{path}".rstrip("/"), json={})
        assert answer.code == "NO_ACTIVE_CALL"


async def test_whoever_is_blocked_calls_nobody(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    channel_id = await conversation(chat_world, alice, bob)
    (await bob.rest.put(f"/v1/users/@me/relationships/{alice.id}", {"type": BLOCKED})).expect(200)
    assert (await alice.rest.get(f"/v1/channels/{channel_id}/call")).expect(200) == {
        "ringable": False,
        "silent": False,
    }
    assert (await alice.rest.post(f"/v1/channels/{channel_id}/call/ring")).code == "CANNOT_SEND_MESSAGES_TO_USER"
    at_alice = await alice.connect()
    await connect_to_call(at_alice, channel_id, mutation_id="m")
    ack = (await at_alice.expect("VOICE_STATE_ACK")).data
    assert (ack["status"], ack["error_code"]) == ("rejected", "missing_permissions")


async def test_a_stranger_s_conversation_is_not_known_to_the_gateway(chat_world: World) -> None:
    channel_id = await conversation(chat_world, chat_world.alice, chat_world.bob)
    at_carol = await chat_world.carol.connect()
    await connect_to_call(at_carol, channel_id, mutation_id="m")
    ack = (await at_carol.expect("VOICE_STATE_ACK")).data
    assert (ack["status"], ack["error_code"], ack["canonical_state"]) == ("rejected", "unknown_channel", None)


async def test_the_call_of_a_group_goes_with_its_people(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    for one, other in ((alice, bob), (alice, carol), (bob, carol)):
        await relate(chat_world, one, other, FRIEND)
    group_id = (await make_group(alice, bob))["id"]
    at_alice, at_bob, at_carol = [await person.connect() for person in (alice, bob, carol)]
    await connect_to_call(at_bob, group_id)
    await at_bob.expect("VOICE_STATE_UPDATE")
    (await alice.rest.add_recipient(group_id, carol.id)).expect(204)
    created = (await at_carol.expect("CALL_CREATE")).data
    assert [state["user_id"] for state in created["voice_states"]] == [bob.id]
    await connect_to_call(at_carol, group_id)
    await at_alice.expect("VOICE_STATE_UPDATE", where=lambda data: data["user_id"] == carol.id)
    assert (await carol.connect()).ready["private_channels"][0]["id"] == group_id
    (await alice.rest.remove_recipient(group_id, bob.id)).expect(204)
    left = (await at_alice.expect("VOICE_STATE_UPDATE", where=lambda data: data["user_id"] == bob.id)).data
    assert left["channel_id"] is None
    assert (await at_bob.expect("CALL_DELETE")).data["channel_id"] == group_id
    # Alice owns the group: she may end the call without being in it.
    (await alice.rest.post(f"/v1/channels/{group_id}/call/end")).expect(204)
    assert (await at_carol.expect("CALL_DELETE")).data["channel_id"] == group_id
    ended = (await alice.rest.get(f"/v1/channels/{group_id}/messages")).expect(200)
    call = next(message["call"] for message in ended if message["type"] == 3)
    assert call["participants"] == [bob.id, carol.id]
    assert call["ended_timestamp"] is not None


async def test_in_a_group_only_the_owner_and_who_is_in_the_call_end_it(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    for other in (bob, carol):
        await relate(chat_world, alice, other, FRIEND)
    group_id = (await make_group(alice, bob, carol))["id"]
    at_bob = await bob.connect()
    await connect_to_call(at_bob, group_id)
    await at_bob.expect("VOICE_STATE_UPDATE")
    assert (await carol.rest.post(f"/v1/channels/{group_id}/call/end")).code == "MISSING_PERMISSIONS"
    assert (await carol.rest.patch(f"/v1/channels/{group_id}/call", {})).code == "MISSING_PERMISSIONS"
    (await bob.rest.end_call(group_id)).expect(204)


@pytest.mark.chat_settings(**{"voice.regions": ["north"], "voice.vip_regions": ["south"]})
async def test_a_call_is_put_into_another_region(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    channel_id = await conversation(chat_world, alice, bob)
    at_bob = await bob.connect()
    (await alice.rest.ring(channel_id)).expect(204)
    await rung(at_bob)
    path = f"/v1/channels/{channel_id}/call"
    (await alice.rest.patch(path, {"region": "north"})).expect(204)
    assert (await at_bob.expect("CALL_UPDATE")).data["region"] == "north"
    for region in ("south", "nowhere"):
        assert (await alice.rest.patch(path, {"region": region})).code == "UNKNOWN_VOICE_REGION"
    (await alice.rest.patch(path, {"region": None})).expect(204)
    assert (await at_bob.expect("CALL_UPDATE")).data["region"] is None


async def test_a_session_that_begins_hears_of_the_call_that_goes_on(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    channel_id = await conversation(chat_world, alice, bob)
    at_alice = await alice.connect()
    await connect_to_call(at_alice, channel_id)
    await at_alice.expect("VOICE_STATE_UPDATE")
    created = (await (await bob.connect()).expect("CALL_CREATE")).data
    assert [state["user_id"] for state in created["voice_states"]] == [alice.id]


async def test_calls_end_with_the_server_however_it_ends(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    channel_id = await conversation(chat_world, alice, bob)
    for end in (chat_server.drain, chat_server.stop):
        (await alice.rest.ring(channel_id)).expect(204)
        assert (await call_message(alice, channel_id))["call"]["ended_timestamp"] is None
        await end()
        await chat_server.start()
        assert (await call_message(alice, channel_id))["call"]["ended_timestamp"] is not None
        assert (await alice.rest.post(f"/v1/channels/{channel_id}/call/end")).code == "NO_ACTIVE_CALL"


async def test_there_is_no_media_server_and_nobody_waits_for_one(chat_world: World) -> None:
    alice = chat_world.alice
    discovery = (await chat_world.anyone.get("/.well-known/chat")).expect(200)
    assert discovery["features"]["voice_enabled"] is False
    path = f"/v1/channels/{chat_world.voice_channel_id}/rtc-regions"
    assert [region["id"] for region in (await alice.rest.get(path)).expect(200)] == ["automatic"]
    at_alice = await alice.connect()
    place = {"guild_id": chat_world.guild_id, "channel_id": chat_world.voice_channel_id}
    await at_alice.send(Opcode.VOICE_STATE_UPDATE, {**place, "mutation_id": "m"})
    ack = (await at_alice.expect("VOICE_STATE_ACK")).data
    assert (ack["status"], ack["canonical_state"]["channel_id"]) == ("applied", chat_world.voice_channel_id)
    await at_alice.send(Opcode.VOICE_SIGNAL, {})
    assert (await at_alice.expect_opcode(Opcode.GATEWAY_ERROR)).data["code"] == "VOICE_P2P_UNAVAILABLE"
    (await alice.rest.send_message(chat_world.channel_id, "still here")).expect(200)
    await at_alice.expect("MESSAGE_CREATE")
    assert "VOICE_SERVER_UPDATE" not in {payload.name for payload in at_alice.dispatches}


async def test_inactive_members_go_to_the_afk_channel(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, guild_id = chat_world.alice, chat_world.bob, chat_world.guild_id
    made = {"name": "asleep", "type": 2}
    afk = (await alice.rest.post(f"/v1/guilds/{guild_id}/channels", made)).expect(200)
    (await alice.rest.patch(f"/v1/guilds/{guild_id}", {"afk_channel_id": afk["id"], "afk_timeout": 60})).expect(200)
    at_alice, at_bob = await alice.connect(), await bob.connect()
    for client in (at_alice, at_bob):
        place = {"guild_id": guild_id, "channel_id": chat_world.voice_channel_id}
        await client.send(Opcode.VOICE_STATE_UPDATE, place)
    await at_alice.expect("VOICE_STATE_UPDATE", where=lambda data: data["user_id"] == bob.id)
    await at_bob.send(Opcode.PRESENCE_UPDATE, {"status": "idle", "afk": True})
    moved = (
        await at_alice.expect("VOICE_STATE_UPDATE", where=lambda data: data["channel_id"] == afk["id"], seconds=90)
    ).data
    assert (moved["user_id"], moved["version"]) == (bob.id, 2)
    people = {payload.data["user_id"] for payload in at_alice.dispatches if payload.name == "VOICE_STATE_UPDATE"}
    assert people == {alice.id, bob.id}
