"""Files in a process of its own: threads, sockets, and an end that nobody asked it about."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import trio

from chat.testing.rest_client import RestClient
from tests.api.surfaces import FORM_HEADERS, fetch, form, png, post_form, promised, target
from tests.durability.server_process import running


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
    async with running(tmp_path) as server:
        assert len(stored(tmp_path)) == 1
        (shown,) = (await server.bob.messages(server.channel_id)).expect(200)
        assert shown["id"] == sent["id"]
        anyone = RestClient(server.route)
        assert (await fetch(anyone, shown["attachments"][0]["url"])).body == png()
        (await anyone.request("PUT", target(promise["upload_url"]), body=content)).expect(200)
        await anyone.aclose()
