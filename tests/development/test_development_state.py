"""Account and guild state on demand on a real server: what is stored, what is answered, what clients are told."""

from __future__ import annotations

import pytest

from chat.testing.world import World


async def account(world: World, user_id: str, **members: object) -> dict[str, object]:
    """Set account state; the Admin user object."""
    answer: dict[str, object] = (await world.anyone.post(f"/v1/_dev/users/{user_id}", members)).expect(200)
    return answer


async def guild(world: World, **members: object) -> dict[str, object]:
    """Set state of the seeded guild; the guild object."""
    answer: dict[str, object] = (await world.anyone.post(f"/v1/_dev/guilds/{world.guild_id}", members)).expect(200)
    return answer


# Accounts


async def test_every_member_is_stored_and_shown(world: World) -> None:
    members = {
        "flags": "18446744073709551615",
        "email": "Robert@example.org",
        "email_verified": False,
        "email_bounced": True,
        "passkey_second_factor": True,
        "premium_type": 2,
        "acls": ["user:lookup", "*"],
        "traits": ["a"],
        "last_active_ip": "2001:db8::7",
        "global_name": "Robert",
        "avatar": "a_0123456789abcdef0123456789abcdef",
        "date_of_birth": "2001-02-28",
        "temp_banned_until": "2100-01-01T00:00:00.000Z",
        "pending_bulk_message_deletion_at": "2100-01-02T00:00:00.000Z",
    }
    shown = await account(world, world.bob.id, **members)
    stored = {key: value for key, value in members.items() if key != "passkey_second_factor"}
    assert {key: shown[key] for key in stored} == stored
    assert shown["authenticator_types"] == [2]
    assert await account(world, world.bob.id) == shown
    nulls = ("email", "premium_type", "last_active_ip", "global_name", "avatar", "date_of_birth", "temp_banned_until")
    shown = await account(world, world.bob.id, **dict.fromkeys(nulls))
    assert [shown[name] for name in nulls] == [None] * len(nulls)


async def test_rules_see_the_state_at_once(world: World) -> None:
    await account(world, world.bob.id, email_verified=False)
    assert (await world.bob.rest.create_guild("mine")).code == "GUILD_CREATION_EMAIL_VERIFICATION_REQUIRED"
    await account(world, world.bob.id, email_verified=True)
    (await world.bob.rest.create_guild("mine")).expect(200)


async def test_sessions_and_guilds_hear_of_it(world: World) -> None:
    alice, bob = await world.alice.connect(), await world.bob.connect()
    await account(world, world.bob.id, global_name="Robert", email_bounced=True)
    own = await bob.expect("USER_UPDATE")
    assert (own.data["global_name"], own.data["email_bounced"]) == ("Robert", True)
    member = await alice.expect("GUILD_MEMBER_UPDATE")
    assert (member.data["user"]["id"], member.data["user"]["global_name"]) == (world.bob.id, "Robert")


@pytest.mark.parametrize(
    ("members", "path", "code"),
    [
        ({"flags": "18446744073709551616"}, "flags", "INTEGER_OUT_OF_INT64_RANGE"),
        ({"flags": None}, "flags", "INVALID_FORMAT"),
        ({"email": "nobody"}, "email", "INVALID_EMAIL_ADDRESS"),
        ({"email": "ALICE@example.com"}, "email", "EMAIL_ALREADY_IN_USE"),
        ({"premium_type": 3}, "premium_type", "INVALID_FORMAT"),
        ({"acls": "admin"}, "acls", "INVALID_FORMAT"),
        ({"last_active_ip": "10.0.0"}, "last_active_ip", "INVALID_FORMAT"),
        ({"date_of_birth": "2001-02-29"}, "date_of_birth", "INVALID_DATE_OF_BIRTH_FORMAT"),
        ({"date_of_birth": "20010228"}, "date_of_birth", "INVALID_DATE_OF_BIRTH_FORMAT"),
        ({"created_at": "yesterday"}, "created_at", "INVALID_ISO_TIMESTAMP"),
        ({"temp_banned_until": "0001-01-01T00:00:00+23:59"}, "temp_banned_until", "INVALID_ISO_TIMESTAMP"),
        ({"global_name": "x" * 33}, "global_name", "GLOBAL_NAME_LENGTH_INVALID"),
    ],
)
async def test_what_is_wrong_with_account_state_is_named(
    world: World, members: dict[str, object], path: str, code: str
) -> None:
    answer = await world.anyone.post(f"/v1/_dev/users/{world.bob.id}", members)
    assert answer.status == 400
    assert [(error["path"], error["code"]) for error in answer.json()["errors"]] == [(path, code)]


