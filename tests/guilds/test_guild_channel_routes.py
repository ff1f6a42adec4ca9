"""Channels of guilds over HTTP: making, changing, ordering and deleting them, and who hears of it.

Area: guilds. Rules: 001.features, 001.modify.
"""

from __future__ import annotations

from typing import Any

import pytest

from chat.registries.permissions import Permission
from chat.testing.rest_client import Response
from chat.testing.world import Actor, World
from tests.spec.ledger import cases_of, proves

VIEW = Permission.VIEW_CHANNEL.value
SEND = Permission.SEND_MESSAGES.value


def channels_of(world: World) -> str:
    """The address of the guild's channels."""
    return f"/v1/guilds/{world.guild_id}/channels"


async def make(world: World, kind: int = 0, name: str = "new", **fields: Any) -> dict[str, Any]:
    """A channel that alice makes."""
    body = {"type": kind, "name": name, **fields}
    made: dict[str, Any] = (await world.alice.rest.post(channels_of(world), body)).expect(200)
    return made


async def listed(world: World, actor: Actor | None = None) -> dict[str, dict[str, Any]]:
    """The guild's channels that the actor sees."""
    found = (await (actor or world.alice).rest.get(channels_of(world))).expect(200)
    return {channel["id"]: channel for channel in found}


def field_codes(answer: Response) -> dict[str, str]:
    """The wrong fields with their codes."""
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), answer.body
    return {entry["path"]: entry["code"] for entry in answer.json()["errors"]}


async def test_a_channel_comes_changes_and_goes(chat_world: World) -> None:
    alice = chat_world.alice
    at_bob, at_carol = await chat_world.bob.connect(flags=1 << 2), await chat_world.carol.connect()
    made = await make(chat_world, name="  Über uns! ", topic="about", rate_limit_per_user=5)
    assert (made["name"], made["topic"], made["rate_limit_per_user"]) == ("über-uns", "about", 5)
    assert (await at_bob.expect("CHANNEL_CREATE")).data == made
    path = f"/v1/channels/{made['id']}"
    changed = (await alice.rest.patch(path, {"name": "Hafen", "topic": None})).expect(200)
    assert (changed["name"], changed["topic"], changed["rate_limit_per_user"]) == ("hafen", None, 5)
    assert (await at_bob.expect("CHANNEL_UPDATE")).data == changed
    (await alice.rest.send_message(made["id"], "hello")).expect(200)
    (await alice.rest.delete(path)).expect(204)
    gone = (await at_bob.expect("CHANNEL_DELETE")).data
    assert (gone["id"], gone["name"], gone["guild_id"]) == (made["id"], "hafen", chat_world.guild_id)
    # A session that knows no threads is told of everything but what concerns them.
    for name, whole in (("CHANNEL_CREATE", made), ("CHANNEL_UPDATE", changed), ("CHANNEL_DELETE", gone)):
        assert (await at_carol.expect(name)).data == {key: whole[key] for key in whole.keys() - {"flags"}}
    for answer in (await alice.rest.get(path), await alice.rest.delete(path), await alice.rest.patch(path, {})):
        assert (answer.status, answer.code) == (404, "UNKNOWN_CHANNEL")
    log = (await alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/audit-logs")).expect(200)["audit_log_entries"]
    assert [entry["action_type"] for entry in log] == [12, 11, 10]
    assert {"key": "name", "old_value": "über-uns", "new_value": "hafen"} in log[1]["changes"]


@pytest.mark.parametrize(
    ("kind", "owned", "foreign"),
    [
        (0, {"topic", "rate_limit_per_user", "last_message_id", "parent_id"}, {"bitrate", "url"}),
        (2, {"bitrate", "user_limit", "voice_connection_limit", "rtc_region"}, {"url"}),
        (4, {"position", "permission_overwrites"}, {"parent_id", "topic", "bitrate", "last_message_id"}),
        (5, {"topic", "last_message_id"}, {"bitrate"}),
        (998, {"url", "parent_id"}, {"topic", "bitrate"}),
    ],
)
async def test_each_type_owns_its_fields(chat_world: World, kind: int, owned: set[str], foreign: set[str]) -> None:
    made = await make(chat_world, kind, topic="t", bitrate=64_000, url="https://example.org", user_limit=3)
    assert made["type"] == kind
    assert owned <= made.keys()
    assert not foreign & made.keys()


@pytest.mark.parametrize("kind", [15, 16])
async def test_forums_and_media_channels(chat_world: World, kind: int) -> None:
    at_bob = await chat_world.bob.connect()
    at_carol = await chat_world.carol.connect(flags=1 << 2)
    made = await make(chat_world, kind, "Board")
    assert (await at_carol.expect("CHANNEL_CREATE")).data["id"] == made["id"]
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "done")).expect(200)
    await at_bob.expect("MESSAGE_CREATE")
    assert "CHANNEL_CREATE" not in {payload.members["t"] for payload in at_bob.dispatches}
    refused = await chat_world.alice.rest.send_message(made["id"], "not here")
    assert (refused.status, refused.code) == (400, "CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL")


