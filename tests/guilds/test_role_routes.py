"""Roles over HTTP: what each change asks for, what others hear of it, and what they see then."""

from __future__ import annotations

from typing import Any

import pytest

from chat.registries.permissions import Permission
from chat.testing.world import Actor, World


async def make(actor: Actor, guild_id: str, **members: Any) -> dict[str, Any]:
    """A role that the actor makes."""
    made: dict[str, Any] = (await actor.rest.post(f"/v1/guilds/{guild_id}/roles", {"name": "r", **members})).expect(200)
    return made


async def positions(actor: Actor, guild_id: str) -> dict[str, int]:
    """Where each role stands."""
    found = (await actor.rest.get(f"/v1/guilds/{guild_id}/roles")).expect(200)
    return {role["id"]: role["position"] for role in found}


async def give(world: World, user: Actor, role: dict[str, Any]) -> None:
    """Alice gives the role."""
    path = f"/v1/guilds/{world.guild_id}/members/{user.id}/roles/{role['id']}"
    (await world.alice.rest.put(path)).expect(204)


async def test_a_role_comes_changes_and_goes(chat_world: World) -> None:
    alice, guild_id = chat_world.alice, chat_world.guild_id
    at_bob = await chat_world.bob.connect()
    role = await make(alice, guild_id, name="crew", color=255, permissions="8192")
    assert (role["name"], role["position"], role["permissions"]) == ("crew", 1, "8192")
    heard = (await at_bob.expect("GUILD_ROLE_CREATE")).data
    assert (heard["guild_id"], heard["role"]["id"]) == (guild_id, role["id"])

    path = f"/v1/guilds/{guild_id}/roles/{role['id']}"
    changed = (await alice.rest.patch(path, {"name": "staff", "hoist": True})).expect(200)
    assert (changed["name"], changed["hoist"], changed["permissions"]) == ("staff", True, "8192")
    assert (await at_bob.expect("GUILD_ROLE_UPDATE")).data["role"]["name"] == "staff"

    (await alice.rest.delete(path)).expect(204)
    assert (await at_bob.expect("GUILD_ROLE_DELETE")).data == {"guild_id": guild_id, "role_id": role["id"]}
    again = await alice.rest.delete(path)
    assert (again.status, again.code) == (404, "UNKNOWN_ROLE")
    log = (await alice.rest.get(f"/v1/guilds/{guild_id}/audit-logs")).expect(200)
    assert [entry["action_type"] for entry in log["audit_log_entries"]] == [32, 31, 30]
    update = log["audit_log_entries"][1]
    assert {"key": "name", "old_value": "crew", "new_value": "staff"} in update["changes"]


async def test_new_roles_go_to_the_bottom_and_the_rest_moves_up(chat_world: World) -> None:
    alice, guild_id = chat_world.alice, chat_world.guild_id
    first = await make(alice, guild_id)
    second = await make(alice, guild_id)
    third = await make(alice, guild_id)
    at_bob = await chat_world.bob.connect()
    assert await positions(alice, guild_id) == {guild_id: 0, third["id"]: 1, second["id"]: 2, first["id"]: 3}
    body = [{"id": third["id"], "position": 3}]
    (await alice.rest.patch(f"/v1/guilds/{guild_id}/roles", body)).expect(204)
    assert await positions(alice, guild_id) == {guild_id: 0, second["id"]: 1, first["id"]: 2, third["id"]: 3}
    moved = (await at_bob.expect("GUILD_ROLE_UPDATE_BULK")).data["roles"]
    assert {role["id"]: role["position"] for role in moved} == {second["id"]: 1, first["id"]: 2, third["id"]: 3}
    (await alice.rest.delete(f"/v1/guilds/{guild_id}/roles/{second['id']}")).expect(204)
    assert await positions(alice, guild_id) == {guild_id: 0, first["id"]: 1, third["id"]: 2}


async def test_hoist_positions(chat_world: World) -> None:
    alice, guild_id = chat_world.alice, chat_world.guild_id
    role = await make(alice, guild_id)
    path = f"/v1/guilds/{guild_id}/roles/hoist-positions"
    (await alice.rest.patch(path, [{"id": role["id"], "hoist_position": 7}])).expect(204)
    places = {entry["id"]: entry["hoist_position"] for entry in (await alice.rest.get(path[:-16])).expect(200)}
    assert places[role["id"]] == 7
    (await alice.rest.delete(path)).expect(204)
    places = {entry["id"]: entry["hoist_position"] for entry in (await alice.rest.get(path[:-16])).expect(200)}
    assert places[role["id"]] is None