async def test_accounts_and_guilds_that_do_not_exist(world: World) -> None:
    assert (await world.anyone.post("/v1/_dev/users/5", {})).code == "UNKNOWN_USER"
    assert (await world.anyone.post("/v1/_dev/guilds/5", {})).code == "UNKNOWN_GUILD"
    assert (await world.anyone.post("/v1/_dev/users/x", {})).code == "INVALID_FORM_BODY"


# Guilds


async def test_features_are_replaced_and_clients_told(world: World) -> None:
    alice = await world.alice.connect()
    answer = await guild(world, features=["BANNER", "VANITY_URL"], disabled_operations=16)
    assert (answer["features"], answer["disabled_operations"]) == (["BANNER", "VANITY_URL"], 16)
    update = await alice.expect("GUILD_UPDATE")
    assert update.data["features"] == ["BANNER", "VANITY_URL"]
    assert update.data["guild_id"] == world.guild_id
    fetched = (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}")).expect(200)
    assert fetched["features"] == ["BANNER", "VANITY_URL"]


async def test_a_guild_closes_and_opens(world: World) -> None:
    alice = await world.alice.connect()
    await guild(world, features=["UNAVAILABLE_FOR_EVERYONE"])
    assert (await alice.expect("GUILD_DELETE")).data["unavailable"] is True
    assert (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}")).code == "MISSING_ACCESS"
    await guild(world, features=[])
    assert (await alice.expect("GUILD_CREATE")).data["id"] == world.guild_id


async def test_the_owner_changes(world: World) -> None:
    assert (await guild(world, owner_id=world.bob.id))["owner_id"] == world.bob.id
    answer = await world.anyone.post(f"/v1/_dev/guilds/{world.guild_id}", {"owner_id": world.admin.id})
    assert answer.json()["errors"][0]["path"] == "owner_id"
    await guild(world, owner_id=world.admin.id, members={world.admin.id: {}})


async def test_members_come_change_and_go(world: World) -> None:
    alice, admin, carol = await world.alice.connect(), await world.admin.connect(), await world.carol.connect()
    joined_at = "2020-01-01T00:00:00.000Z"
    await guild(world, members={world.admin.id: {"joined_at": joined_at}, world.carol.id: None, "1": None})
    added = await alice.expect("GUILD_MEMBER_ADD")
    assert (added.data["user"]["id"], added.data["joined_at"]) == (world.admin.id, joined_at)
    removed = await alice.expect("GUILD_MEMBER_REMOVE")
    assert removed.data == {"guild_id": world.guild_id, "user": {"id": world.carol.id}}
    assert (await admin.expect("GUILD_CREATE")).data["member_count"] == 4
    assert (await carol.expect("GUILD_DELETE")).data["id"] == world.guild_id

    earlier = "2019-01-01T00:00:00.000Z"
    await guild(world, members={world.admin.id: {"joined_at": earlier, "roles": [world.guild_id]}})
    changed = await alice.expect("GUILD_MEMBER_UPDATE")
    assert (changed.data["joined_at"], changed.data["roles"]) == (earlier, [])
    fetched = (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}")).expect(200)
    assert fetched["member_count"] == 4


@pytest.mark.parametrize(
    ("change", "path", "code"),
    [
        ({"members": {"77": {}}}, "members.77", "INVALID_FORMAT"),
        ({"members": {"x": {}}}, "members.x", "INVALID_SNOWFLAKE_FORMAT"),
        ({"members": {"BOB": {"roles": ["77"]}}}, "members.BOB.roles", "INVALID_ROLE_ID"),
        ({"members": {"ALICE": None}}, "members.ALICE", "INVALID_FORMAT"),
        ({"features": "BANNER"}, "features", "INVALID_FORMAT"),
        ({"disabled_operations": 128}, "disabled_operations", "INVALID_FORMAT"),
    ],
)
async def test_what_is_wrong_with_guild_state_is_named_and_changes_nothing(
    world: World, change: dict[str, object], path: str, code: str
) -> None:
    def named(text: str) -> str:
        return text.replace("ALICE", world.alice.id).replace("BOB", world.bob.id)

    members = change.get("members")
    if isinstance(members, dict):
        change = {"members": {world.carol.id: None, **{named(key): value for key, value in members.items()}}}
    answer = await world.anyone.post(f"/v1/_dev/guilds/{world.guild_id}", change)
    assert answer.status == 400
    assert [(error["path"], error["code"]) for error in answer.json()["errors"]] == [(named(path), code)]
    (await world.carol.rest.get(f"/v1/guilds/{world.guild_id}")).expect(200)


