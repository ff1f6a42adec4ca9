"""Guilds and members over HTTP.

Area: guilds. Rules: 001.common, 001.create, 001.errors, 001.get, 001.guild-object, 001.list, 001.rate-limits.
"""

from __future__ import annotations

import pytest

from chat.registries.permissions import Permission
from chat.registries.user_flags import UserFlag
from chat.testing.world import World
from tests.spec.ledger import proves


@pytest.mark.rule("001.create.1", "001.get.1", "001.list.1")
async def test_create_read_list_and_leave(chat_world: World) -> None:
    alice, bob = chat_world.alice.rest, chat_world.bob.rest
    created = (await alice.create_guild("Harbour")).expect(200)
    guild = (await alice.get(f"/v1/guilds/{created['id']}")).expect(200)
    assert guild["system_channel_id"] == created["system_channel_id"] is not None
    assert [role["position"] for role in guild["roles"]] == [0]
    listed = (await alice.get("/v1/users/@me/guilds", {"with_counts": "true"})).expect(200)
    assert {entry["id"] for entry in listed} == {created["id"], chat_world.guild_id}
    invite = (await alice.create_channel_invite(created["system_channel_id"])).expect(200)
    (await bob.accept_invite(invite["code"])).expect(200)
    assert (await bob.get(f"/v1/guilds/{created['id']}/members/@me")).expect(200)["user"]["id"] == chat_world.bob.id
    gone = await bob.delete(f"/v1/users/@me/guilds/{created['id']}")
    assert (gone.status, gone.body) == (204, b"")
    assert (await bob.get(f"/v1/guilds/{created['id']}")).code == "MISSING_PERMISSIONS"
    assert (await bob.delete(f"/v1/users/@me/guilds/{created['id']}")).code == "UNKNOWN_MEMBER"


async def test_a_channel_that_the_caller_does_not_see_is_not_named_to_the_guild(chat_world: World) -> None:
    alice, bob, guild = chat_world.alice.rest, chat_world.bob, f"/v1/guilds/{chat_world.guild_id}"
    bits = str(int(Permission.MANAGE_GUILD))
    role = (await alice.post(f"{guild}/roles", {"name": "manager", "permissions": bits})).expect(200)
    (await alice.put(f"{guild}/members/{bob.id}/roles/{role['id']}")).expect(204)
    hide = [{"id": bob.id, "type": 1, "allow": "0", "deny": str(int(Permission.VIEW_CHANNEL))}]
    for member, kind in (("system_channel_id", 0), ("afk_channel_id", 2)):
        hidden = (await alice.create_channel(guild[11:], "hidden", type=kind, permission_overwrites=hide)).expect(200)
        refused = await bob.rest.patch(guild, {member: hidden["id"]})
        assert (refused.status, refused.code) == (403, "MISSING_PERMISSIONS")
        # What somebody else has chosen may be repeated, and given up.
        (await alice.patch(guild, {member: hidden["id"]})).expect(200)
        assert (await bob.rest.patch(guild, {member: hidden["id"]})).expect(200)[member] == hidden["id"]
        assert (await bob.rest.patch(guild, {member: None})).expect(200)[member] is None


async def test_what_is_wrong_with_a_body(chat_world: World) -> None:
    alice = chat_world.alice.rest
    missing, length, other = "001.create.2", "001.create.4", "001.create.25"
    for rule, body, error in [
        (missing, {}, ("name", "INVALID_FORMAT")),
        (missing, {"name": None}, ("name", "INVALID_FORMAT")),
        (other, {"name": 1}, ("name", "INVALID_FORMAT")),
        (other, {"name": ["x"]}, ("name", "INVALID_FORMAT")),
        (length, {"name": "x" * 101}, ("name", "STRING_LENGTH_INVALID")),
        (length, {"name": " "}, ("name", "STRING_LENGTH_INVALID")),
        (other, {"name": "x", "empty_features": "yes"}, ("empty_features", "INVALID_FORMAT")),
    ]:
        with proves(rule, "001.errors.2"):
            answer = await alice.post("/v1/guilds", body)
            assert answer.status == 400
            assert [(entry["path"], entry["code"]) for entry in answer.json()["errors"]] == [error]
    with proves("001.create.5"):
        assert (await alice.create_guild("x", icon="", template=None, unknown=1)).status == 200


async def test_refusals_that_come_before_the_body(chat_world: World) -> None:
    with proves("001.create.20"):
        assert (await chat_world.bot.rest.post("/v1/guilds", {})).code == "BOTS_CANNOT_CREATE_GUILDS"
    state = f"/v1/_dev/users/{chat_world.carol.id}"
    carol, anyone = chat_world.carol.rest, chat_world.anyone
    (await anyone.post(state, {"email_verified": False})).expect(200)
    with proves("001.create.26"):
        assert (await carol.post("/v1/guilds", {})).code == "GUILD_CREATION_EMAIL_VERIFICATION_REQUIRED"
    (await anyone.post(state, {"flags": str(UserFlag.ACCOUNT_LIMITED.value)})).expect(200)
    with proves("001.create.29"):
        assert (await carol.post("/v1/guilds", {})).code == "ACCOUNT_LIMITED"
    (await anyone.post(state, {"flags": "0", "email_verified": True})).expect(200)
    assert (await carol.post("/v1/guilds", {})).code == "INVALID_FORM_BODY"
    assert (await carol.create_guild("Pier")).status == 200
    assert (await anyone.post("/v1/guilds", {})).code == "UNAUTHORIZED"


