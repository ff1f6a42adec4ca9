"""Invites over HTTP."""

from __future__ import annotations

import pytest

from chat.registries.permissions import Permission
from chat.registries.user_flags import UserFlag
from chat.testing.server import ChatServer
from chat.testing.world import World


async def test_an_invite_from_first_to_last(chat_world: World) -> None:
    alice, admin, anyone = chat_world.alice.rest, chat_world.admin.rest, chat_world.anyone
    made = (await alice.create_channel_invite(chat_world.channel_id, max_age=3600, max_uses=5)).expect(200)
    read = (await anyone.get(f"/v1/invites/{made['code']}")).expect(200)
    assert (read["guild"]["id"], read["channel"]["id"]) == (chat_world.guild_id, chat_world.channel_id)
    assert read["member_count"] == 4
    joined = (await admin.accept_invite(made["code"])).expect(200)
    assert joined["member_count"] == 5
    assert (await admin.get(f"/v1/guilds/{chat_world.guild_id}")).status == 200
    [listed] = (await alice.get(f"/v1/channels/{chat_world.channel_id}/invites")).expect(200)
    assert (listed["code"], listed["uses"]) == (made["code"], 1)
    assert (await alice.get(f"/v1/guilds/{chat_world.guild_id}/invites")).expect(200) == [listed]
    gone = await alice.delete(f"/v1/invites/{made['code']}")
    assert (gone.status, gone.body) == (204, b"")
    for attempt in (anyone.get, admin.post, alice.delete):
        answer = await attempt(f"/v1/invites/{made['code']}")
        assert (answer.status, answer.code) == (404, "UNKNOWN_INVITE")


async def test_an_invite_cannot_be_read_while_the_store_fails(chat_server: ChatServer, chat_world: World) -> None:
    made = (await chat_world.alice.rest.create_channel_invite(chat_world.channel_id)).expect(200)
    chat_server.database.failing = True
    for code in (made["code"], "nowhere"):
        answer = await chat_world.anyone.get(f"/v1/invites/{code}")
        assert (answer.status, answer.code) == (503, "SERVICE_UNAVAILABLE")


async def test_accepting_needs_neither_body_nor_content_type(chat_world: World) -> None:
    made = (await chat_world.alice.rest.create_channel_invite(chat_world.channel_id)).expect(200)
    path = f"/v1/invites/{made['code']}"
    for body in (None, b"", b"{}", b"not even JSON"):
        answer = await chat_world.bob.rest.request(
            "POST", path, body=body, headers={"Content-Type": "application/json"}
        )
        assert answer.status == 200
    assert (await chat_world.admin.rest.request("POST", path)).status == 200


@pytest.mark.parametrize(
    ("member", "value", "status"),
    [
        ("max_age", 0, 200),
        ("max_age", 604_800, 200),
        ("max_age", 604_801, 400),
        ("max_age", -1, 400),
        ("max_age", True, 400),
        ("max_age", None, 200),
        ("max_uses", 0, 200),
        ("max_uses", 100, 200),
        ("max_uses", 101, 400),
        ("max_uses", -1, 400),
        ("max_uses", "1", 400),
        ("unique", True, 200),
        ("unique", 1, 400),
        ("temporary", True, 200),
        ("temporary", "true", 400),
    ],
)
async def test_terms(chat_world: World, member: str, value: object, status: int) -> None:
    answer = await chat_world.alice.rest.create_channel_invite(chat_world.channel_id, **{member: value})
    assert answer.status == status
    if status == 400:
        assert answer.json()["errors"][0]["path"] == member


async def test_who_may_not(chat_world: World) -> None:
    made = (await chat_world.alice.rest.create_channel_invite(chat_world.channel_id)).expect(200)
    path = f"/v1/invites/{made['code']}"
    assert (await chat_world.anyone.post(path)).code == "UNAUTHORIZED"
    assert (await chat_world.bot.rest.post(path)).code == "ACCESS_DENIED"
    assert (await chat_world.bob.rest.delete(path)).code == "MISSING_PERMISSIONS"
    assert (await chat_world.bob.rest.get(f"/v1/guilds/{chat_world.guild_id}/invites")).code == "MISSING_PERMISSIONS"
    flags = {"flags": str(UserFlag.ACCOUNT_LIMITED.value)}
    for person in (chat_world.admin, chat_world.bob):
        (await chat_world.anyone.post(f"/v1/_dev/users/{person.id}", flags)).expect(200)
    assert (await chat_world.admin.rest.post(path)).code == "ACCOUNT_LIMITED"
    assert (await chat_world.bob.rest.create_channel_invite(chat_world.channel_id)).code == "ACCOUNT_LIMITED"


async def test_who_does_not_see_a_channel_does_not_delete_its_invites(chat_world: World) -> None:
    alice, bob, channel = chat_world.alice.rest, chat_world.bob, f"/v1/channels/{chat_world.channel_id}"
    code = (await alice.create_channel_invite(chat_world.channel_id)).expect(200)["code"]
    manage, view = int(Permission.MANAGE_CHANNELS), int(Permission.VIEW_CHANNEL)
    overwrite = f"{channel}/permissions/{bob.id}"
    (await alice.put(overwrite, {"type": 1, "allow": str(manage), "deny": str(view)})).expect(204)
    for answer in (await bob.rest.get(f"{channel}/invites"), await bob.rest.delete(f"/v1/invites/{code}")):
        assert (answer.status, answer.code) == (403, "MISSING_PERMISSIONS")
    (await alice.put(overwrite, {"type": 1, "allow": str(manage), "deny": "0"})).expect(204)
    (await bob.rest.delete(f"/v1/invites/{code}")).expect(204)


async def test_invites_are_told_to_those_who_manage_the_channel(chat_world: World) -> None:
    alice, carol = await chat_world.alice.connect(), await chat_world.carol.connect()
    made = (await chat_world.bob.rest.create_channel_invite(chat_world.channel_id)).expect(200)
    assert (await alice.expect("INVITE_CREATE")).data == made
    (await chat_world.bob.rest.delete(f"/v1/invites/{made['code']}")).expect(204)
    assert (await alice.expect("INVITE_DELETE")).data["code"] == made["code"]
    (await chat_world.bob.rest.start_typing(chat_world.channel_id)).expect(204)
    heard = (await carol.expect("TYPING_START")).data
    assert heard["user_id"] == chat_world.bob.id
    assert not {"INVITE_CREATE", "INVITE_DELETE"} & {payload.name for payload in carol.payloads}


async def test_a_newcomer_gets_the_guild_and_the_others_hear_of_it(chat_world: World) -> None:
    bob, admin = await chat_world.bob.connect(), await chat_world.admin.connect()
    made = (await chat_world.alice.rest.create_channel_invite(chat_world.channel_id)).expect(200)
    (await chat_world.admin.rest.accept_invite(made["code"])).expect(200)
    guild = (await admin.expect("GUILD_CREATE")).data
    assert (guild["id"], guild["member_count"]) == (chat_world.guild_id, 5)
    assert chat_world.channel_id in {channel["id"] for channel in guild["channels"]}
    member = (await bob.expect("GUILD_MEMBER_ADD")).data
    assert (member["guild_id"], member["user"]["id"]) == (chat_world.guild_id, chat_world.admin.id)
    (await chat_world.admin.rest.delete(f"/v1/users/@me/guilds/{chat_world.guild_id}")).expect(204)
    assert (await admin.expect("GUILD_DELETE")).data["id"] == chat_world.guild_id
    assert (await bob.expect("GUILD_MEMBER_REMOVE")).data["user"] == {"id": chat_world.admin.id}
