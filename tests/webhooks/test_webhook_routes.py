"""Webhooks over HTTP: managing them, speaking through them, and what their token is and is not good for."""

from __future__ import annotations

import sqlite3

import pytest
import trio
import trio.testing

from chat.registries.permissions import Permission
from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.webhooks.surfaces import data_uri, fetch, form, new_webhook, png, post_form, webhook_path

NOBODYS = "A" * 43


async def test_a_webhook_is_made_shown_changed_and_deleted(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    alice, channel_id = chat_world.alice.rest, chat_world.channel_id
    listening = await chat_world.alice.connect()
    made = await new_webhook(alice, channel_id, name="  Herald ")
    assert made | {"token": "", "user": None} == {
        "id": made["id"],
        "type": 1,
        "guild_id": chat_world.guild_id,
        "channel_id": channel_id,
        "name": "Herald",
        "avatar": None,
        "token": "",
        "user": None,
    }
    assert made["user"]["id"] == chat_world.alice.id
    assert len(made["token"]) == 43
    told = await listening.expect("WEBHOOKS_UPDATE")
    assert told.data == {"guild_id": chat_world.guild_id, "channel_id": channel_id}
    path = f"/v1/webhooks/{made['id']}"
    assert (await alice.get(path)).expect(200) == made
    assert (await alice.get(f"/v1/channels/{channel_id}/webhooks")).expect(200) == [made]
    assert (await alice.get(f"/v1/guilds/{chat_world.guild_id}/webhooks")).expect(200) == [made]
    moved = (await alice.patch(path, {"name": "Bell", "channel_id": chat_world.voice_channel_id})).expect(200)
    assert (moved["name"], moved["channel_id"], moved["token"]) == ("Bell", chat_world.voice_channel_id, made["token"])
    named = {(await listening.expect("WEBHOOKS_UPDATE")).data["channel_id"] for _ in range(2)}
    assert named == {channel_id, chat_world.voice_channel_id}
    assert (await alice.get(f"/v1/channels/{channel_id}/webhooks")).expect(200) == []
    (await alice.delete(path)).expect(204)
    assert (await listening.expect("WEBHOOKS_UPDATE")).data["channel_id"] == chat_world.voice_channel_id
    for answer in (await alice.get(path), await alice.delete(path), await alice.patch(path, {"name": "x"})):
        assert (answer.status, answer.code) == (404, "UNKNOWN_WEBHOOK")


async def test_managing_webhooks_takes_the_permission(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    path = f"/v1/webhooks/{webhook['id']}"
    of_channel = f"/v1/channels/{chat_world.channel_id}/webhooks"
    bob = chat_world.bob.rest
    for answer in (
        await bob.post(of_channel, {"name": "x"}),
        await bob.get(of_channel),
        await bob.get(f"/v1/guilds/{chat_world.guild_id}/webhooks"),
        await bob.get(path),
        await bob.patch(path, {"name": "x"}),
        await bob.delete(path),
    ):
        assert (answer.status, answer.code) == (403, "MISSING_PERMISSIONS")
    for answer in (await chat_world.anyone.get(path), await chat_world.anyone.post(of_channel, {"name": "x"})):
        assert (answer.status, answer.code) == (401, "UNAUTHORIZED")
    outsider = await chat_world.admin.rest.get(path)
    assert (outsider.status, outsider.code) == (403, "MISSING_PERMISSIONS")


async def test_the_list_of_a_guild_holds_what_the_caller_manages(chat_world: World) -> None:
    alice, bob, guild = chat_world.alice.rest, chat_world.bob, f"/v1/guilds/{chat_world.guild_id}"
    bits = str(int(Permission.MANAGE_WEBHOOKS))
    role = (await alice.post(f"{guild}/roles", {"name": "herald", "permissions": bits})).expect(200)
    (await alice.put(f"{guild}/members/{bob.id}/roles/{role['id']}")).expect(204)
    shown = await new_webhook(alice, chat_world.channel_id)
    for denied in (Permission.VIEW_CHANNEL, Permission.MANAGE_WEBHOOKS):
        overwrites = [{"id": bob.id, "type": 1, "allow": "0", "deny": str(int(denied))}]
        body = {"name": "closed", "type": 0, "permission_overwrites": overwrites}
        closed = await new_webhook(alice, (await alice.post(f"{guild}/channels", body)).expect(200)["id"])
        assert (await bob.rest.get(f"/v1/webhooks/{closed['id']}")).code == "MISSING_PERMISSIONS"
    assert (await bob.rest.get(f"{guild}/webhooks")).expect(200) == [shown]
    assert len((await alice.get(f"{guild}/webhooks")).expect(200)) == 3


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({}, "name", "INVALID_FORMAT"),
        ({"name": ""}, "name", "INVALID_FORMAT"),
        ({"name": "   "}, "name", "WEBHOOK_NAME_LENGTH_INVALID"),
        ({"name": "x" * 81}, "name", "WEBHOOK_NAME_LENGTH_INVALID"),
        ({"name": "x" * 1_000}, "name", "WEBHOOK_NAME_LENGTH_INVALID"),
        ({"name": 5}, "name", "INVALID_FORMAT"),
        ({"name": "x", "avatar": "data:image/png;base64,!!!"}, "avatar", "INVALID_BASE64_FORMAT"),
        (
            {"name": "x", "avatar": data_uri(b"<html xmlns='http://www.w3.org/1999/xhtml'/>")},
            "avatar",
            "INVALID_IMAGE_FORMAT",
        ),
        ({"name": "x", "avatar": data_uri(png(50_000, 50_000))}, "avatar", "INVALID_IMAGE_FORMAT"),
        ({"name": "x", "avatar": data_uri(png(0, 3))}, "avatar", "INVALID_IMAGE_FORMAT"),
    ],
)
async def test_what_is_wrong_with_a_webhook(chat_world: World, body: object, path: str, code: str) -> None:
    answer = await chat_world.alice.rest.post(f"/v1/channels/{chat_world.channel_id}/webhooks", body)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert [(error["path"], error["code"]) for error in answer.json()["errors"]] == [(path, code)]


