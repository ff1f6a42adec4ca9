"""Files on their way into messages: by form, and by an upload before the message; what is left behind, which is
nothing."""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest
import trio
import trio.testing

from chat.clock import iso_timestamp
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.clients import Exchange
from tests.media.moving_samples import SAMPLES
from tests.patience import PATIENCE_SECONDS
from tests.webhooks.surfaces import (
    BOUNDARY,
    FORM_HEADERS,
    fetch,
    form,
    new_webhook,
    png,
    post_form,
    promised,
    target,
    webhook_path,
)


def stored_files(server: ChatServer) -> list[Path]:
    """Everything below `uploads/`."""
    uploads = server.server.surroundings.directory / "uploads"
    return sorted(path for path in uploads.rglob("*") if path.is_file())


async def put(world: World, upload: dict[str, Any], data: bytes) -> Response:
    """Send the bytes of a promised upload, as nobody in particular."""
    return await world.anyone.request("PUT", target(upload["upload_url"]), body=data)


def reference(upload: dict[str, Any], **members: object) -> dict[str, object]:
    """How a message names an upload."""
    return {"id": upload["id"], "uploaded_filename": upload["upload_filename"], **members}


async def test_a_message_brings_files_in_a_form(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect()
    payload = {
        "content": "look",
        "attachments": [{"id": 1, "filename": "renamed.txt", "title": "Notes", "description": "of a day"}],
    }
    image, text = png(30, 20), "räuber\n".encode()
    body = form([("files[0]", "a picture.png", image), ("files[1]", "b.txt", text)], orjson.dumps(payload))
    sent = (await post_form(chat_world.alice.rest, messages(chat_world), body)).expect(200)
    notes, picture = sent["attachments"]  # what the array names comes first
    assert {**picture, "id": "", "url": "", "proxy_url": ""} == {
        "id": "", "filename": "a picture.png", "title": None, "description": None, "content_type": "image/png",
        "content_hash": hashlib.sha256(image).hexdigest(), "size": len(image), "url": "", "proxy_url": "", "flags": 0,
        "expires_at": ended_at(picture["url"]), "width": 30, "height": 20,
        "placeholder": "SOcBBYAOS02IiIiEiJiIhbGAGX+3",
    }  # fmt: skip
    assert (notes["filename"], notes["title"], notes["description"]) == ("renamed.txt", "Notes", "of a day")
    assert notes["content_type"] == "text/plain; charset=utf-8"
    assert "width" not in notes
    assert picture["url"] == picture["proxy_url"]
    heard = (await bob.expect("MESSAGE_CREATE")).data
    assert heard["attachments"] == sent["attachments"]
    assert (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200)[0] == sent
    assert (await fetch(chat_world.anyone, picture["url"])).body == image
    assert (await fetch(chat_world.anyone, notes["url"])).body == text
    assert len(stored_files(chat_server)) == 2


def ended_at(address: str) -> str:
    """The moment at which a signed address ends, as the address itself says."""
    return iso_timestamp(int(parse_qs(urlsplit(address).query)["ex"][0], 16) * 1_000)


async def test_an_attachment_tells_when_its_address_ends(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    body = form([("files[0]", "b.txt", b"text")], orjson.dumps({"content": "look"}))
    (await post_form(chat_world.alice.rest, messages(chat_world), body)).expect(200)
    for _ in range(3):
        [message] = (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200)
        [file] = message["attachments"]
        assert file["expires_at"] == ended_at(file["url"])
        assert (await fetch(chat_world.anyone, file["url"])).status == 200
        now = (await chat_world.anyone.get("/v1/_dev/clock")).expect(200)["now"]
        left = datetime.fromisoformat(file["expires_at"]) - datetime.fromisoformat(now)
        await chat_world.anyone.advance_clock(int(left.total_seconds() * 1_000))
        assert (await fetch(chat_world.anyone, file["url"])).status == 404


def messages(world: World) -> str:
    return f"/v1/channels/{world.channel_id}/messages"


async def test_files_stand_in_the_order_of_the_array(chat_world: World) -> None:
    """Those of the form and earlier uploads mixed, what the array does not name behind."""
    bob, image = chat_world.bob.rest, png(8, 9)
    (upload,) = await promised(bob, chat_world.channel_id, ("early.png", len(image)))
    (await put(chat_world, upload, image)).expect(200)
    files = [(f"files[{number}]", f"{number}.png", image) for number in range(4)]
    payload = {"attachments": [{"id": 2}, reference(upload), {"id": 0}]}
    sent = (await post_form(bob, messages(chat_world), form(files, orjson.dumps(payload)))).expect(200)
    assert [file["filename"] for file in sent["attachments"]] == ["2.png", "early.png", "0.png", "1.png", "3.png"]
    assert (await bob.messages(chat_world.channel_id)).expect(200)[0] == sent


async def test_a_file_is_enough_for_a_message(chat_world: World) -> None:
    sent = (await post_form(chat_world.bob.rest, messages(chat_world), form([("file", "a.bin", b"\0\1")]))).expect(200)
    assert (sent["content"], len(sent["attachments"])) == ("", 1)
    assert sent["attachments"][0]["content_type"] == "application/octet-stream"
    empty = await post_form(chat_world.bob.rest, messages(chat_world), form([]))
    assert (empty.status, empty.code) == (400, "CANNOT_SEND_EMPTY_MESSAGE")


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/", "file"),
        ("..", "file"),
        ("", "file"),
        (".htaccess", ".htaccess"),
        ("a\u202egpj.exe", "agpj.exe"),
        ("tab\tnew.txt", "tabnew.txt"),
        ("q%22.txt", "q%22.txt"),
        ('a"b<c>.txt', "a_b_c_.txt"),
        ("x" * 300 + ".png", "x" * 251 + ".png"),
        ("語" * 200 + ".png", "語" * 83 + ".png"),
        ("😀.gif", "😀.gif"),
        ("SPOILER_x.png", "SPOILER_x.png"),
    ],
)
async def test_tricks_with_file_names(chat_world: World, chat_server: ChatServer, sent: str, shown: str) -> None:
    answer = await post_form(chat_world.bob.rest, messages(chat_world), form([("files[0]", sent, png())]))
    attachment = answer.expect(200)["attachments"][0]
    assert attachment["filename"] == shown
    assert attachment["flags"] == (8 if shown.startswith("SPOILER_") else 0)
    assert (await fetch(chat_world.anyone, attachment["url"])).body == png()
    root = chat_server.server.surroundings.directory
    assert [path.parent.parent for path in stored_files(chat_server)] == [root / "uploads" / "attachments"]


