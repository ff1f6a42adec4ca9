"""Media over HTTP: addresses, signatures, ranges, validators, headers, slow readers; media from outside."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import h11
import pytest
import trio
import trio.testing

from chat.media.storage import PIECE_BYTES
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.image_samples import written
from tests.messages.outside_server import Answering, outside, plain
from tests.patience import PATIENCE_SECONDS
from tests.webhooks.surfaces import data_uri, fetch, form, new_webhook, png, post_form, target, webhook_path

PRIVATE = {"media.private_networks_allowed": ("127.0.0.0/8",)}


async def attached(world: World, name: str, data: bytes) -> dict[str, Any]:
    """A file in a message."""
    answer = await post_form(world.bob.rest, f"/v1/channels/{world.channel_id}/messages", form([("f", name, data)]))
    attachment: dict[str, Any] = answer.expect(200)["attachments"][0]
    return attachment


async def test_an_image_is_served_by_its_path(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id, avatar=data_uri(png()))
    path = f"/media/avatars/{webhook['id']}/{webhook['avatar']}"
    for address in (f"{path}.png", f"{path}.png?size=128&quality=high", f"{path}.bin", f"{path}.heic?size=16"):
        shown = await chat_world.anyone.get(address)
        assert (shown.status, shown.body) == (200, png())
    assert {name: shown.header(name) for name in HEADERS} == {
        **HEADERS,
        "content-type": "image/png",
        "content-disposition": "inline",
        "cache-control": "public, max-age=31536000, immutable",
        "content-length": str(len(png())),
    }
    for wrong in (
        path,
        f"{path}.",
        f"{path}.png.png",
        f"{path}.PNG",
        f"/media/avatars/0{webhook['id']}/{webhook['avatar']}.png",
        f"/media/avatars/1/{webhook['avatar']}.png",
        f"/media/icons/{webhook['id']}/{webhook['avatar']}.png",
        f"/media/avatars/{webhook['id']}/..%2F{webhook['avatar']}.png",
        f"/media/avatars/x/{webhook['avatar']}.png",
        "/media/avatars/99999999999999999999/00.png",
        "/media/avatars",
        "/media/",
        "/media/..%2f..%2fsigning.key",
        "/media/../signing.key",
    ):
        answer = await chat_world.anyone.get(wrong)
        assert (answer.status, answer.code) == (404, "NOT_FOUND"), wrong


HEADERS = {
    "content-type": "",
    "content-disposition": "",
    "cache-control": "",
    "content-length": "",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; sandbox",
    "cross-origin-resource-policy": "cross-origin",
    "access-control-allow-origin": "*",
    "accept-ranges": "bytes",
}
"""On every file."""


async def test_markup_is_never_run(chat_world: World) -> None:
    script = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"
    attachment = await attached(chat_world, 'a".svg', script)
    shown = await fetch(chat_world.anyone, attachment["url"])
    assert {name: shown.header(name) for name in HEADERS} == {
        **HEADERS,
        "content-type": "text/plain; charset=utf-8",
        "content-disposition": "attachment; filename=\"a_.svg\"; filename*=UTF-8''a_.svg",
        "cache-control": shown.header("cache-control"),
        "content-length": str(len(script)),
    }
    assert re.fullmatch(r"private, max-age=[0-9]+, immutable", shown.header("cache-control") or "")


async def test_a_name_with_any_characters_is_offered(chat_world: World) -> None:
    attachment = await attached(chat_world, "ключ 100%.txt", b"x")
    shown = await fetch(chat_world.anyone, attachment["url"])
    expected = "attachment; filename=\"???? 100_.txt\"; filename*=UTF-8''%D0%BA%D0%BB%D1%8E%D1%87%20100%25.txt"
    assert shown.header("content-disposition") == expected


async def test_ranges(chat_world: World) -> None:
    data = bytes(range(256)) * 4
    url = (await attached(chat_world, "a.bin", data))["url"]
    for wanted, start, stop in (
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=1000-", 1000, 1024),
        ("bytes=1000-99999", 1000, 1024),
        ("bytes=-24", 1000, 1024),
        ("bytes=-99999", 0, 1024),
    ):
        part = await fetch(chat_world.anyone, url, {"Range": wanted})
        assert (part.status, part.body) == (206, data[start:stop]), wanted
        assert part.header("Content-Range") == f"bytes {start}-{stop - 1}/1024"
    for wanted in ("bytes=1024-", "bytes=5-4", "bytes=-0", "bytes=99999-100000"):
        part = await fetch(chat_world.anyone, url, {"Range": wanted})
        assert (part.status, part.code, part.header("Content-Range")) == (416, "BAD_REQUEST", "bytes */1024"), wanted
        assert part.header("content-type") == "application/json"
    for wanted in ("bytes=0-1,3-4", "lines=1-2", "bytes=a-b", "bytes=", "bytes=-", "bytes=" + "9" * 30 + "-"):
        whole = await fetch(chat_world.anyone, url, {"Range": wanted})
        assert (whole.status, whole.body) == (200, data), wanted


async def test_validators(chat_world: World) -> None:
    url = (await attached(chat_world, "a.bin", b"\x0012345678"))["url"]
    etag = (await fetch(chat_world.anyone, url)).header("ETag")
    assert etag is not None
    for known in (etag, f'"x", {etag}', f"W/{etag}", "*"):
        same = await fetch(chat_world.anyone, url, {"If-None-Match": known})
        assert (same.status, same.body, same.header("ETag"), same.header("content-type")) == (
            304,
            b"",
            etag,
            "application/octet-stream",
        )
    assert (await fetch(chat_world.anyone, url, {"If-None-Match": '"x"'})).status == 200
    part = await fetch(chat_world.anyone, url, {"Range": "bytes=0-1", "If-Range": etag})
    assert (part.status, part.body) == (206, b"\x001")
    assert (await fetch(chat_world.anyone, url, {"Range": "bytes=0-1", "If-Range": '"x"'})).status == 200


async def test_head_tells_the_length_and_sends_nothing(chat_world: World) -> None:
    url = (await attached(chat_world, "a.bin", b"x" * 1_000))["url"]
    answer = await chat_world.anyone.request("HEAD", target(url))
    assert (answer.status, answer.body, answer.header("content-length")) == (200, b"", "1000")
    part = await chat_world.anyone.request("HEAD", target(url), headers={"Range": "bytes=0-9"})
    assert (part.status, part.body, part.header("content-length")) == (206, b"", "10")
    assert (await fetch(chat_world.anyone, url)).body == b"x" * 1_000


async def test_an_attachments_address_holds_a_day_and_no_longer_than_that_and_a_half(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    attachment = await attached(chat_world, "a.txt", b"x")
    url = attachment["url"]
    await trio.sleep(24 * 3_600)
    assert (await fetch(chat_world.anyone, url)).status == 200
    await trio.sleep(12 * 3_600 + 1)
    expired = await fetch(chat_world.anyone, url)
    assert (expired.status, expired.code) == (404, "NOT_FOUND")
    (shown,) = (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200)
    fresh = shown["attachments"][0]["url"]
    assert fresh != url
    assert (await fetch(chat_world.anyone, fresh)).status == 200
    await trio.sleep(1)
    (again,) = (await chat_world.bob.rest.messages(chat_world.channel_id)).expect(200)
    assert again["attachments"][0]["url"] == fresh


async def test_every_wrong_address_of_an_attachment_is_refused_alike(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    attachment = await attached(chat_world, "a.txt", b"x")
    other = await attached(chat_world, "b.txt", b"y")
    path, _, query = target(attachment["url"]).partition("?")
    other_path, _, other_query = target(other["url"]).partition("?")
    ex, _, hm = query.partition("&hm=")
    later = f"ex={int(ex[3:], 16) + 86_400:x}"
    bodies = set()
    for wrong in (
        path,
        f"{path}?{other_query}",
        f"{other_path}?{query}",
        f"{path}?{later}&hm={hm}",
        f"{path}?{ex}&hm={hm[:-1]}{'0' if hm[-1] != '0' else '1'}",
        f"{path}?{ex}&hm=",
        f"{path}?{ex}",
        f"{path}?hm={hm}",
        f"{path}?ex=-1&hm={hm}",
        f"{path}?ex=zz&hm={hm}",
        f"{path.replace('a.txt', 'b.txt')}?{query}",
        f"{path.replace(chat_world.channel_id, chat_world.voice_channel_id)}?{query}",
        f"{path.replace(attachment['id'], '1')}?{query}",
    ):
        answer = await chat_world.anyone.get(wrong)
        assert answer.status == 404, wrong
        bodies.add(answer.body)
    await trio.sleep(3 * 86_400)
    expired = await chat_world.anyone.get(f"{path}?{query}")
    assert (expired.status, {expired.body}) == (404, bodies)
    # A parameter that is too long is refused as every query is.
    assert (await chat_world.anyone.get(f"{path}?ex=1&hm={'0' * 300}")).status == 400


async def test_a_reader_that_stalls_holds_one_piece_and_is_dropped(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    data = bytes(5_000_000)
    url = (await attached(chat_world, "a.bin", data))["url"]
    stream = await chat_server.route().connect()
    await stream.send_all(f"GET {target(url)} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    await trio.sleep(120)
    received = b""
    try:
        while piece := await stream.receive_some(65_536):
            received += piece
    except trio.BrokenResourceError:
        pass  # it was dropped under way
    assert len(received) < 2 * PIECE_BYTES
    assert (await fetch(chat_world.anyone, url)).body == data


async def test_a_reader_that_goes_away_stops_the_reading(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    url = (await attached(chat_world, "a.bin", bytes(5_000_000)))["url"]
    before = trio.lowlevel.current_statistics().tasks_living
    stream = await chat_server.route().connect()
    await stream.send_all(f"GET {target(url)} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    await stream.receive_some(10)
    await trio.sleep(0.1)
    assert trio.lowlevel.current_statistics().tasks_living > before
    await trio.aclose_forcefully(stream)
    await trio.sleep(2)
    assert trio.lowlevel.current_statistics().tasks_living <= before


async def test_a_file_that_is_gone_from_the_disk_is_no_error_of_ours(
    chat_world: World, chat_server: ChatServer
) -> None:
    url = (await attached(chat_world, "a.bin", b"x"))["url"]
    _only_file(chat_server).unlink()
    answer = await fetch(chat_world.anyone, url)
    assert (answer.status, answer.code) == (404, "NOT_FOUND")


def _only_file(server: ChatServer) -> Path:
    uploads = server.server.surroundings.directory / "uploads"
    (file,) = (path for path in uploads.rglob("*") if path.is_file())
    return file


# From outside


def signed(server: ChatServer, url: str) -> str:
    """The address here for an address outside."""
    return server.server.areas.policy.media.addresses.external(url)


@pytest.mark.chat_settings(**PRIVATE)
async def test_media_from_outside_are_passed_on(chat_world: World, chat_server: ChatServer) -> None:
    image = png(filler=b"x" * 300_000)
    chunked: Answering = plain(
        b"%x\r\n%b\r\n0\r\n\r\n" % (len(image), image), headers=(("Transfer-Encoding", "chunked"),)
    )
    pages = {
        "/a.png?q=1": plain(image, headers=(("Content-Type", "text/html"), ("Set-Cookie", "a=b"))),
        "/chunked": chunked,
        "/moved": plain(b"", status=302, headers=(("Location", "/a.png?q=1"),)),
    }
    async with outside(pages) as server:
        for page in ("/a.png?q=1", "/chunked", "/moved"):
            shown = await fetch(chat_world.anyone, signed(chat_server, server.origin + page))
            assert (shown.status, shown.body, shown.header("content-type")) == (200, image, "image/png"), page
            assert shown.header("set-cookie") is None
            assert shown.header("content-security-policy") == HEADERS["content-security-policy"]
            assert shown.header("cache-control") == "public, max-age=3600"
        head = await chat_world.anyone.request("HEAD", target(signed(chat_server, server.origin + "/a.png?q=1")))
        assert (head.status, head.body, head.header("content-length")) == (200, b"", str(len(image)))
        stream = await chat_server.route().connect()
        request = f"GET {target(signed(chat_server, server.origin + '/a.png?q=1'))} HTTP/1.1\r\nHost: x\r\n\r\n"
        for _ in range(2):  # the connection is kept
            await stream.send_all(request.encode())
            answered = b""
            while not answered.endswith(image[-10:]):
                piece = await stream.receive_some(65_536)
                assert piece
                answered += piece
            assert answered.startswith(b"HTTP/1.1 200")
        assert set(server.hosts) == {server.origin.removeprefix("http://")}
        for request in server.requests:
            sent = {name.decode().lower() for name, _ in request.headers}
            assert sent.isdisjoint({"authorization", "cookie", "x-forwarded-for", "referer"})
    external = chat_server.server.areas.policy.media.external
    with trio.fail_after(PATIENCE_SECONDS):
        while external.under_way:  # noqa: ASYNC110 - the last answer is over a moment after its last byte
            await trio.sleep(0.01)


@pytest.mark.chat_settings(**PRIVATE)
async def test_what_outside_servers_may_not_send(chat_world: World, chat_server: ChatServer) -> None:
    image = png()
    pages = {
        "/html": plain(b"<html>", headers=(("Content-Type", "image/png"),)),
        "/svg": plain(b"<svg/>", headers=(("Content-Type", "image/svg+xml"),)),
        "/empty": plain(b""),
        "/missing": plain(image, status=404),
        "/gzip": plain(image, headers=(("Content-Encoding", "gzip"),)),
        "/large": plain(image, headers=(("Content-Length", "99999999999"),)),
        "/loop": plain(b"", status=301, headers=(("Location", "/loop"),)),
        "/nowhere": plain(b"", status=301),
        "/file": plain(b"", status=301, headers=(("Location", "file:///etc/passwd"),)),
        "/inside": plain(b"", status=301, headers=(("Location", "http://169.254.169.254/latest/meta-data"),)),
        "/garbage": _garbage,
    }
    async with outside(pages) as server:
        refused = set()
        for page in pages:
            answer = await fetch(chat_world.anyone, signed(chat_server, server.origin + page))
            assert (answer.status, answer.code) == (502, "BAD_GATEWAY"), page
            refused.add(answer.body)
        assert len(refused) == 1
    nobody = await fetch(chat_world.anyone, signed(chat_server, server.origin + "/html"))
    assert (nobody.status, nobody.body) == (502, refused.pop())


async def _garbage(_: h11.Request, stream: trio.SocketStream) -> None:
    await stream.send_all(b"\0\1\2 not HTTP at all\r\n\r\n")


@pytest.mark.chat_settings(**PRIVATE)
async def test_what_breaks_off_outside_breaks_off_here(chat_world: World, chat_server: ChatServer) -> None:
    image = written("JPEG") + bytes(600_000)  # a picture that moves, or may, is received whole before it is passed on

    async def half(_: h11.Request, stream: trio.SocketStream) -> None:
        await stream.send_all(b"HTTP/1.1 200 X\r\nContent-Length: %d\r\n\r\n" % len(image) + image[:400_000])

    async with outside({"/half": half}) as server:
        stream = await chat_server.route().connect()
        address = signed(chat_server, server.origin + "/half")
        await stream.send_all(f"GET {target(address)} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        received = b""
        with trio.fail_after(PATIENCE_SECONDS):
            while piece := await stream.receive_some(65_536):
                received += piece
        head, _, body = received.partition(b"\r\n\r\n")
        assert f"content-length: {len(image)}".encode() in head.lower()
        assert body == image[: len(body)]
        assert len(body) <= 400_000


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/x.png",
        "http://localhost:8080/x.png",
        "http://[::1]/x.png",
        "http://[::ffff:127.0.0.1]/x.png",
        "http://[64:ff9b::7f00:1]/x.png",
        "http://[2002:7f00:1::]/x.png",
        "http://10.0.0.1/x.png",
        "http://192.168.1.1/x.png",
        "http://169.254.169.254/latest/meta-data",
        "http://0.0.0.0/x.png",
        "http://100.64.0.1/x.png",
        "http://224.0.0.1/x.png",
        "http://[fe80::1%25lo]/x.png",
        "http://[fd00::1]/x.png",
        "http://2130706433/x.png",
        "http://0x7f.1/x.png",
        "http://127.0.0.1:22/x.png",
        "http://user:pw@127.0.0.1/x.png",
        "ftp://127.0.0.1/x.png",
        "http://host.invalid/x.png",
        "http:///x.png",
        "http://127.0.0.1:99999/x.png",
        "//127.0.0.1/x.png",
    ],
)
async def test_the_operators_own_network_is_out_of_reach(chat_world: World, chat_server: ChatServer, url: str) -> None:
    answer = await fetch(chat_world.anyone, signed(chat_server, url))
    assert (answer.status, answer.code) == (502, "BAD_GATEWAY")


@pytest.mark.chat_settings(**PRIVATE)
async def test_a_webhooks_borrowed_avatar_is_fetched_when_it_is_looked_at(chat_world: World) -> None:
    webhook = await new_webhook(chat_world.alice.rest, chat_world.channel_id)
    async with outside({"/crier.png": plain(png())}) as server:
        body = {"content": "x", "avatar_url": f"{server.origin}/crier.png"}
        said = (await chat_world.anyone.post(f"{webhook_path(webhook)}?wait=true", body)).expect(200)
        assert server.requests == []
        path = f"/media/avatars/{webhook['id']}/{said['author']['avatar']}.png"
        shown = await chat_world.anyone.get(path)
        assert (shown.status, shown.body) == (200, png())
        assert len(server.requests) == 1


@pytest.mark.chat_settings(**PRIVATE)
async def test_a_reader_that_goes_away_ends_the_fetching(chat_world: World, chat_server: ChatServer) -> None:
    image = png(filler=b"x" * 20_000_000)
    external = chat_server.server.areas.policy.media.external
    async with outside({"/large": plain(image)}) as server:
        stream = await chat_server.route().connect()
        address = signed(chat_server, server.origin + "/large")
        await stream.send_all(f"GET {target(address)} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        with trio.fail_after(PATIENCE_SECONDS):
            await stream.receive_some(10)
            assert external.under_way == 1
            await trio.aclose_forcefully(stream)
            while external.under_way:  # noqa: ASYNC110 - nobody is told
                await trio.sleep(0.01)


@pytest.mark.chat_settings(**PRIVATE)
async def test_only_signed_addresses_are_fetched(chat_world: World, chat_server: ChatServer) -> None:
    async with outside({"/a": plain(png()), "/b": plain(png())}) as server:
        good = target(signed(chat_server, server.origin + "/a"))
        other = target(signed(chat_server, server.origin + "/b"))
        signature, name = good.split("/")[-2:]
        bodies = set()
        for wrong in (
            f"/media/external/{signature}/{other.split('/')[-1]}",
            f"/media/external/{signature[:-1]}/{name}",
            f"/media/external/{signature}x/{name}",
            f"/media/external/-/{name}",
            f"/media/external/%F0%9F%94%91/{name}",
            f"/media/external/{signature}/aHR0cDovLzEyNy4wLjAuMS8",
            f"/media/external/{signature}/%00",
        ):
            answer = await chat_world.anyone.get(wrong)
            assert answer.status == 404, wrong
            bodies.add(answer.body)
        assert len(bodies) == 1
        assert server.requests == []
        assert (await chat_world.anyone.get(good)).status == 200
