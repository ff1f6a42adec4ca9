"""Forms as curl, browsers and the libraries of other programs send them, to every route that takes a message: no word
of them is lost."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest

from chat.testing.rest_client import Response
from chat.testing.world import World
from tests.threads.thread_world import FORUM, channel, knowing, refused
from tests.webhooks.surfaces import BOUNDARY, FORM_HEADERS, new_webhook, webhook_path

URLENCODED = {"Content-Type": "application/x-www-form-urlencoded"}

Fields = Mapping[str, str]
Send = Callable[[World, bytes, Mapping[str, str]], Awaitable[Response]]


def in_parts(fields: Fields, *files: tuple[str, str, bytes]) -> bytes:
    """What `curl -F` sends: fields, and files as (field, name, bytes)."""
    parts = [f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode() for name, value in fields.items()]
    parts += [
        f'Content-Disposition: form-data; name="{field}"; filename="{name}"\r\n'
        f"Content-Type: application/octet-stream\r\n\r\n".encode()
        + data
        for field, name, data in files
    ]
    return b"".join(f"--{BOUNDARY}\r\n".encode() + part + b"\r\n" for part in parts) + f"--{BOUNDARY}--\r\n".encode()


async def _message(world: World, body: bytes, headers: Mapping[str, str]) -> Response:
    path = f"/v1/channels/{world.channel_id}/messages"
    return await world.alice.rest.request("POST", path, body=body, headers=headers)


async def _edit(world: World, body: bytes, headers: Mapping[str, str]) -> Response:
    sent = (await world.alice.rest.send_message(world.channel_id, "before")).expect(200)
    path = f"/v1/channels/{world.channel_id}/messages/{sent['id']}"
    return await world.alice.rest.request("PATCH", path, body=body, headers=headers)


async def _hook(world: World) -> dict[str, Any]:
    """The webhook of the channel: one, since a channel holds few."""
    made: list[dict[str, Any]] = (await world.alice.rest.get(f"/v1/channels/{world.channel_id}/webhooks")).expect(200)
    return made[0] if made else await new_webhook(world.alice.rest, world.channel_id)


async def _webhook(world: World, body: bytes, headers: Mapping[str, str]) -> Response:
    webhook = await _hook(world)
    return await world.anyone.request("POST", f"{webhook_path(webhook)}?wait=true", body=body, headers=headers)


async def _webhook_edit(world: World, body: bytes, headers: Mapping[str, str]) -> Response:
    webhook = await _hook(world)
    said = (await world.anyone.post(f"{webhook_path(webhook)}?wait=true", {"content": "before"})).expect(200)
    path = f"{webhook_path(webhook)}/messages/{said['id']}"
    return await world.anyone.request("PATCH", path, body=body, headers=headers)


ROUTES: dict[str, Send] = {"message": _message, "edit": _edit, "webhook": _webhook, "webhook edit": _webhook_edit}


@pytest.mark.parametrize("route", ROUTES)
async def test_words_come_in_a_form_with_and_without_a_file(chat_world: World, route: str) -> None:
    send = ROUTES[route]
    file = ("file", "a.txt", b"hi")
    fields = {"content": "hi räuber & co", "embeds": '[{"title":"t"}]', "flags": "4096"}
    for body, headers, files in (
        (in_parts(fields, file), FORM_HEADERS, 1),
        (in_parts(fields), FORM_HEADERS, 0),
        (
            in_parts({"payload_json": json.dumps({**fields, "embeds": [{"title": "t"}], "flags": 0})}, file),
            FORM_HEADERS,
            1,
        ),
        (urlencode(fields).encode(), URLENCODED, 0),
        ('content=hi räuber %26 co&embeds=[{"title":"t"}]'.encode(), URLENCODED, 0),  # as `curl -d` sends it
        (
            urlencode({"payload_json": '{"content": "hi räuber & co", "embeds": [{"title": "t"}]}'}).encode(),
            URLENCODED,
            0,
        ),
    ):
        said = (await send(chat_world, body, headers)).expect(200)
        assert (said["content"], [embed["title"] for embed in said["embeds"]]) == ("hi räuber & co", ["t"])
        assert len(said["attachments"]) == files


@pytest.mark.parametrize("route", ROUTES)
async def test_what_nothing_reads_is_refused_by_its_name(chat_world: World, route: str) -> None:
    send = ROUTES[route]
    for fields, place in (
        ({"content": "hi", "contents": "lost"}, "contents"),
        ({"payload_json": '{"content": "hi"}', "content": "lost"}, "content"),
        ({"content": "hi", "embeds": "[{"}, "embeds"),
        ({"content": "hi", "embeds": '"title"'}, "embeds"),
        ({"content": "hi", "flags": "many"}, "flags"),
        ({"content": "hi", "flags": "1.5"}, "flags"),
        ({"payload_json": '{"content": "hi"'}, "body"),
    ):
        for body, headers in ((in_parts(fields), FORM_HEADERS), (urlencode(fields).encode(), URLENCODED)):
            answer = await send(chat_world, body, headers)
            assert answer.status == 400, (fields, answer.body)
            assert place in {error["path"].partition(".")[0] for error in answer.json()["errors"]}
    # What a shell did not escape falls apart, and is told.
    refused(await send(chat_world, b"content=salt&pepper", URLENCODED), 400, "INVALID_FORM_BODY", "pepper")
    refused(await send(chat_world, b"content=a&content=b", URLENCODED), 400, "INVALID_FORM_BODY", "content")
    refused(await send(chat_world, b"content=%ff", URLENCODED), 400, "INVALID_FORM_BODY", "content")
    many = "&".join(f"a{number}=x" for number in range(200)).encode()
    refused(await send(chat_world, many, URLENCODED), 400, "INVALID_FORM_BODY", "body")


async def test_every_kind_of_field_of_a_webhook(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    fields = {
        "content": "with words", "username": "Backup", "avatar_url": "https://x.example/a.png", "tts": "true",
        "nonce": "7", "allowed_mentions": '{"parse": []}', "flags": "4.0", "embeds": "", "message_reference": "",
    }  # fmt: skip
    path = f"{webhook_path(webhook)}?wait=true"
    body = in_parts(fields, ("file", "hostname", b"host\n"))
    said = (await chat_world.anyone.request("POST", path, body=body, headers=FORM_HEADERS)).expect(200)
    assert (said["content"], said["author"]["username"], said["tts"], said["nonce"], said["flags"]) == (
        "with words", "Backup", True, "7", 4,
    )  # fmt: skip
    assert [file["filename"] for file in said["attachments"]] == ["hostname"]


async def test_json_with_the_content_type_that_curl_gives_it(chat_world: World) -> None:
    """`curl -d '{...}'` says that it is a form."""
    for text in ('{"content": "hi"}', ' \n{"content": "hi"}'):
        assert (await _message(chat_world, text.encode(), URLENCODED)).expect(200)["content"] == "hi"


async def test_a_message_in_a_part_with_a_file_name(chat_world: World) -> None:
    """Browsers send a Blob as a file of the name `blob`, requests a text among its files as one of the field's name."""
    for name in ("blob", "payload_json"):
        body = in_parts({}, ("payload_json", name, b'{"content": "hi"}'), ("files[0]", "a.txt", b"x"))
        said = (await _message(chat_world, body, FORM_HEADERS)).expect(200)
        assert (said["content"], [file["filename"] for file in said["attachments"]]) == ("hi", ["a.txt"])


