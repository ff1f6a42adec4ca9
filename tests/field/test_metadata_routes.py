"""What arrives by every way is kept without what tells of its maker, and told with the size of what is kept."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson
import pytest

from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.bans.test_blocklists import block
from tests.field.photographs import SECRETS, telling
from tests.messages.test_upload_routes import messages, put, reference
from tests.webhooks.surfaces import data_uri, fetch, form, new_webhook, post_form, promised, webhook_path

SENT = telling("JPEG", 6)
"""Upright to a person: 24 wide, 48 high."""


def kept_files(server: ChatServer) -> list[bytes]:
    uploads = server.server.surroundings.directory / "uploads"
    return [
        path.read_bytes()
        for kind in ("attachments", "assets")
        for path in (uploads / kind).rglob("*")
        if path.is_file()
    ]


def told_secrets(*files: bytes) -> list[bytes]:
    return [secret for file in files for secret in SECRETS if secret in file]


async def require_kept(world: World, attachment: dict[str, Any]) -> None:
    kept = (await fetch(world.anyone, attachment["url"])).body
    assert told_secrets(SENT)
    assert told_secrets(kept) == []
    assert (attachment["width"], attachment["height"]) == (24, 48)
    assert attachment["size"] == len(kept) < len(SENT)
    assert attachment["content_hash"] == hashlib.sha256(kept).hexdigest()


async def test_an_attachment_of_a_form(chat_world: World) -> None:
    body = form([("files[0]", "home.jpg", SENT)])
    sent = (await post_form(chat_world.alice.rest, messages(chat_world), body)).expect(200)
    await require_kept(chat_world, sent["attachments"][0])


async def test_an_upload_before_the_message(chat_world: World) -> None:
    bob = chat_world.bob.rest
    (upload,) = await promised(bob, chat_world.channel_id, ("home.jpg", len(SENT)))
    assert (await put(chat_world, upload, SENT)).status in {200, 204}
    sent = (await bob.post(messages(chat_world), {"attachments": [reference(upload)]})).expect(200)
    await require_kept(chat_world, sent["attachments"][0])


async def test_a_file_of_a_webhook(chat_world: World) -> None:
    hook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    body = form([("files[0]", "home.jpg", SENT)])
    sent = (await post_form(chat_world.anyone, f"{webhook_path(hook)}?wait=true", body)).expect(200)
    await require_kept(chat_world, sent["attachments"][0])


async def test_images_of_every_field(chat_world: World, chat_server: ChatServer) -> None:
    alice, guild, picture = chat_world.alice.rest, f"/v1/guilds/{chat_world.guild_id}", data_uri(SENT)
    (await alice.patch("/v1/users/@me", {"avatar": picture, "banner": picture})).expect(200)
    (await alice.patch(f"{guild}/members/@me", {"avatar": picture})).expect(200)
    (await alice.patch(guild, {"icon": picture})).expect(200)
    (await alice.post(f"{guild}/emojis", {"name": "wave", "image": picture})).expect(200)
    (await alice.post(f"{guild}/stickers", {"name": "wave", "image": picture})).expect(200)
    path = f"/v1/channels/{chat_world.channel_id}/webhooks"
    (await alice.post(path, {"name": "A hook", "avatar": picture})).expect(200)
    found = kept_files(chat_server)
    assert len(found) == 7
    assert told_secrets(*found) == []
    rows = chat_server.database.reader.execute("SELECT width, height, size, hash FROM assets").fetchall()
    digest = hashlib.sha256(found[0]).hexdigest()[:32]
    assert set(rows) == {(24, 48, len(found[0]), digest)}


@pytest.mark.chat_settings(**{"media.metadata": "keep"})
async def test_an_instance_that_keeps_it(chat_world: World) -> None:
    body = form([("files[0]", "home.jpg", SENT)])
    sent = (await post_form(chat_world.alice.rest, messages(chat_world), body)).expect(200)
    assert (await fetch(chat_world.anyone, sent["attachments"][0]["url"])).body == SENT
    assert (sent["attachments"][0]["width"], sent["attachments"][0]["height"]) == (24, 48)


async def test_a_file_that_only_claims_to_be_a_picture_stays(chat_world: World) -> None:
    for data in (b"\xff\xd8\xff\xe1 Berlin", b"\x89PNG\r\n\x1a\n Berlin", b"GIF89a", b"\0\0\0\x10ftypheic Berlin"):
        body = form([("files[0]", "a.bin", data)])
        sent = (await post_form(chat_world.alice.rest, messages(chat_world), body)).expect(200)
        assert (await fetch(chat_world.anyone, sent["attachments"][0]["url"])).body == data


async def test_what_follows_a_picture_is_neither_kept_nor_served(chat_world: World, chat_server: ChatServer) -> None:
    polyglot = SENT + b"PK\3\4" + bytes(6_000_000)
    (await chat_world.alice.rest.patch("/v1/users/@me", {"avatar": data_uri(polyglot)})).expect(200)
    (kept,) = kept_files(chat_server)
    assert len(kept) < len(SENT)
    assert kept.endswith(b"\xff\xd9")


@pytest.mark.parametrize("is_sent", [True, False])
async def test_a_blocked_file_is_refused_by_what_was_sent_and_by_what_is_kept(chat_world: World, is_sent: bool) -> None:
    body = form([("files[0]", "home.jpg", SENT)])
    first = (await post_form(chat_world.alice.rest, messages(chat_world), body)).expect(200)["attachments"][0]
    digest = hashlib.sha256(SENT).hexdigest() if is_sent else first["content_hash"]
    await block(chat_world, "file_sha", digest)
    answer = await post_form(chat_world.alice.rest, messages(chat_world), body)
    assert (answer.status, answer.code) == (403, "CONTENT_BLOCKED")
    answer = await chat_world.alice.rest.patch("/v1/users/@me", {"avatar": data_uri(SENT)})
    assert (answer.status, answer.code) == (403, "CONTENT_BLOCKED")


@pytest.mark.parametrize(("kind", "most"), [("emojis", 384 * 1_024), ("stickers", 512 * 1_024)])
async def test_emojis_and_stickers_have_a_size_of_their_own(chat_world: World, kind: str, most: int) -> None:
    alice, path = chat_world.alice.rest, f"/v1/guilds/{chat_world.guild_id}/{kind}"
    full = SENT + bytes(most - len(SENT))
    (await alice.post(path, {"name": "wave", "image": data_uri(full)})).expect(200)
    refused = await alice.post(path, {"name": "wave", "image": data_uri(full + b"\0")})
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
    assert [(error["path"], error["code"]) for error in refused.json()["errors"]] == [
        ("image", "IMAGE_SIZE_EXCEEDS_LIMIT")
    ]
    many = (await alice.post(f"{path}/bulk", {kind: [{"name": "wave", "image": data_uri(full + b"\0")}]})).expect(200)
    assert (many["success"], len(many["failed"])) == ([], 1)
    (await alice.patch("/v1/users/@me", {"avatar": data_uri(full + b"\0")})).expect(200)
    told = orjson.dumps((await chat_world.anyone.request("GET", "/.well-known/chat")).json())
    assert b'"%s_max_size":%d' % (kind.removesuffix("s").encode(), most) in told.replace(b" ", b"")


async def test_the_description_of_a_sticker_has_a_hundred_characters(chat_world: World) -> None:
    path, picture = f"/v1/guilds/{chat_world.guild_id}/stickers", data_uri(SENT)
    made = {"name": "wave", "image": picture, "description": "x" * 100}
    (await chat_world.alice.rest.post(path, made)).expect(200)
    refused = await chat_world.alice.rest.post(path, {**made, "description": "x" * 101})
    assert [(error["path"], error["code"]) for error in refused.json()["errors"]] == [
        ("description", "STRING_LENGTH_INVALID")
    ]
