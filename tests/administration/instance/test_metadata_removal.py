"""Metadata goes out of what was stored with it: after an upgrade, and after a time in which it was left in."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.media import file_check
from chat.registries.jobs import JobStatus
from chat.store.connections import connect
from chat.store.migrations import MIGRATIONS, migrate
from chat.store.whole_database import stored_files, wrong_counts
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import World
from tests.administration.instance.removal_world import OLD, leave_as_before, order_removal
from tests.field.photographs import SECRETS
from tests.messages.test_upload_routes import messages
from tests.webhooks.surfaces import data_uri, fetch, form, post_form


async def over(server: ChatServer) -> list[tuple[Any, ...]]:
    """The job's row, once it is over."""
    query = "SELECT status, progress_current, progress_total FROM jobs WHERE task_type = 'metadata_removal'"
    while any(status not in {JobStatus.COMPLETED, JobStatus.FAILED} for status, *_ in found(server, query)):  # noqa: ASYNC110
        await trio.sleep(1)  # jobs tell nobody
    return found(server, query)


def found(server: ChatServer, query: str) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = server.database.reader.execute(query).fetchall()
    return rows


def nothing_is_wrong(server: ChatServer) -> None:
    directory = server.server.surroundings.directory / "uploads"
    connection = server.database.reader
    assert list(wrong_counts(connection)) == []
    assert list(file_check.missing_files(connection, stored_files(connection), directory)) == []
    assert list(file_check.changed_files(connection, directory)) == []


async def post_pictures(world: World) -> dict[str, Any]:
    """A photograph, forwarded once; the same as an avatar and an emoji, which is copied."""
    body = form([("files[0]", "home.jpg", OLD), ("files[1]", "a.txt", b"words")])
    sent: dict[str, Any] = (await post_form(world.alice.rest, messages(world), body)).expect(200)
    reference = {"type": 1, "message_id": sent["id"], "channel_id": world.channel_id}
    (await world.alice.rest.post(messages(world), {"message_reference": reference})).expect(200)
    (await world.alice.rest.patch("/v1/users/@me", {"avatar": data_uri(OLD)})).expect(200)
    emojis = f"/v1/guilds/{world.guild_id}/emojis"
    (await world.alice.rest.post(emojis, {"name": "wave", "image": data_uri(OLD)})).expect(200)
    return sent


async def test_what_was_stored_before_is_cleaned(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock
) -> None:
    sent = await post_pictures(chat_world)
    await chat_server.database.write(lambda connection: leave_as_before(chat_server, connection))
    picture = sent["attachments"][0]
    assert (await fetch(chat_world.anyone, picture["url"])).body == OLD
    await chat_server.database.write(order_removal)
    ((status, current, total),) = await over(chat_server)
    assert (status, current) == (JobStatus.COMPLETED, total)
    told = (await chat_world.alice.rest.messages(chat_world.channel_id)).expect(200)
    shown = next(message for message in told if message["id"] == sent["id"])["attachments"][0]
    kept = (await fetch(chat_world.anyone, shown["url"])).body
    assert [secret for secret in SECRETS if secret in kept] == []
    assert (shown["width"], shown["height"], shown["size"]) == (24, 48, len(kept))
    assert shown["content_hash"] == hashlib.sha256(kept).hexdigest()
    assert len(set(found(chat_server, "SELECT file_id FROM attachments WHERE filename = 'home.jpg'"))) == 1
    for width, height, size, name in found(chat_server, "SELECT width, height, size, hash FROM assets"):
        assert (width, height, size) == (24, 48, len(kept)), name
    nothing_is_wrong(chat_server)
    await trio.sleep(2 * 3_600)  # the old files have no owner, and go
    uploads = chat_server.server.surroundings.directory / "uploads"
    assert not [path for path in uploads.rglob("*") if path.is_file() and path.read_bytes() == OLD]
    assert (await fetch(chat_world.anyone, shown["url"])).body == kept
    nothing_is_wrong(chat_server)


async def test_a_server_that_left_metadata_in_takes_it_out_when_it_is_told_to(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with (
        open_chat_server(tmp_path, settings={"media.metadata": "keep"}) as server,
        trio.open_nursery() as nursery,
    ):
        world = World(server.description(), server.route(), nursery)
        await post_pictures(world)
        await world.aclose()
        nursery.cancel_scope.cancel()
    for _ in range(2):
        async with open_chat_server(tmp_path, settings={"media.metadata": "keep"}) as server:
            await trio.sleep(5)
            assert await over(server) == []
    async with open_chat_server(tmp_path) as server:
        await trio.sleep(5)
        assert [status for status, *_ in await over(server)] == [JobStatus.COMPLETED]
        files = (tmp_path / "uploads").rglob("*")
        rows = {str(number) for (number,) in found(server, "SELECT coalesce(file_id, id) FROM attachments")}
        rows |= {str(number) for (number,) in found(server, "SELECT id FROM assets")}
        kept = [path.read_bytes() for path in files if path.name in rows]
        assert len(kept) == 4
        assert not [secret for secret in SECRETS for file in kept if secret in file]
        nothing_is_wrong(server)
    async with open_chat_server(tmp_path) as server:
        await trio.sleep(5)
        assert len(await over(server)) == 1, "it is done once"


@pytest.mark.parametrize("has_file", [True, False])
def test_an_upgrade_orders_the_job_where_there_are_files(has_file: bool) -> None:
    connection = connect(":memory:")
    names = [migration.__name__ for migration in MIGRATIONS]
    migrate(connection, MIGRATIONS[: names.index("metadata_removal")])
    if has_file:
        connection.execute(
            "INSERT INTO assets (kind, owner_id, hash, id, content_type, size) VALUES ('icons', 1, 'a', 2, 'b', 3)"
        )
    migrate(connection)
    orders = connection.execute("SELECT status FROM jobs WHERE task_type = 'metadata_removal'").fetchall()
    assert orders == ([("pending",)] if has_file else [])