@pytest.mark.chat_settings(**{"limits.avatar_max_size": 2_000_000})
async def test_an_avatar_may_be_larger_than_other_bodies_and_not_larger_than_the_limit(
    chat_world: World, chat_server: ChatServer
) -> None:
    alice, path = chat_world.alice.rest, f"/v1/channels/{chat_world.channel_id}/webhooks"
    image = png(filler=b"x" * 1_900_000)
    made = (await alice.post(path, {"name": "Large", "avatar": data_uri(image)})).expect(200)
    shown = await fetch(chat_world.anyone, f"/media/avatars/{made['id']}/{made['avatar']}.png")
    assert shown.body == image
    answer = await alice.post(path, {"name": "Larger", "avatar": data_uri(png(filler=b"x" * 2_000_000))})
    assert answer.json()["errors"][0]["code"] == "IMAGE_SIZE_EXCEEDS_LIMIT"
    uploads = chat_server.server.surroundings.directory / "uploads"
    assert list((uploads / "incoming").iterdir()) == []
    assert len([file for file in uploads.rglob("*") if file.is_file()]) == 1


async def test_an_avatar_is_replaced_and_taken_away(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    alice = chat_world.alice.rest
    webhook = await new_webhook(alice, chat_world.channel_id, avatar=data_uri(png(4, 5)))
    first = f"/media/avatars/{webhook['id']}/{webhook['avatar']}.png"
    assert (await fetch(chat_world.anyone, first)).body == png(4, 5)
    changed = (await alice.patch(f"/v1/webhooks/{webhook['id']}", {"avatar": data_uri(png(6, 7))})).expect(200)
    assert changed["avatar"] != webhook["avatar"]
    assert (await fetch(chat_world.anyone, first)).status == 404
    second = f"/media/avatars/{webhook['id']}/{changed['avatar']}.png"
    assert (await fetch(chat_world.anyone, second)).body == png(6, 7)
    (await alice.patch(f"/v1/webhooks/{webhook['id']}", {"name": "other"})).expect(200)
    assert (await fetch(chat_world.anyone, second)).status == 200
    bare = (await chat_world.anyone.patch(webhook_path(webhook), {"avatar": None})).expect(200)
    assert bare["avatar"] is None
    assert (await fetch(chat_world.anyone, second)).status == 404
    await trio.sleep(1_300)
    uploads = chat_server.server.surroundings.directory / "uploads"
    assert [file for file in uploads.rglob("*") if file.is_file()] == []


@pytest.mark.chat_settings(**{"limits.max_webhooks_per_channel": 2, "limits.max_webhooks_per_guild": 3})
async def test_a_channel_and_a_guild_have_only_so_many(chat_world: World) -> None:
    alice = chat_world.alice.rest
    first = await new_webhook(alice, chat_world.channel_id)
    await new_webhook(alice, chat_world.channel_id)
    answer = await alice.post(f"/v1/channels/{chat_world.channel_id}/webhooks", {"name": "x"})
    assert (answer.status, answer.code) == (400, "MAX_WEBHOOKS_PER_CHANNEL")
    other = await new_webhook(alice, chat_world.voice_channel_id)
    answer = await alice.post(f"/v1/channels/{chat_world.voice_channel_id}/webhooks", {"name": "x"})
    assert (answer.status, answer.code) == (400, "MAX_WEBHOOKS_PER_GUILD")
    answer = await alice.patch(f"/v1/webhooks/{other['id']}", {"channel_id": chat_world.channel_id})
    assert (answer.status, answer.code) == (400, "MAX_WEBHOOKS_PER_CHANNEL")
    (await alice.patch(f"/v1/webhooks/{first['id']}", {"name": "full, and yet"})).expect(200)


async def test_a_webhook_moves_only_where_its_mover_manages_webhooks(chat_world: World) -> None:
    alice = chat_world.alice.rest
    webhook = await new_webhook(alice, chat_world.channel_id)
    founded = (await alice.create_guild("Elsewhere")).expect(200)
    channels = (await alice.get(f"/v1/guilds/{founded['id']}/channels")).expect(200)
    elsewhere = next(channel["id"] for channel in channels if channel["type"] == 0)
    for channel_id, status, code in (
        (elsewhere, 404, "UNKNOWN_CHANNEL"),
        ("999999999999999999", 404, "UNKNOWN_CHANNEL"),
        (
            next(channel["id"] for channel in channels if channel["type"] == 4),
            400,
            "CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL",
        ),
    ):
        answer = await alice.patch(f"/v1/webhooks/{webhook['id']}", {"channel_id": channel_id})
        assert (answer.status, answer.code) == (status, code)


async def test_a_webhook_speaks(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id, avatar=data_uri(png()))
    anyone, path = chat_world.anyone, webhook_path(webhook)
    bob = await chat_world.bob.connect()
    silent = await anyone.post(path, {"content": "unheard answer"})
    assert (silent.status, silent.body) == (204, b"")
    heard = await bob.expect("MESSAGE_CREATE")
    said = (await anyone.post(f"{path}?wait=true", {"content": f"<@{chat_world.bob.id}> hello", "nonce": "n"})).expect(
        200
    )
    author = {
        "id": webhook["id"],
        "username": "Herald",
        "discriminator": "0000",
        "global_name": None,
        "avatar": webhook["avatar"],
        "avatar_color": None,
        "flags": 0,
        "bot": True,
    }
    assert said["author"] == author == heard.data["author"]
    assert (said["webhook_id"], said["type"], said["nonce"]) == (webhook["id"], 0, "n")
    assert [user["id"] for user in said["mentions"]] == [chat_world.bob.id]
    event = (await bob.expect("MESSAGE_CREATE")).data
    assert {**said, "channel_type": 0, "guild_id": chat_world.guild_id} == event
    again = (await anyone.post(f"{path}?wait=true", {"content": "twice", "nonce": "n"})).expect(200)
    assert again["id"] == said["id"]
    stored = (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200)
    assert [message["id"] for message in stored] == [said["id"], heard.data["id"]]
    assert stored[0] == said


async def test_a_webhook_speaks_under_other_names(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    path = f"{webhook_path(webhook)}?wait=true"
    body = {"content": "x", "username": " Town crier ", "avatar_url": "https://cdn.example/crier.png"}
    said = (await chat_world.anyone.post(path, body)).expect(200)
    assert said["author"]["username"] == "Town crier"
    assert said["author"]["avatar"] is not None
    plain = (await chat_world.anyone.post(path, {"content": "y", "username": "", "avatar_url": ""})).expect(200)
    assert (plain["author"]["username"], plain["author"]["avatar"]) == ("Herald", None)
    listed = (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200)
    assert [message["author"] for message in listed] == [plain["author"], said["author"]]
    (await chat_world.alice.rest.delete(f"/v1/webhooks/{webhook['id']}")).expect(204)
    assert (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200) == listed
    reply = {"content": "z", "message_reference": {"message_id": said["id"]}}
    answer = (await chat_world.bob.rest.post(f"/v1/channels/{chat_world.channel_id}/messages", reply)).expect(200)
    assert answer["referenced_message"]["author"] == said["author"]


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"content": "x" * 4_001}, "content", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"content": "x", "username": "y" * 81}, "username", "WEBHOOK_NAME_LENGTH_INVALID"),
        ({"content": "x", "username": "Clyde" * 17}, "username", "WEBHOOK_NAME_LENGTH_INVALID"),
        ({"content": "x", "avatar_url": "file:///etc/passwd"}, "avatar_url", "INVALID_FORMAT"),
        ({"content": "x", "avatar_url": "https://user:pw@host/x.png"}, "avatar_url", "INVALID_FORMAT"),
        ({"content": "x", "embeds": [{"url": "file:///etc/passwd"}]}, "embeds.0.url", "INVALID_FORMAT"),
        ({"content": "x", "message_reference": {"message_id": "1"}}, "message_reference", "INVALID_FORMAT"),
        ({"content": "x", "attachments": [{"id": 0}]}, "attachments.0.uploaded_filename", "INVALID_FORMAT"),
    ],
)
async def test_what_a_webhook_cannot_say(chat_world: World, body: object, path: str, code: str) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    answer = await chat_world.anyone.post(webhook_path(webhook), body)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert [(error["path"], error["code"]) for error in answer.json()["errors"]] == [(path, code)]
    assert (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200) == []


