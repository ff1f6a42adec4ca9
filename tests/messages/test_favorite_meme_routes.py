"""Favourite memes: kept out of messages and from outside, named, sent, given up; their bytes, and whose they are."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.registries.permissions import Permission
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import Actor, World
from tests.media.moving_samples import SAMPLES
from tests.messages.outside_server import outside, plain
from tests.messages.test_upload_routes import stored_files
from tests.webhooks.surfaces import fetch, form, png, post_form

PRIVATE = {"media.private_networks_allowed": ("127.0.0.0/8",)}


def refused(answer: Response, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code)


async def post(actor: Actor, channel_id: str, *files: tuple[str, bytes]) -> dict[str, Any]:
    """A message with these files."""
    body = form([(f"files[{number}]", name, data) for number, (name, data) in enumerate(files)])
    sent: dict[str, Any] = (await post_form(actor.rest, f"/v1/channels/{channel_id}/messages", body)).expect(200)
    return sent


async def ready(actor: Actor) -> list[dict[str, Any]]:
    """The memes in Ready."""
    client = await actor.connect()
    [data] = [payload.data for payload in client.dispatches if payload.name == "READY"]
    await client.aclose()
    memes: list[dict[str, Any]] = data["favorite_memes"]
    return memes


async def test_a_picture_out_of_a_message(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    image = png(30, 20)
    sent = await post(alice, channel_id, ("notes.txt", b"text"), ("a cat.png", image))
    at_bob, at_alice = await bob.connect(), await alice.connect()
    kept = (await bob.rest.keep_meme(channel_id, sent["id"])).expect(200)
    assert (await at_bob.expect("FAVORITE_MEME_CREATE")).data == kept
    url = kept.pop("url")
    assert kept.pop("attachment_id") == kept["id"]
    assert kept == {
        "id": kept["id"],
        "user_id": bob.id,
        "name": "a cat",
        "alt_text": None,
        "tags": [],
        "filename": "a cat.png",
        "content_type": "image/png",
        "content_hash": hashlib.sha256(image).hexdigest(),
        "size": len(image),
        "width": 30,
        "height": 20,
        "duration": None,
        "is_gifv": False,
    }
    assert (await fetch(chat_world.anyone, url)).body == image
    listed = (await bob.rest.memes()).expect(200)
    assert [meme["id"] for meme in listed] == [kept["id"]]
    assert await ready(bob) == listed
    assert (await bob.rest.get(f"/v1/users/@me/memes/{kept['id']}")).expect(200) == listed[0]
    assert (await alice.rest.memes()).expect(200) == []
    # It stays when the message goes.
    (await alice.rest.delete_message(channel_id, sent["id"])).expect(204)
    assert (await fetch(chat_world.anyone, url)).body == image
    await at_alice.expect("MESSAGE_DELETE")
    assert not [payload for payload in at_alice.dispatches if str(payload.name).startswith("FAVORITE")]


async def test_films_sounds_and_words(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    _, sample, (width, _, seconds) = SAMPLES["mp4"]
    sent = await post(bob, channel_id, ("first.png", png()), ("film.mp4", sample()))
    words = {"name": "Film", "alt_text": "of a cat", "tags": ["cat", "film", "cat"]}
    kept = (
        await bob.rest.keep_meme(channel_id, sent["id"], attachment_id=sent["attachments"][1]["id"], **words)
    ).expect(200)
    assert (kept["content_type"], kept["width"], kept["duration"]) == ("video/mp4", width, seconds)
    assert (kept["name"], kept["alt_text"], kept["tags"]) == ("Film", "of a cat", ["cat", "film"])

    at_bob = await bob.connect()
    changed = (await bob.rest.change_meme(kept["id"], name="Other", alt_text=None, tags=["x"])).expect(200)
    assert (changed["name"], changed["alt_text"], changed["tags"]) == ("Other", None, ["x"])
    assert (await at_bob.expect("FAVORITE_MEME_UPDATE")).data == changed
    changed = (await bob.rest.change_meme(kept["id"], name=None, tags=None)).expect(200)
    assert (changed["name"], changed["tags"]) == ("Other", [])
    assert (await bob.rest.change_meme(kept["id"])).expect(200) == changed
    for wrong in (
        {"name": "x" * 101},
        {"alt_text": "x" * 501},
        {"tags": ["x"] * 11},
        {"tags": ["x" * 31]},
        {"tags": "x"},
        {"name": 1},
    ):
        refused(await bob.rest.change_meme(kept["id"], **wrong), 400, "INVALID_FORM_BODY")
        refused(await bob.rest.keep_meme(channel_id, sent["id"], **wrong), 400, "INVALID_FORM_BODY")


async def test_giving_up(chat_world: World, chat_server: ChatServer, autojump_clock: MockClock) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    sent = await post(bob, channel_id, ("a.png", png()))
    kept = (await bob.rest.keep_meme(channel_id, sent["id"])).expect(200)
    at_bob = await bob.connect()
    for actor in (chat_world.alice, chat_world.bob):
        refused(await actor.rest.delete_meme("999999999999999999"), 404, "UNKNOWN_FAVORITE_MEME")
    for answer in (
        await chat_world.alice.rest.delete_meme(kept["id"]),
        await chat_world.alice.rest.change_meme(kept["id"], name="mine"),
        await chat_world.alice.rest.get(f"/v1/users/@me/memes/{kept['id']}"),
    ):
        refused(answer, 404, "UNKNOWN_FAVORITE_MEME")
    (await bob.rest.delete_meme(kept["id"])).expect(204)
    assert (await at_bob.expect("FAVORITE_MEME_DELETE")).data == {"meme_id": kept["id"]}
    refused(await bob.rest.delete_meme(kept["id"]), 404, "UNKNOWN_FAVORITE_MEME")
    assert await ready(bob) == []
    assert (await fetch(chat_world.anyone, kept["url"])).status == 404
    assert (await fetch(chat_world.anyone, sent["attachments"][0]["url"])).status == 200  # the message has it still
    await trio.sleep(1_300)
    assert len(stored_files(chat_server)) == 1
    (await bob.rest.delete_message(channel_id, sent["id"])).expect(204)
    await trio.sleep(1_300)
    assert stored_files(chat_server) == []


async def test_what_can_be_kept(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    text = await post(alice, channel_id, ("notes.txt", b"text"))
    picture = await post(alice, channel_id, ("a.png", png()))
    plain_id = (await alice.rest.send_message(channel_id, "hello")).expect(200)["id"]
    for message_id, members, path in (
        (plain_id, {}, "attachment_id"),
        (text["id"], {}, "attachment_id"),
        (text["id"], {"attachment_id": text["attachments"][0]["id"]}, "attachment_id"),
        (picture["id"], {"attachment_id": text["attachments"][0]["id"]}, "attachment_id"),
        (picture["id"], {"embed_index": 0}, "embed_index"),
        (picture["id"], {"embed_index": -1}, "embed_index"),
    ):
        answer = await bob.rest.keep_meme(channel_id, message_id, **members)
        refused(answer, 400, "INVALID_FORM_BODY")
        assert [error["path"] for error in answer.json()["errors"]] == [path]
    refused(await bob.rest.keep_meme(channel_id, "999999999999999999"), 404, "UNKNOWN_MESSAGE")
    refused(await bob.rest.keep_meme("999999999999999999", picture["id"]), 404, "UNKNOWN_CHANNEL")
    refused(await chat_world.admin.rest.keep_meme(channel_id, picture["id"]), 403, "MISSING_PERMISSIONS")
    refused(await chat_world.bot.rest.keep_meme(channel_id, picture["id"]), 403, "ACCESS_DENIED")
    refused(await chat_world.bot.rest.memes(), 403, "ACCESS_DENIED")
    denied = {"type": 1, "allow": "0", "deny": str(int(Permission.READ_MESSAGE_HISTORY))}
    (await alice.rest.put(f"/v1/channels/{channel_id}/permissions/{bob.id}", denied)).expect(204)
    refused(await bob.rest.keep_meme(channel_id, picture["id"]), 404, "UNKNOWN_MESSAGE")
    assert (await bob.rest.memes()).expect(200) == []


@pytest.mark.chat_settings(**{"limits.max_favorite_memes": 2, "premium_mode": "none", **PRIVATE})
async def test_so_many(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    sent = await post(bob, channel_id, ("a.png", png(1)), ("b.png", png(2)), ("c.png", png(3)))
    first, second, third = (file["id"] for file in sent["attachments"])
    kept = (await bob.rest.keep_meme(channel_id, sent["id"], attachment_id=first)).expect(200)
    (await bob.rest.keep_meme(channel_id, sent["id"], attachment_id=second)).expect(200)
    full = await bob.rest.keep_meme(channel_id, sent["id"], attachment_id=third)
    refused(full, 400, "MAX_FAVORITE_MEMES")
    assert full.json()["max_favorite_memes"] == 2
    async with outside({"/a.png": plain(png())}) as server:
        refused(await bob.rest.fetch_meme(f"{server.origin}/a.png"), 400, "MAX_FAVORITE_MEMES")
        assert server.requests == []
        (await bob.rest.delete_meme(kept["id"])).expect(204)
        (await bob.rest.fetch_meme(f"{server.origin}/a.png")).expect(200)


@pytest.mark.chat_settings(**PRIVATE)
async def test_the_same_file_is_kept_once(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    image = png(40, 30)
    first, again = [await post(alice, channel_id, (name, image)) for name in ("a.png", "again.png")]
    kept = (await bob.rest.keep_meme(channel_id, first["id"])).expect(200)
    (await alice.rest.keep_meme(channel_id, first["id"])).expect(200)
    async with outside({"/a.png": plain(image)}) as server:
        for answer in (
            await bob.rest.keep_meme(channel_id, first["id"]),
            await bob.rest.keep_meme(channel_id, again["id"], name="Other"),
            await bob.rest.fetch_meme(f"{server.origin}/a.png"),
        ):
            [error] = answer.expect(400)["errors"]
            assert (error["path"], error["code"]) == ("media", "MEDIA_ALREADY_IN_FAVORITE_MEMES")
    assert [meme["id"] for meme in (await bob.rest.memes()).expect(200)] == [kept["id"]]
    (await bob.rest.delete_meme(kept["id"])).expect(204)
    (await bob.rest.keep_meme(channel_id, again["id"])).expect(200)


@pytest.mark.chat_settings(**{"limits.user_storage": 2_000})
async def test_they_count_against_the_storage(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    sent = await post(alice, channel_id, ("a.png", png(filler=b"x" * 1_000)))
    other = await post(chat_world.carol, channel_id, ("b.png", png(filler=b"y" * 1_000)))
    kept = (await bob.rest.keep_meme(channel_id, sent["id"])).expect(200)
    refused(await bob.rest.keep_meme(channel_id, other["id"]), 400, "FILE_SIZE_TOO_LARGE")
    assert [meme["id"] for meme in (await bob.rest.memes()).expect(200)] == [kept["id"]]


# From outside


@pytest.mark.chat_settings(**PRIVATE)
async def test_a_picture_from_outside(chat_world: World) -> None:
    bob, image = chat_world.bob, png(40, 30)
    at_bob = await bob.connect()
    async with outside({"/cats/a%20cat.png?q=1": plain(image)}) as server:
        kept = (await bob.rest.fetch_meme(f"{server.origin}/cats/a%20cat.png?q=1", tags=["cat"])).expect(200)
    assert (await at_bob.expect("FAVORITE_MEME_CREATE")).data == kept
    assert (kept["name"], kept["filename"], kept["tags"]) == ("a cat", "a cat.png", ["cat"])
    assert (kept["content_type"], kept["width"], kept["height"], kept["size"]) == ("image/png", 40, 30, len(image))
    assert (await fetch(chat_world.anyone, kept["url"])).body == image


@pytest.mark.chat_settings(**PRIVATE)
async def test_what_an_embed_shows(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    async with outside({"/a.png": plain(png(40, 30))}) as server:
        embeds = [{"title": "nothing"}, {"image": {"url": f"{server.origin}/a.png"}}]
        sent = (await bob.rest.send_message(channel_id, "", embeds=embeds)).expect(200)
        kept = (await bob.rest.keep_meme(channel_id, sent["id"], embed_index=1)).expect(200)
        assert (kept["width"], kept["filename"]) == (40, "a.png")
        (await bob.rest.delete_meme(kept["id"])).expect(204)
        (await bob.rest.keep_meme(channel_id, sent["id"])).expect(200)
        refused(await bob.rest.keep_meme(channel_id, sent["id"], embed_index=0), 400, "INVALID_FORM_BODY")


@pytest.mark.chat_settings(**{"limits.attachment_max_size": 5_000, "premium_mode": "none", **PRIVATE})
async def test_what_is_not_to_be_had_outside(chat_world: World, chat_server: ChatServer) -> None:
    bob = chat_world.bob
    pages = {
        "/html": plain(b"<html>", headers=(("Content-Type", "image/png"),)),
        "/missing": plain(png(), status=404),
        "/half": plain(png(filler=b"x" * 3_000), headers=(("Content-Length", "4000"),)),
        "/inside": plain(b"", status=301, headers=(("Location", "http://169.254.169.254/latest/meta-data"),)),
        "/large": plain(png(filler=b"x" * 6_000)),
    }
    async with outside(pages) as server:
        for page in pages:
            code = "FILE_SIZE_TOO_LARGE" if page == "/large" else "MEDIA_METADATA_ERROR"
            refused(await bob.rest.fetch_meme(server.origin + page), 400, code)
    for url in ("nothing", "file:///etc/passwd", "http://", "ftp://example.com/a.png", "http://a:b@example.com/"):
        refused(await bob.rest.fetch_meme(url), 400, "INVALID_FORM_BODY")
    for body in ({}, {"url": None}, {"url": 1}, {"url": "x" * 3_000}):
        refused(await bob.rest.post("/v1/users/@me/memes", body), 400, "INVALID_FORM_BODY")
    assert (await bob.rest.memes()).expect(200) == []
    assert stored_files(chat_server) == []
    assert chat_server.server.areas.policy.media.external.under_way == 0


async def test_nobody_asks_the_operators_own_network(chat_world: World) -> None:
    async with outside({"/a.png": plain(png())}) as server:
        refused(await chat_world.bob.rest.fetch_meme(f"{server.origin}/a.png"), 400, "MEDIA_METADATA_ERROR")
        assert server.requests == []


# In messages


async def test_a_meme_is_sent(chat_world: World, chat_server: ChatServer, autojump_clock: MockClock) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    image = png(30, 20)
    source = await post(alice, channel_id, ("cat.png", image))
    kept = (await bob.rest.keep_meme(channel_id, source["id"], alt_text="a cat")).expect(200)
    at_alice = await alice.connect()
    sent = (await bob.rest.send_message(channel_id, "", favorite_meme_id=kept["id"])).expect(200)
    [file] = sent["attachments"]
    assert file["id"] != kept["id"]
    assert (file["filename"], file["description"], file["width"]) == ("cat.png", "a cat", 30)
    told = (await at_alice.expect("MESSAGE_CREATE")).data
    assert [attached["id"] for attached in told["attachments"]] == [file["id"]]
    # With a file of its own, behind it.
    body = form([("files[0]", "b.png", png())], b'{"favorite_meme_id": "%b"}' % kept["id"].encode())
    both = (await post_form(bob.rest, f"/v1/channels/{channel_id}/messages", body)).expect(200)
    assert [attached["filename"] for attached in both["attachments"]] == ["b.png", "cat.png"]
    # It outlives the meme and where that came from.
    (await bob.rest.delete_meme(kept["id"])).expect(204)
    (await alice.rest.delete_message(channel_id, source["id"])).expect(204)
    await trio.sleep(1_300)
    assert (await fetch(chat_world.anyone, file["url"])).body == image
    for message in (sent, both):
        (await bob.rest.delete_message(channel_id, message["id"])).expect(204)
    await trio.sleep(1_300)
    assert stored_files(chat_server) == []


async def test_which_memes_can_be_sent(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    source = await post(alice, channel_id, ("cat.png", png()))
    kept = (await bob.rest.keep_meme(channel_id, source["id"])).expect(200)
    for actor, meme_id in ((alice, kept["id"]), (bob, "1")):
        answer = await actor.rest.send_message(channel_id, "x", favorite_meme_id=meme_id)
        refused(answer, 404, "UNKNOWN_FAVORITE_MEME")
    files = [(f"files[{number}]", "a.png", png()) for number in range(10)]
    body = form(files, b'{"favorite_meme_id": "%b"}' % kept["id"].encode())
    answer = await post_form(bob.rest, f"/v1/channels/{channel_id}/messages", body)
    refused(answer, 400, "INVALID_FORM_BODY")
    assert [error["code"] for error in answer.json()["errors"]] == ["TOO_MANY_FILES"]
    denied = {"type": 1, "allow": "0", "deny": str(int(Permission.ATTACH_FILES))}
    (await alice.rest.put(f"/v1/channels/{channel_id}/permissions/{bob.id}", denied)).expect(204)
    refused(await bob.rest.send_message(channel_id, "x", favorite_meme_id=kept["id"]), 403, "MISSING_PERMISSIONS")
    webhook = (await alice.rest.post(f"/v1/channels/{channel_id}/webhooks", {"name": "Hook"})).expect(200)
    body_of_hook = {"content": "x", "favorite_meme_id": kept["id"]}
    answer = await chat_world.anyone.post(f"/v1/webhooks/{webhook['id']}/{webhook['token']}", body_of_hook)
    refused(answer, 400, "INVALID_FORM_BODY")
