"""Archives are built in steps, and broken off after any of them they are as if they had not been."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from chat.domain.administration.archive_building import ArchiveBuild, ArchiveWish, BuildState
from chat.media.storage import MediaStorage
from chat.media.zip_writing import ZipWriter, list_of
from chat.registries.jobs import ArchiveSubject
from chat.store.administration import archive_reading
from chat.store.database import Database
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.jobs.test_archives import downloaded, live_a_little, over, place
from tests.webhooks.surfaces import form, post_form

pytestmark = pytest.mark.chat_settings(**{"archives.spare_bytes": 0})

MESSAGES: Final = 12


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that hold next to nothing, so that there are many of them."""
    monkeypatch.setattr(archive_reading, "PAGE_ROWS", 2)
    monkeypatch.setattr(archive_reading, "MESSAGES_AT_ONCE", 3)
    monkeypatch.setattr(archive_reading, "CHANNELS_AT_ONCE", 1)
    monkeypatch.setattr(archive_reading, "FILES_AT_ONCE", 2)
    monkeypatch.setattr(archive_reading, "BYTES_AT_ONCE", 4)


async def fill(world: World) -> None:
    """Messages with and without files, in several channels."""
    await live_a_little(world)
    made = await world.alice.rest.post(f"/v1/guilds/{world.guild_id}/channels", {"name": "quay", "type": 0})
    channels = [world.channel_id, made.expect(200)["id"]]
    for number in range(MESSAGES):
        path = f"/v1/channels/{channels[number % 2]}/messages"
        files = [("files[0]", f"{number}.txt", b"x" * number)] if number % 3 else []
        body = form(files, json.dumps({"content": f"number {number}"}).encode())
        (await post_form(world.bob.rest, path, body)).expect(200)


def contents(path: Path) -> dict[str, Any]:
    """Every entry of an archive, the index without its moments."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert len(names) == len(set(names))
        found: dict[str, Any] = {name: archive.read(name) for name in names}
    index = json.loads(found["index.json"])
    return found | {"index.json": [index["contents"], index["missing_files"]]}


async def built(database: Database, build: ArchiveBuild, path: Path, *, broken_off: bool) -> tuple[int, list[int]]:
    """Build an archive, with a new writer and a state out of JSON for each step if `broken_off`; how many steps it
    took, and the percents in between."""
    state = await database.read(build.begun)
    steps, percents = 0, [build.percent(state)]
    writer = ZipWriter(path)
    while not build.is_done(state):
        page = build.read(database.reader, state)
        after = build.write(writer, state, page, spare_bytes=0, folder=path.parent, now_ms=0)
        if broken_off:
            writer.close()
            if steps % 2:  # killed before the step was written down: it is done again
                after = state
            for file in (path, list_of(path)):
                with file.open("ab") as stream:
                    stream.write(b"half an entry")
            after = BuildState.of(json.loads(json.dumps(after.kept())))
            writer = ZipWriter(path, after.position)
        state, steps = after, steps + 1
        percents.append(build.percent(state))
    build.finish(writer, state, began_at=0, now_ms=0)
    writer.close()
    return steps, percents


async def test_broken_off_after_every_step(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, tmp_path: Path, small_pages: None
) -> None:
    await fill(chat_world)
    storage = MediaStorage(tmp_path / "uploads", in_threads=False)
    for kind, subject_id in ((ArchiveSubject.USER, chat_world.bob.id), (ArchiveSubject.GUILD, chat_world.guild_id)):
        wish = ArchiveWish(kind=kind, subject_id=int(subject_id), include_attachments=True)
        build = ArchiveBuild(wish, storage.path_of)
        whole, pieces = tmp_path / f"{kind}.zip", tmp_path / f"{kind}-in-pieces.zip"
        steps, percents = await built(chat_server.database, build, whole, broken_off=False)
        assert percents == sorted(percents)
        assert (percents[0], percents[-1]) == (0, 99)
        assert len(set(percents)) > 15
        assert (await built(chat_server.database, build, pieces, broken_off=True))[0] > steps
        entries = contents(whole)
        assert contents(pieces) == entries
        texts = [
            json.loads(line)["content"]
            for name, content in entries.items()
            if name.startswith("messages/") and name.endswith(".jsonl")
            for line in content.splitlines()
        ]
        assert sorted(text for text in texts if text.startswith("number")) == sorted(
            f"number {number}" for number in range(MESSAGES)
        )
        files = {name: content for name, content in entries.items() if name.startswith("attachments/")}
        sizes = [number for number in range(MESSAGES) if number % 3]
        assert sorted(map(len, files.values())) == [*sizes, len(b"contents of a file")]


async def test_servers_that_end_under_an_archive(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, tmp_path: Path, small_pages: None
) -> None:
    """Each ends a few moments later than the one before; whatever was under way by then, the archive is whole."""
    world, admin = chat_world, chat_world.admin.rest
    await fill(world)
    path = f"/v1/admin/guilds/{world.guild_id}/archives"
    straight = await over(admin, (await admin.post(path, {"include_attachments": True})).expect(200))
    ordered = (await admin.post(path, {"include_attachments": True})).expect(200)
    seen: set[int] = set()
    for moments in range(4, 200, 24):
        await chat_server.stop()
        await chat_server.start()
        for _ in range(moments):
            await trio.lowlevel.checkpoint()
        found = (await admin.get(place(ordered))).expect(200)["archive"]
        seen.add(found["progress_percent"])
        if found["completed_at"] is not None:
            break
    assert len(seen) > 3
    done = await over(admin, ordered)
    assert done["error_message"] is None
    files = [(await downloaded(admin, archive)) for archive in (straight, done)]
    first, second = ({name: file.read(name) for name in file.namelist() if name != "index.json"} for file in files)
    assert first == second
    await trio.sleep(1_300)
    left = sorted(file.name for file in (tmp_path / "archives").iterdir())
    assert left == sorted(f"{archive['archive_id']}.zip" for archive in (straight, done))

    # What was begun is lost, as after a restored backup: the archive is begun anew.
    again = (await admin.post(path, {})).expect(200)
    while (await admin.get(place(again))).expect(200)["archive"]["progress_percent"] < 20:
        await trio.lowlevel.checkpoint()
    await chat_server.stop()
    for file in (tmp_path / "archives").glob("*.part*"):
        file.unlink()
    await chat_server.start()
    file = await downloaded(admin, await over(admin, again))
    assert file.testzip() is None