async def test_a_file_is_what_its_bytes_say(chat_world: World) -> None:
    for data, kind in (
        (png(), "image/png"),
        (b"<html><script>alert(1)</script>", "text/plain; charset=utf-8"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "text/plain; charset=utf-8"),
        (b"MZ\x90\0", "application/octet-stream"),
        (b"%PDF-1.7", "application/pdf"),
        (b"PK\x03\x04....", "application/zip"),
        (b"\0\0\0\x18ftypmp42", "video/mp4"),
        (b"", "text/plain; charset=utf-8"),
    ):
        sent = await post_form(chat_world.bob.rest, messages(chat_world), form([("files[0]", "cat.png", data)]))
        attachment = sent.expect(200)["attachments"][0]
        assert attachment["content_type"] == kind
        shown = await fetch(chat_world.anyone, attachment["url"])
        assert (shown.status, shown.body, shown.header("Content-Type")) == (200, data, kind)


@pytest.mark.chat_settings(**{"limits.attachment_max_size": 1_000, "limits.max_attachments_per_message": 2})
async def test_limits_of_a_form(chat_world: World, chat_server: ChatServer) -> None:
    bob, path = chat_world.bob.rest, messages(chat_world)
    (await post_form(bob, path, form([("files[0]", "a", b"x" * 1_000), ("files[1]", "b", b"x" * 1_000)]))).expect(200)
    large = await post_form(bob, path, form([("files[0]", "a", b"x" * 1_001)]))
    assert (large.status, large.code) == (400, "FILE_SIZE_TOO_LARGE")
    many = await post_form(bob, path, form([(f"files[{number}]", "a", b"x") for number in range(3)]))
    assert (many.status, many.json()["errors"][0]["code"]) == (400, "TOO_MANY_FILES")
    huge = await post_form(bob, path, form([("files[0]", "a", b"x" * 3_000_000)]))
    assert (huge.status, huge.code) == (413, "PAYLOAD_TOO_LARGE")
    field = await post_form(bob, path, form([], b" " * 1_100_000))
    assert (field.status, field.code) == (413, "PAYLOAD_TOO_LARGE")
    assert len(stored_files(chat_server)) == 2


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        (b"", "body", "INVALID_FORMAT"),
        (b"nonsense", "body", "INVALID_FORMAT"),
        (form([("files[0]", "a", b"x")])[:-10], "body", "INVALID_FORMAT"),
        (form([], b"{"), "body", "INVALID_FORMAT"),
        (form([], b"[]"), "root", "INVALID_FORMAT"),
        (form([], b'{"content": "\xff"}'), "body", "INVALID_FORMAT"),
        (form([("files[0]", "a", b"x")], b'{"attachments": [{"id": 1}]}'), "attachments", "INVALID_FORMAT"),
        (form([("files[0]", "a", b"x"), ("files[0]", "b", b"y")]), "files", "INVALID_FORMAT"),
        (form([("files[0]", "a", b"x")], b'{"content": 5}'), "content", "INVALID_FORMAT"),
        (form([("f" * 9_000, "a", b"x")]), "body", "INVALID_FORMAT"),
    ],
)
async def test_what_is_wrong_with_a_form(
    chat_world: World, chat_server: ChatServer, body: bytes, path: str, code: str
) -> None:
    answer = await post_form(chat_world.bob.rest, messages(chat_world), body)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert [(error["path"], error["code"]) for error in answer.json()["errors"]] == [(path, code)]
    assert stored_files(chat_server) == []
    for kind in ("multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=" + "x" * 300):
        headers = {"Content-Type": kind}
        answer = await chat_world.bob.rest.request("POST", messages(chat_world), body=b"x", headers=headers)
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")


