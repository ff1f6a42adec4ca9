"""`kill -9` under a job: the next server goes on from the last step, and every message is dealt with once."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
import trio

from chat.testing.rest_client import RestClient
from tests.durability.server_process import ServerProcess, running

pytestmark = pytest.mark.long

MESSAGES = 24
ENTRIES = 1_000
KILLS = 3


async def test_a_shred_outlives_its_servers(tmp_path: Path) -> None:
    job_id = ""
    written: list[str] = []
    processed = 0
    for _ in range(KILLS):
        async with running(tmp_path) as server:
            admin = RestClient(server.route, token=server.world["admin"]["token"])
            if not job_id:
                written = [await sent(server, number) for number in range(MESSAGES)]
                job_id = await ordered(server, admin, written)
            processed = await further(admin, job_id, processed)
            await server.end(signal.SIGKILL)
            await admin.aclose()
    assert processed < ENTRIES
    async with running(tmp_path) as server:
        admin = RestClient(server.route, token=server.world["admin"]["token"])
        state = await shred(admin, job_id)
        while state["status"] == "in_progress":
            await trio.sleep(0.05)
            state = await shred(admin, job_id)
        assert (state["status"], state["requested"]) == ("completed", ENTRIES)
        assert (state["processed"], state["skipped"]) == (ENTRIES, ENTRIES - MESSAGES)
        left = (await server.bob.messages(server.channel_id, limit=100)).expect(200)
        assert not {message["id"] for message in left} & set(written)
        await admin.aclose()


async def sent(server: ServerProcess, number: int) -> str:
    return str((await server.bob.send_message(server.channel_id, f"message {number}")).expect(200)["id"])


async def ordered(server: ServerProcess, admin: RestClient, written: list[str]) -> str:
    """A shred of the messages among many that there are not, each in a step of its own."""
    bob = next(user["id"] for user in server.world["users"] if user["username"] == "bob")
    every = ENTRIES // MESSAGES
    entries = [{"channel_id": str(number), "message_id": "1"} for number in range(1, ENTRIES - MESSAGES + 1)]
    for position, message_id in enumerate(written):
        # Batches are made by channel: one entry apart from the rest would join the first of its channel.
        entries.insert(position * every, {"channel_id": server.channel_id, "message_id": message_id})
    answer = await admin.post(f"/v1/admin/users/{bob}/message-shreds", {"entries": entries})
    return str(answer.expect(200)["job_id"])


async def shred(admin: RestClient, job_id: str) -> dict[str, int]:
    state: dict[str, int] = (await admin.get(f"/v1/admin/messages/shreds/{job_id}")).expect(200)
    return state


async def further(admin: RestClient, job_id: str, before: int) -> int:
    """Wait until the job has come further than it was."""
    with trio.fail_after(30):
        while True:
            state = await shred(admin, job_id)
            if state["processed"] > before + 5 or state["status"] != "in_progress":
                return state["processed"]
            await trio.sleep(0.01)