# Guilds in bulk


async def test_many_guilds_on_one_shard(world: World) -> None:
    first = await world.anyone.make_guilds(world.bot.id, 2_600, shard=(3, 7))
    second = await world.anyone.make_guilds(world.bot.id, 10, shard=(3, 7))
    assert len({*first, *second}) == 2_610
    assert all((int(guild_id) >> 22) % 7 == 3 for guild_id in [*first, *second])
    assert first == sorted(first, key=int)
    listed = (await world.bot.rest.get("/v1/users/@me/guilds", {"limit": 5})).expect(200)
    assert len(listed) == 5
    crowded = await world.open()
    await crowded.identify(world.bot.token, shard=[3, 7])
    assert (await crowded.closed()).code == 4011
    await world.bot.connect(shard=[2, 7])
    assert [guild["id"] for guild in (await world.alice.rest.get("/v1/users/@me/guilds")).expect(200)] == [
        world.guild_id
    ], "the bot's owner stays outside"
    closed = {"features": ["UNAVAILABLE_FOR_EVERYONE"]}
    assert (await world.anyone.post(f"/v1/_dev/guilds/{first[0]}", closed)).expect(200)["owner_id"] == world.alice.id


async def test_bulk_guilds_work_like_others_and_are_announced(world: World) -> None:
    bob = await world.bob.connect()
    (guild_id,) = await world.anyone.make_guilds(world.bob.id, 1)
    created = await bob.expect("GUILD_CREATE")
    assert created.data["id"] == guild_id
    channel_id = created.data["channels"][0]["id"]
    (await world.bob.rest.send_message(channel_id, "first")).expect(200)
    await bob.expect("MESSAGE_CREATE")


async def test_what_is_wrong_with_a_bulk_is_named(world: World) -> None:
    for body, path in (
        ({"user_id": world.bob.id}, "count"),
        ({"user_id": world.bob.id, "count": 0}, "count"),
        ({"user_id": world.bob.id, "count": 20_001}, "count"),
        ({"user_id": world.bob.id, "count": 1, "shard": [2, 2]}, "shard"),
        ({"user_id": world.bob.id, "count": 1, "shard": [0]}, "shard"),
        ({"count": 1}, "user_id"),
    ):
        answer = await world.anyone.post("/v1/_dev/guilds/bulk", body)
        assert [error["path"] for error in answer.json()["errors"]] == [path], body
    assert (await world.anyone.post("/v1/_dev/guilds/bulk", {"user_id": "5", "count": 1})).code == "UNKNOWN_USER"


# Relationships


async def test_both_sides_of_a_relationship_are_written(world: World) -> None:
    alice, bob = await world.alice.connect(), await world.bob.connect()
    body = {"user_id": world.alice.id, "target_user_id": world.bob.id, "type": 4}
    answer = await world.anyone.post("/v1/_dev/relationships", body)
    assert answer.status == 204
    assert (await alice.expect("RELATIONSHIP_ADD")).data["type"] == 4
    assert (await bob.expect("RELATIONSHIP_ADD")).data["type"] == 3
    (await world.anyone.post("/v1/_dev/relationships", {**body, "type": 1})).expect(204)
    assert (await bob.expect("RELATIONSHIP_UPDATE")).data["type"] == 1
    again = await world.alice.connect()
    assert again.ready is not None
    assert [(entry["id"], entry["type"]) for entry in again.ready["relationships"]] == [(world.bob.id, 1)]


async def test_what_is_wrong_with_a_relationship_is_named(world: World) -> None:
    alice_id = world.alice.id
    for body, path in (
        ({"user_id": alice_id, "target_user_id": alice_id, "type": 1}, "target_user_id"),
        ({"user_id": alice_id, "target_user_id": world.bob.id, "type": 9}, "type"),
        ({"user_id": alice_id, "type": 1}, "target_user_id"),
    ):
        answer = await world.anyone.post("/v1/_dev/relationships", body)
        assert [error["path"] for error in answer.json()["errors"]] == [path]
    body = {"user_id": alice_id, "target_user_id": "5", "type": 1}
    assert (await world.anyone.post("/v1/_dev/relationships", body)).code == "UNKNOWN_USER"
