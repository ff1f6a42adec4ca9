"""`kill -9` during a storm of posts: no acknowledged message is lost, whenever it comes."""

import random
import signal
from pathlib import Path

import pytest
import trio

from chat.testing import RestClient
from chat.testing.rest_client import NoAnswer
from tests.durability.server_process import running

pytestmark = pytest.mark.long

KILLS = 8
WRITERS = 6


async def write_until_killed(client: RestClient, channel_id: str, writer: int, acknowledged: dict[str, str]) -> None:
    number = 0
    while True:
        content = f"writer {writer} number {number}"
        try:
            answer = await client.send_message(channel_id, content)
        except (NoAnswer, OSError, trio.BrokenResourceError):
            return
        acknowledged[answer.expect(200)["id"]] = content
        number += 1


async def read_back(client: RestClient, channel_id: str) -> dict[str, str]:
    """Every message of the channel, page by page."""
    found: dict[str, str] = {}
    before = None
    while True:
        page = (await client.messages(channel_id, limit=100, before=before)).expect(200)
        found.update((message["id"], message["content"]) for message in page)
        if len(page) < 100:
            return found
        before = page[-1]["id"]


@pytest.mark.parametrize("seed", [1])
async def test_no_acknowledged_message_is_lost_to_kill_9(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    acknowledged: dict[str, str] = {}
    for _ in range(KILLS):
        async with running(tmp_path) as server:
            known = await read_back(server.alice, server.channel_id)
            assert acknowledged.items() <= known.items()
            before = len(acknowledged)
            async with trio.open_nursery() as nursery:
                for writer in range(WRITERS):
                    client = (server.alice, server.bob, server.carol)[writer % 3]
                    nursery.start_soon(write_until_killed, client, server.channel_id, writer, acknowledged)
                while len(acknowledged) < before + 20:  # noqa: ASYNC110 - the writers stay unaware of the killer
                    await trio.sleep(0.01)
                await trio.sleep(chance.random() / 10)
                assert await server.end(signal.SIGKILL) == -signal.SIGKILL
    async with running(tmp_path) as server:
        known = await read_back(server.alice, server.channel_id)
        assert acknowledged.items() <= known.items()
        assert len(acknowledged) >= 20 * KILLS