async def test_a_webhook_says_something_or_is_refused(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    for body in ({}, {"content": ""}, {"content": " "}, {"content": None}):
        answer = await chat_world.anyone.post(webhook_path(webhook), body)
        assert (answer.status, answer.code) == (400, "CANNOT_SEND_EMPTY_MESSAGE")
    thread = await chat_world.anyone.post(f"{webhook_path(webhook)}?thread_id=1", {"content": "x"})
    assert (thread.status, thread.code) == (404, "UNKNOWN_CHANNEL")


async def test_a_webhook_may_name_everyone(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    path = f"{webhook_path(webhook)}?wait=true"
    assert (await chat_world.anyone.post(path, {"content": "@everyone"})).expect(200)["mention_everyone"] is True
    quiet = {"content": "@everyone", "allowed_mentions": {"parse": []}}
    assert (await chat_world.anyone.post(path, quiet)).expect(200)["mention_everyone"] is False


async def test_a_webhook_reads_edits_and_deletes_what_it_said_and_nothing_else(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    anyone = chat_world.anyone
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    other = await new_webhook(chat_world.alice.rest, chat_world.channel_id, name="Other")
    said = (await anyone.post(f"{webhook_path(webhook)}?wait=1", {"content": "first"})).expect(200)
    members = (await chat_world.bob.rest.send_message(chat_world.channel_id, "mine")).expect(200)
    path = f"{webhook_path(webhook)}/messages"
    assert (await anyone.get(f"{path}/{said['id']}")).expect(200) == said
    bob = await chat_world.bob.connect()
    edited = (await anyone.patch(f"{path}/{said['id']}", {"content": "second"})).expect(200)
    assert (edited["content"], edited["author"], edited["edited_timestamp"] is None) == (
        "second",
        said["author"],
        False,
    )
    assert (await bob.expect("MESSAGE_UPDATE")).data["content"] == "second"
    strangers = [f"{path}/{members['id']}", f"{webhook_path(other)}/messages/{said['id']}", f"{path}/1"]
    for stranger in strangers:
        for answer in (
            await anyone.get(stranger),
            await anyone.patch(stranger, {"content": "x"}),
            await anyone.delete(stranger),
        ):
            assert (answer.status, answer.code) == (404, "UNKNOWN_MESSAGE"), stranger
    # Nor can a member edit what the webhook said, whatever the ids; who manages messages deletes it.
    answer = await chat_world.alice.rest.edit_message(chat_world.channel_id, said["id"], "x")
    assert (answer.status, answer.code) == (403, "CANNOT_EDIT_OTHER_USER_MESSAGE")
    (await anyone.delete(f"{path}/{said['id']}")).expect(204)
    assert (await bob.expect("MESSAGE_DELETE")).data["id"] == said["id"]
    assert (await anyone.get(f"{path}/{said['id']}")).code == "UNKNOWN_MESSAGE"


async def test_the_token_shows_changes_and_deletes_the_webhook(chat_world: World) -> None:
    anyone = chat_world.anyone
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    shown = (await anyone.get(webhook_path(webhook))).expect(200)
    assert shown == {name: value for name, value in webhook.items() if name != "user"}
    changed = await anyone.patch(webhook_path(webhook), {"name": "Bell", "channel_id": chat_world.voice_channel_id})
    assert changed.expect(200) == {**shown, "name": "Bell"}
    (await anyone.delete(webhook_path(webhook))).expect(204)
    gone = await anyone.get(webhook_path(webhook))
    assert (gone.status, gone.code) == (404, "UNKNOWN_WEBHOOK")


async def test_every_wrong_token_is_refused_alike(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    other = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    bodies = set()
    for webhook_id, token in (
        (webhook["id"], NOBODYS),
        (webhook["id"], other["token"]),
        (webhook["id"], webhook["token"][:-1]),
        (webhook["id"], webhook["token"] + "A"),
        (webhook["id"], "%F0%9F%94%91"),
        (webhook["id"], "x" * 8_000),
        ("999999999999999999", webhook["token"]),
        ("0", NOBODYS),
    ):
        path = f"/v1/webhooks/{webhook_id}/{token}"
        for answer in (
            await chat_world.anyone.post(path, {"content": "x"}),
            await chat_world.anyone.get(path),
            await chat_world.anyone.patch(path, {"name": "x"}),
            await chat_world.anyone.delete(path),
            await chat_world.anyone.get(f"{path}/messages/1"),
            await post_form(chat_world.anyone, path, form([], b'{"content":"x"}')),
        ):
            assert answer.status == 404, path
            bodies.add(answer.body)
    assert len(bodies) == 1
    assert b"UNKNOWN_WEBHOOK" in bodies.pop()
    assert (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200) == []


async def test_the_token_is_not_stored_as_it_is(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    stored = chat_server.database.reader.execute("SELECT * FROM webhooks").fetchall()
    assert webhook["token"] not in repr(stored)
    await chat_server.restart()
    again = RestClient(chat_server.route())
    assert (await again.get(webhook_path(webhook))).expect(200)["token"] == webhook["token"]
    await again.aclose()


@pytest.mark.chat_settings(rate_limits=True)
async def test_executing_is_counted_by_address_and_not_among_all_requests(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    first, *others = [
        await chat_world.anyone.post(webhook_path(webhook), {"content": str(number)}) for number in range(31)
    ]
    assert (first.header("X-RateLimit-Limit"), first.header("X-RateLimit-Remaining")) == ("30", "29")
    assert first.header("X-RateLimit-Bucket") is not None
    last = others[-1]
    assert [answer.status for answer in others] == [204] * 29 + [429]
    assert (last.header("X-RateLimit-Scope"), last.json()["global"]) == ("user", False)
    # The same address has its 50 requests of other kinds left, and those of another webhook.
    second = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    statuses = {(await chat_world.anyone.get("/.well-known/chat")).status for _ in range(20)}
    assert statuses == {200}
    (await chat_world.anyone.post(webhook_path(second), {"content": "x"})).expect(204)


async def test_a_webhook_goes_with_its_channel(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.voice_channel_id, avatar=data_uri(png()))

    def unit(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM channels WHERE id = ?", (int(chat_world.voice_channel_id),))

    await chat_server.database.write(unit)
    answer = await chat_world.anyone.post(webhook_path(webhook), {"content": "x"})
    assert (answer.status, answer.code) == (404, "UNKNOWN_WEBHOOK")
    avatar = f"/media/avatars/{webhook['id']}/{webhook['avatar']}.png"
    assert (await fetch(chat_world.anyone, avatar)).status == 404
    await trio.sleep(1_300)
    uploads = chat_server.server.surroundings.directory / "uploads"
    assert [file for file in uploads.rglob("*") if file.is_file()] == []


async def test_the_audit_log_tells_who_managed_webhooks_and_never_their_tokens(chat_world: World) -> None:
    alice, path = chat_world.alice.rest, f"/v1/channels/{chat_world.channel_id}/webhooks"
    reason = {"X-Audit-Log-Reason": "for the news"}
    made = (await alice.request("POST", path, json={"name": "Herald"}, headers=reason)).expect(200)
    (await alice.patch(f"/v1/webhooks/{made['id']}", {"name": "Bell"})).expect(200)
    (await alice.patch(f"/v1/webhooks/{made['id']}", {"name": "Bell"})).expect(200)
    (await chat_world.anyone.patch(webhook_path(made), {"name": "Own doing"})).expect(200)
    (await alice.delete(f"/v1/webhooks/{made['id']}")).expect(204)
    answer = await alice.get(f"/v1/guilds/{chat_world.guild_id}/audit-logs")
    entries = answer.expect(200)["audit_log_entries"]
    kinds = [(entry["action_type"], entry["target_id"], entry.get("reason")) for entry in entries]
    assert kinds == [(52, made["id"], None), (51, made["id"], None), (50, made["id"], "for the news")]
    assert entries[1]["changes"] == [{"key": "name", "old_value": "Herald", "new_value": "Bell"}]
    assert made["token"].encode() not in answer.body