async def test_whoever_may_not_attach_is_refused_before_the_files_come(
    chat_world: World, chat_server: ChatServer, exchange: Exchange, autojump_clock: trio.testing.MockClock
) -> None:
    head = (
        f"POST {messages(chat_world)} HTTP/1.1\r\nHost: x\r\nAuthorization: {chat_world.admin.token}\r\n"
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: 1000000\r\n\r\n"
    )
    answer = await exchange(head.encode() + form([("files[0]", "a", b"x")])[:50])
    assert answer.startswith(b"HTTP/1.1 403")
    assert stored_files(chat_server) == []


async def test_a_form_that_breaks_off_leaves_nothing_behind(chat_world: World, chat_server: ChatServer) -> None:
    body = form([("files[0]", "a.png", png(filler=b"x" * 600_000))])
    for cut in (200, 300_000, len(body) - 20):
        stream = await chat_server.route().connect()
        head = (
            f"POST {messages(chat_world)} HTTP/1.1\r\nHost: x\r\nAuthorization: {chat_world.bob.token}\r\n"
            f"Content-Type: {FORM_HEADERS['Content-Type']}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        await stream.send_all(head.encode() + body[:cut])
        await trio.testing.wait_all_tasks_blocked()
        await trio.aclose_forcefully(stream)
        await trio.testing.wait_all_tasks_blocked(0.01)
        assert stored_files(chat_server) == []
    assert (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200) == []


async def test_a_refused_message_leaves_no_files_behind(chat_world: World, chat_server: ChatServer) -> None:
    body = form([("files[0]", "a.png", png())], orjson.dumps({"content": "x" * 5_000}))
    assert (await post_form(chat_world.bob.rest, messages(chat_world), body)).status == 400
    await chat_world.anyone.node(storage_failing=True)
    answer = await post_form(chat_world.bob.rest, messages(chat_world), form([("files[0]", "a.png", png())]))
    assert (answer.status, answer.code) == (503, "SERVICE_UNAVAILABLE")
    await chat_world.anyone.node(storage_failing=False)
    again = form([("files[0]", "a.png", png())], orjson.dumps({"content": "x", "nonce": "n"}))
    first = (await post_form(chat_world.bob.rest, messages(chat_world), again)).expect(200)
    assert (await post_form(chat_world.bob.rest, messages(chat_world), again)).expect(200)["id"] == first["id"]
    assert len(stored_files(chat_server)) == 1


async def test_an_upload_before_the_message(chat_world: World, chat_server: ChatServer) -> None:
    bob = chat_world.bob.rest
    image = png(8, 9)
    (upload,) = await promised(bob, chat_world.channel_id, ("../pic.png", len(image)))
    assert (upload["id"], upload["filename"]) == ("0", "pic.png")
    assert chat_world.bob.token not in upload["upload_url"]
    complete = f"/v1/channels/{chat_world.channel_id}/attachments/complete"
    named = {"attachments": [{"upload_filename": upload["upload_filename"]}]}
    early = await bob.post(complete, named)
    assert (early.status, early.code) == (400, "INVALID_FORM_BODY")
    stored = (await put(chat_world, upload, image)).expect(200)
    assert (stored["size"], stored["content_type"], stored["width"], stored["height"]) == (
        len(image),
        "image/png",
        8,
        9,
    )
    assert (await bob.post(complete, named)).expect(200) == {"attachments": [stored]}
    sent = (await bob.post(messages(chat_world), {"attachments": [reference(upload, title="T")]})).expect(200)
    (attachment,) = sent["attachments"]
    assert (attachment["filename"], attachment["title"], attachment["width"]) == ("pic.png", "T", 8)
    assert (await fetch(chat_world.anyone, attachment["url"])).body == image
    # It is used up: the address takes nothing more, and no second message has it.
    for answer in (await put(chat_world, upload, image), await fetch(chat_world.anyone, upload["upload_url"])):
        assert (answer.status, answer.code) == (404, "NOT_FOUND")
    second = await bob.post(messages(chat_world), {"attachments": [reference(upload)]})
    assert second.json()["errors"][0]["path"] == "attachments.0.uploaded_filename"
    assert len(stored_files(chat_server)) == 1


async def test_an_upload_belongs_to_who_asked_for_it_and_to_its_channel(chat_world: World) -> None:
    bob = chat_world.bob.rest
    (upload,) = await promised(bob, chat_world.channel_id, ("a.txt", 1))
    (await put(chat_world, upload, b"x")).expect(200)
    body = {"attachments": [reference(upload)]}
    for answer in (
        await chat_world.alice.rest.post(messages(chat_world), body),
        await bob.post(f"/v1/channels/{chat_world.voice_channel_id}/messages", body),
        await bob.post(messages(chat_world), {"attachments": [{"uploaded_filename": "1/a.txt"}]}),
        await bob.post(messages(chat_world), {"attachments": [{"uploaded_filename": "x" * 500}]}),
        await bob.post(messages(chat_world), {"attachments": [{"uploaded_filename": "²/a"}]}),
        await bob.post(messages(chat_world), {"attachments": [reference(upload), reference(upload)]}),
    ):
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200) == []
    (await bob.post(messages(chat_world), body)).expect(200)


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for what a server does in threads."""
    with trio.fail_after(PATIENCE_SECONDS):
        while not is_so():  # noqa: ASYNC110 - nothing tells of the change
            await trio.sleep(0.01)


async def test_an_upload_has_exactly_the_bytes_that_were_promised(
    chat_world: World, chat_server: ChatServer, exchange: Exchange
) -> None:
    (upload,) = await promised(chat_world.bob.rest, chat_world.channel_id, ("a.bin", 1_000))
    more = await put(chat_world, upload, b"x" * 1_001)
    assert (more.status, more.code) == (413, "PAYLOAD_TOO_LARGE")
    fewer = await put(chat_world, upload, b"x" * 999)
    assert (fewer.status, fewer.code) == (400, "BAD_REQUEST")
    head = f"PUT {target(upload['upload_url'])} HTTP/1.1\r\nHost: x\r\n"
    chunk = b"3e8\r\n" + b"x" * 1_000 + b"\r\n"
    endless = await exchange(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunk * 3)
    assert endless.startswith(b"HTTP/1.1 413")
    lying = await exchange(f"{head}Content-Length: 1000000\r\n\r\n".encode() + b"x" * 200_000)
    assert lying.startswith(b"HTTP/1.1 413")
    uploads = chat_server.server.areas.messages.uploads
    await until(lambda: not uploads.under_way)
    stream = await chat_server.route().connect()
    await stream.send_all(f"{head}Content-Length: 1000\r\n\r\n".encode() + b"x" * 999)
    await until(lambda: uploads.under_way == 1)
    # While it is under way, another upload may not begin; once it broke off, it may.
    assert (await put(chat_world, upload, b"y" * 1_000)).status == 404
    await trio.aclose_forcefully(stream)
    await until(lambda: not uploads.under_way)
    assert stored_files(chat_server) == []
    (await put(chat_world, upload, b"y" * 1_000)).expect(200)


async def test_an_upload_expires(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    bob = chat_world.bob.rest
    early, late = await promised(bob, chat_world.channel_id, ("early", 1), ("late", 1))
    (await put(chat_world, early, b"x")).expect(200)
    assert len(stored_files(chat_server)) == 1
    await trio.sleep(3_601)
    never = await chat_world.anyone.request("PUT", "/media/relay/" + "A" * 43, body=b"x")
    expired = await put(chat_world, late, b"x")
    assert (expired.status, expired.body) == (never.status, never.body) == (404, never.body)
    answer = await bob.post(messages(chat_world), {"attachments": [reference(early)]})
    assert answer.json()["errors"][0]["path"] == "attachments.0.uploaded_filename"
    await trio.sleep(1_300)
    assert stored_files(chat_server) == []
    assert chat_server.database.reader.execute("SELECT count(*) FROM attachments").fetchone() == (0,)


@pytest.mark.chat_settings(**{"limits.user_storage": 2_000, "limits.attachment_max_size": 1_500})
async def test_an_account_stores_only_so_much(chat_world: World, chat_server: ChatServer) -> None:
    bob, path = chat_world.bob.rest, f"/v1/channels/{chat_world.channel_id}/attachments"
    over = await bob.post(path, {"files": [{"filename": "a", "file_size": 1_501}]})
    assert (over.status, over.code) == (400, "FILE_SIZE_TOO_LARGE")
    await promised(bob, chat_world.channel_id, ("a", 1_000))
    full = await bob.post(path, {"files": [{"filename": "a", "file_size": 1_001}]})
    assert (full.status, full.code) == (400, "FILE_SIZE_TOO_LARGE")
    form_too = await post_form(bob, messages(chat_world), form([("files[0]", "a", b"x" * 1_001)]))
    assert (form_too.status, form_too.code) == (400, "FILE_SIZE_TOO_LARGE")
    assert stored_files(chat_server) == []
    sent = (await post_form(bob, messages(chat_world), form([("files[0]", "a", b"x" * 1_000)]))).expect(200)
    (await chat_world.alice.rest.post(path, {"files": [{"filename": "a", "file_size": 1_500}]})).expect(200)
    (await bob.delete_message(chat_world.channel_id, sent["id"])).expect(204)
    (await post_form(bob, messages(chat_world), form([("files[0]", "a", b"x" * 1_000)]))).expect(200)


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({}, "files", "INVALID_FORMAT"),
        ({"files": []}, "files", "INVALID_FORMAT"),
        ({"files": [{"file_size": 1}]}, "files.0.filename", "INVALID_FORMAT"),
        ({"files": [{"filename": "a", "file_size": 0}]}, "files.0.file_size", "INVALID_FORMAT"),
        ({"files": [{"filename": "a", "file_size": -1}]}, "files.0.file_size", "INVALID_FORMAT"),
        ({"files": [{"filename": "a", "file_size": 1}] * 11}, "files", "TOO_MANY_FILES"),
        ({"files": [{"filename": "a", "file_size": 1}] * 101}, "files", "TOO_MANY_FILES"),
    ],
)
async def test_what_is_wrong_with_a_promise(chat_world: World, body: object, path: str, code: str) -> None:
    answer = await chat_world.bob.rest.post(f"/v1/channels/{chat_world.channel_id}/attachments", body)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert (answer.json()["errors"][0]["path"], answer.json()["errors"][0]["code"]) == (path, code)


async def test_files_go_with_their_message(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    bob = chat_world.bob.rest
    body = form([("files[0]", "a.png", png()), ("files[1]", "b.png", png(5, 5))])
    sent = (await post_form(bob, messages(chat_world), body)).expect(200)
    first, second = sent["attachments"]
    path = f"{messages(chat_world)}/{sent['id']}"
    stranger = await bob.patch(path, {"attachments": [{"id": "1"}]})
    assert (stranger.status, stranger.code) == (400, "INVALID_FORM_BODY")
    edited = (await bob.patch(path, {"attachments": [{"id": second["id"]}]})).expect(200)
    assert edited["attachments"] == [second]
    assert (await fetch(chat_world.anyone, first["url"])).status == 404
    emptied = await bob.patch(path, {"attachments": []})
    assert (emptied.status, emptied.code) == (400, "CANNOT_SEND_EMPTY_MESSAGE")
    assert (await bob.patch(path, {"content": "text"})).expect(200)["attachments"] == [second]
    assert (await bob.patch(path, {"attachments": []})).expect(200)["attachments"] == []
    other = (await post_form(bob, messages(chat_world), body)).expect(200)
    (await bob.delete_message(chat_world.channel_id, other["id"])).expect(204)
    assert (await fetch(chat_world.anyone, other["attachments"][0]["url"])).status == 404
    await trio.sleep(1_300)
    assert stored_files(chat_server) == []


async def test_a_webhook_sends_files(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    body = form([("files[0]", "a.png", png(7, 7))], b'{"username": "Painter"}')
    sent = (await post_form(chat_world.anyone, f"{webhook_path(webhook)}?wait=true", body)).expect(200)
    assert (sent["author"]["username"], sent["attachments"][0]["width"]) == ("Painter", 7)
    assert (await fetch(chat_world.anyone, sent["attachments"][0]["url"])).body == png(7, 7)
    shown = (await chat_world.anyone.get(f"{webhook_path(webhook)}/messages/{sent['id']}")).expect(200)
    assert shown == sent


async def test_an_answer_shows_the_files_of_what_it_answers(chat_world: World) -> None:
    sent = (await post_form(chat_world.bob.rest, messages(chat_world), form([("f", "a.png", png())]))).expect(200)
    body = {"content": "nice", "message_reference": {"message_id": sent["id"]}}
    answer = (await chat_world.alice.rest.post(messages(chat_world), body)).expect(200)
    assert answer["referenced_message"]["attachments"] == sent["attachments"]


async def test_what_a_killed_server_left_is_cleared_away(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    sent = (await post_form(chat_world.bob.rest, messages(chat_world), form([("f", "a.png", png())]))).expect(200)
    (kept,) = stored_files(chat_server)
    uploads = chat_server.server.surroundings.directory / "uploads"
    for left in (uploads / "incoming" / "7", kept.with_name("5"), uploads / "assets" / "00" / "9"):
        left.parent.mkdir(parents=True, exist_ok=True)
        left.write_bytes(b"x")
    foreign = uploads / "attachments" / "00" / "operator's note"
    foreign.parent.mkdir(exist_ok=True)
    foreign.write_bytes(b"x")
    await chat_server.stop()
    await chat_server.start()
    await trio.sleep(1)
    assert stored_files(chat_server) == sorted([kept, foreign])
    assert (await fetch(chat_world.anyone, sent["attachments"][0]["url"])).body == png()


async def test_the_world_is_reset_with_its_files(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    (await post_form(chat_world.bob.rest, messages(chat_world), form([("f", "a.png", png())]))).expect(200)
    (await chat_world.anyone.post("/v1/_dev/reset")).expect(204)
    await trio.sleep(1_300)
    assert stored_files(chat_server) == []


async def test_only_so_many_forms_of_one_account_arrive_at_a_time(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    body = form([("files[0]", "a.png", png(filler=b"x" * 10_000))])
    head = (
        f"POST {messages(chat_world)} HTTP/1.1\r\nHost: x\r\nAuthorization: {chat_world.bob.token}\r\n"
        f"Content-Type: {FORM_HEADERS['Content-Type']}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    streams = []
    for _ in range(4):
        stream = await chat_server.route().connect()
        await stream.send_all(head.encode() + body[:1_000])
        streams.append(stream)
    await trio.sleep(0.1)
    fifth = await post_form(chat_world.bob.rest, messages(chat_world), body)
    assert (fifth.status, fifth.code) == (429, "RATE_LIMITED")
    (await post_form(chat_world.alice.rest, messages(chat_world), body)).expect(200)
    await streams[0].send_all(body[1_000:])
    assert (await streams[0].receive_some(65_536)).startswith(b"HTTP/1.1 200")
    await trio.aclose_forcefully(streams[1])
    await trio.sleep(0.1)
    for _ in range(2):
        (await post_form(chat_world.bob.rest, messages(chat_world), body)).expect(200)
    await trio.sleep(120)  # the others took too long
    assert chat_server.server.areas.messages.uploads._forms == {}
    assert len(stored_files(chat_server)) == 4


async def test_files_in_a_conversation_of_two(chat_world: World) -> None:
    opened = (await chat_world.alice.rest.post("/v1/users/@me/channels", {"recipient_id": chat_world.bob.id})).expect(
        200
    )
    path = f"/v1/channels/{opened['id']}/messages"
    sent = (await post_form(chat_world.alice.rest, path, form([("f", "a.png", png())]))).expect(200)
    (shown,) = (await chat_world.bob.rest.get(path)).expect(200)
    assert shown == sent
    assert (await fetch(chat_world.anyone, shown["attachments"][0]["url"])).body == png()
    stranger = await post_form(chat_world.carol.rest, path, form([("f", "a.png", png())]))
    assert (stranger.status, stranger.code) == (404, "UNKNOWN_CHANNEL")


@pytest.mark.chat_settings(**{"media.storage_bytes": 5_000})
async def test_all_accounts_together_store_only_so_much(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    path = f"/v1/channels/{chat_world.channel_id}/attachments"
    sent = (await post_form(chat_world.bob.rest, messages(chat_world), form([("files[0]", "a", b"x" * 3_000)]))).expect(
        200
    )
    await promised(chat_world.alice.rest, chat_world.channel_id, ("b", 1_500))
    for answer in (
        await post_form(chat_world.carol.rest, messages(chat_world), form([("files[0]", "a", b"x" * 501)])),
        await chat_world.carol.rest.post(path, {"files": [{"filename": "a", "file_size": 501}]}),
    ):
        assert (answer.status, answer.code) == (400, "FILE_SIZE_TOO_LARGE")
    assert len(stored_files(chat_server)) == 1
    (await chat_world.bob.rest.delete_message(chat_world.channel_id, sent["id"])).expect(204)
    (await post_form(chat_world.carol.rest, messages(chat_world), form([("files[0]", "a", b"x" * 3_500)]))).expect(200)
    await trio.sleep(5_000)  # what was promised has not come
    body = form([("files[0]", "a", b"x" * 1_500)])
    (await post_form(chat_world.alice.rest, messages(chat_world), body)).expect(200)
    full = await post_form(chat_world.alice.rest, messages(chat_world), form([("files[0]", "a", b"x")]))
    assert (full.status, full.code) == (400, "FILE_SIZE_TOO_LARGE")


@pytest.mark.chat_settings(**{"limits.user_storage": 10_000})
async def test_those_who_hurry_store_no_more(chat_world: World, chat_server: ChatServer) -> None:
    path = f"/v1/channels/{chat_world.channel_id}/attachments"
    promises: list[int] = []
    forms: list[int] = []

    async def ask() -> None:
        answer = await chat_world.bob.rest.post(path, {"files": [{"filename": "a", "file_size": 4_000}]})
        promises.append(answer.status)

    async def send() -> None:
        body = form([("files[0]", "a", b"x" * 4_000)])
        forms.append((await post_form(chat_world.bob.rest, messages(chat_world), body)).status)

    async with trio.open_nursery() as nursery:
        for work in (ask, send, ask, send):
            nursery.start_soon(work)
    assert sorted(promises + forms) == [200, 200, 400, 400]
    reader = chat_server.database.reader
    counted = reader.execute("SELECT bytes FROM media_usage WHERE user_id = ?", (int(chat_world.bob.id),)).fetchone()
    assert counted == reader.execute("SELECT sum(size) FROM attachments").fetchone() == (8_000,)
    assert len(stored_files(chat_server)) == forms.count(200)


async def test_archives_are_kept_as_they_are_and_never_opened(chat_world: World, chat_server: ChatServer) -> None:
    """A bomb is as large as its file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../etc/passwd", bytes(50_000_000))
    bomb = packed.getvalue()
    sent = await post_form(chat_world.bob.rest, messages(chat_world), form([("files[0]", "bomb.zip", bomb)]))
    (attachment,) = sent.expect(200)["attachments"]
    assert (attachment["content_type"], attachment["size"]) == ("application/zip", len(bomb))
    assert (await fetch(chat_world.anyone, attachment["url"])).body == bomb
    assert [path.stat().st_size for path in stored_files(chat_server)] == [len(bomb)]
    # A body that comes packed is what its bytes are: no form, and no JSON.
    for kind in (FORM_HEADERS["Content-Type"], "application/json"):
        answer = await chat_world.bob.rest.request(
            "POST",
            messages(chat_world),
            body=gzip.compress(form([("files[0]", "a", bytes(1_000_000))])),
            headers={"Content-Type": kind, "Content-Encoding": "gzip"},
        )
        assert (answer.status, answer.code) in {(400, "INVALID_FORM_BODY"), (415, "BAD_REQUEST")}
    assert len(stored_files(chat_server)) == 1


