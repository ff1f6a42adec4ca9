"""`kill -9` under an archive, and a backup under a storm of writes: both are whole in the end."""

from __future__ import annotations

import contextlib
import io
import json
import random
import signal
import sys
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio

from chat.snowflake import snowflake_at
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.testing.rest_client import RestClient
from tests.durability.server_process import ServerProcess, running
from tests.webhooks.surfaces import form, post_form

pytestmark = pytest.mark.long

WRITTEN = 12_000
WRITERS = 4
FIRST = 40
PAUSE_SECONDS = 0.03


async def test_an_archive_outlives_its_servers(tmp_path: Path) -> None:
    async with running(tmp_path, CHAT_ARCHIVES__SPARE_BYTES="0") as server:
        admin = RestClient(server.route, token=server.world["admin"]["token"])
        write_much(tmp_path, server)
        place = await ordered(server, admin)
        percent = await begun(admin, place)
        await server.end(signal.SIGKILL)
        await admin.aclose()
    assert percent < 100
    assert not list((tmp_path / "archives").glob("*.zip"))
    async with running(tmp_path, CHAT_ARCHIVES__SPARE_BYTES="0") as server:
        admin = RestClient(server.route, token=server.world["admin"]["token"])
        archive = await read(admin, place)
        while archive["completed_at"] is None:
            assert archive["failed_at"] is None, archive
            await trio.sleep(0.05)
            archive = await read(admin, place)
        address = urlsplit((await admin.get(f"{place}/download")).expect(200)["downloadUrl"])
        answer = await admin.request("GET", f"{address.path}?{address.query}")
        with zipfile.ZipFile(io.BytesIO(answer.body)) as file:
            assert file.testzip() is None
            texts = [
                json.loads(line)["content"]
                for name in file.namelist()
                if name.startswith(f"messages/{server.channel_id}/")
                for line in file.read(name).splitlines()
            ]
        assert texts == [f"number {number}" for number in range(WRITTEN)]
        await admin.aclose()
    assert [file.suffix for file in (tmp_path / "archives").iterdir()] == [".zip"]


def write_much(data: Path, server: ServerProcess) -> None:
    """Messages of bob, put beside the server into its database: as many by requests would take their time."""
    bob = next(int(user["id"]) for user in server.world["users"] if user["username"] == "bob")
    first = snowflake_at(1_700_000_000_000)
    rows = ((first + number, int(server.channel_id), bob, f"number {number}") for number in range(WRITTEN))
    with contextlib.closing(connect(DataDirectory(data).database)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(
            """
            INSERT INTO messages (id, channel_id, author_id, type, flags, content, mention_everyone, tts, has_reactions)
            VALUES (?, ?, ?, 0, 0, ?, 0, 0, 0)
            """,
            rows,
        )
        connection.execute("COMMIT")


async def ordered(server: ServerProcess, admin: RestClient) -> str:
    bob = next(user["id"] for user in server.world["users"] if user["username"] == "bob")
    archive = (await admin.post(f"/v1/admin/users/{bob}/archives", {})).expect(200)
    return f"/v1/admin/archives/user/{bob}/{archive['archive_id']}"


async def read(admin: RestClient, place: str) -> dict[str, Any]:
    archive: dict[str, Any] = (await admin.get(place)).expect(200)["archive"]
    return archive


async def begun(admin: RestClient, place: str) -> int:
    """Wait until messages are archived; how far it is."""
    with trio.fail_after(30):
        while True:
            percent: int = (await read(admin, place))["progress_percent"]
            if percent >= 25:
                return percent
            await trio.sleep(0.01)


class Storm:
    """People who write, upload and delete without pause, and what the server has acknowledged."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        self.messages: dict[str, str] = {}
        """What was acknowledged and is not about to be deleted: contents by id."""
        self.raging = trio.Event()

    async def write(self, number: int) -> None:
        chance = random.Random(number)
        client = (self.server.alice, self.server.bob, self.server.carol)[number % 3]
        path = f"/v1/channels/{self.server.channel_id}/messages"
        doomed: list[str] = []
        for turn in range(10_000):
            content = f"{number} {turn}"
            files = [("files[0]", "a.txt", chance.randbytes(2_000))] if chance.random() < 0.5 else []
            body = form(files, json.dumps({"content": content}).encode())
            made = (await post_form(client, path, body)).expect(200)
            if chance.random() < 0.4:
                doomed.append(made["id"])
            else:
                self.messages[made["id"]] = content
            if len(self.messages) > FIRST:
                self.raging.set()
            await trio.sleep(PAUSE_SECONDS)
            if len(doomed) > 3:
                (await client.delete(f"{path}/{doomed.pop(0)}")).expect(204)


async def test_a_backup_under_a_storm_of_writes(tmp_path: Path) -> None:
    data, file, there = tmp_path / "data", tmp_path / "kept.tar", tmp_path / "there"
    async with running(data) as server, trio.open_nursery() as nursery:
        storm = Storm(server)
        for number in range(WRITERS):
            nursery.start_soon(storm.write, number)
        await storm.raging.wait()
        acknowledged = dict(storm.messages)
        await chat("backup", str(file), "--data", str(data))
        assert len(storm.messages) > len(acknowledged)
        nursery.cancel_scope.cancel()
        tokens = {user["username"]: user["token"] for user in server.world["users"]}
        channel_id = server.channel_id
    await chat("restore", str(file), "--data", str(there))
    assert await chat("check", "--data", str(there)) == b""
    async with running(there) as server:
        assert {user["username"]: user["token"] for user in server.world["users"]} == tokens
        found: dict[str, str] = {}
        for name, token in tokens.items():
            client = RestClient(server.route, token=token)
            assert (await client.get("/v1/users/@me")).expect(200)["username"] == name
            await client.aclose()
        before = None
        while page := (await server.bob.messages(channel_id, limit=100, before=before)).expect(200):
            found |= {message["id"]: message["content"] for message in page}
            before = page[-1]["id"]
            for message in page:
                for attachment in message["attachments"]:
                    address = urlsplit(attachment["url"])
                    answer = await server.bob.request("GET", f"{address.path}?{address.query}")
                    assert (answer.status, len(answer.body)) == (200, 2_000)
        assert acknowledged.items() <= found.items()


async def chat(*arguments: str) -> bytes:
    """Run a command; its output."""
    ending = await trio.run_process(
        [sys.executable, "-m", "chat", *arguments], capture_stdout=True, capture_stderr=True, check=False
    )
    assert ending.returncode == 0, ending.stderr
    return bytes(ending.stdout)
