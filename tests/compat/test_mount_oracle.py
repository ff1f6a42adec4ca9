"""Client libraries read all that the mount shows a bot: every event and object is parsed by the libraries themselves,
and every public attribute of what they make of it is read (compat.md, Demanded members)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from trio.testing import MockClock

from chat.testing.world import World
from tests.compat.recorded_mount import Recorder
from tests.conformance.clients.installed import HERE
from tests.conformance.test_client_libraries import commands_in_python, commands_on_node

pytestmark = pytest.mark.long

SECONDS = 120
PYTHON = ("oracle_discord_py", "oracle_hikari")
NODE = ("oracle_discordjs", "oracle_oceanic")


async def test_libraries_read_all_that_a_bot_is_shown(
    chat_world: World, autojump_clock: MockClock, tmp_path: Path
) -> None:
    recorded = tmp_path / "recorded.json"
    recorded.write_text(json.dumps(await Recorder(chat_world).recorded()))
    for name in ("reading", *NODE):
        (tmp_path / f"{name}.mjs").write_text((HERE / f"{name}.mjs").read_text())
    faults = {}
    for name, (command, environment) in (commands_in_python(PYTHON, HERE) | commands_on_node(NODE, tmp_path)).items():
        done = subprocess.run(  # noqa: ASYNC221 - the world stands still meanwhile
            [*command, str(recorded)], env=dict(environment), capture_output=True, timeout=SECONDS, check=False
        )
        assert done.returncode == 0, done.stderr.decode()[-3_000:]
        read = json.loads(done.stdout.splitlines()[-1])
        assert {"Guild", "Message", "Member", "Role"} & set(read["kinds"]), read["kinds"]
        faults |= {f"{name} {what}": said for what, said in read["faults"].items()}
    told = "\n".join(f"{what}: {said}" for what, said in sorted(faults.items()))
    assert not faults, told