async def test_guilds_that_cannot_be_read(chat_world: World) -> None:
    alice, admin = chat_world.alice.rest, chat_world.admin.rest
    path = f"/v1/guilds/{chat_world.guild_id}"
    assert (await alice.get(path)).status == 200
    assert (await alice.get(path, {"with_counts": 1})).status == 200
    with proves("001.common.2"):
        assert (await alice.get("/v1/guilds/999999999999999999")).code == "UNKNOWN_GUILD"
    with proves("001.common.3"):
        assert (await admin.get(path)).code == "MISSING_PERMISSIONS"
    with proves("001.common.1"):
        wrong = await alice.get("/v1/guilds/harbour")
        assert (wrong.code, wrong.json()["errors"][0]["path"]) == ("INVALID_FORM_BODY", "guild_id")
    with proves("001.common.4"):
        await chat_world.anyone.node(missing_guild_ids=[chat_world.guild_id])
        assert (await alice.get(path)).code == "ACCESS_DENIED"
    await chat_world.anyone.node(missing_guild_ids=[])
    state = f"/v1/_dev/guilds/{chat_world.guild_id}"
    (await chat_world.anyone.post(state, {"features": ["UNAVAILABLE_FOR_EVERYONE"]})).expect(200)
    for below in ("", "/roles", "/channels", "/members", "/members/@me", f"/members/{chat_world.bob.id}", "/invites"):
        answer = await alice.get(path + below)
        assert (answer.status, answer.code) == (403, "MISSING_ACCESS")


@pytest.mark.rule("001.list.7")
async def test_bounds_of_pages(chat_world: World) -> None:
    alice = chat_world.alice.rest
    for limit, status in [(1, 200), (200, 200), (0, 400), (201, 400), (-1, 400), ("1.5", 400), ("x", 400)]:
        assert (await alice.get("/v1/users/@me/guilds", {"limit": limit})).status == status
    for name in ("before", "after"):
        answer = await alice.get("/v1/users/@me/guilds", {name: "nowhere"})
        assert [(entry["path"], entry["code"]) for entry in answer.json()["errors"]] == [
            (name, "INVALID_SNOWFLAKE_FORMAT")
        ]
    members = f"/v1/guilds/{chat_world.guild_id}/members"
    for limit, status in [(1, 200), (1000, 200), (0, 400), (1001, 400)]:
        assert (await alice.get(members, {"limit": limit})).status == status


async def test_members(chat_world: World) -> None:
    alice = chat_world.alice.rest
    path = f"/v1/guilds/{chat_world.guild_id}/members"
    members = (await alice.get(path)).expect(200)
    ids = [member["user"]["id"] for member in members]
    assert set(ids) == {chat_world.alice.id, chat_world.bob.id, chat_world.carol.id, chat_world.bot.id}
    assert ids == sorted(ids, key=int)
    assert [member["user"]["id"] for member in (await alice.get(path, {"after": ids[1], "limit": 1})).expect(200)] == [
        ids[2]
    ]
    assert (await alice.get(f"{path}/{chat_world.bob.id}")).expect(200)["user"]["username"] == chat_world.bob.username
    assert (await alice.get(f"{path}/{chat_world.admin.id}")).code == "UNKNOWN_MEMBER"
    assert (await chat_world.bot.rest.get(f"{path}/@me")).expect(200)["user"]["bot"] is True


@pytest.mark.rule("001.guild-object.45", "001.guild-object.46", "001.guild-object.47")
async def test_a_session_that_declares_it_is_shown_threads(chat_world: World) -> None:
    answer = await chat_world.alice.rest.request(
        "GET", "/v1/users/@me/guilds", headers={"X-Service-Features": "channel_threads"}
    )
    [declared] = answer.expect(200)
    [plain] = (await chat_world.alice.rest.get("/v1/users/@me/guilds")).expect(200)
    assert declared["threads_active"] is True
    assert "threads_active" not in plain
    assert int(declared["permissions"]) > int(plain["permissions"])


async def test_roles(chat_world: World) -> None:
    roles = (await chat_world.bob.rest.get(f"/v1/guilds/{chat_world.guild_id}/roles")).expect(200)
    assert (roles[0]["id"], roles[0]["name"]) == (chat_world.guild_id, "@everyone")
    assert int(roles[0]["permissions"]) > 0


@pytest.mark.chat_settings(rate_limits=True)
@pytest.mark.rule("001.rate-limits.2")
async def test_guilds_are_created_ten_a_minute(chat_world: World) -> None:
    statuses = [(await chat_world.alice.rest.create_guild("x")).status for _ in range(11)]
    assert statuses == [200] * 10 + [429]
