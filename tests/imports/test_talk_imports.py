"""`chat import` of each service, by the command: a dry run writes nothing, a run brings everything, a second one writes
nothing, and undo leaves the instance as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from tests.cli.command_line import Outcome, Run
from tests.durability.server_process import running
from tests.imports.discord_world import packed
from tests.imports.import_command import ImportCommand
from tests.imports.talk_services import SERVICES
from tests.imports.talk_world import EXAMPLE

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
    assert (found["counts"]["people"], found["counts"]["files"], found["counts"]["threads"]) == (3, 1, 1)
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
    assert counts(found["counts"]) == {"channels": 1, "people": 2, "messages": 1}


@pytest.mark.parametrize("name", NAMES)
async def test_members_read_it_on_a_running_server(name: str, run: Run, tmp_path: Path) -> None:
    data, path = tmp_path / "data", made(name, tmp_path)

    async def chat(*arguments: object) -> Outcome:
        return await trio.to_thread.run_sync(lambda: run(*arguments, "--data", data))

    async with running(data) as server, trio.open_nursery():
        guild_id = server.world["guild_id"]
        ending = await chat("import", name, path, "--guild", guild_id, "--json")
        assert (ending.status, ending.json["state"]) == (0, "completed"), ending.err
        channels = (await server.bob.get(f"/v1/guilds/{guild_id}/channels")).expect(200)
        assert "back-room" not in json.dumps(channels), "bob is no member of it"
        [harbour] = [one for one in channels if one["name"] == "harbour"]
        messages = (await server.bob.get(f"/v1/channels/{harbour['id']}/messages")).expect(200)
        lit, last = sorted(messages, key=lambda one: int(one["id"]))
        assert lit["author"]["global_name"] == "Anna Ahoy"
        assert lit["content"].startswith("The lamp is **lit** <@")
        assert [one["username"] for one in lit["mentions"]] == ["bert"]
        thread = (await server.bob.get(f"/v1/channels/{lit['id']}")).expect(200)
        assert (thread["parent_id"], thread["message_count"]) == (harbour["id"], 1)
        assert [one["filename"] for one in lit["attachments"]] == ["dawn.txt"]
        assert last["content"] == "`a < b` https://ships.invalid/"


def test_an_archive_is_read_as_it_lies_there(importing: ImportCommand, tmp_path: Path) -> None:
    found = importing.bring("slack", packed(made("slack", tmp_path), tmp_path / "export.zip"))
    assert found["counts"]["messages"] == len(EXAMPLE.said)
    assert (found["missing"], found["refused"]) == ([], [])
