"""`chat export guild` and `chat import community` that are killed, or run out of disk: half of it goes, or goes on."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chat.imports import form_lines
from chat.imports.community import LINES
from chat.imports.form import ChannelRecord, FileRecord, GuildRecord, MessageRecord, PersonRecord, ReactionRecord
from tests.imports.discord_world import channel_id, moment, put
from tests.imports.import_command import PICTURE, ImportCommand

MESSAGES = 4_000
ANNA, BERT = moment(-9), moment(-8)


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A community that has left its instance."""
    thumb = ReactionRecord(name="\N{THUMBS UP SIGN}", user_ids=(ANNA, BERT))
    said = (
        MessageRecord(
            id=moment(number),
            channel_id=channel_id(number % 2),
            author_id=(ANNA, BERT)[number % 2],
            content=f"word{number} of the night, " * 20,
            reactions=(thumb,) if number % 10 == 0 else (),
            files=(FileRecord(id=number, name="wave.png", path="wave.png"),) if number % 200 == 1 else (),
        )
        for number in range(1, MESSAGES + 1)
    )
    places = (ChannelRecord(id=channel_id(number), type=0, name=f"room{number}") for number in (0, 1))
    people = (PersonRecord(id=number, name=f"Keeper {number}") for number in (ANNA, BERT))
    guild = GuildRecord(id=channel_id(9), name="Lighthouse")
    folder = tmp_path / "left"
    put(folder, LINES, b"".join(form_lines.written([guild, *places, *people, *said])))
    put(folder, "wave.png", PICTURE)
    return folder


def command(importing: ImportCommand, *arguments: object) -> list[str]:
    return [sys.executable, "-m", "chat", *map(str, arguments), "--data", str(importing.data)]


def require_all(importing: ImportCommand) -> None:
    assert importing.rows("SELECT count(*), count(DISTINCT id) FROM messages") == [(MESSAGES, MESSAGES)]
    assert importing.rows("SELECT count(*) FROM message_search") == [(MESSAGES,)]
    assert importing.rows("SELECT count(*) FROM attachments") == [(MESSAGES // 200,)]
    assert importing.rows("SELECT count(*) FROM message_reactions") == [(MESSAGES // 10,)]
    importing.require_order()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_a_killed_import_goes_on(importing: ImportCommand, left: Path, seed: int) -> None:
    chance = random.Random(seed)
    arguments = ("import", "community", left, "--guild", importing.guild_id, "--json")
    kills = 0
    while kills < 4 and importing.rows("SELECT state FROM imports") != [("completed",)]:
        before = importing.rows("SELECT count(*) FROM messages")
        with subprocess.Popen(command(importing, *arguments), stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and importing.rows("SELECT count(*) FROM messages") == before:
                time.sleep(0.01)  # it starts, and reads over what is there
            time.sleep(chance.random() * 0.1)
            process.kill()
        kills += 1
        importing.require_order()
    again = importing.command(*arguments)
    assert (again.status, again.json["state"]) == (0, "completed")
    require_all(importing)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_a_killed_export_leaves_nothing_that_looks_whole(
    importing: ImportCommand, left: Path, tmp_path: Path, seed: int
) -> None:
    importing.command("import", "community", left, "--guild", importing.guild_id)
    chance = random.Random(seed)
    out, draft = tmp_path / "out", tmp_path / "out.part"
    arguments = ("export", "guild", importing.guild_id, out)
    for _ in range(4):
        with subprocess.Popen(command(importing, *arguments), stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and not draft.exists():
                time.sleep(0.01)
            time.sleep(chance.random() * 0.1)
            process.kill()
        if out.exists():
            break  # as much as a fast machine does before a kill
    if not out.exists():
        assert importing.command(*arguments).status == 0
    assert not draft.exists()
    lines = (out / LINES).read_bytes().splitlines()
    assert sum(b'"kind":"message"' in line for line in lines) == MESSAGES
    assert {one.name for one in out.iterdir()} - {".export"} == {"attachments", LINES}


@pytest.mark.long
def test_a_full_disk_ends_an_import_that_can_go_on(importing: ImportCommand, left: Path) -> None:
    arguments = ("import", "community", left, "--guild", importing.guild_id, "--json")
    ending = limited(3_000_000, command(importing, *arguments))
    assert ending.returncode == 1
    assert "Traceback" not in ending.stderr
    importing.require_order()
    ((count,),) = importing.rows("SELECT count(*) FROM messages")
    assert 0 < count < MESSAGES
    again = importing.command(*arguments)
    assert (again.status, again.json["state"], again.json["counts"]["messages"]) == (0, "completed", MESSAGES)
    require_all(importing)


@pytest.mark.long
def test_a_full_disk_leaves_no_half_export(importing: ImportCommand, left: Path, tmp_path: Path) -> None:
    importing.command("import", "community", left, "--guild", importing.guild_id)
    ending = limited(300_000, command(importing, "export", "guild", importing.guild_id, tmp_path / "out"))
    assert ending.returncode == 1
    assert f"cannot write {tmp_path / 'out'}: File too large" in ending.stderr
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.part").exists()


def limited(size: int, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """A command whose files may not grow beyond this many bytes, which stands for a full disk."""
    limit = f"import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"
    start = [sys.executable, "-c", f"{limit}; os.execv(sys.argv[1], sys.argv[1:])", *arguments]
    return subprocess.run(start, capture_output=True, text=True, timeout=300, check=False)


def test_two_exports_to_one_place_at_once_are_refused(importing: ImportCommand, tmp_path: Path) -> None:
    import fcntl

    draft = tmp_path / "out.part"
    draft.mkdir()
    with (draft / ".export").open("wb") as mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        words = importing.refused("export", "guild", importing.guild_id, tmp_path / "out")
    assert "is under way" in words
    assert importing.command("export", "guild", importing.guild_id, tmp_path / "out").status == 0
    assert "exists already" in importing.refused("export", "guild", importing.guild_id, tmp_path / "out")


def test_a_directory_of_somebody_else_is_left_alone(importing: ImportCommand, tmp_path: Path) -> None:
    put(tmp_path / "out.part", "dear.txt", b"mine")
    words = importing.refused("export", "guild", importing.guild_id, tmp_path / "out")
    assert "is none of an export" in words
    assert (tmp_path / "out.part" / "dear.txt").read_bytes() == b"mine"
