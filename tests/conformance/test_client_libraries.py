"""Public client libraries of this family hold a conversation with a real server, unattended.

The scripts in `clients/` are bots as their libraries' own documentation would have them; each begins with where its
library had to be helped. How they are installed is told in `clients/installed.py`. What was found of libraries that
are not among them:

- sltfluxpy 0.2.0: its addresses are fixed, its heartbeats name a sequence that was never sent (for which it is closed
  with 4007), and it is no valid Python before 3.12.
- hikari 2.7.0: takes frames of zlib-stream and no others, and tokens that begin with an id in base64.
- disnake 2.12.2: insists on `colors` of roles, which this family does not send.
- interactions.py 5.16.0, from which Interfluxer was made: insists on `summary` of applications and on
  `resume_gateway_url` in Ready, and asks for the gateway's address at GET /gateway.
- Eris 0.18.0: asks over HTTPS only, on no other port than 443.
- Oceanic 1.15.0: identifies with `Bot` before the token, and insists on `application` and `resume_gateway_url` in Ready
  and on `colors` of roles, which this family does not send.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
import trio

from tests.conformance.clients.installed import HERE, node, node_libraries, py_cord, python_libraries
from tests.conformance.clients.talk import Abilities, converse
from tests.durability.server_process import ServerProcess, running

pytestmark = pytest.mark.long

PYTHON = {
    "discord_py": Abilities(),
    "fluxer_py": Abilities(knows_guilds=False),
    "fluxerpy3_py": Abilities(knows_guilds=False, replies=False, resumes=False),
    "interfluxer_py": Abilities(),
    "nextcord_py": Abilities(),
    "py_cord": Abilities(),
}
NODE = {
    "discordjs_core": Abilities(),
    "discordjs": Abilities(),
}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    async with running(tmp_path) as process:
        yield process


Command = tuple[list[str], Mapping[str, str], Abilities]


async def converse_at_once(server: ServerProcess, commands: Mapping[str, Command]) -> None:
    """All conversations side by side, since each waits more than it works; the first that fails is named."""

    async def hold(script: str, command: Command) -> None:
        try:
            await converse(server, *command)
        except Exception as error:
            error.add_note(f"in the conversation of {script}")
            raise

    async with trio.open_nursery() as nursery:
        for script, command in commands.items():
            nursery.start_soon(hold, script, command)


async def test_bots_in_python(server: ServerProcess) -> None:
    libraries = [str(python_libraries()), str(HERE)]
    folders = {"py_cord": [str(py_cord()), *libraries]}

    def command(script: str, abilities: Abilities) -> Command:
        path = os.pathsep.join(folders.get(script, libraries))
        return [sys.executable, str(HERE / f"{script}.py")], {**os.environ, "PYTHONPATH": path}, abilities

    await converse_at_once(server, {script: command(script, abilities) for script, abilities in PYTHON.items()})


async def test_bots_on_node(server: ServerProcess, tmp_path: Path) -> None:
    # Modules are looked for beside the script that asks for them.
    (tmp_path / "node_modules").symlink_to(node_libraries() / "node_modules")
    for name in ("reports", *NODE):
        (tmp_path / f"{name}.mjs").write_text((HERE / f"{name}.mjs").read_text())

    def command(script: str, abilities: Abilities) -> Command:
        return [str(node()), "--no-warnings", str(tmp_path / f"{script}.mjs")], os.environ, abilities

    await converse_at_once(server, {script: command(script, abilities) for script, abilities in NODE.items()})
