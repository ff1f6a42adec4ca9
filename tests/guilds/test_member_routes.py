"""Changing and finding members over HTTP."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.registries.opcodes import Opcode
from chat.registries.permissions import Permission
from chat.testing.gateway_client import GatewayClient
from chat.testing.world import Actor, Person, World

Entries = list[dict[str, Any]]


def member(world: World, who: Actor | str) -> str:
    """The address of a member."""
    return f"/v1/guilds/{world.guild_id}/members/{who if isinstance(who, str) else who.id}"


async def make_role(world: World, permissions: int = 0, *holders: Actor) -> str:
    """A new role at the bottom, for these members."""
    body = {"name": "role", "permissions": str(int(permissions))}
    role_id = (await world.alice.rest.post(f"/v1/guilds/{world.guild_id}/roles", body)).expect(200)["id"]
    for holder in holders:
        (await world.alice.rest.put(f"{member(world, holder)}/roles/{role_id}")).expect(204)
    return str(role_id)


async def log_of(world: World, *action_types: int) -> Entries:
    """Entries of the guild's audit log of these kinds, newest first."""
    log = (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}/audit-logs")).expect(200)
    return [entry for entry in log["audit_log_entries"] if entry["action_type"] in action_types]


async def moment(world: World, seconds: float) -> str:
    """The moment `seconds` from now, as ISO 8601."""
    now = (await world.anyone.get("/v1/_dev/clock")).expect(200)["now"]
    return (datetime.datetime.fromisoformat(now) + datetime.timedelta(seconds=seconds)).isoformat()


async def test_everything_at_once(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    role_id = await make_role(chat_world)
    at_carol = await chat_world.carol.connect()
    body = {"nick": "  Bobby ", "roles": [role_id], "mute": True, "deaf": True}
    headers = {"X-Audit-Log-Reason": "tidying up"}
    changed = (await alice.rest.request("PATCH", member(chat_world, bob), json=body, headers=headers)).expect(200)
    shown = (changed["nick"], changed["roles"], changed["mute"], changed["deaf"])
    assert shown == ("Bobby", [role_id], True, True)
    told = (await at_carol.expect("GUILD_MEMBER_UPDATE")).data
    assert told == {**changed, "guild_id": chat_world.guild_id}
    roles, update = await log_of(chat_world, 24, 25)
    assert update["changes"] == [
        {"key": "deaf", "old_value": False, "new_value": True},
        {"key": "mute", "old_value": False, "new_value": True},
        {"key": "nick", "old_value": None, "new_value": "Bobby"},
    ]
    assert roles["changes"] == [{"key": "$add", "new_value": [{"id": role_id, "name": "role"}]}]
    for entry in (roles, update):
        assert (entry["user_id"], entry["target_id"], entry["reason"]) == (alice.id, bob.id, "tidying up")

    # The same once more is no change; nobody is told, nothing is written down.
    assert (await alice.rest.patch(member(chat_world, bob), body)).expect(200) == changed
    assert (await alice.rest.patch(member(chat_world, bob), {})).expect(200) == changed
    assert len(await log_of(chat_world, 24, 25)) == 2
    bare = {"nick": None, "roles": [], "mute": False, "deaf": False}
    (await alice.rest.patch(member(chat_world, bob), bare)).expect(200)
    told = (await at_carol.expect("GUILD_MEMBER_UPDATE")).data
    assert (told["nick"], told["roles"], told["mute"], told["deaf"]) == (None, [], False, False)


async def test_all_or_nothing(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    role_id = await make_role(chat_world)
    before = (await alice.rest.get(member(chat_world, bob))).expect(200)
    year = await moment(chat_world, 366 * 86_400)
    for wrong, path, code in (
        ({"roles": [role_id, "999999999999999999"]}, "roles", "INVALID_ROLE_ID"),
        ({"roles": [chat_world.guild_id]}, "roles", "INVALID_ROLE_ID"),
        ({"roles": ["x"]}, "roles.0", "INVALID_SNOWFLAKE_FORMAT"),
        ({"roles": None}, "roles", "INVALID_FORMAT"),
        ({"roles": [role_id] * 252}, "roles", "INVALID_FORMAT"),
        ({"mute": "yes"}, "mute", "INVALID_FORMAT"),
        ({"deaf": None}, "deaf", "INVALID_FORMAT"),
        ({"nick": "n" * 33}, "nick", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"nick": 5}, "nick", "INVALID_FORMAT"),
        ({"communication_disabled_until": year}, "communication_disabled_until", "TIMEOUT_CANNOT_EXCEED_365_DAYS"),
        ({"communication_disabled_until": "soon"}, "communication_disabled_until", "INVALID_ISO_TIMESTAMP"),
        ({"timeout_reason": "r" * 513}, "timeout_reason", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"channel_id": "x"}, "channel_id", "INVALID_SNOWFLAKE_FORMAT"),
    ):
        refused = await alice.rest.patch(member(chat_world, bob), {"nick": "Bobby", "mute": True, **wrong})
        assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY"), wrong
        assert [(entry["path"], entry["code"]) for entry in refused.json()["errors"]] == [(path, code)]
    nowhere = await alice.rest.patch(
        member(chat_world, bob), {"nick": "Bobby", "channel_id": chat_world.voice_channel_id}
    )
    assert (nowhere.status, nowhere.code) == (400, "USER_NOT_IN_VOICE")
    for channel_id, code in ((chat_world.channel_id, "INVALID_CHANNEL_TYPE"), ("5", "UNKNOWN_CHANNEL")):
        refused = await alice.rest.patch(member(chat_world, bob), {"nick": "Bobby", "channel_id": channel_id})
        assert refused.code == code
    stranger = await alice.rest.patch(member(chat_world, chat_world.admin), {"nick": "x"})
    assert (stranger.status, stranger.code) == (404, "UNKNOWN_MEMBER")
    elsewhere = await alice.rest.patch(f"/v1/guilds/5/members/{bob.id}", {"nick": "x"})
    assert (elsewhere.status, elsewhere.code) == (404, "UNKNOWN_GUILD")
    assert (await alice.rest.get(member(chat_world, bob))).expect(200) == before
    assert await log_of(chat_world, 24, 25, 26, 27) == []


