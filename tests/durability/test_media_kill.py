"""Files in a process of its own: threads, sockets, and an end that nobody asked it about."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import PIL.Image
import pytest
import trio

from chat.testing.rest_client import RestClient
from tests.durability.server_process import running
from tests.image_samples import png_bomb, written
from tests.messages.outside_server import outside, plain
from tests.webhooks.surfaces import FORM_HEADERS, fetch, form, png, post_form, promised, target

pytestmark = pytest.mark.long


def checked(data: Path) -> list[dict[str, str]]:
    """What `chat check` finds wrong."""
    command = [sys.executable, "-m", "chat", "check", "--data", str(data), "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    found: list[dict[str, str]] = json.loads(ran.stdout)
    assert ran.returncode == (1 if found else 0), ran.stderr
    return found


def stored(data: Path) -> list[Path]:
    return sorted(path for path in (data / "uploads").rglob("*") if path.is_file())


async def test_large_files_come_and_go(tmp_path: Path) -> None:
    content = os.urandom(12_000_000)
    async with running(tmp_path) as server:
        path = f"/v1/channels/{server.channel_id}/messages"
        sent = (await post_form(server.alice, path, form([("files[0]", "a.bin", content)]))).expect(200)
        url = sent["attachments"][0]["url"]
        anyone = RestClient(server.route)
        assert (await fetch(anyone, url)).body == content
        part = await fetch(anyone, url, {"Range": "bytes=5000000-9999999"})
        assert (part.status, part.body) == (206, content[5_000_000:10_000_000])
        (upload,) = await promised(server.bob, server.channel_id, ("b.bin", len(content)))
        (await anyone.request("PUT", target(upload["upload_url"]), body=content)).expect(200)
        assert (await fetch(anyone, upload["upload_url"])).body == content
        await anyone.aclose()
    assert len(stored(tmp_path)) == 2
    assert all(file.stat().st_mode & 0o077 == 0 for file in stored(tmp_path))


async def test_a_kill_in_the_middle_of_uploads_leaves_nothing_and_loses_nothing(tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    async with running(tmp_path) as server:
        path = f"/v1/channels/{server.channel_id}/messages"
        sent = (await post_form(server.alice, path, form([("files[0]", "kept.png", png())]))).expect(200)
        (promise,) = await promised(server.bob, server.channel_id, ("b.bin", len(content)))
        body = form([("files[0]", "lost.bin", content)])
        heads = (
            f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {server.token_of('alice')}\r\n"
            f"Content-Type: {FORM_HEADERS['Content-Type']}\r\nContent-Length: {len(body)}\r\n\r\n",
            f"PUT {target(promise['upload_url'])} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(content)}\r\n\r\n",
        )
        streams = []
        for head in heads:
            stream = await server.route.connect()
            await stream.send_all(head.encode() + body[:2_000_000])
            streams.append(stream)
        with trio.fail_after(10):
            while len(list((tmp_path / "uploads" / "incoming").iterdir())) < 2:  # noqa: ASYNC110 - it is another process
                await trio.sleep(0.01)
        await server.end(signal.SIGKILL)
        for stream in streams:
            await trio.aclose_forcefully(stream)
    assert len(stored(tmp_path)) == 3
    assert await trio.to_thread.run_sync(checked, tmp_path) == []
    async with running(tmp_path) as server:
        assert len(stored(tmp_path)) == 1
        (shown,) = (await server.bob.messages(server.channel_id)).expect(200)
        assert shown["id"] == sent["id"]
        anyone = RestClient(server.route)
        assert (await fetch(anyone, shown["attachments"][0]["url"])).body == png()
        (await anyone.request("PUT", target(promise["upload_url"]), body=content)).expect(200)
        await anyone.aclose()


async def test_pictures_are_redrawn_and_links_looked_at_off_the_loop(tmp_path: Path) -> None:
    picture = written("JPEG", (1_200, 600))
    bomb = png_bomb()
    page = b'<meta property="og:title" content="A page"><meta property="og:image" content="/p.png">'
    pages = {"/": plain(page, headers=(("Content-Type", "text/html"),)), "/p.png": plain(png(30, 20))}
    here = {"CHAT_MEDIA__PRIVATE_NETWORKS_ALLOWED": '["127.0.0.0/8"]'}
    async with outside(pages) as other, running(tmp_path, **here) as server, trio.open_nursery() as nursery:
        client = await server.connect(nursery)
        await client.identify(server.token_of("bob"))
        await client.expect("READY")
        sent = (await server.alice.send_files(server.channel_id, {"a.jpg": picture, "b.png": bomb})).expect(200)
        good, bad = sent["attachments"]
        assert (good["width"], bool(good["placeholder"]), "width" in bad) == (1_200, True, False)
        small = await server.alice.fetch(good["url"] + "&width=160&format=webp")
        with PIL.Image.open(io.BytesIO(small.body)) as image:
            assert (image.format, image.size) == ("WEBP", (160, 80))
        assert (await server.alice.fetch(bad["url"] + "&width=160")).status == 404
        assert (await server.alice.fetch(bad["url"])).body == bomb
        assert (await server.alice.fetch(good["url"] + "&width=160&format=webp")).body == small.body
        (await server.alice.send_message(server.channel_id, f"{other.origin}/")).expect(200)
        (embed,) = (await client.expect("MESSAGE_UPDATE")).data["embeds"]
        assert (embed["title"], embed["thumbnail"]["width"]) == ("A page", 30)
        assert (await server.alice.fetch(embed["thumbnail"]["proxy_url"])).body == png(30, 20)
        assert await trio.to_thread.run_sync(checked, tmp_path) == []
        workers = [process for process in children_of(server.process.pid) if b"image_process" in process]
        assert workers
        await client.aclose()
        assert await server.end(signal.SIGTERM) == 0
    assert [process for process in children_of(server.process.pid) if b"image_process" in process] == []
    assert await trio.to_thread.run_sync(checked, tmp_path) == []


def children_of(pid: int) -> list[bytes]:
    """The command lines of the processes that a process started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            if f"PPid:\t{pid}\n" in status.read_text():
                found.append(status.with_name("cmdline").read_bytes())
    return found
