"""What follows from administrative operations after they have answered, and what does not (document 002, Endpoints).

Area: administration. Rules: 002.profile-fields, 002.shreds, 002.username.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.asking import Asking
from tests.webhooks.surfaces import data_uri, png

DAY_SECONDS = 86_400


async def write(server: ChatServer, statement: str) -> None:
    def unit(connection: sqlite3.Connection) -> None:
        connection.execute(statement)

    await server.database.write(unit)


@pytest.mark.rule("002.shreds.10")
async def test_a_shred_that_failed_is_not_run_again(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    written = [(await world.bob.rest.send_message(world.channel_id, "x")).expect(200)["id"] for _ in range(2)]
    entries = [{"channel_id": world.channel_id, "message_id": message_id} for message_id in written]

    async def shred(job_id: str) -> dict[str, Any]:
        return dict((await world.admin.rest.get(f"/v1/admin/messages/shreds/{job_id}")).expect(200))

    await write(
        chat_server, "CREATE TRIGGER broken BEFORE DELETE ON messages BEGIN SELECT RAISE(ABORT, 'a fault'); END"
    )
    ordered = await world.admin.rest.post(f"/v1/admin/users/{world.bob.id}/message-shreds", {"entries": entries})
    job_id = ordered.expect(200)["job_id"]
    await trio.sleep(1)
    assert (await shred(job_id))["status"] == "failed"
    await write(chat_server, "DROP TRIGGER broken")

    async def remains_failed() -> None:
        job = (await world.admin.rest.get(f"/v1/admin/jobs/{job_id}")).expect(200)
        assert (job["status"], job["attempts"], job["max_attempts"]) == ("failed", 1, 1)
        left = (await world.alice.rest.messages(world.channel_id)).expect(200)
        assert {message["id"] for message in left} >= set(written)

    await trio.sleep(DAY_SECONDS)
    await remains_failed()
    await chat_server.stop()  # nor by the next server
    await trio.sleep(1)
    await chat_server.start()
    await trio.sleep(DAY_SECONDS)
    await remains_failed()
    # It is no fault of the messages: ordered again they go.
    again = await world.admin.rest.post(f"/v1/admin/users/{world.bob.id}/message-shreds", {"entries": entries})
    await trio.sleep(1)
    assert (await shred(again.expect(200)["job_id"]))["status"] == "completed"


@pytest.mark.rule("002.username.21")
async def test_members_are_found_by_the_new_name(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    """In a guild whose members were searched before, and in one whose were not."""
    world = chat_world
    other = (await world.alice.rest.create_guild("Another")).expect(200)["id"]
    body = {"guild_id": other, "user_ids": [world.bob.id]}
    (await world.admin.rest.post("/v1/admin/bulk-jobs/add-guild-members", body)).expect(200)
    await trio.sleep(1)

    async def found(guild_id: str, name: str) -> list[str]:
        answer = await world.alice.rest.post(f"/v1/guilds/{guild_id}/members-search", {"query": name, "limit": 10})
        return [member["user"]["id"] for member in answer.expect(200)["members"]]

    (await world.bob.rest.patch("/v1/users/@me", {"global_name": None})).expect(200)
    assert await found(world.guild_id, "bob") == [world.bob.id]
    path = f"/v1/admin/users/{world.bob.id}/username"
    (await world.admin.rest.patch(path, {"username": "robert"})).expect(200)
    await trio.sleep(1)
    for guild_id in (world.guild_id, other):
        assert await found(guild_id, "robert") == [world.bob.id]
        assert await found(guild_id, "bob") == []


@pytest.mark.rule("002.profile-fields.8")
async def test_files_of_cleared_images_are_deleted(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world, ask = chat_world, Asking(chat_server, chat_world)
    pictures = {"avatar": data_uri(png(8, 8)), "banner": data_uri(png(16, 8))}
    own = (await world.bob.rest.patch("/v1/users/@me", pictures)).expect(200)
    kept = chat_server.server.surroundings.directory / "uploads"

    def files() -> int:
        return sum(1 for path in kept.rglob("*") if path.is_file())

    def scheduled() -> list[tuple[str]]:
        return chat_server.database.reader.execute("SELECT key FROM media_garbage").fetchall()

    addresses = {name: f"/media/{name}s/{world.bob.id}/{own[name]}.png" for name in pictures}
    for address in addresses.values():
        assert (await world.anyone.get(address)).status == 200
    before = files()
    await ask.user("DELETE", "/profile-fields", {"fields": ["bio"]})
    assert not scheduled()
    for number, name in enumerate(pictures, start=1):
        await ask.user("DELETE", "/profile-fields", {"fields": [name]})
        assert len(scheduled()) == number
        assert (await world.anyone.get(addresses[name])).status == 404
    await trio.sleep(601)
    assert not scheduled()
    assert files() <= before - 2