FIELDS = {
    "nick": ("MANAGE_NICKNAMES", "Carrie"),
    "roles": ("MANAGE_ROLES", []),
    "mute": ("MUTE_MEMBERS", True),
    "deaf": ("DEAFEN_MEMBERS", True),
    "communication_disabled_until": ("MODERATE_MEMBERS", "2020-01-01T00:00:00Z"),
}


@pytest.mark.parametrize("field", FIELDS)
async def test_each_field_asks_for_its_permission(chat_world: World, field: str) -> None:
    bob, carol = chat_world.bob, chat_world.carol
    name, value = FIELDS[field]
    everything_else = [Permission[other] for other, _ in FIELDS.values() if other != name]
    mask = 0
    for permission in everything_else:
        mask |= permission
    await make_role(chat_world, mask, bob)
    refused = await bob.rest.patch(member(chat_world, carol), {field: value})
    assert (refused.status, refused.code) == (403, "MISSING_PERMISSIONS")
    await make_role(chat_world, Permission[name], bob)
    (await bob.rest.patch(member(chat_world, carol), {field: value})).expect(200)


async def test_only_members_below_are_changed(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    powers = Permission.MANAGE_NICKNAMES | Permission.MODERATE_MEMBERS | Permission.MANAGE_ROLES
    low = await make_role(chat_world)
    high = await make_role(chat_world, powers, bob)
    order = [{"id": high, "position": 2}, {"id": low, "position": 1}]
    (await alice.rest.patch(f"/v1/guilds/{chat_world.guild_id}/roles", order)).expect(204)
    until = await moment(chat_world, 60)
    (await bob.rest.patch(member(chat_world, carol), {"nick": "Carrie", "roles": [low]})).expect(200)
    (await bob.rest.patch(member(chat_world, carol), {"communication_disabled_until": until})).expect(200)
    for target, body in (
        (alice, {"nick": "Al"}),
        (alice, {"communication_disabled_until": until}),
        (bob, {"communication_disabled_until": until}),
        (bob, {"communication_disabled_until": None}),
        (carol, {"roles": [high]}),
        (bob, {"roles": []}),
    ):
        refused = await bob.rest.patch(member(chat_world, target), body)
        assert (refused.status, refused.code) == (403, "MISSING_PERMISSIONS")
    (await alice.rest.patch(member(chat_world, carol), {"roles": [high]})).expect(200)
    equal = await bob.rest.patch(member(chat_world, carol), {"nick": "Equal"})
    assert (equal.status, equal.code) == (403, "MISSING_PERMISSIONS")
    (await bob.rest.patch(member(chat_world, bob), {"nick": "Bobby"})).expect(200)


async def test_a_time_out(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    until = await moment(chat_world, 60)
    body = {"communication_disabled_until": until, "timeout_reason": "shouting"}
    timed_out = (await alice.rest.patch(member(chat_world, bob), body)).expect(200)
    assert datetime.datetime.fromisoformat(
        timed_out["communication_disabled_until"]
    ) == datetime.datetime.fromisoformat(until)
    assert timed_out["mute"] is True
    refused = await bob.rest.send_message(chat_world.channel_id, "but")
    assert (refused.status, refused.code) == (403, "COMMUNICATION_DISABLED")
    [entry] = await log_of(chat_world, 24)
    assert (entry["reason"], [change["key"] for change in entry["changes"]]) == (
        "shouting",
        ["communication_disabled_until"],
    )
    lifted = (await alice.rest.patch(member(chat_world, bob), {"communication_disabled_until": None})).expect(200)
    assert (lifted["communication_disabled_until"], lifted["mute"]) == (None, False)
    (await bob.rest.send_message(chat_world.channel_id, "thanks")).expect(200)
    longest = {"communication_disabled_until": await moment(chat_world, 365 * 86_400)}
    (await alice.rest.patch(member(chat_world, bob), longest)).expect(200)
    past = {"communication_disabled_until": await moment(chat_world, -1)}
    assert (await alice.rest.patch(member(chat_world, bob), past)).expect(200)["mute"] is False


@pytest.mark.parametrize("power", [Permission.MODERATE_MEMBERS, Permission.ADMINISTRATOR])
async def test_those_who_give_time_outs_get_none(chat_world: World, power: Permission) -> None:
    alice, carol = chat_world.alice, chat_world.carol
    until = {"communication_disabled_until": await moment(chat_world, 60)}
    (await alice.rest.patch(member(chat_world, carol), until)).expect(200)
    await make_role(chat_world, power, carol)
    refused = await alice.rest.patch(member(chat_world, carol), until)
    assert (refused.status, refused.code) == (403, "MISSING_PERMISSIONS")
    lifted = await alice.rest.patch(member(chat_world, carol), {"communication_disabled_until": None})
    assert lifted.expect(200)["communication_disabled_until"] is None


async def join_voice(world: World, person: Person) -> tuple[GatewayClient, str]:
    """A session of the person, and its connection to the voice channel."""
    client = await person.connect()
    await client.send(
        Opcode.VOICE_STATE_UPDATE,
        {
            "guild_id": world.guild_id,
            "channel_id": world.voice_channel_id,
            "self_mute": False,
            "self_deaf": False,
        },
    )
    return client, (await client.expect("VOICE_STATE_UPDATE")).data["connection_id"]


async def test_a_member_is_moved_muted_and_taken_out_of_voice(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    other = (await alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", {"name": "other", "type": 2})).expect(
        200
    )["id"]
    _, connection_id = await join_voice(chat_world, bob)
    at_carol = await chat_world.carol.connect()
    refused = await chat_world.carol.rest.patch(member(chat_world, bob), {"channel_id": None})
    assert (refused.status, refused.code) == (403, "MISSING_PERMISSIONS")
    unknown = await alice.rest.patch(member(chat_world, bob), {"channel_id": other, "connection_id": "none"})
    assert (unknown.status, unknown.code) == (400, "USER_NOT_IN_VOICE")

    (await alice.rest.patch(member(chat_world, bob), {"mute": True})).expect(200)
    assert (await at_carol.expect("VOICE_STATE_UPDATE")).data["mute"] is True
    move = {"channel_id": other, "connection_id": connection_id}
    (await alice.rest.patch(member(chat_world, bob), move)).expect(200)
    moved = (await at_carol.expect("VOICE_STATE_UPDATE")).data
    assert (moved["connection_id"], moved["channel_id"], moved["user_id"]) == (connection_id, other, bob.id)
    (await alice.rest.patch(member(chat_world, bob), move)).expect(200)  # it is there already
    (await alice.rest.patch(member(chat_world, bob), {"channel_id": None})).expect(200)
    assert (await at_carol.expect("VOICE_STATE_UPDATE")).data["channel_id"] is None
    gone, came = await log_of(chat_world, 26, 27)
    assert (gone["action_type"], gone["target_id"], gone["options"]) == (27, bob.id, {"count": "1"})
    assert (came["action_type"], came["options"]) == (26, {"channel_id": other, "count": "1"})


async def test_a_member_is_dragged_into_a_channel_closed_to_them(chat_world: World) -> None:
    """The member sees the channel while connected, in every session, and over HTTP; nobody else learns anything."""
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    denied = int(Permission.VIEW_CHANNEL | Permission.CONNECT | Permission.SPEAK)
    deny = [{"id": chat_world.guild_id, "type": 0, "allow": "0", "deny": str(denied)}]
    body = {"name": "hidden", "type": 2, "permission_overwrites": deny}
    hidden = (await alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", body)).expect(200)["id"]
    at_bob, connection_id = await join_voice(chat_world, bob)
    at_carol = await carol.connect()

    (await alice.rest.patch(member(chat_world, bob), {"channel_id": hidden})).expect(200)
    assert (await at_bob.expect("CHANNEL_CREATE")).data["id"] == hidden
    moved = (await at_bob.expect("VOICE_STATE_UPDATE", where=lambda data: data["channel_id"] == hidden)).data
    assert (moved["connection_id"], moved["version"], moved["suppress"]) == (connection_id, 3, True)
    assert (await at_carol.expect("VOICE_STATE_UPDATE")).data["channel_id"] is None
    (guild,) = (await bob.connect()).ready["guilds"]
    assert hidden in [channel["id"] for channel in guild["channels"]]
    (await bob.rest.get(f"/v1/channels/{hidden}")).expect(200)

    d = {"guild_id": chat_world.guild_id, "channel_id": None, "connection_id": connection_id}
    await at_bob.send(Opcode.VOICE_STATE_UPDATE, d)
    assert (await at_bob.expect("VOICE_STATE_UPDATE", where=lambda data: data["channel_id"] is None)).data
    assert (await at_bob.expect("CHANNEL_DELETE")).data["id"] == hidden
    refused = await bob.rest.get(f"/v1/channels/{hidden}")
    assert (refused.status, refused.code) == (403, "MISSING_PERMISSIONS")
    (await alice.rest.send_message(chat_world.channel_id, "end")).expect(200)
    await at_carol.expect("MESSAGE_CREATE")
    assert hidden not in [str(payload.data.get("id")) for payload in at_carol.dispatches]


async def test_the_mover_needs_to_be_let_in_too(chat_world: World) -> None:
    bob, carol = chat_world.bob, chat_world.carol
    channels, move = f"/v1/guilds/{chat_world.guild_id}/channels", Permission.MOVE_MEMBERS
    body = {"name": "closed", "type": 2}
    closed = (await chat_world.alice.rest.post(channels, body)).expect(200)["id"]
    await join_voice(chat_world, carol)
    role = await make_role(chat_world, move, bob)
    for allow, deny, status in (
        (0, Permission.CONNECT, 403),
        (0, move, 403),
        (0, Permission.VIEW_CHANNEL, 403),
        (0, 0, 200),
    ):
        overwrite = {"type": 0, "allow": str(int(allow)), "deny": str(int(deny))}
        path = f"/v1/channels/{closed}/permissions/{role}"
        (await chat_world.alice.rest.put(path, overwrite)).expect(204)
        assert (await bob.rest.patch(member(chat_world, carol), {"channel_id": closed})).status == status


async def test_a_member_in_a_hidden_voice_channel_is_not_in_voice_for_others(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await make_role(chat_world, Permission.MOVE_MEMBERS, carol)
    at_bob, _ = await join_voice(chat_world, bob)
    overwrite = f"/v1/channels/{chat_world.voice_channel_id}/permissions/{carol.id}"
    view = str(int(Permission.VIEW_CHANNEL))
    (await alice.rest.put(overwrite, {"type": 1, "allow": "0", "deny": view})).expect(204)
    refused = await carol.rest.patch(member(chat_world, bob), {"channel_id": None})
    assert (refused.status, refused.code) == (400, "USER_NOT_IN_VOICE")
    (await alice.rest.delete(overwrite)).expect(204)
    (await carol.rest.patch(member(chat_world, bob), {"channel_id": None})).expect(200)
    await at_bob.expect("VOICE_STATE_UPDATE", where=lambda state: state["channel_id"] is None)


async def test_ones_own_profile(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    at_carol = await chat_world.carol.connect()
    own = member(chat_world, "@me")
    profile = {"nick": "Bobby", "accent_color": 0xFFFFFF, "profile_flags": 3, "mention_flags": 1}
    worn = (await bob.rest.patch(own, profile)).expect(200)
    assert {name: worn[name] for name in profile} == profile
    assert (await at_carol.expect("GUILD_MEMBER_UPDATE")).data["nick"] == "Bobby"
    [entry] = await log_of(chat_world, 24)
    assert (entry["user_id"], entry["target_id"]) == (bob.id, bob.id)
    bare = (await bob.rest.patch(own, dict.fromkeys(profile))).expect(200)
    assert (bare["nick"], bare["accent_color"], bare["profile_flags"]) == (None, None, 0)
    for wrong in ({"accent_color": 1 << 24}, {"accent_color": -1}, {"profile_flags": 4}, {"nick": "n" * 33}, []):
        assert (await bob.rest.patch(own, wrong)).status == 400
    everyone = f"/v1/guilds/{chat_world.guild_id}/roles/{chat_world.guild_id}"
    (await alice.rest.patch(everyone, {"permissions": str(int(Permission.VIEW_CHANNEL))})).expect(200)
    refused = await bob.rest.patch(own, {"nick": "Robert"})
    assert (refused.status, refused.code) == (403, "MISSING_PERMISSIONS")
    (await bob.rest.patch(own, {"accent_color": 1})).expect(200)
    assert (await chat_world.admin.rest.patch(own, {"nick": "x"})).code == "MISSING_PERMISSIONS"


async def test_members_are_found_by_name(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    (await bob.rest.patch(member(chat_world, "@me"), {"nick": "Carpenter"})).expect(200)
    path = f"/v1/guilds/{chat_world.guild_id}/members-search"
    found = (await alice.rest.post(path, {"query": "CAR"})).expect(200)
    assert {entry["user"]["id"] for entry in found["members"]} == {bob.id, chat_world.carol.id}
    assert (found["guild_id"], found["page_result_count"], found["total_result_count"]) == (chat_world.guild_id, 2, 2)
    assert all("supplemental" in entry for entry in found["members"])
    everybody = (await bob.rest.post(path, {"limit": 1, "offset": 1})).expect(200)
    assert (everybody["page_result_count"], everybody["total_result_count"]) == (1, 4)
    assert "supplemental" not in everybody["members"][0]
    for wrong in ({"limit": 0}, {"limit": 101}, {"offset": -1}, {"query": 7}, {"query": "q" * 101}):
        assert (await alice.rest.post(path, wrong)).code == "INVALID_FORM_BODY"
    assert (await chat_world.admin.rest.post(path, {})).code == "MISSING_PERMISSIONS"


async def test_races_end_in_documented_answers(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    for round_number in range(5):
        role_id = await make_role(chat_world)
        answers: list[tuple[int, str | None]] = []

        async def ask(method: str, path: str, body: object = None, answers: Any = answers) -> None:
            answer = await alice.rest.request(method, path, json=body)
            answers.append((answer.status, answer.code))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, "PATCH", member(chat_world, bob), {"roles": [role_id], "nick": f"n{round_number}"})
            nursery.start_soon(ask, "DELETE", f"/v1/guilds/{chat_world.guild_id}/roles/{role_id}")
            nursery.start_soon(ask, "PATCH", member(chat_world, bob), {"roles": []})
            if round_number == 4:
                nursery.start_soon(ask, "DELETE", member(chat_world, bob))
        assert set(answers) <= {(200, None), (204, None), (400, "INVALID_FORM_BODY"), (404, "UNKNOWN_MEMBER")}
    left = (await alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/members")).expect(200)
    assert all(entry["roles"] == [] for entry in left)
    assert bob.id not in {entry["user"]["id"] for entry in left}