@pytest.mark.parametrize("name", SAMPLES)
async def test_films_and_sounds_are_measured(chat_world: World, name: str) -> None:
    kind, make, (width, height, seconds) = SAMPLES[name]
    body = form([("files[0]", "a.bin", make())])
    (attachment,) = (await post_form(chat_world.bob.rest, messages(chat_world), body)).expect(200)["attachments"]
    assert (attachment["content_type"], attachment["duration"]) == (kind, seconds)
    assert (attachment.get("width"), attachment.get("height")) == (width, height)
    part = await fetch(chat_world.anyone, attachment["url"], {"Range": "bytes=0-9"})
    assert (part.status, part.body) == (206, make()[:10])


async def test_an_edit_that_is_refused_leaves_no_new_files_behind(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    bob = chat_world.bob.rest
    body = form([("files[0]", "a.png", png())])
    sent = (await post_form(bob, messages(chat_world), body)).expect(200)
    path = f"{messages(chat_world)}/{sent['id']}"
    for payload in ({"content": "x" * 5_000}, {"embeds": [{"image": {"url": "ftp://none.png"}}]}):
        refused = await bob.request(
            "PATCH",
            path,
            body=form([("files[0]", "b.png", png(9, 9))], orjson.dumps(payload)),
            headers=FORM_HEADERS,
        )
        assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
        assert len(stored_files(chat_server)) == 1
    added = await bob.request("PATCH", path, body=form([("files[0]", "b.png", png(9, 9))]), headers=FORM_HEADERS)
    assert [file["filename"] for file in added.expect(200)["attachments"]] == ["a.png", "b.png"]
    assert len(stored_files(chat_server)) == 2
    (await bob.delete_message(chat_world.channel_id, sent["id"])).expect(204)
    late = await bob.request("PATCH", path, body=form([("files[0]", "c.png", png())]), headers=FORM_HEADERS)
    assert (late.status, late.code) == (404, "UNKNOWN_MESSAGE")
    await trio.sleep(1_300)
    assert stored_files(chat_server) == []
    usage = chat_server.database.reader.execute("SELECT DISTINCT bytes FROM media_usage").fetchall()
    assert usage == [(0,)]


async def test_files_go_with_their_channel(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    made = await chat_world.alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", {"name": "x", "type": 0})
    channel_id = made.expect(200)["id"]
    path = f"/v1/channels/{channel_id}/messages"
    sent = (await post_form(chat_world.alice.rest, path, form([("f", "a.png", png())]))).expect(200)
    await promised(chat_world.alice.rest, channel_id, ("late", 5))
    (await chat_world.alice.rest.delete(f"/v1/channels/{channel_id}")).expect(204)
    await trio.sleep(5_000)
    assert (await fetch(chat_world.anyone, sent["attachments"][0]["url"])).status == 404
    assert stored_files(chat_server) == []
    assert chat_server.database.reader.execute("SELECT count(*) FROM attachments").fetchone() == (0,)
