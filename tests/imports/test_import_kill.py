"""An import that is killed at random moments: the same command goes on, and nothing is lost or doubled."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.imports.discord_world import ANNA, BERT, channel, export, message, put
from tests.imports.import_command import PICTURE, ImportCommand

MESSAGES = 4_000
THUMB = {"emoji": {"id": "", "name": "\N{THUMBS UP SIGN}", "code": "thumbsup"}, "count": 2, "users": [ANNA, BERT]}


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """Two channels with as many messages as take a second or two, some with reactions and files."""
    folder = tmp_path / "export"
    put(folder, "media/dawn.png", PICTURE)
    for number in (1, 2):
        messages = []
        for count in range(MESSAGES // 2):
            picture = {"id": str(number * 10_000 + count), "url": "media/dawn.png", "fileName": "dawn.png"}
            messages.append(
                message(
                    number * MESSAGES + count,
                    f"word{count} of the night",
                    (ANNA, BERT)[count % 2],
                    reactions=[THUMB] if count % 10 == 0 else [],
                    attachments=[picture] if count % 200 == 0 else [],
                )
            )
        put(folder, f"{number}.json", export(channel(number, f"room{number}"), *messages))
    return folder


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_kills_lose_and_double_nothing(importing: ImportCommand, exported: Path, seed: int) -> None:
    chance = random.Random(seed)
    arguments = ["import", "discord", str(exported), "--guild", str(importing.guild_id), "--json"]
    command = [sys.executable, "-m", "chat", *arguments, "--data", str(importing.data)]
    kills = 0
    while kills < 5 and importing.rows("SELECT state FROM imports") != [("completed",)]:
        before = importing.rows("SELECT count(*) FROM messages")
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and importing.rows("SELECT count(*) FROM messages") == before:
                time.sleep(0.01)  # it starts, and reads over what is there
            time.sleep(chance.random() * 0.3)
            process.kill()
        kills += 1
        importing.require_order()
    if importing.rows("SELECT state FROM imports") != [("completed",)]:  # as much as a fast machine does before a kill
        assert importing.discord(exported)["state"] == "completed"
    ((import_id,),) = importing.rows("SELECT id FROM imports")
    found = importing.command("import", "show", import_id, "--json").json
    assert importing.rows("SELECT count(*), count(DISTINCT id) FROM messages") == [(MESSAGES, MESSAGES)]
    assert importing.rows("SELECT count(*) FROM message_search") == [(MESSAGES,)]
    assert importing.rows("SELECT count(*) FROM attachments") == [(MESSAGES // 200,)]
    assert importing.rows("SELECT count(*) FROM message_reactions") == [(MESSAGES // 10,)]
    came = found["counts"]
    assert (came["messages"], came["files"], came["reactions"]) == (MESSAGES, MESSAGES // 200, MESSAGES // 10)
    importing.require_order()
    before = importing.everything()
    importing.discord(exported)
    assert importing.everything() == before
