"""Bans and kicks over HTTP: who is kept out, for how long, and what goes with them."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.registries.permissions import Permission
from chat.testing.network import MemoryRoute
from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import Actor, World

DAY_SECONDS = 86_400


def bans_of(world: World, user: Actor | None = None) -> str:
    """The address of the guild's bans, or of one."""
    base = f"/v1/guilds/{world.guild_id}/bans"
    return base if user is None else f"{base}/{user.id}"


async def invite(world: World) -> str:
    """An invite into the guild."""
    made = (await world.alice.rest.post(f"/v1/channels/{world.channel_id}/invites", {})).expect(200)
    return f"/v1/invites/{made['code']}"


async def test_a_ban_removes_and_keeps_out(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    way_in = await invite(chat_world)
    at_bob, at_carol = await bob.connect(), await chat_world.carol.connect()

    (await alice.rest.request("PUT", bans_of(chat_world, bob), json={"reason": "noise"})).expect(204)
    assert (await at_carol.expect("GUILD_BAN_ADD")).data == {
        "guild_id": chat_world.guild_id,
        "user": {"id": bob.id},
    }
    assert (await at_carol.expect("GUILD_MEMBER_REMOVE")).data["user"] == {"id": bob.id}
    assert (await at_bob.expect("GUILD_DELETE")).data["id"] == chat_world.guild_id
    (listed,) = (await alice.rest.get(bans_of(chat_world))).expect(200)
    assert (listed["user"]["id"], listed["reason"], listed["moderator_id"]) == (bob.id, "noise", alice.id)
    assert listed["expires_at"] is None
    refused = await bob.rest.post(way_in)
    assert (refused.status, refused.code) == (403, "USER_BANNED_FROM_GUILD")

    (await alice.rest.delete(bans_of(chat_world, bob))).expect(204)
    assert (await at_carol.expect("GUILD_BAN_REMOVE")).data["user"] == {"id": bob.id}
    again = await alice.rest.delete(bans_of(chat_world, bob))
    assert [(entry["path"], entry["code"]) for entry in again.json()["errors"]] == [("user_id", "USER_IS_NOT_BANNED")]
    (await bob.rest.post(way_in)).expect(200)
    log = (await alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/audit-logs")).expect(200)["audit_log_entries"]
    actions = [(entry["action_type"], entry.get("target_id")) for entry in log]
    assert actions == [(23, bob.id), (22, bob.id), (40, None)]
    assert log[1]["reason"] == "noise"


async def test_a_ban_may_end_by_itself(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    way_in = await invite(chat_world)
    (await alice.rest.put(bans_of(chat_world, bob), {"ban_duration_seconds": 3_600})).expect(204)
    await trio.sleep(3_599)
    assert (await bob.rest.post(way_in)).code == "USER_BANNED_FROM_GUILD"
    await trio.sleep(1)
    assert (await alice.rest.get(bans_of(chat_world))).expect(200) == []
    (await bob.rest.post(way_in)).expect(200)


@pytest.mark.virtual_days
async def test_messages_go_with_the_banned(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    channel = f"/v1/channels/{chat_world.channel_id}/messages"
    old = (await bob.rest.send_message(chat_world.channel_id, "long ago")).expect(200)
    await trio.sleep(DAY_SECONDS)
    new = [(await bob.rest.send_message(chat_world.channel_id, f"{number}")).expect(200) for number in range(3)]
    kept = (await alice.rest.send_message(chat_world.channel_id, "mine")).expect(200)
    at_alice = await alice.connect()
    (await alice.rest.put(bans_of(chat_world, bob), {"delete_message_seconds": 3_600})).expect(204)
    gone = (await at_alice.expect("MESSAGE_DELETE_BULK")).data
    assert (gone["ids"], gone["channel_id"]) == ([message["id"] for message in new], chat_world.channel_id)
    left = [message["id"] for message in (await alice.rest.get(channel)).expect(200)]
    assert left[:2] == [kept["id"], old["id"]]


async def test_whoever_comes_from_there_is_kept_out_too(chat_world: World, chat_server: ChatServer) -> None:
    alice, bob, admin = chat_world.alice, chat_world.bob, chat_world.admin
    way_in = await invite(chat_world)
    there = RestClient(MemoryRoute(chat_server.network, "203.0.113.9"), bob.token)
    (await there.get("/v1/users/@me")).expect(200)
    (await chat_world.anyone.post(f"/v1/_dev/users/{bob.id}", {"last_active_ip": "203.0.113.9"})).expect(200)
    (await alice.rest.put(bans_of(chat_world, bob))).expect(204)
    same = RestClient(MemoryRoute(chat_server.network, "203.0.113.9"), admin.token)
    refused = await same.post(way_in)
    assert (refused.status, refused.code) == (403, "USER_IP_BANNED_FROM_GUILD")
    elsewhere = RestClient(MemoryRoute(chat_server.network, "203.0.113.10"), admin.token)
    (await elsewhere.post(way_in)).expect(200)
    for client in (there, same, elsewhere):
        await client.aclose()


async def test_whom_one_cannot_remove(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    members = f"/v1/guilds/{chat_world.guild_id}/members"
    roles = f"/v1/guilds/{chat_world.guild_id}/roles"
    both = str((Permission.BAN_MEMBERS | Permission.KICK_MEMBERS).value)
    assert (await bob.rest.put(bans_of(chat_world, carol))).code == "MISSING_PERMISSIONS"
    moderator = (await alice.rest.post(roles, {"name": "moderator", "permissions": both})).expect(200)
    for member in (bob, carol):
        (await alice.rest.put(f"{members}/{member.id}/roles/{moderator['id']}")).expect(204)
    for target in (alice, bob, carol):  # the owner, oneself, an equal
        for answer in (
            await bob.rest.put(bans_of(chat_world, target)),
            await bob.rest.delete(f"{members}/{target.id}"),
        ):
            assert (answer.status, answer.code) == (403, "MISSING_PERMISSIONS")
    (await alice.rest.delete(f"{members}/{carol.id}/roles/{moderator['id']}")).expect(204)
    (await bob.rest.delete(f"{members}/{carol.id}")).expect(204)
    gone = await bob.rest.delete(f"{members}/{carol.id}")
    assert (gone.status, gone.code) == (404, "UNKNOWN_MEMBER")
    (await carol.rest.post(await invite(chat_world))).expect(200)
    unknown = await bob.rest.request("PUT", f"{bans_of(chat_world)}/999999999999999999")
    assert (unknown.status, unknown.code) == (404, "UNKNOWN_USER")
    (await bob.rest.put(bans_of(chat_world, chat_world.admin))).expect(204)  # no member


@pytest.mark.parametrize(
    "body",
    [
        {"delete_message_seconds": -1},
        {"delete_message_seconds": 604_801},
        {"delete_message_days": 8},
        {"ban_duration_seconds": "soon"},
        {"reason": "x" * 513},
    ],
)
async def test_bad_bodies(chat_world: World, body: Any) -> None:
    answer = await chat_world.alice.rest.put(bans_of(chat_world, chat_world.bob), body)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert (await chat_world.alice.rest.get(bans_of(chat_world))).expect(200) == []