async def test_nobody_works_above_their_own_role_or_grants_what_they_lack(chat_world: World) -> None:
    alice, bob, guild_id = chat_world.alice, chat_world.bob, chat_world.guild_id
    low = await make(alice, guild_id, name="low")
    manager = await make(alice, guild_id, name="manager", permissions=str(Permission.MANAGE_ROLES.value))
    high = await make(alice, guild_id, name="high")
    order = [
        {"id": high["id"], "position": 3},
        {"id": manager["id"], "position": 2},
        {"id": low["id"], "position": 1},
    ]
    (await alice.rest.patch(f"/v1/guilds/{guild_id}/roles", order)).expect(204)
    stranger = await bob.rest.post(f"/v1/guilds/{guild_id}/roles", {"name": "x"})
    assert (stranger.status, stranger.code) == (403, "MISSING_PERMISSIONS")
    await give(chat_world, bob, manager)

    roles = f"/v1/guilds/{guild_id}/roles"
    (await bob.rest.patch(f"{roles}/{low['id']}", {"name": "lower"})).expect(200)
    carol = f"/v1/guilds/{guild_id}/members/{chat_world.carol.id}/roles"
    (await bob.rest.put(f"{carol}/{low['id']}")).expect(204)
    for refused in (
        await bob.rest.patch(f"{roles}/{high['id']}", {"name": "mine"}),
        await bob.rest.patch(f"{roles}/{manager['id']}", {"name": "mine"}),
        await bob.rest.delete(f"{roles}/{high['id']}"),
        await bob.rest.put(f"{carol}/{high['id']}"),
        await bob.rest.put(f"{carol}/{manager['id']}"),
        await bob.rest.patch(f"{roles}/{low['id']}", {"permissions": str(Permission.BAN_MEMBERS.value)}),
        await bob.rest.post(roles, {"name": "x", "permissions": str(Permission.ADMINISTRATOR.value)}),
        await bob.rest.patch(roles, [{"id": low["id"], "position": 3}]),
        await bob.rest.patch(roles, [{"id": high["id"], "position": 1}]),
    ):
        assert (refused.status, refused.code) == (403, "MISSING_PERMISSIONS")
    everyone = await alice.rest.patch(f"{roles}/{guild_id}", {"name": "all"})
    assert (everyone.status, everyone.code) == (400, "INVALID_FORM_BODY")
    assert (await alice.rest.delete(f"{roles}/{guild_id}")).code == "MISSING_PERMISSIONS"


async def test_bits_that_a_client_does_not_know_stay(chat_world: World) -> None:
    alice, guild_id = chat_world.alice, chat_world.guild_id
    threads = Permission.MANAGE_THREADS.value
    plain = await make(alice, guild_id, permissions=str(threads | Permission.SPEAK | 1 << 60))
    assert plain["permissions"] == str(Permission.SPEAK.value)
    knows = {"X-Service-Features": "channel_threads"}
    path = f"/v1/guilds/{guild_id}/roles/{plain['id']}"
    with_bit = await alice.rest.request("PATCH", path, json={"permissions": str(threads)}, headers=knows)
    assert with_bit.expect(200)["permissions"] == str(threads)
    # Written without the capability the thread bit stays, and is not shown.
    assert (await alice.rest.patch(path, {"permissions": "0"})).expect(200)["permissions"] == "0"
    shown = await alice.rest.request("GET", f"/v1/guilds/{guild_id}/roles", headers=knows)
    assert {role["id"]: role["permissions"] for role in shown.expect(200)}[plain["id"]] == str(threads)


