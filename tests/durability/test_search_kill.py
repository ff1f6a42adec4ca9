"""`kill -9` while messages are written, changed and deleted: a search finds afterwards just what is there."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import trio

from chat.store.data_directory import DataDirectory
from chat.store.messages import message_search_entries
from chat.testing import RestClient
from chat.testing.rest_client import NoAnswer
from tests.durability.server_process import running

pytestmark = pytest.mark.long

KILLS = 4
PAGE = 25


async def write_until_killed(client: RestClient, channel_id: str, writer: int) -> None:
    """Messages with words of three kinds; every second is changed, every third goes."""
    number = 0
    while True:
        try:
            sent = (await client.send_message(channel_id, f"cat of writer{writer}")).expect(200)
            if number % 2:
                (await client.edit_message(channel_id, sent["id"], f"dog of writer{writer}")).expect(200)
            if number % 3 == 0:
                (await client.delete_message(channel_id, sent["id"])).expect(204)
        except (NoAnswer, OSError, trio.BrokenResourceError):
            return
        number += 1


async def found(client: RestClient, channel_id: str, content: str) -> set[str]:
    """Everything that a search finds, by cursors."""
    ids: set[str] = set()
    cursor: dict[str, Any] = {}
    while True:
        body = {"context_channel_id": channel_id, "content": content, "hits_per_page": PAGE, **cursor}
        answer = (await client.post("/v1/search/messages", body)).expect(200)
        ids.update(message["id"] for message in answer["messages"])
        if "cursor" not in answer:
            return ids
        cursor = {"cursor": answer["cursor"]}


async def there(client: RestClient, channel_id: str, word: str) -> set[str]:
    """Everything that reading finds."""
    ids: set[str] = set()
    before = None
    while True:
        page = (await client.messages(channel_id, limit=100, before=before)).expect(200)
        ids.update(message["id"] for message in page if word in message["content"])
        if len(page) < 100:
            return ids
        before = page[-1]["id"]


def discrepancies(folder: Path) -> list[int]:
    with contextlib.closing(sqlite3.connect(DataDirectory(folder).database)) as connection:
        return message_search_entries.discrepancies(connection)


async def test_a_search_finds_what_is_there_after_kill_9(tmp_path: Path) -> None:
    searched = 0
    for turn in range(KILLS):
        async with running(tmp_path) as server:
            for word in ("cat", "dog"):
                ids = await there(server.alice, server.channel_id, word)
                assert await found(server.bob, server.channel_id, word) == ids
                searched += len(ids)
            async with trio.open_nursery() as nursery:
                for writer, client in enumerate((server.alice, server.bob, server.carol)):
                    nursery.start_soon(write_until_killed, client, server.channel_id, writer)
                for _ in range(4):  # so that the index is being brought up to date while the end comes
                    await trio.sleep(0.1 + 0.05 * turn)
                    await server.carol.post("/v1/search/messages", {"context_channel_id": server.channel_id})
                assert await server.end(signal.SIGKILL) == -signal.SIGKILL
        assert discrepancies(tmp_path) == []
    assert searched > 20
