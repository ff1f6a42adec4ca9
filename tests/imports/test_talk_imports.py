"""`chat import` of each service, by the command: a dry run writes nothing, a run brings everything, a second one writes
nothing, and undo leaves the instance as it was."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from chat.imports.export_files import PIECE, UNCOMPRESSED_ALWAYS
from chat.imports.form import MessageRecord
from tests.cli.command_line import ALICE, Outcome, Run
from tests.durability.server_process import running
from tests.imports.discord_world import packed
from tests.imports.import_command import ImportCommand
from tests.imports.talk_services import SERVICES
from tests.imports.talk_world import EXAMPLE, HARBOUR, Person, Said, read, words
from tests.imports.zulip_maker import as_tar

NAMES = sorted(SERVICES)


def made(name: str, folder: Path, **more: Any) -> Path:
    return SERVICES[name].write(folder / "export", attrs.evolve(EXAMPLE, **more))


def counts(of: dict[str, Any]) -> dict[str, int]:
    return {kind: count for kind, count in of.items() if count}


@pytest.mark.parametrize("name", NAMES)
def test_everything_comes_once_and_goes_again(name: str, importing: ImportCommand, tmp_path: Path) -> None:
    path = made(name, tmp_path)
    before = importing.everything()
    dry = importing.bring(name, path, "--dry-run")
    assert importing.everything() == before
    found = importing.bring(name, path)
    assert (found["missing"], found["refused"]) == ([], [])
    assert counts(found["counts"]) == counts(dry["counts"])
    assert found["counts"]["messages"] == len(EXAMPLE.said)
    threads = 3 if SERVICES[name].topics else 1
    assert (found["counts"]["people"], found["counts"]["files"], found["counts"]["threads"]) == (3, 1, threads)
    importing.require_order()
    brought = importing.everything()
    again = importing.bring(name, path)
    assert importing.everything() == brought
    assert counts(again["counts"]) == {}
    ending = importing.command("import", "undo", found["id"], "--json")
    assert (ending.status, ending.err) == (0, "")
    importing.require_order()
    left = importing.everything()
    for table in ("channels", "threads", "messages", "attachments", "message_reactions", "permission_overwrites"):
        assert left[table] == before[table], table


@pytest.mark.parametrize("name", NAMES)
def test_a_newer_export_brings_what_is_new(name: str, importing: ImportCommand, tmp_path: Path) -> None:
    importing.bring(name, made(name, tmp_path / "old", said=EXAMPLE.said[:3]))
    found = importing.bring(name, made(name, tmp_path / "new"))
    assert found["counts"]["messages"] == 1
    assert (found["missing"], found["refused"]) == ([], [])
    importing.require_order()


@pytest.mark.parametrize("name", NAMES)
def test_only_what_is_wanted_comes(name: str, importing: ImportCommand, tmp_path: Path) -> None:
    found = importing.bring(name, made(name, tmp_path), "--channels", "back-room", "--without-files")
    threads = {"threads": 1} if SERVICES[name].topics else {}
    assert counts(found["counts"]) == {"channels": 1, "people": 2, "messages": 1, **threads}


@pytest.mark.parametrize("name", NAMES)
async def test_members_read_it_on_a_running_server(name: str, run: Run, tmp_path: Path) -> None:
    data, path = tmp_path / "data", made(name, tmp_path)
    records = read(SERVICES[name].export, path)

    async def chat(*arguments: object) -> Outcome:
        return await trio.to_thread.run_sync(lambda: run(*arguments, "--data", data))

    async with running(data) as server, trio.open_nursery():
        guild_id = server.world["guild_id"]
        ending = await chat("import", name, path, "--guild", guild_id, "--json")
        assert (ending.status, ending.json["state"]) == (0, "completed"), ending.err
        channels = (await server.bob.get(f"/v1/guilds/{guild_id}/channels")).expect(200)
        assert "back-room" not in json.dumps(channels), "bob is no member of it"
        [harbour] = [one for one in channels if one["name"] == "harbour"]
        lamp = next(one for one in records if isinstance(one, MessageRecord) and "lamp" in one.content)
        lit = (await server.bob.get(f"/v1/channels/{lamp.channel_id}/messages/{lamp.id}")).expect(200)
        assert lit["author"]["global_name"] == "Anna Ahoy"
        assert lit["content"].startswith("The lamp is **lit** <@")
        assert [one["username"].lower() for one in lit["mentions"]] == ["bert"]
        thread = (await server.bob.get(f"/v1/channels/{lit['id']}")).expect(200)
        assert thread["parent_id"] == harbour["id"]
        answers = (await server.bob.get(f"/v1/channels/{lit['id']}/messages")).expect(200)
        assert "seen" in answers[0]["content"]
        assert [one["filename"] for one in lit["attachments"]] == ["dawn.txt"]


def test_an_owner_is_found_whom_the_export_has_too(importing: ImportCommand, tmp_path: Path) -> None:
    world = {
        "people": (Person("alice", "Alice"),),
        "said": (Said(number=1, room="harbour", by="alice", parts=(words("x"),)),),
    }
    importing.bring("slack", made("slack", tmp_path, **world, rooms=(HARBOUR,)))
    assert importing.rows("SELECT count(*) FROM users WHERE username = 'alice'") == [(2,)]
    found = importing.bring("slack", tmp_path / "export", "--owner", "alice", guild="New one")
    assert importing.rows("SELECT owner_id FROM guilds WHERE id = ?", int(found["guild_id"])) == [(ALICE,)]


def test_a_compressed_archive_is_read_and_a_broken_one_refused(importing: ImportCommand, tmp_path: Path) -> None:
    path = as_tar(made("zulip", tmp_path), tmp_path / "export.tar.gz")
    found = importing.bring("zulip", path)
    assert (found["counts"]["messages"], found["counts"]["files"]) == (len(EXAMPLE.said), 1)
    assert (found["missing"], found["refused"]) == ([], [])
    whole = path.read_bytes()
    for wrong in (whole[:-20], gzip.compress(b"\0" * (UNCOMPRESSED_ALWAYS + 2 * PIECE), 9), b"\x1f\x8bnothing"):
        path.write_bytes(wrong)
        assert "archive" in importing.refused("import", "zulip", path, "--guild", importing.guild_id)


def test_an_archive_is_read_as_it_lies_there(importing: ImportCommand, tmp_path: Path) -> None:
    found = importing.bring("slack", packed(made("slack", tmp_path), tmp_path / "export.zip"))
    assert found["counts"]["messages"] == len(EXAMPLE.said)
    assert (found["missing"], found["refused"]) == ([], [])