async def test_members_get_and_lose_roles(chat_world: World) -> None:
    alice, bob, guild_id = chat_world.alice, chat_world.bob, chat_world.guild_id
    role = await make(alice, guild_id, name="crew")
    at_carol = await chat_world.carol.connect()
    path = f"/v1/guilds/{guild_id}/members/{bob.id}/roles/{role['id']}"
    (await alice.rest.put(path)).expect(204)
    updated = (await at_carol.expect("GUILD_MEMBER_UPDATE")).data
    assert (updated["user"]["id"], updated["roles"]) == (bob.id, [role["id"]])
    (await alice.rest.put(path)).expect(204)  # nothing new, nobody told
    (await alice.rest.delete(path)).expect(204)
    assert (await at_carol.expect("GUILD_MEMBER_UPDATE")).data["roles"] == []
    log = (await alice.rest.get(f"/v1/guilds/{guild_id}/audit-logs", {"action_type": 25})).expect(200)
    assert [entry["changes"][0]["key"] for entry in log["audit_log_entries"]] == ["$remove", "$add"]
    assert bob.id in {user["id"] for user in log["users"]}
    unknown = await alice.rest.put(f"/v1/guilds/{guild_id}/members/{chat_world.admin.id}/roles/{role['id']}")
    assert (unknown.status, unknown.code) == (404, "UNKNOWN_MEMBER")


async def test_a_deleted_role_leaves_its_members(chat_world: World) -> None:
    alice, bob, guild_id = chat_world.alice, chat_world.bob, chat_world.guild_id
    role = await make(alice, guild_id)
    await give(chat_world, bob, role)
    (await alice.rest.delete(f"/v1/guilds/{guild_id}/roles/{role['id']}")).expect(204)
    member = (await bob.rest.get(f"/v1/guilds/{guild_id}/members/@me")).expect(200)
    assert member["roles"] == []


async def test_sessions_hear_of_channels_that_they_gain_and_lose(chat_world: World) -> None:
    alice, bob, guild_id = chat_world.alice, chat_world.bob, chat_world.guild_id
    everyone = f"/v1/guilds/{guild_id}/roles/{guild_id}"
    all_of_it = {role["id"]: role for role in (await alice.rest.get(f"/v1/guilds/{guild_id}/roles")).expect(200)}
    mask = int(all_of_it[guild_id]["permissions"])
    hidden = {"permissions": str(mask & ~Permission.VIEW_CHANNEL)}
    at_bob, at_alice = await bob.connect(), await alice.connect()
    shown = {channel["id"] for channel in at_bob.ready["guilds"][0]["channels"]}
    assert shown

    (await alice.rest.patch(everyone, hidden)).expect(200)
    await at_bob.expect("GUILD_ROLE_UPDATE")
    lost = [(await at_bob.expect("CHANNEL_DELETE")).data for _ in shown]
    assert {channel["id"] for channel in lost} == shown
    assert [channel["type"] for channel in lost] == sorted((channel["type"] for channel in lost), key=lambda t: t == 4)

    role = await make(alice, guild_id, name="seer", permissions=str(Permission.VIEW_CHANNEL.value))
    await give(chat_world, bob, role)
    gained = [(await at_bob.expect("CHANNEL_CREATE")).data for _ in shown]
    assert {channel["id"] for channel in gained} == shown
    fresh = (await bob.connect()).ready["guilds"][0]["channels"]
    assert sorted(gained, key=lambda c: c["id"]) == sorted(fresh, key=lambda c: c["id"])
    # The owner sees everything all the time and hears of no coming and going.
    (await alice.rest.send_message(chat_world.channel_id, "still here")).expect(200)
    await at_alice.expect("MESSAGE_CREATE")
    names = {payload.members["t"] for payload in at_alice.dispatches}
    assert "GUILD_ROLE_UPDATE" in names
    assert not names & {"CHANNEL_CREATE", "CHANNEL_DELETE"}


@pytest.mark.chat_settings(**{"limits.max_guild_roles": 2})
async def test_there_is_a_limit(chat_world: World) -> None:
    alice, guild_id = chat_world.alice, chat_world.guild_id
    for _ in range(2 - (len(await positions(alice, guild_id)) - 1)):
        await make(alice, guild_id)
    refused = await alice.rest.post(f"/v1/guilds/{guild_id}/roles", {"name": "x"})
    assert (refused.status, refused.code) == (400, "MAX_GUILD_ROLES")


@pytest.mark.parametrize(
    "body",
    [{}, {"name": ""}, {"name": "x" * 101}, {"name": "x", "color": 1 << 24}, {"name": "x", "permissions": "-1"}, []],
)
async def test_bad_bodies(chat_world: World, body: Any) -> None:
    answer = await chat_world.alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/roles", body)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
