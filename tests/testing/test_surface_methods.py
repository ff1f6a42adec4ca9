"""The kit's client with files, webhooks and links."""

from __future__ import annotations

from chat.testing.world import World
from tests.webhooks.surfaces import png


async def test_files(chat_world: World) -> None:
    bob, files = chat_world.bob.rest, {'a "quoted" name.png': png(), "b.txt": b"words\r\n--\r\n"}
    sent = (await bob.send_files(chat_world.channel_id, files, content="look")).expect(200)
    assert (sent["content"], [file["filename"] for file in sent["attachments"]]) == (
        "look",
        ["a _quoted_ name.png", "b.txt"],
    )
    assert [(await bob.fetch(file["url"])).body for file in sent["attachments"]] == list(files.values())
    (promise,) = (await bob.promise_uploads(chat_world.channel_id, {"c.txt": 3})).expect(200)["attachments"]
    (await chat_world.anyone.upload(promise["upload_url"], b"abc")).expect(200)
    named = {"id": 0, "uploaded_filename": promise["upload_filename"]}
    sent = (await bob.send_message(chat_world.channel_id, "", attachments=[named])).expect(200)
    assert (await bob.fetch(sent["attachments"][0]["url"], {"Range": "bytes=1-"})).body == b"bc"


async def test_webhooks_and_links(chat_world: World) -> None:
    anyone = chat_world.anyone
    webhook = (await chat_world.alice.rest.create_webhook(chat_world.channel_id, "Herald")).expect(200)
    said = (await anyone.execute_webhook(webhook, content="x")).expect(200)
    (await anyone.execute_webhook(webhook, content="y", wait=False)).expect(204)
    changed = (await anyone.edit_webhook_message(webhook, said["id"], content="z")).expect(200)
    assert changed["content"] == "z"
    (await anyone.delete_webhook_message(webhook, said["id"])).expect(204)
    assert (await anyone.execute_webhook(webhook, content="x", thread_id=1)).code == "UNKNOWN_CHANNEL"
    assert (await chat_world.bob.rest.unfurl("https://x.example/")).code == "FEATURE_TEMPORARILY_DISABLED"