async def test_names_follow_the_feature(chat_world: World) -> None:
    refused = await chat_world.alice.rest.post(channels_of(chat_world), {"type": 0, "name": "!!!"})
    assert field_codes(refused) == {"name": "CHANNEL_NAME_EMPTY_AFTER_NORMALIZATION"}
    assert (await make(chat_world, 2, "Lounge & Bar"))["name"] == "Lounge & Bar"
    path = f"/v1/guilds/{chat_world.guild_id}"
    (await chat_world.alice.rest.patch(path, {"features": ["TEXT_CHANNEL_FLEXIBLE_NAMES"]})).expect(200)
    loose = await make(chat_world, 0, "Lounge & Bar!")
    board = await make(chat_world, 15, "The Board!")
    assert loose["name"] == "Lounge & Bar!"
    at_bob = await chat_world.bob.connect()
    (await chat_world.alice.rest.patch(path, {"features": []})).expect(200)
    with proves("001.modify.60"):
        bulk = (await at_bob.expect("CHANNEL_UPDATE_BULK")).data["channels"]
    with proves("001.modify.57", "001.modify.58"):
        assert {channel["id"]: channel["name"] for channel in bulk}[loose["id"]] == "lounge-bar".replace("-", "--", 1)
    with proves("001.modify.60"):
        assert len(bulk) == len(await listed(chat_world)) - 1  # bob's session knows no forums
    with proves("001.modify.59"):
        assert (await listed(chat_world))[board["id"]]["name"] == "The Board!"
    with proves("001.modify.59"):
        renamed = (await chat_world.alice.rest.patch(f"/v1/channels/{board['id']}", {"name": "The Board!"})).expect(200)
        assert renamed["name"] == "the-board"
    # Where no name changes nobody is told of channels.
    (await chat_world.alice.rest.patch(path, {"features": ["TEXT_CHANNEL_FLEXIBLE_NAMES"]})).expect(200)
    (await chat_world.alice.rest.patch(path, {"features": []})).expect(200)
    with proves("001.modify.60"):
        (await chat_world.alice.rest.send_message(chat_world.channel_id, "done")).expect(200)
        await at_bob.expect("MESSAGE_CREATE")
        assert [payload.members["t"] for payload in at_bob.dispatches].count("CHANNEL_UPDATE_BULK") == 1


