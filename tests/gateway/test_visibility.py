"""Gaining and losing sight: what a session hears, step by step. The oracle in tests/simulation walks all of it."""

from __future__ import annotations

import trio
import trio.testing

from chat.registries.permissions import Permission
from chat.testing.gateway_client import GatewayClient
from chat.testing.world import World

CHANNEL_THREADS = 1 << 2
DECLARED = {"X-Service-Features": "channel_threads"}
VIEW = str(Permission.VIEW_CHANNEL.value)


async def heard(client: GatewayClient) -> list[str]:
    """The names of what has arrived, presences of other sessions aside."""
    await trio.sleep(1)
    return [payload.name for payload in client.unread() if payload.name not in (None, "SESSIONS_REPLACE")]


async def test_threads_come_back_with_the_channel_above_them(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    for person in (alice, bob):
        person.rest.headers.update(DECLARED)
    channel, overwrite = chat_world.channel_id, f"/v1/channels/{chat_world.channel_id}/permissions/{bob.id}"
    thread = (await alice.rest.post(f"/v1/channels/{channel}/threads", {"name": "plans"})).expect(201)
    knowing = await bob.connect(flags=CHANNEL_THREADS)
    ignorant = await bob.connect()
    (await bob.rest.put(f"/v1/channels/{thread['id']}/thread-members/@me")).expect(204)
    made = (await knowing.expect("THREAD_CREATE")).data
    assert (made["id"], made["newly_created"], made["member"]["user_id"]) == (thread["id"], False, bob.id)
    await heard(knowing)
    (await alice.rest.put(overwrite, {"type": 1, "deny": VIEW})).expect(204)
    assert (await heard(knowing)) == ["CHANNEL_DELETE"]
    (await alice.rest.delete(overwrite)).expect(204)
    created = (await knowing.expect("CHANNEL_CREATE")).data
    assert created["id"] == channel
    synced = (await knowing.expect("THREAD_LIST_SYNC")).data
    assert synced["channel_ids"] == [channel]
    assert [entry["id"] for entry in synced["threads"]] == [thread["id"]]
    assert [entry["user_id"] for entry in synced["members"]] == [bob.id]
    assert not {name for name in await heard(ignorant) if name.startswith("THREAD_")}


async def test_who_is_taken_out_of_a_private_thread_is_told(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    alice.rest.headers.update(DECLARED)
    body = {"name": "secret", "type": 12}
    thread = (await alice.rest.post(f"/v1/channels/{chat_world.channel_id}/threads", body)).expect(201)
    at_bob = await bob.connect(flags=CHANNEL_THREADS)
    path = f"/v1/channels/{thread['id']}/thread-members/{bob.id}"
    (await alice.rest.put(path)).expect(204)
    await at_bob.expect("THREAD_CREATE", where=lambda data: data["id"] == thread["id"])
    (await alice.rest.delete(path)).expect(204)
    told = (await at_bob.expect("THREAD_MEMBERS_UPDATE", where=lambda data: "removed_member_ids" in data)).data
    assert told["removed_member_ids"] == [bob.id]


async def test_who_loses_sight_does_not_hear_of_the_change_that_took_it(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    alice = chat_world.alice
    at_bob, at_carol = await chat_world.bob.connect(), await chat_world.carol.connect()
    await heard(at_bob)
    await heard(at_carol)
    path = f"/v1/channels/{chat_world.channel_id}/permissions/{chat_world.bob.id}"
    (await alice.rest.put(path, {"type": 1, "deny": VIEW})).expect(204)
    assert await heard(at_bob) == ["CHANNEL_DELETE"]
    assert await heard(at_carol) == ["CHANNEL_UPDATE"]
    (await alice.rest.delete(path)).expect(204)
    assert await heard(at_bob) == ["CHANNEL_CREATE", "CHANNEL_UPDATE"]


async def test_a_forum_that_changes_is_unknown_to_who_knows_no_threads(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    alice = chat_world.alice
    path = f"/v1/guilds/{chat_world.guild_id}/channels"
    made = (await alice.rest.post(path, {"name": "board", "type": 15})).expect(200)
    knowing, ignorant = await chat_world.bob.connect(flags=CHANNEL_THREADS), await chat_world.bob.connect()
    await heard(knowing)
    await heard(ignorant)
    (await alice.rest.patch(f"/v1/channels/{made['id']}", {"topic": "new"})).expect(200)
    assert await heard(knowing) == ["CHANNEL_UPDATE"]
    assert await heard(ignorant) == []
