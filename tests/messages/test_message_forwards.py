"""Messages that carry a copy of another one (wire facts 5.3, message_reference and snapshot)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import trio
import trio.testing

from chat.registries.permissions import Permission
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import Actor, World
from tests.messages.test_reaction_routes import set_permissions
from tests.webhooks.surfaces import FORM_HEADERS, fetch, form, png


def refused(answer: Response, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code), answer.body


def wrong_fields(answer: Response) -> list[str]:
    """The paths of wrong fields."""
    refused(answer, 400, "INVALID_FORM_BODY")
    return [error["path"] for error in answer.json()["errors"]]


async def read(actor: Actor, message: dict[str, Any]) -> dict[str, Any]:
    """The message as it is read now."""
    path = f"/v1/channels/{message['channel_id']}/messages/{message['id']}"
    found: dict[str, Any] = (await actor.rest.get(path)).expect(200)
    return found


async def ask(actor: Actor, target_id: str, message: dict[str, Any], **reference: Any) -> Response:
    """Ask to carry a message on into a channel."""
    whole = {"type": 1, "channel_id": message["channel_id"], "message_id": message["id"], **reference}
    return await actor.rest.send_message(target_id, "", message_reference=whole)


async def carry(actor: Actor, channel_id: str, message: dict[str, Any], **reference: Any) -> dict[str, Any]:
    """The forward, which is read as it was answered."""
    sent: dict[str, Any] = (await ask(actor, channel_id, message, **reference)).expect(200)
    assert await read(actor, sent) == sent
    return sent


async def with_files(actor: Actor, channel_id: str, *names: str, **more: Any) -> dict[str, Any]:
    """A message with pictures."""
    files = [(f"files[{turn}]", name, png(3 + turn)) for turn, name in enumerate(names)]
    body = form(files, orjson.dumps(more))
    path = f"/v1/channels/{channel_id}/messages"
    sent: dict[str, Any] = (await actor.rest.request("POST", path, body=body, headers=FORM_HEADERS)).expect(200)
    return sent


async def conversation(one: Actor, other: Actor) -> str:
    """The conversation of two."""
    return str((await one.rest.post("/v1/users/@me/channels", {"recipient_id": other.id})).expect(200)["id"])


async def test_a_copy_stays_as_the_message_was(chat_world: World) -> None:
    alice, bob, carol, channel_id = chat_world.alice, chat_world.bob, chat_world.carol, chat_world.channel_id
    original = (await bob.rest.send_message(channel_id, f"look <@{carol.id}>", embeds=[{"title": "t"}])).expect(200)
    there = await conversation(alice, bob)
    at_bob = await bob.connect()
    copy = await carry(alice, there, original)
    assert (copy["type"], copy["content"], copy["mentions"], copy["embeds"]) == (0, "", [], [])
    assert copy["message_reference"] == {
        "type": 1,
        "channel_id": channel_id,
        "message_id": original["id"],
        "guild_id": chat_world.guild_id,
    }
    assert "referenced_message" not in copy
    (snapshot,) = copy["message_snapshots"]
    assert snapshot == {
        "content": original["content"],
        "timestamp": original["timestamp"],
        "edited_timestamp": None,
        "mentions": [carol.id],
        "mention_roles": [],
        "embeds": [{"type": "rich", "title": "t"}],
        "type": 0,
        "flags": 0,
    }
    assert [user["id"] for user in copy["users"]] == [carol.id]
    created = (await at_bob.expect("MESSAGE_CREATE")).data
    assert created["message_snapshots"] == copy["message_snapshots"]
    (await bob.rest.edit_message(channel_id, original["id"], "something else")).expect(200)
    (await bob.rest.delete_message(channel_id, original["id"])).expect(204)
    assert await read(alice, copy) == copy


async def test_a_forward_of_a_forward_carries_what_that_carries(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    original = await with_files(bob, channel_id, "a.png", content="look")
    first = await carry(alice, chat_world.voice_channel_id, original)
    second = await carry(bob, channel_id, first)
    one, two = first["message_snapshots"][0], second["message_snapshots"][0]
    assert (one["content"], one["timestamp"]) == (two["content"], two["timestamp"])
    assert second["message_reference"]["message_id"] == first["id"]
    assert [file["filename"] for file in two["attachments"]] == ["a.png"]


async def test_files_are_carried_and_outlive_the_original(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    original = await with_files(bob, channel_id, "a.png", "b.png")
    copy = await carry(alice, channel_id, original)
    assert copy["attachments"] == []
    files = copy["message_snapshots"][0]["attachments"]
    assert [file["filename"] for file in files] == ["a.png", "b.png"]
    assert not {file["id"] for file in files} & {file["id"] for file in original["attachments"]}
    (await bob.rest.delete_message(channel_id, original["id"])).expect(204)
    await trio.sleep(3_700)
    fresh = (await read(alice, copy))["message_snapshots"][0]["attachments"]
    for turn, file in enumerate(fresh):
        assert (await fetch(chat_world.anyone, file["url"])).body == png(3 + turn)
    (await alice.rest.delete_message(channel_id, copy["id"])).expect(204)
    await trio.sleep(3_700)
    uploads = chat_server.server.surroundings.directory / "uploads"
    assert [path for path in uploads.rglob("*") if path.is_file()] == []


async def test_some_of_the_files_and_embeds(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    original = await with_files(
        bob, channel_id, "a.png", "b.png", embeds=[{"title": "0"}, {"image": {"url": "attachment://b.png"}}]
    )
    ids = [file["id"] for file in original["attachments"]]
    chosen = await carry(alice, channel_id, original, attachment_ids=[ids[1]], embed_indices=[1])
    (snapshot,) = chosen["message_snapshots"]
    assert [file["filename"] for file in snapshot["attachments"]] == ["b.png"]
    (embed,) = snapshot["embeds"]
    assert embed["image"]["url"].partition("?")[0] == snapshot["attachments"][0]["url"].partition("?")[0]
    only = (await carry(alice, channel_id, original, attachment_ids=[], embed_indices=[0]))["message_snapshots"][0]
    assert ("attachments" in only, [embed["title"] for embed in only["embeds"]]) == (False, ["0"])
    nothing = await ask(alice, channel_id, original, attachment_ids=[], embed_indices=[])
    refused(nothing, 400, "CANNOT_SEND_EMPTY_MESSAGE")
    for reference, path in (
        ({"attachment_ids": ["999999999999999999"]}, "message_reference.attachment_ids"),
        ({"embed_indices": [2]}, "message_reference.embed_indices"),
        ({"embed_indices": [-1]}, "message_reference.embed_indices.0"),
        ({"type": 2}, "message_reference.type"),
    ):
        assert wrong_fields(await ask(alice, channel_id, original, **reference)) == [path]


async def test_a_forward_carries_nothing_of_its_own(chat_world: World) -> None:
    bob, channel_id = chat_world.bob.rest, chat_world.channel_id
    original = (await bob.send_message(channel_id, "look")).expect(200)
    reference = {"type": 1, "message_id": original["id"]}
    for content, more in (("words", {}), ("", {"embeds": [{"title": "t"}]}), ("", {"sticker_ids": ["1"]})):
        answer = await bob.send_message(channel_id, content, message_reference=reference, **more)
        assert wrong_fields(answer) == ["message_reference.type"]


async def test_what_one_may_not_read_cannot_be_carried(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    original = (await alice.rest.send_message(channel_id, "look")).expect(200)
    there = await conversation(alice, bob)
    private = (await alice.rest.send_message(there, "for bob")).expect(200)
    refused(await ask(chat_world.carol, channel_id, private), 404, "UNKNOWN_CHANNEL")
    refused(await ask(bob, there, original, message_id="999999999999999999"), 404, "UNKNOWN_MESSAGE")
    refused(await ask(bob, there, original, channel_id=there), 404, "UNKNOWN_MESSAGE")
    await set_permissions(chat_world, channel_id, deny=Permission.READ_MESSAGE_HISTORY)
    refused(await ask(bob, there, original), 404, "UNKNOWN_MESSAGE")
    await set_permissions(chat_world, channel_id, deny=Permission.VIEW_CHANNEL)
    refused(await ask(bob, there, original), 403, "MISSING_PERMISSIONS")
    assert await carry(alice, there, original)


async def test_what_one_may_not_send_is_not_carried_either(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    notes = bob.id
    picture = await with_files(bob, notes, "a.png", content="look")
    embed = (await bob.rest.send_message(notes, "look", embeds=[{"title": "t"}])).expect(200)
    await set_permissions(chat_world, channel_id, deny=Permission.ATTACH_FILES | Permission.EMBED_LINKS)
    for message, without in ((picture, {"attachment_ids": []}), (embed, {"embed_indices": []})):
        refused(await ask(bob, channel_id, message), 403, "MISSING_PERMISSIONS")
        assert await carry(bob, channel_id, message, **without)
    await set_permissions(chat_world, channel_id, deny=Permission.SEND_MESSAGES)
    refused(await ask(bob, channel_id, picture), 403, "MISSING_PERMISSIONS")


async def test_what_the_server_said_is_not_carried(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    sent = (await alice.rest.send_message(channel_id, "look")).expect(200)
    (await alice.rest.pin_message(channel_id, sent["id"])).expect(204)
    note = (await alice.rest.messages(channel_id, limit=1)).expect(200)[0]
    assert wrong_fields(await ask(alice, channel_id, note)) == ["message_reference.message_id"]


async def test_a_forward_is_not_edited_but_its_embeds_are_hidden(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    original = (await bob.rest.send_message(channel_id, "look")).expect(200)
    copy = await carry(bob, channel_id, original)
    path = f"/v1/channels/{channel_id}/messages/{copy['id']}"
    for body in ({"content": "words"}, {"embeds": [{"title": "t"}]}, {"attachments": []}, {"content": None}):
        refused(await bob.rest.patch(path, body), 403, "CANNOT_EDIT_OTHER_USER_MESSAGE")
    assert (await bob.rest.patch(path, {"flags": 4})).expect(200)["message_snapshots"] == copy["message_snapshots"]


async def test_an_edited_message_is_carried_as_it_is_now(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    original = (await bob.rest.send_message(channel_id, "first")).expect(200)
    edited = (await bob.rest.edit_message(channel_id, original["id"], "second")).expect(200)
    answer = (await bob.rest.send_message(channel_id, "no", message_reference={"message_id": original["id"]})).expect(
        200
    )
    snapshot = (await carry(bob, channel_id, edited))["message_snapshots"][0]
    assert (snapshot["content"], snapshot["edited_timestamp"]) == ("second", edited["edited_timestamp"])
    assert (await carry(bob, channel_id, answer))["message_snapshots"][0]["type"] == 19


@pytest.mark.chat_settings(**{"limits.user_storage": 200})
async def test_carried_files_count_as_stored(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    original = await with_files(bob, channel_id, "a.png", content="look")
    size = original["attachments"][0]["size"]
    fitting = 200 // size - 1
    for _ in range(fitting):
        await carry(bob, channel_id, original)
    refused(await ask(bob, channel_id, original), 400, "FILE_SIZE_TOO_LARGE")
    assert len((await bob.rest.messages(channel_id)).expect(200)) == 1 + fitting