@pytest.mark.parametrize(
    ("features", "cap"),
    [
        *cases_of("001.features.13", ([], 96_000)),
        *cases_of("001.features.9", (["AUDIO_BITRATE_128_KBPS"], 128_000)),
        pytest.param(
            ["AUDIO_BITRATE_128_KBPS", "AUDIO_BITRATE_384_KBPS"],
            384_000,
            marks=pytest.mark.rule("001.features.11", "001.features.12"),
        ),
        *cases_of("001.features.10", (["AUDIO_BITRATE_256_KBPS"], 256_000)),
    ],
)
async def test_bit_rates_are_capped(chat_world: World, features: list[str], cap: int) -> None:
    (await chat_world.anyone.post(f"/v1/_dev/guilds/{chat_world.guild_id}", {"features": features})).expect(200)
    made = await make(chat_world, 2, bitrate=500_000)
    with proves("001.features.14"):
        assert made["bitrate"] == cap
    (await chat_world.anyone.post(f"/v1/_dev/guilds/{chat_world.guild_id}", {"features": []})).expect(200)
    path = f"/v1/channels/{made['id']}"
    with proves("001.features.15"):
        assert (await chat_world.alice.rest.patch(path, {"name": "same rate"})).expect(200)["bitrate"] == cap
        assert (await chat_world.alice.rest.patch(path, {"bitrate": 500_000})).expect(200)["bitrate"] == 96_000
    assert field_codes(await chat_world.alice.rest.patch(path, {"bitrate": 7_999})) == {
        "bitrate": "VALUE_MUST_BE_INTEGER_IN_RANGE"
    }


async def test_categories_hold_channels(chat_world: World) -> None:
    alice = chat_world.alice
    category = await make(chat_world, 4, "Things")
    inside = await make(chat_world, parent_id=category["id"])
    assert inside["parent_id"] == category["id"]
    for body, code in (
        ({"type": 4, "name": "x", "parent_id": category["id"]}, None),
        ({"type": 0, "name": "x", "parent_id": inside["id"]}, "PARENT_MUST_BE_CATEGORY"),
        ({"type": 0, "name": "x", "parent_id": "1"}, "INVALID_PARENT_CHANNEL"),
    ):
        answer = await alice.rest.post(channels_of(chat_world), body)
        if code is None:
            assert "parent_id" not in answer.expect(200)
        else:
            assert field_codes(answer) == {"parent_id": code}
    at_bob = await chat_world.bob.connect()
    (await alice.rest.delete(f"/v1/channels/{category['id']}")).expect(204)
    assert (await at_bob.expect("CHANNEL_DELETE")).data["id"] == category["id"]
    assert (await at_bob.expect("CHANNEL_UPDATE")).data["parent_id"] is None
    assert (await listed(chat_world))[inside["id"]]["parent_id"] is None


def denied_to(channel: dict[str, Any], target_id: str) -> str | None:
    """What a channel denies a role or a member."""
    return next((entry["deny"] for entry in channel["permission_overwrites"] if entry["id"] == target_id), None)


async def test_overwrites_decide_who_sees_a_channel(chat_world: World) -> None:
    alice, bob, guild_id = chat_world.alice, chat_world.bob, chat_world.guild_id
    at_bob, at_carol = await bob.connect(), await chat_world.carol.connect()
    hidden = await make(
        chat_world, permission_overwrites=[{"id": guild_id, "type": 0, "allow": "0", "deny": str(VIEW)}]
    )
    path = f"/v1/channels/{hidden['id']}/permissions"
    assert hidden["id"] not in await listed(chat_world, bob)
    (await alice.rest.put(f"{path}/{bob.id}", {"type": "member", "allow": str(VIEW)})).expect(204)
    assert (await at_bob.expect("CHANNEL_CREATE")).data["id"] == hidden["id"]
    (await bob.rest.send_message(hidden["id"], "psst")).expect(200)
    (await alice.rest.put(f"{path}/{bob.id}", {"type": 1, "allow": str(VIEW), "deny": str(SEND)})).expect(204)
    await at_bob.expect("CHANNEL_UPDATE", where=lambda channel: denied_to(channel, bob.id) == str(SEND))
    assert (await bob.rest.send_message(hidden["id"], "psst")).code == "MISSING_PERMISSIONS"
    (await alice.rest.delete(f"{path}/{bob.id}")).expect(204)
    assert (await at_bob.expect("CHANNEL_DELETE")).data["id"] == hidden["id"]
    (await alice.rest.delete(f"{path}/{guild_id}")).expect(204)
    assert (await at_carol.expect("CHANNEL_CREATE")).data["id"] == hidden["id"]
    log = (await alice.rest.get(f"/v1/guilds/{guild_id}/audit-logs")).expect(200)["audit_log_entries"]
    assert [entry["action_type"] for entry in log[:4]] == [15, 15, 14, 13]
    for target, body, expected in (
        ("1", {"type": 0}, (404, "UNKNOWN_ROLE")),
        ("1", {"type": 1}, (404, "UNKNOWN_MEMBER")),
        (bob.id, {"type": 2}, (400, "INVALID_FORM_BODY")),
        (bob.id, {}, (400, "INVALID_FORM_BODY")),
    ):
        refused = await alice.rest.put(f"{path}/{target}", body)
        assert (refused.status, refused.code) == expected


