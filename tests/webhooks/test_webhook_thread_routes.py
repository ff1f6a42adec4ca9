"""Webhooks in threads and forums; files and embeds in what they change."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import trio
import trio.testing

from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.threads.thread_world import FORUM, TEXT, channel, knowing, post, refused, thread, watch
from tests.webhooks.surfaces import FORM_HEADERS, fetch, form, new_webhook, png, post_form, webhook_path


async def execute(world: World, webhook: dict[str, Any], body: object, query: str = "") -> Response:
    """Execute it, and wait for the message."""
    return await world.anyone.post(f"{webhook_path(webhook)}?wait=true{query}", body)


async def test_a_webhook_writes_in_the_threads_of_its_channel(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    started = await thread(chat_world.alice, chat_world.channel_id)
    listening, ignorant = await watch(chat_world.bob), await chat_world.carol.connect()
    said = (await execute(chat_world, webhook, {"content": "x"}, f"&thread_id={started['id']}")).expect(200)
    assert (said["channel_id"], said["webhook_id"]) == (started["id"], webhook["id"])
    heard = (await listening.expect("MESSAGE_CREATE")).data
    assert (heard["id"], heard["channel_id"]) == (said["id"], started["id"])
    read = (await knowing(chat_world.bob).messages(started["id"])).expect(200)
    assert [message["id"] for message in read] == [said["id"]]
    # It is no member of the thread for that.
    members = (await knowing(chat_world.alice).get(f"/v1/channels/{started['id']}/thread-members")).expect(200)
    assert [member["user_id"] for member in members] == [chat_world.alice.id]
    message = f"{webhook_path(webhook)}/messages/{said['id']}"
    query = f"?thread_id={started['id']}"
    for answer in (
        await chat_world.anyone.get(message),
        await chat_world.anyone.patch(message, {"content": "y"}),
        await chat_world.anyone.delete(message),
    ):
        refused(answer, 404, "UNKNOWN_MESSAGE")
    assert (await chat_world.anyone.get(message + query)).expect(200) == said
    changed = (await chat_world.anyone.patch(message + query, {"content": "y"})).expect(200)
    assert (changed["content"], changed["edited_timestamp"] is None) == ("y", False)
    assert (await listening.expect("MESSAGE_UPDATE")).data["content"] == "y"
    (await chat_world.anyone.delete(message + query)).expect(204)
    assert (await listening.expect("MESSAGE_DELETE")).data["id"] == said["id"]
    await chat_world.bob.rest.send_message(chat_world.channel_id, "end")
    assert (await ignorant.expect("MESSAGE_CREATE")).data["content"] == "end"
    assert not any(payload.data.get("channel_id") == started["id"] for payload in ignorant.dispatches)


async def test_a_thread_must_be_one_of_the_webhooks_channel(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    other = await channel(chat_world, "other", TEXT)
    elsewhere = await thread(chat_world.alice, other["id"])
    gone = await thread(chat_world.alice, chat_world.channel_id)
    assert (await knowing(chat_world.alice).delete(f"/v1/channels/{gone['id']}")).status < 300
    for thread_id in (elsewhere["id"], gone["id"], chat_world.channel_id, "1", "999999999999999999"):
        refused(await execute(chat_world, webhook, {"content": "x"}, f"&thread_id={thread_id}"), 404, "UNKNOWN_CHANNEL")
    malformed = await execute(chat_world, webhook, {"content": "x"}, "&thread_id=x")
    refused(malformed, 400, "INVALID_FORM_BODY", "thread_id", "INVALID_SNOWFLAKE_FORMAT")
    named = await execute(chat_world, webhook, {"content": "x", "thread_name": "new"})
    refused(named, 400, "INVALID_FORM_BODY", "thread_name")


async def test_an_archived_thread_comes_back_and_a_locked_one_does_not(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    started = await thread(chat_world.alice, chat_world.channel_id)
    path, query = f"/v1/channels/{started['id']}", f"&thread_id={started['id']}"
    alice = knowing(chat_world.alice)
    said = (await execute(chat_world, webhook, {"content": "x"}, query)).expect(200)
    (await alice.patch(path, {"archived": True})).expect(200)
    message = f"{webhook_path(webhook)}/messages/{said['id']}?thread_id={started['id']}"
    refused(await chat_world.anyone.patch(message, {"content": "y"}), 400, "THREAD_ARCHIVED")
    (await execute(chat_world, webhook, {"content": "z"}, query)).expect(200)
    assert (await alice.get(path)).expect(200)["thread_metadata"]["archived"] is False
    (await alice.patch(path, {"locked": True})).expect(200)
    refused(await execute(chat_world, webhook, {"content": "x"}, query), 400, "THREAD_LOCKED")


async def test_a_webhook_makes_posts_in_its_forum(chat_world: World) -> None:
    forum = await channel(
        chat_world, "ideas", FORUM, available_tags=[{"name": "good"}, {"name": "m", "moderated": True}]
    )
    good, moderated = (tag["id"] for tag in forum["available_tags"])
    webhook = await new_webhook(chat_world.alice.rest, forum["id"])
    listening = await watch(chat_world.bob)
    body = {"content": "x", "thread_name": "An idea", "applied_tags": [good, good]}
    said = (await execute(chat_world, webhook, body)).expect(200)
    assert said["channel_id"] == said["id"]
    made = (await listening.expect("THREAD_CREATE")).data
    assert (made["name"], made["parent_id"], made["applied_tags"], made["owner_id"]) == (
        "An idea", forum["id"], [good], webhook["id"],
    )  # fmt: skip
    assert (await listening.expect("MESSAGE_CREATE")).data["webhook_id"] == webhook["id"]
    more = (await execute(chat_world, webhook, {"content": "y"}, f"&thread_id={said['id']}")).expect(200)
    read = (await knowing(chat_world.bob).messages(said["id"])).expect(200)
    assert [message["id"] for message in read] == [more["id"], said["id"]]
    for wrong, path, code in (
        ({"content": "x"}, "thread_name", "INVALID_FORMAT"),
        ({"content": "x", "thread_name": ""}, "thread_name", "INVALID_FORMAT"),
        ({"content": "x", "thread_name": "y" * 101}, "thread_name", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"content": "x", "thread_name": "y", "applied_tags": ["1"] * 6}, "applied_tags", "INVALID_FORMAT"),
    ):
        refused(await execute(chat_world, webhook, wrong), 400, "INVALID_FORM_BODY", path, code)
    both = await execute(chat_world, webhook, body, f"&thread_id={said['id']}")
    refused(both, 400, "INVALID_FORM_BODY", "thread_name")
    refused(await execute(chat_world, webhook, {**body, "applied_tags": [moderated]}), 403, "MISSING_PERMISSIONS")
    refused(await execute(chat_world, webhook, {**body, "applied_tags": ["1"]}), 404, "UNKNOWN_FORUM_TAG")
    refused(await execute(chat_world, webhook, {"thread_name": "y"}), 400, "CANNOT_SEND_EMPTY_MESSAGE")
    active = (await knowing(chat_world.bot).get(f"/v1/guilds/{chat_world.guild_id}/threads/active")).expect(200)
    assert [found["id"] for found in active["threads"]] == [said["id"]]


async def test_a_post_of_a_webhook_brings_files(chat_world: World, chat_server: ChatServer) -> None:
    forum = await channel(chat_world, "ideas", FORUM)
    webhook = await new_webhook(chat_world.alice.rest, forum["id"])
    path = f"{webhook_path(webhook)}?wait=true"
    body = form([("files[0]", "a.png", png(7, 7))], orjson.dumps({"thread_name": "A picture"}))
    said = (await post_form(chat_world.anyone, path, body)).expect(200)
    assert (await fetch(chat_world.anyone, said["attachments"][0]["url"])).body == png(7, 7)
    (shown,) = (await knowing(chat_world.bob).messages(said["id"])).expect(200)
    assert shown["attachments"] == said["attachments"]
    nameless = form([("files[0]", "a.png", png(7, 7))], b"{}")
    refused(await post_form(chat_world.anyone, path, nameless), 400, "INVALID_FORM_BODY", "thread_name")
    uploads = chat_server.server.surroundings.directory / "uploads"
    assert len([place for place in uploads.rglob("*") if place.is_file()]) == 1


async def test_a_webhook_moves_between_channels_and_forums(chat_world: World) -> None:
    forum, category = await channel(chat_world, "ideas", FORUM), await channel(chat_world, "group", 4)
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    path = f"/v1/webhooks/{webhook['id']}"
    (await chat_world.alice.rest.patch(path, {"channel_id": forum["id"]})).expect(200)
    (await execute(chat_world, webhook, {"content": "x", "thread_name": "y"})).expect(200)
    moved = await chat_world.alice.rest.patch(path, {"channel_id": category["id"]})
    refused(moved, 400, "CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL")
    made = await post(chat_world.alice, forum["id"])
    below = await knowing(chat_world.alice).post(f"/v1/channels/{made['id']}/webhooks", {"name": "x"})
    refused(below, 400, "INVALID_CHANNEL_TYPE")


async def test_a_webhook_changes_the_files_and_embeds_of_what_it_said(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    body = form([("files[0]", "a.png", png(7, 7))], orjson.dumps({"embeds": [{"title": "t"}]}))
    said = (await post_form(chat_world.anyone, f"{webhook_path(webhook)}?wait=true", body)).expect(200)
    assert ([embed["title"] for embed in said["embeds"]], len(said["attachments"])) == (["t"], 1)
    message = f"{webhook_path(webhook)}/messages/{said['id']}"
    payload = {
        "attachments": [{"id": said["attachments"][0]["id"]}, {"id": 0, "description": "new"}],
        "embeds": [{"image": {"url": "attachment://b.png"}}],
    }
    body = form([("files[0]", "b.png", png(9, 9))], orjson.dumps(payload))
    changed = (await chat_world.anyone.request("PATCH", message, body=body, headers=FORM_HEADERS)).expect(200)
    assert [file["filename"] for file in changed["attachments"]] == ["a.png", "b.png"]
    assert changed["attachments"][1]["description"] == "new"
    assert changed["embeds"][0]["image"]["width"] == 9
    (await chat_world.anyone.patch(message, {"attachments": [], "embeds": [{"title": "last"}]})).expect(200)
    uploads = chat_server.server.surroundings.directory / "uploads"
    await trio.sleep(1_300)
    assert [place for place in uploads.rglob("*") if place.is_file()] == []
    (await chat_world.anyone.patch(message, {"content": "words", "embeds": []})).expect(200)
    emptied = await chat_world.anyone.patch(message, {"content": ""})
    refused(emptied, 400, "CANNOT_SEND_EMPTY_MESSAGE")


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"embeds": [{"title": "t"}] * 11}, "embeds", "TOO_MANY_EMBEDS"),
        ({"embeds": [{"description": "x" * 4_000}] * 2}, "embeds", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"embeds": [{"image": {"url": "attachment:/none.png"}}]}, "embeds.0.image.url", "INVALID_FORMAT"),
        ({"content": "x", "flags": "many"}, "flags", "INVALID_FORMAT"),
        ({"content": "x", "allowed_mentions": {"parse": ["all"]}}, "allowed_mentions.parse.0", "INVALID_FORMAT"),
    ],
)
async def test_limits_of_what_a_webhook_says(chat_world: World, body: object, path: str, code: str) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    answer = await execute(chat_world, webhook, body)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert [(error["path"], error["code"]) for error in answer.json()["errors"]] == [(path, code)]
    assert (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200) == []