async def test_a_post_and_a_thread_by_a_form(chat_world: World) -> None:
    forum, client = await channel(chat_world, "help", FORUM), knowing(chat_world.bob)
    fields = {"name": "log", "message": '{"content": "see the file"}'}
    path = f"/v1/channels/{forum['id']}/threads"
    body = in_parts(fields, ("file", "log.txt", b"line"))
    made = (await client.request("POST", path, body=body, headers=FORM_HEADERS)).expect(201)
    assert (made["name"], made["message"]["content"], len(made["message"]["attachments"])) == ("log", "see the file", 1)
    made = (await client.request("POST", path, body=urlencode(fields).encode(), headers=URLENCODED)).expect(201)
    assert made["message"]["content"] == "see the file"
    sent = (await chat_world.alice.rest.send_message(chat_world.channel_id, "x")).expect(200)
    path = f"/v1/channels/{chat_world.channel_id}/messages/{sent['id']}/threads"
    started = await client.request("POST", path, body=b"name=of+it&auto_archive_duration=60", headers=URLENCODED)
    assert started.expect(201)["name"] == "of it"


async def test_stickers_and_tags_may_be_named_one_by_one(chat_world: World) -> None:
    """A list is JSON, or a field for each item."""
    for body in (b"content=x&sticker_ids=1", b"content=x&sticker_ids=1&sticker_ids=2", b"content=x&sticker_ids=[1,2]"):
        refused(await _message(chat_world, body, URLENCODED), 404, "UNKNOWN_STICKER")
    wrong = await _message(chat_world, b"content=x&sticker_ids=one", URLENCODED)
    refused(wrong, 400, "INVALID_FORM_BODY", "sticker_ids.0", "INVALID_SNOWFLAKE_FORMAT")
    said = (await _message(chat_world, b'embeds={"title":"a"}&embeds={"title":"b"}', URLENCODED)).expect(200)
    assert [embed["title"] for embed in said["embeds"]] == ["a", "b"]