async def test_nobody_writes_bits_that_they_lack(chat_world: World) -> None:
    alice, bob, guild_id = chat_world.alice, chat_world.bob, chat_world.guild_id
    power = str((Permission.MANAGE_ROLES | Permission.MANAGE_CHANNELS).value)
    role = (await alice.rest.post(f"/v1/guilds/{guild_id}/roles", {"name": "m", "permissions": power})).expect(200)
    (await alice.rest.put(f"/v1/guilds/{guild_id}/members/{bob.id}/roles/{role['id']}")).expect(204)
    path = f"/v1/channels/{chat_world.channel_id}/permissions/{chat_world.carol.id}"
    ban = str(Permission.BAN_MEMBERS.value)
    for body in ({"type": 1, "allow": ban}, {"type": 1, "deny": ban}):
        refused = await bob.rest.put(path, body)
        assert (refused.status, refused.code) == (403, "MISSING_PERMISSIONS")
    entry = {"id": chat_world.carol.id, "type": 1, "allow": ban}
    refused = await bob.rest.post(channels_of(chat_world), {"name": "x", "permission_overwrites": [entry]})
    assert (refused.status, refused.code) == (403, "MISSING_PERMISSIONS")
    (await bob.rest.put(path, {"type": 1, "deny": str(SEND)})).expect(204)
    assert (await chat_world.carol.rest.send_message(chat_world.channel_id, "x")).code == "MISSING_PERMISSIONS"
    assert (await chat_world.carol.rest.delete(path)).code == "MISSING_PERMISSIONS"


async def test_channels_are_put_in_order(chat_world: World) -> None:
    alice = chat_world.alice
    category = await make(chat_world, 4, "Things")
    ids = [(await make(chat_world, name=name, parent_id=category["id"]))["id"] for name in "abc"]
    at_bob = await chat_world.bob.connect()
    (await alice.rest.patch(channels_of(chat_world), [{"id": ids[2], "position": 0}])).expect(204)
    now = await listed(chat_world)
    assert [now[channel_id]["position"] for channel_id in ids] == [1, 2, 0]
    bulk = (await at_bob.expect("CHANNEL_UPDATE_BULK")).data
    assert {channel["id"] for channel in bulk["channels"]} == set(ids)
    body = [{"id": ids[2], "preceding_sibling_id": ids[0]}]
    (await alice.rest.patch(channels_of(chat_world), body)).expect(204)
    now = await listed(chat_world)
    assert [now[channel_id]["position"] for channel_id in ids] == [0, 2, 1]
    (await alice.rest.patch(channels_of(chat_world), [{"id": ids[0], "parent_id": None}])).expect(204)
    assert (await listed(chat_world))[ids[0]]["parent_id"] is None
    for wrong in ([{"id": "1", "position": 0}], [{"id": ids[0]}, {"id": ids[0]}], {"id": ids[0]}, [{}]):
        refused = await alice.rest.patch(channels_of(chat_world), wrong)
        assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
    assert (await chat_world.bob.rest.patch(channels_of(chat_world), [])).code == "MISSING_PERMISSIONS"


