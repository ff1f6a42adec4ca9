"""bulk-delete-mine and Leave guild with one's messages (document 001).

Area: messages. Rules: 000.sudo-mode, 001.bulk-delete.
"""

from __future__ import annotations

from typing import Any

import pytest

from chat.testing.server import ChatServer
from chat.testing.world import Actor, World
from tests.spec.ledger import proves


async def written(actor: Actor, channel_id: str, count: int) -> list[str]:
    """The ids of messages that the actor writes."""
    return [(await actor.rest.send_message(channel_id, f"{n}")).expect(200)["id"] for n in range(count)]


async def left(world: World) -> list[str]:
    """The ids of what stands in the channel, newest first."""
    path = f"/v1/channels/{world.channel_id}/messages"
    return [message["id"] for message in (await world.alice.rest.get(path, {"limit": 100})).expect(200)]


def mine(guild_id: str) -> str:
    """The address of bulk-delete-mine."""
    return f"/v1/users/@me/guilds/{guild_id}/messages/bulk-delete-mine"


async def test_own_messages_go_in_batches_and_the_membership_stays(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    kept = await written(alice, chat_world.channel_id, 1)
    own = await written(bob, chat_world.channel_id, 130)
    at_alice = await alice.connect()
    with proves("001.bulk-delete.3"):
        gone = await bob.rest.post(mine(chat_world.guild_id), {"password": bob.password})
        assert (gone.status, gone.body) == (202, b"")
    with proves("001.bulk-delete.10"):
        first, second = [(await at_alice.expect("MESSAGE_DELETE_BULK")).data for _ in range(2)]
    with proves("001.bulk-delete.11"):
        assert (len(first["ids"]), first["ids"] + second["ids"]) == (100, own)
    with proves("001.bulk-delete.10"):
        assert (first["channel_id"], first["guild_id"]) == (chat_world.channel_id, chat_world.guild_id)
    assert kept[0] in await left(chat_world)
    with proves("001.bulk-delete.4"):
        assert not set(own) & set(await left(chat_world))
    with proves("001.bulk-delete.2"):
        (await bob.rest.get(f"/v1/guilds/{chat_world.guild_id}/members/@me")).expect(200)
    with proves("001.bulk-delete.12"):
        log = (await alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/audit-logs")).expect(200)
        assert log["audit_log_entries"] == []


@pytest.mark.rule("001.bulk-delete.1", "001.bulk-delete.10")
async def test_threads_are_swept_too(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    knows = {"X-Service-Features": "channel_threads"}
    path = f"/v1/channels/{chat_world.channel_id}/threads"
    thread = (await alice.rest.request("POST", path, json={"name": "aside"}, headers=knows)).expect(201)
    own = await written(bob, thread["id"], 2)
    at_alice = await alice.connect(flags=1 << 2)
    (await bob.rest.post(mine(chat_world.guild_id), {"password": bob.password})).expect(202)
    assert (await at_alice.expect("MESSAGE_DELETE_BULK")).data["ids"] == own
    assert (await alice.rest.get(f"/v1/channels/{thread['id']}/messages")).expect(200) == []
    assert (await alice.rest.get(f"/v1/channels/{thread['id']}")).expect(200)["message_count"] == 0


@pytest.mark.rule("001.bulk-delete.5", "001.bulk-delete.7", "001.bulk-delete.8")
async def test_what_it_asks_for(chat_world: World) -> None:
    bob, admin = chat_world.bob, chat_world.admin
    own = await written(bob, chat_world.channel_id, 1)
    for body, code in (
        ({}, "SUDO_MODE_REQUIRED"),
        ({"password": "wrong password"}, "INVALID_FORM_BODY"),
        ({"password": 7}, "INVALID_FORM_BODY"),
        ({"mfa_method": "sms"}, "INVALID_FORM_BODY"),
        ([], "INVALID_FORM_BODY"),
    ):
        refused = await bob.rest.post(mine(chat_world.guild_id), body)
        assert refused.code == code
    assert (await bob.rest.request("POST", mine(chat_world.guild_id))).code == "SUDO_MODE_REQUIRED"
    assert own[0] in await left(chat_world)
    stranger = await admin.rest.post(mine(chat_world.guild_id), {"password": admin.password})
    assert (stranger.status, stranger.code) == (403, "MISSING_PERMISSIONS")
    unknown = await admin.rest.post(mine("999999999999999999"), {"password": admin.password})
    assert (unknown.status, unknown.code) == (404, "UNKNOWN_GUILD")


@pytest.mark.rule("000.sudo-mode.13", "001.bulk-delete.6")
async def test_a_bot_needs_no_proof(chat_world: World) -> None:
    bot = chat_world.bot
    own = await written(bot, chat_world.channel_id, 2)
    person = await chat_world.bob.rest.post(mine(chat_world.guild_id), {})
    assert person.code == "SUDO_MODE_REQUIRED"
    gone = await bot.rest.post(mine(chat_world.guild_id), {})
    assert (gone.status, gone.header("X-Service-Sudo-Mode-JWT")) == (202, None)
    assert not set(own) & set(await left(chat_world))


@pytest.mark.rule("001.bulk-delete.9")
async def test_attachments_go_with_their_messages(chat_world: World, chat_server: ChatServer) -> None:
    bob = chat_world.bob
    path = f"/v1/channels/{chat_world.channel_id}/attachments"
    promise = {"files": [{"id": 0, "filename": "a.txt", "file_size": 5}]}
    (given,) = (await bob.rest.post(path, promise)).expect(200)["attachments"]
    stored = await chat_world.anyone.request(
        "PUT", given["upload_url"].partition("/media/")[2].join(("/media/", "")), body=b"hello"
    )
    assert stored.status in (200, 204), stored.body
    attachment = {"id": given["id"], "uploaded_filename": given["upload_filename"]}
    sent = (await bob.rest.send_message(chat_world.channel_id, "file", attachments=[attachment])).expect(200)
    (shown,) = sent["attachments"]
    address = "/media/" + shown["url"].partition("/media/")[2]
    assert (await chat_world.anyone.get(address)).body == b"hello"
    (await bob.rest.post(mine(chat_world.guild_id), {"password": bob.password})).expect(202)
    assert (await chat_world.anyone.get(address)).status == 404
    rows = chat_server.database.reader.execute("SELECT count(*) FROM attachments").fetchone()
    assert rows == (0,)


async def test_leaving_with_ones_messages(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    own = await written(bob, chat_world.channel_id, 2)
    at_alice = await alice.connect()
    path = f"/v1/users/@me/guilds/{chat_world.guild_id}"

    async def leave(actor: Actor, body: dict[str, Any]) -> Any:
        return await actor.rest.request("DELETE", path, query={"delete_messages": "true"}, json=body)

    refused = await leave(bob, {})
    assert (refused.status, refused.code) == (403, "SUDO_MODE_REQUIRED")
    assert set(own) <= set(await left(chat_world))
    (await leave(bob, {"password": bob.password})).expect(204)
    # Everything is gone before the membership is.
    assert (await at_alice.expect("MESSAGE_DELETE_BULK")).data["ids"] == own
    assert (await at_alice.expect("GUILD_MEMBER_REMOVE")).data["user"]["id"] == bob.id
    stranger = await leave(bob, {"password": bob.password})
    assert (stranger.status, stranger.code) == (403, "MISSING_PERMISSIONS")
    plain = await bob.rest.delete(path)
    assert (plain.status, plain.code) == (404, "UNKNOWN_MEMBER")
    owner = await leave(alice, {"password": alice.password})
    assert [(entry["path"], entry["code"]) for entry in owner.json()["errors"]] == [
        ("guild_id", "CANNOT_LEAVE_GUILD_AS_OWNER")
    ]
    unknown = await bob.rest.request(
        "DELETE",
        "/v1/users/@me/guilds/999999999999999999",
        query={"delete_messages": "true"},
        json={"password": bob.password},
    )
    assert (unknown.status, unknown.code) == (404, "UNKNOWN_GUILD")
