"""Scheduled messages outlive the process that took them, and each is sent once although the next one is killed while
it sends them."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

import pytest
import trio

from chat.store.data_directory import DataDirectory
from tests.durability.server_process import running

pytestmark = pytest.mark.long

DAY_MS = 86_400_000
BUCKET_MS = 11_000
OWN = "/v1/users/@me/scheduled-messages"
TEXTS = [f"message {number}" for number in range(24)]


def waiting(data: Path) -> int:
    """How many messages are to be sent yet."""
    connection = sqlite3.connect(f"file:{DataDirectory(data).database}?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM scheduled_messages").fetchone()[0])
    finally:
        connection.close()


async def test_kills_while_they_are_sent(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        day = (await server.bob.advance_clock(DAY_MS))["now"][:10]
        body = {"scheduled_local_at": f"{day}T23:59:59.500", "timezone": "Etc/GMT+12"}  # half a day later at the least
        for text in TEXTS:
            path = f"/v1/channels/{server.channel_id}/messages/schedule"
            answer = await server.bob.post(path, {"content": text, **body})
            if answer.status == 429:
                await server.bob.advance_clock(BUCKET_MS)
                answer = await server.bob.post(path, {"content": text, **body})
            answer.expect(201)
        await server.end(signal.SIGKILL)
    for _ in range(3):
        async with running(tmp_path) as server, trio.open_nursery() as nursery:
            left = waiting(tmp_path)
            nursery.start_soon(server.bob.advance_clock, 3 * DAY_MS)  # its clock begins where the first one's began
            with trio.fail_after(60):
                while left and waiting(tmp_path) == left:  # noqa: ASYNC110 - it is another process
                    await trio.sleep(0.001)
            nursery.cancel_scope.cancel()
            await server.end(signal.SIGKILL)
    async with running(tmp_path) as server:
        await server.bob.advance_clock(3 * DAY_MS)
        with trio.fail_after(60):
            while waiting(tmp_path):  # noqa: ASYNC110 - it is another process
                await trio.sleep(0.05)
        page = (await server.bob.get(f"/v1/channels/{server.channel_id}/messages", {"limit": 100})).expect(200)
        assert sorted(message["content"] for message in page if message["content"] in TEXTS) == sorted(TEXTS)