async def steward(world: World, *extra: Permission) -> tuple[Actor, dict[str, Any]]:
    """Bob with MANAGE_CHANNELS by role, and a category that he does not see."""
    alice, roles = world.alice.rest, f"/v1/guilds/{world.guild_id}/roles"
    bits = str(int(Permission.MANAGE_CHANNELS) | sum(extra))
    role = (await alice.post(roles, {"name": "steward", "permissions": bits})).expect(200)
    (await alice.put(f"/v1/guilds/{world.guild_id}/members/{world.bob.id}/roles/{role['id']}")).expect(204)
    hide = [{"id": world.guild_id, "type": 0, "allow": "0", "deny": str(VIEW)}]
    return world.bob, await make(world, 4, "Closed", permission_overwrites=hide)


async def test_a_channel_that_the_caller_does_not_see_is_neither_moved_nor_named(chat_world: World) -> None:
    bob, closed = await steward(chat_world, Permission.MANAGE_ROLES)
    hidden = await make(chat_world, name="hidden", parent_id=closed["id"])
    public, sibling = await make(chat_world, 4, "Public"), await make(chat_world, name="sibling")
    before = await listed(chat_world)
    path = channels_of(chat_world)
    for answer in (
        await bob.rest.get(f"/v1/channels/{hidden['id']}"),
        await bob.rest.patch(path, [{"id": hidden["id"], "position": 0}]),
        await bob.rest.patch(path, [{"id": hidden["id"], "parent_id": public["id"], "lock_permissions": True}]),
        await bob.rest.patch(path, [{"id": sibling["id"], "parent_id": closed["id"]}]),
        await bob.rest.patch(path, [{"id": sibling["id"], "preceding_sibling_id": hidden["id"]}]),
        await bob.rest.patch(path, [{"id": sibling["id"], "position": 0}, {"id": closed["id"], "position": 0}]),
        await bob.rest.patch(f"/v1/channels/{sibling['id']}", {"parent_id": closed["id"]}),
        await bob.rest.post(path, {"name": "x", "type": 0, "parent_id": closed["id"]}),
    ):
        assert (answer.status, answer.code) == (403, "MISSING_PERMISSIONS")
    assert await listed(chat_world) == before
    (await bob.rest.patch(path, [{"id": sibling["id"], "parent_id": public["id"], "lock_permissions": True}])).expect(
        204
    )


async def test_moving_takes_the_permission_in_each_channel(chat_world: World) -> None:
    bob, _ = await steward(chat_world)
    path, sibling = channels_of(chat_world), await make(chat_world, name="sibling")
    public = await make(chat_world, 4, "Public")
    overwrites = f"/v1/channels/{sibling['id']}/permissions/{chat_world.bob.id}"
    into = [{"id": sibling["id"], "parent_id": public["id"]}]
    alice, manage, rights = chat_world.alice.rest, Permission.MANAGE_CHANNELS, Permission.MANAGE_ROLES
    locking = [into[0] | {"lock_permissions": True}]
    assert (await bob.rest.patch(path, locking)).code == "MISSING_PERMISSIONS"
    (await alice.put(overwrites, {"type": 1, "deny": str(int(manage)), "allow": "0"})).expect(204)
    assert (await bob.rest.patch(path, into)).code == "MISSING_PERMISSIONS"
    # MANAGE_ROLES in the channel is what lets somebody take over overwrites.
    (await alice.put(overwrites, {"type": 1, "deny": "0", "allow": str(int(rights))})).expect(204)
    (await bob.rest.patch(path, locking)).expect(204)


