"""Who hears of whose presence without asking: friends, and those who are in a group together (wire facts 1.7, 1.8)."""

from __future__ import annotations

from typing import Any

import trio
from trio.testing import MockClock

from chat.testing.gateway_client import GatewayClient
from chat.testing.world import Actor, World
from tests.people.friends import befriend, block, make_group

SETTLED_SECONDS = 1.0
GONE_SECONDS = 6.0


async def heard(client: GatewayClient, about: Actor) -> list[str]:
    """The statuses of an account that have arrived since the last question."""
    await trio.sleep(SETTLED_SECONDS)
    return [
        payload.data["status"]
        for payload in client.unread()
        if payload.name == "PRESENCE_UPDATE" and payload.data["user"]["id"] == about.id
    ]


async def in_ready(viewer: Actor) -> dict[str, str]:
    """The presences that a new session of the viewer begins with."""
    client = await viewer.connect()
    assert client.ready is not None
    shown: list[dict[str, Any]] = client.ready["presences"]
    await client.aclose()
    return {entry["user"]["id"]: entry["status"] for entry in shown}


async def test_friends_and_nobody_else(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(alice, bob)
    at_bob, at_carol = await bob.connect(), await carol.connect()
    at_alice = await alice.connect()
    assert await heard(at_bob, alice) == ["online"]
    assert await heard(at_carol, alice) == []  # a guild together is no reason
    assert (await in_ready(bob), await in_ready(carol)) == ({alice.id: "online"}, {})
    (await alice.rest.change_settings(status="idle")).expect(200)
    assert await heard(at_bob, alice) == ["idle"]
    await at_alice.aclose()
    await trio.sleep(GONE_SECONDS)
    assert await heard(at_bob, alice) == ["offline"]
    assert await in_ready(bob) == {}


async def test_who_is_invisible_is_offline(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    await befriend(alice, bob)
    at_bob = await bob.connect()
    (await alice.rest.change_settings(status="invisible", custom_status={"text": "hiding"})).expect(200)
    at_alice = await alice.connect()
    assert await heard(at_bob, alice) == []
    assert await in_ready(bob) == {}
    # Whoever hides sees the others, and itself as what it is.
    assert await in_ready(alice) == {bob.id: "online"}
    assert at_alice.ready is not None
    assert at_alice.ready["sessions"][0]["status"] == "invisible"
    (await alice.rest.change_settings(status="online")).expect(200)
    assert await heard(at_bob, alice) == ["online"]
    (await alice.rest.change_settings(status="invisible")).expect(200)
    assert await heard(at_bob, alice) == ["offline"]


async def test_friendship_begins_and_ends(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    at_alice, at_bob = await alice.connect(), await bob.connect()
    (await alice.rest.request_friendship(bob.id)).expect(200)
    assert await heard(at_bob, alice) == await heard(at_alice, bob) == []
    (await bob.rest.accept_friendship(alice.id)).expect(200)
    assert await heard(at_bob, alice) == await heard(at_alice, bob) == ["online"]
    (await alice.rest.end_relationship(bob.id)).expect(204)
    assert await heard(at_bob, alice) == await heard(at_alice, bob) == ["offline"]
    (await alice.rest.change_settings(status="dnd")).expect(200)
    assert await heard(at_bob, alice) == []


async def test_a_block_ends_it_in_both_directions(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    await befriend(alice, bob)
    at_alice, at_bob = await alice.connect(), await bob.connect()
    await heard(at_bob, alice), await heard(at_alice, bob)
    await block(alice, bob)
    assert await heard(at_bob, alice) == await heard(at_alice, bob) == ["offline"]
    for person in (alice, bob):
        (await person.rest.change_settings(status="idle")).expect(200)
    assert await heard(at_bob, alice) == await heard(at_alice, bob) == []
    assert await in_ready(alice) == await in_ready(bob) == {}


async def test_people_in_a_group_see_each_other(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(alice, bob, carol)
    at_bob, at_carol = await bob.connect(), await carol.connect()
    assert await heard(at_bob, carol) == await heard(at_carol, bob) == []
    group = await make_group(alice, bob, carol)
    assert await heard(at_bob, carol) == await heard(at_carol, bob) == ["online"]
    assert (await in_ready(bob))[carol.id] == "online"
    # Of one who has blocked it a member of the group hears no more; the others do.
    await block(bob, carol)
    assert await heard(at_bob, carol) == await heard(at_carol, bob) == ["offline"]
    assert carol.id not in await in_ready(bob)
    (await bob.rest.end_relationship(carol.id)).expect(204)
    assert await heard(at_bob, carol) == await heard(at_carol, bob) == ["online"]
    (await carol.rest.delete(f"/v1/channels/{group['id']}/recipients/{carol.id}")).expect(204)
    assert await heard(at_bob, carol) == await heard(at_carol, bob) == ["offline"]


async def test_friends_hear_of_a_new_name(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(alice, bob)
    at_bob, at_carol = await bob.connect(), await carol.connect()
    (await alice.rest.patch("/v1/users/@me", {"global_name": "Alicia"})).expect(200)
    told = (await at_bob.expect("PRESENCE_UPDATE", where=lambda data: data["user"]["id"] == alice.id)).data
    assert (told["user"]["global_name"], told["status"]) == ("Alicia", "offline")
    assert await heard(at_carol, alice) == []
    # What others do not see is nobody's news.
    (await alice.rest.patch("/v1/users/@me", {"bio": "I paint."})).expect(200)
    assert await heard(at_bob, alice) == []
