"""Groups: making them, coming and going, names, icons and owners, and who hears of what."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.domain.guilds.guild_ownership import SWEEP_SECONDS
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import Actor, World
from tests.people.friends import befriend, block, make_group
from tests.webhooks.surfaces import data_uri, png

CHANNELS = "/v1/users/@me/channels"


def refused(answer: Response) -> tuple[int, str | None]:
    return answer.status, answer.code


def ids(users: list[dict[str, Any]]) -> set[str]:
    return {user["id"] for user in users}


async def types_read(actor: Actor, group_id: str) -> list[int]:
    """The types of the messages in a group, the oldest first."""
    found = (await actor.rest.get(f"/v1/channels/{group_id}/messages")).expect(200)
    return [message["type"] for message in reversed(found)]


async def test_a_group_is_made_and_everybody_in_it_hears_and_speaks(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(alice, bob, carol)
    at_alice, at_bob = await alice.connect(), await bob.connect()

    group = await make_group(alice, bob, carol)
    assert (group["type"], group["owner_id"], ids(group["recipients"])) == (3, alice.id, {bob.id, carol.id})
    assert ("name" in group, group["icon"], "nicks" in group) == (False, None, False)
    seen = (await at_bob.expect("CHANNEL_CREATE")).data
    assert (seen["id"], ids(seen["recipients"])) == (group["id"], {alice.id, carol.id})
    assert (await at_alice.expect("CHANNEL_CREATE")).data["id"] == group["id"]
    for added in (bob, carol):
        told = (await at_bob.expect("MESSAGE_CREATE")).data
        assert (told["type"], told["author"]["id"], ids(told["mentions"])) == (1, alice.id, {added.id})

    sent = (await carol.rest.send_message(group["id"], "hello")).expect(200)
    for heard_by in (at_alice, at_bob):
        heard = (await heard_by.expect("MESSAGE_CREATE", where=lambda d: d["id"] == sent["id"])).data
        assert (heard["channel_type"], "nicks" in heard) == (3, False)
    for actor in (alice, bob, carol):
        listed = (await actor.rest.get(CHANNELS)).expect(200)
        assert [channel["id"] for channel in listed] == [group["id"]]
    ready = (await carol.connect()).ready
    assert ready is not None
    assert [channel["id"] for channel in ready["private_channels"]] == [group["id"]]
    assert await types_read(bob, group["id"]) == [1, 1, 0]


async def test_one_recipient_or_none_is_a_group_too(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    await befriend(alice, bob)
    assert (await make_group(alice, bob))["type"] == 3
    alone = await make_group(alice)
    assert (alone["type"], "recipients" in alone) == (3, False)
    (await alice.rest.send_message(alone["id"], "echo")).expect(200)
    for body in ({}, {"recipients": [bob.id], "recipient_id": bob.id}):
        assert refused(await alice.rest.post(CHANNELS, body)) == (400, "INVALID_FORM_BODY")


async def test_who_can_be_added(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(alice, bob)
    refusal = await alice.rest.post(CHANNELS, {"recipients": [bob.id, carol.id, "999"]})
    assert refused(refusal) == (400, "GROUP_DM_RECIPIENTS_NOT_ADDABLE")
    body = refusal.json()
    assert body["unaddable_recipients"] == [
        {"user_id": carol.id, "reason": "not_friends"},
        {"user_id": "999", "reason": "unknown_user"},
    ]
    assert body["addable_recipients"] == [bob.id]
    for recipients, code in (
        ([bob.id, bob.id], "DUPLICATE_RECIPIENTS_NOT_ALLOWED"),
        ([bob.id, alice.id], "CANNOT_ADD_YOURSELF_TO_GROUP_DM"),
    ):
        answer = await alice.rest.post(CHANNELS, {"recipients": recipients})
        assert [error["code"] for error in answer.json()["errors"]] == [code]

    # Guild members may add carol if she lets them; then nobody may; then a block stands between.
    settings = "/v1/users/@me/settings"
    (await carol.rest.patch(settings, {"group_dm_add_permission_flags": 2})).expect(200)
    assert ids((await make_group(alice, carol))["recipients"]) == {carol.id}
    (await carol.rest.patch(settings, {"group_dm_add_permission_flags": 16})).expect(200)
    refusal = await alice.rest.post(CHANNELS, {"recipients": [carol.id]})
    assert refusal.json()["unaddable_recipients"][0]["reason"] == "group_dm_add_disabled"
    (await carol.rest.patch(settings, {"group_dm_add_permission_flags": 4})).expect(200)
    await make_group(alice, carol)
    await block(carol, alice)
    refusal = await alice.rest.post(CHANNELS, {"recipients": [carol.id]})
    assert refusal.json()["unaddable_recipients"][0]["reason"] == "not_friends"


async def test_adding_and_removing(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(bob, alice, carol)
    group_id = (await make_group(alice, bob))["id"]
    at_alice, at_carol = await alice.connect(), await carol.connect()
    carols = f"/v1/channels/{group_id}/recipients/{carol.id}"

    # Carol is bob's friend and not alice's.
    assert refused(await alice.rest.put(carols)) == (400, "NOT_FRIENDS_WITH_USER")
    assert refused(await carol.rest.put(carols)) == (404, "UNKNOWN_CHANNEL")
    (await bob.rest.put(carols)).expect(204)
    created = (await at_carol.expect("CHANNEL_CREATE")).data
    assert (created["id"], ids(created["recipients"])) == (group_id, {alice.id, bob.id})
    came = (await at_alice.expect("CHANNEL_RECIPIENT_ADD")).data
    assert (came["channel_id"], came["user"]["id"]) == (group_id, carol.id)
    told = (await at_alice.expect("MESSAGE_CREATE")).data
    assert (told["type"], told["author"]["id"], ids(told["mentions"])) == (1, bob.id, {carol.id})
    assert (await at_carol.expect("MESSAGE_CREATE")).data["id"] == told["id"]
    (await bob.rest.put(carols)).expect(204)  # who is there already
    assert await types_read(carol, group_id) == [1, 1]

    assert refused(await bob.rest.delete(carols)) == (403, "MISSING_PERMISSIONS")
    unknown = await alice.rest.delete(f"/v1/channels/{group_id}/recipients/{chat_world.admin.id}")
    assert [error["code"] for error in unknown.json()["errors"]] == ["USER_NOT_IN_CHANNEL"]
    (await alice.rest.delete(carols)).expect(204)
    assert (await at_carol.expect("CHANNEL_DELETE")).data["id"] == group_id
    went = (await at_alice.expect("CHANNEL_RECIPIENT_REMOVE")).data
    assert (went["channel_id"], went["user"]["id"]) == (group_id, carol.id)
    assert (await at_alice.expect("MESSAGE_CREATE")).data["type"] == 2
    for answer in (
        await carol.rest.get(f"/v1/channels/{group_id}/messages"),
        await carol.rest.send_message(group_id, "let me in"),
    ):
        assert refused(answer) == (404, "UNKNOWN_CHANNEL")
    assert (await carol.rest.get(CHANNELS)).expect(200) == []


async def test_the_owner_leaves_and_the_next_one_owns_it(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(alice, bob, carol)
    group_id = (await make_group(alice, carol))["id"]
    (await alice.rest.put(f"/v1/channels/{group_id}/recipients/{bob.id}")).expect(204)
    (await alice.rest.put(f"/v1/users/@me/channels/{group_id}/pin")).expect(204)
    at_alice, at_bob = await alice.connect(), await bob.connect()

    (await alice.rest.delete(f"/v1/channels/{group_id}")).expect(204)
    assert (await at_alice.expect("CHANNEL_DELETE")).data["id"] == group_id
    assert (await at_alice.expect("USER_PINNED_DMS_UPDATE")).data == []
    assert (await at_bob.expect("CHANNEL_RECIPIENT_REMOVE")).data["user"]["id"] == alice.id
    updated = (await at_bob.expect("CHANNEL_UPDATE")).data
    assert (updated["owner_id"], ids(updated["recipients"])) == (carol.id, {carol.id})
    assert (await at_bob.expect("MESSAGE_CREATE")).data["type"] == 2

    # Silently this time, and by the other way out.
    (await carol.rest.delete(f"/v1/channels/{group_id}/recipients/{carol.id}?silent=true")).expect(204)
    assert (await at_bob.expect("CHANNEL_UPDATE")).data["owner_id"] == bob.id
    assert await types_read(bob, group_id) == [1, 1, 2]
    (await bob.rest.delete(f"/v1/channels/{group_id}")).expect(204)
    assert refused(await bob.rest.get(f"/v1/channels/{group_id}")) == (404, "UNKNOWN_CHANNEL")


async def test_a_group_without_anybody_goes_with_all_its_messages(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock
) -> None:
    alice = chat_world.alice
    group_id = (await make_group(alice))["id"]
    for number in range(3):
        (await alice.rest.send_message(group_id, str(number))).expect(200)
    (await alice.rest.delete(f"/v1/channels/{group_id}")).expect(204)
    await trio.sleep(SWEEP_SECONDS + 1)
    reader = chat_server.database.reader
    for question in (
        "SELECT count(*) FROM messages WHERE channel_id = ?",
        "SELECT count(*) FROM channels WHERE id = ?",
    ):
        assert reader.execute(question, (int(group_id),)).fetchone() == (0,)


async def test_a_name_an_icon_and_another_owner(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(alice, bob, carol)
    group_id = (await make_group(alice, bob, carol))["id"]
    path = f"/v1/channels/{group_id}"
    at_carol = await carol.connect()

    changed = (await bob.rest.patch(path, {"name": "  the three  "})).expect(200)
    assert changed["name"] == "the three"
    assert (await at_carol.expect("CHANNEL_UPDATE")).data["name"] == "the three"
    told = (await at_carol.expect("MESSAGE_CREATE")).data
    assert (told["type"], told["content"], told["author"]["id"]) == (4, "the three", bob.id)

    icon = (await bob.rest.patch(path, {"icon": data_uri(png(4, 4))})).expect(200)["icon"]
    assert (await at_carol.expect("MESSAGE_CREATE")).data["type"] == 5
    served = await chat_world.anyone.get(f"/media/icons/{group_id}/{icon}.png")
    assert served.body == png(4, 4)
    other = (await bob.rest.patch(path, {"icon": data_uri(png(5, 5))})).expect(200)["icon"]
    assert (await chat_world.anyone.get(f"/media/icons/{group_id}/{icon}.png")).status == 404
    assert (await chat_world.anyone.get(f"/media/icons/{group_id}/{other}.png")).status == 200
    assert (await bob.rest.patch(path, {"icon": None, "name": None})).expect(200)["icon"] is None

    assert refused(await bob.rest.patch(path, {"owner_id": bob.id})) == (403, "MISSING_PERMISSIONS")
    stranger = chat_world.admin.id
    assert refused(await alice.rest.patch(path, {"owner_id": stranger})) == (404, "UNKNOWN_USER")
    assert (await alice.rest.patch(path, {"owner_id": bob.id})).expect(200)["owner_id"] == bob.id
    (await bob.rest.delete(f"{path}/recipients/{alice.id}")).expect(204)
    assert refused(await alice.rest.patch(path, {"name": "mine"})) == (404, "UNKNOWN_CHANNEL")


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"name": "x" * 101}, "name", "STRING_LENGTH_INVALID"),
        ({"icon": "!"}, "icon", "INVALID_BASE64_FORMAT"),
        ({"owner_id": "x"}, "owner_id", "INVALID_SNOWFLAKE_FORMAT"),
        ({"nicks": {"x": "y"}}, "nicks.x", "INVALID_SNOWFLAKE_FORMAT"),
        ({"nicks": []}, "nicks", "INVALID_FORMAT"),
    ],
)
async def test_what_a_group_cannot_be_called(chat_world: World, body: object, path: str, code: str) -> None:
    group_id = (await make_group(chat_world.alice))["id"]
    answer = await chat_world.alice.rest.patch(f"/v1/channels/{group_id}", body)
    assert [(error["path"], error["code"]) for error in answer.json()["errors"]] == [(path, code)]


async def test_nicknames(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(alice, bob, carol)
    group_id = (await make_group(alice, bob, carol))["id"]
    path = f"/v1/channels/{group_id}"
    at_carol = await carol.connect()

    assert (await bob.rest.patch(path, {"nicks": {bob.id: "Bobby"}})).expect(200)["nicks"] == {bob.id: "Bobby"}
    assert (await at_carol.expect("CHANNEL_UPDATE")).data["nicks"] == {bob.id: "Bobby"}
    assert refused(await bob.rest.patch(path, {"nicks": {carol.id: "C"}})) == (403, "MISSING_PERMISSIONS")
    (await alice.rest.patch(path, {"nicks": {carol.id: "C", alice.id: "A"}})).expect(200)
    sent = (await alice.rest.send_message(group_id, "hello")).expect(200)
    heard = (await at_carol.expect("MESSAGE_CREATE", where=lambda d: d["id"] == sent["id"])).data
    assert heard["nicks"] == {alice.id: "A", bob.id: "Bobby", carol.id: "C"}
    assert "nicks" not in sent
    stranger = chat_world.admin.id
    assert refused(await alice.rest.patch(path, {"nicks": {stranger: "S"}})) == (404, "UNKNOWN_USER")
    # Everybody takes the own one away, the owner all of them; who goes loses it.
    assert (await bob.rest.patch(path, {"nicks": {bob.id: None}})).expect(200)["nicks"].keys() == {alice.id, carol.id}
    (await carol.rest.delete(path)).expect(204)
    assert (await alice.rest.get(path)).expect(200)["nicks"] == {alice.id: "A"}
    assert "nicks" not in (await alice.rest.patch(path, {"nicks": None})).expect(200)


async def test_what_is_no_group_is_changed_otherwise(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    await befriend(alice, bob)
    direct = (await alice.rest.post(CHANNELS, {"recipient_id": bob.id})).expect(200)["id"]
    for channel_id in (direct, alice.id):
        assert refused(await alice.rest.patch(f"/v1/channels/{channel_id}", {"name": "x"})) == (
            400,
            "INVALID_CHANNEL_TYPE",
        )
    for channel_id in (direct, alice.id, chat_world.channel_id):
        path = f"/v1/channels/{channel_id}/recipients/{bob.id}"
        assert refused(await alice.rest.put(path)) == (400, "INVALID_CHANNEL_TYPE")
        assert refused(await alice.rest.delete(path)) == (400, "INVALID_CHANNEL_TYPE")


@pytest.mark.chat_settings(**{"limits.max_group_dm_recipients": 2, "limits.max_group_dms": 2})
async def test_groups_are_as_large_and_as_many_as_the_instance_lets_them_be(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(alice, bob, carol)
    too_large = await alice.rest.post(CHANNELS, {"recipients": [bob.id, carol.id]})
    assert (refused(too_large), too_large.json()["max_recipients"]) == ((400, "MAX_GROUP_DM_RECIPIENTS"), 2)
    group_id = (await make_group(alice, bob))["id"]
    full = await alice.rest.put(f"/v1/channels/{group_id}/recipients/{carol.id}")
    assert refused(full) == (400, "MAX_GROUP_DM_RECIPIENTS")
    await make_group(alice)
    too_many = await alice.rest.post(CHANNELS, {"recipients": []})
    assert (refused(too_many), too_many.json()["max_group_dms"]) == ((400, "MAX_GROUP_DMS"), 2)
    await make_group(bob)
    await befriend(bob, carol)
    assert refused(await carol.rest.post(CHANNELS, {"recipients": [bob.id]})) == (400, "MAX_GROUP_DMS")


@pytest.mark.chat_settings(direct_messages_disabled=True)
async def test_the_instance_may_have_no_groups(chat_world: World) -> None:
    assert refused(await chat_world.alice.rest.post(CHANNELS, {"recipients": []})) == (400, "DIRECT_MESSAGES_DISABLED")


async def test_a_block_does_not_part_a_group(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    await befriend(alice, bob)
    group_id = (await make_group(alice, bob))["id"]
    await block(bob, alice)
    for actor in (alice, bob):
        (await actor.rest.send_message(group_id, "still here")).expect(200)


async def test_an_invite_leads_into_a_group(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(alice, bob)
    group_id = (await make_group(alice, bob))["id"]
    (await alice.rest.patch(f"/v1/channels/{group_id}", {"name": "both"})).expect(200)
    at_alice, at_carol = await alice.connect(), await carol.connect()

    made = (await bob.rest.create_channel_invite(group_id, max_uses=1)).expect(200)
    assert (made["type"], made["max_uses"], made["inviter"]["id"], "guild" in made) == (1, 1, bob.id, False)
    assert (await at_alice.expect("INVITE_CREATE")).data["code"] == made["code"]
    assert (await bob.rest.create_channel_invite(group_id, max_uses=1)).expect(200)["code"] == made["code"]
    seen = (await chat_world.anyone.get(f"/v1/invites/{made['code']}")).expect(200)
    assert (seen["channel"]["name"], seen["member_count"], "uses" in seen) == ("both", 2, False)
    (await bob.rest.patch("/v1/users/@me", {"global_name": "Bobby"})).expect(200)
    for stranger in (chat_world.anyone, carol.rest):
        recipients = (await stranger.get(f"/v1/invites/{made['code']}")).expect(200)["channel"]["recipients"]
        assert recipients == [{"username": "Alice"}, {"username": "Bobby"}]
    assert refused(await carol.rest.create_channel_invite(group_id)) == (404, "UNKNOWN_CHANNEL")

    joined = (await carol.rest.accept_invite(made["code"])).expect(200)
    assert (joined["channel"]["id"], joined["member_count"]) == (group_id, 3)
    assert ids(joined["channel"]["recipients"]) == {alice.id, bob.id, carol.id}
    assert (await at_carol.expect("CHANNEL_CREATE")).data["id"] == group_id
    assert (await at_alice.expect("CHANNEL_RECIPIENT_ADD")).data["user"]["id"] == carol.id
    told = (await at_alice.expect("MESSAGE_CREATE")).data
    assert (told["type"], told["author"]["id"], ids(told["mentions"])) == (1, carol.id, {carol.id})
    # It was used once, as often as it may be.
    assert refused(await carol.rest.accept_invite(made["code"])) == (404, "UNKNOWN_INVITE")
    (await carol.rest.delete(f"/v1/channels/{group_id}")).expect(204)
    assert refused(await carol.rest.accept_invite(made["code"])) == (404, "UNKNOWN_INVITE")


async def test_who_deletes_an_invite_into_a_group(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(alice, bob, carol)
    group_id = (await make_group(alice, bob, carol))["id"]
    of_bob = (await bob.rest.create_channel_invite(group_id)).expect(200)["code"]
    of_alice = (await alice.rest.create_channel_invite(group_id)).expect(200)["code"]
    listed = (await carol.rest.get(f"/v1/channels/{group_id}/invites")).expect(200)
    assert {invite["code"] for invite in listed} == {of_bob, of_alice}
    at_carol = await carol.connect()
    assert refused(await carol.rest.delete(f"/v1/invites/{of_bob}")) == (403, "MISSING_PERMISSIONS")
    assert refused(await bob.rest.delete(f"/v1/invites/{of_alice}")) == (403, "MISSING_PERMISSIONS")
    (await bob.rest.delete(f"/v1/invites/{of_bob}")).expect(204)
    gone = (await at_carol.expect("INVITE_DELETE")).data
    assert gone == {"code": of_bob, "channel_id": group_id}
    (await alice.rest.delete(f"/v1/invites/{of_alice}")).expect(204)
    assert refused(await chat_world.anyone.get(f"/v1/invites/{of_alice}")) == (404, "UNKNOWN_INVITE")


@pytest.mark.parametrize("who", ["invited", "added"])
async def test_those_in_a_group_see_whether_the_others_are_there(chat_world: World, who: str) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(bob, alice, carol)
    group_id = (await make_group(bob, alice))["id"]
    at_alice = await alice.connect()
    at_carol = await carol.connect()
    assert carol.id not in {presence["user"]["id"] for presence in at_alice.ready["presences"]}  # type: ignore[index]
    if who == "invited":
        code = (await bob.rest.create_channel_invite(group_id)).expect(200)["code"]
        (await carol.rest.accept_invite(code)).expect(200)
    else:
        (await bob.rest.put(f"/v1/channels/{group_id}/recipients/{carol.id}")).expect(204)
    for here, other in ((at_alice, carol), (at_carol, alice)):
        presence = (await here.expect("PRESENCE_UPDATE", where=lambda d, other=other: d["user"]["id"] == other.id)).data
        assert presence["status"] == "online"
    again = await alice.connect()
    assert carol.id in {presence["user"]["id"] for presence in again.ready["presences"]}  # type: ignore[index]

    (await bob.rest.delete(f"/v1/channels/{group_id}/recipients/{carol.id}")).expect(204)
    presence = (await at_alice.expect("PRESENCE_UPDATE", where=lambda d: d["user"]["id"] == carol.id)).data
    assert presence["status"] == "offline"