async def test_moving_in_may_take_over_what_the_category_says(chat_world: World) -> None:
    hide = [{"id": chat_world.guild_id, "type": 0, "deny": str(VIEW)}]
    category = await make(chat_world, 4, "Staff", permission_overwrites=hide)
    open_channel = await make(chat_world)
    at_bob = await chat_world.bob.connect()
    body = [{"id": open_channel["id"], "parent_id": category["id"], "lock_permissions": True}]
    (await chat_world.alice.rest.patch(channels_of(chat_world), body)).expect(204)
    assert (await at_bob.expect("CHANNEL_DELETE")).data["id"] == open_channel["id"]
    assert (await listed(chat_world))[open_channel["id"]]["permission_overwrites"] == category["permission_overwrites"]


async def test_what_a_guild_names_is_forgotten_with_it(chat_world: World) -> None:
    alice = chat_world.alice
    path = f"/v1/guilds/{chat_world.guild_id}"
    both = {"system_channel_id": chat_world.channel_id, "afk_channel_id": chat_world.voice_channel_id}
    (await alice.rest.patch(path, both)).expect(200)
    at_bob = await chat_world.bob.connect()
    (await alice.rest.delete(f"/v1/channels/{chat_world.voice_channel_id}")).expect(204)
    assert (await at_bob.expect("GUILD_UPDATE")).data["afk_channel_id"] is None
    guild = (await alice.rest.get(path)).expect(200)
    assert (guild["system_channel_id"], guild["afk_channel_id"]) == (chat_world.channel_id, None)


@pytest.mark.chat_settings(**{"limits.max_guild_channels": 9, "limits.max_channels_per_category": 1})
async def test_there_are_limits(chat_world: World) -> None:
    category = await make(chat_world, 4, "Things")
    await make(chat_world, parent_id=category["id"])
    second = {"type": 0, "name": "x", "parent_id": category["id"]}
    refused = await chat_world.alice.rest.post(channels_of(chat_world), second)
    assert (refused.status, refused.code) == (400, "MAX_CATEGORY_CHANNELS")
    for _ in range(9 - len(await listed(chat_world))):
        await make(chat_world)
    refused = await chat_world.alice.rest.post(channels_of(chat_world), {"type": 0, "name": "x"})
    assert (refused.status, refused.code) == (400, "MAX_GUILD_CHANNELS")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "x" * 101},
        {"name": "x", "type": 1},
        {"name": "x", "type": 13},
        {"name": "x", "type": "0"},
        {"name": "x", "topic": "t" * 1_025},
        {"name": "x", "rate_limit_per_user": 21_601},
        {"name": "x", "rate_limit_per_user": -1},
        {"name": "x", "type": 2, "user_limit": 100},
        {"name": "x", "type": 998, "url": "javascript:alert(1)"},
        {"name": "x", "nsfw": "yes"},
        {"name": "x", "permission_overwrites": [{"id": "1", "type": 0}]},
        {"name": "x", "permission_overwrites": {"id": "1"}},
    ],
)
async def test_bad_bodies(chat_world: World, body: Any) -> None:
    before = await listed(chat_world)
    answer = await chat_world.alice.rest.post(channels_of(chat_world), body)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert await listed(chat_world) == before


async def test_text_and_announcement_turn_into_each_other(chat_world: World) -> None:
    path = f"/v1/channels/{chat_world.channel_id}"
    assert (await chat_world.alice.rest.patch(path, {"type": 5})).expect(200)["type"] == 5
    assert (await chat_world.alice.rest.patch(path, {"type": 0})).expect(200)["type"] == 0
    refused = await chat_world.alice.rest.patch(path, {"type": 2})
    assert (refused.status, refused.code) == (400, "INVALID_CHANNEL_TYPE")
    assert (await chat_world.bob.rest.patch(path, {"name": "x"})).code == "MISSING_PERMISSIONS"
