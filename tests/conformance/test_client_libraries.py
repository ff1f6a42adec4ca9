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
- py-cord: has the same name as discord.py, from which it came, and so cannot stand beside it.
- Eris 0.18.0: asks over HTTPS only, on no other port than 443.
- Oceanic 1.15.0: identifies with `Bot` before the token, and insists on `application` and `resume_gateway_url` in Ready
  and on `colors` of roles, which this family does not send.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conformance.clients.installed import HERE, node, node_libraries, python_libraries
from tests.conformance.clients.talk import Abilities, converse
from tests.durability.server_process import ServerProcess, running

PYTHON = {
    "discord_py": Abilities(),
    "fluxer_py": Abilities(knows_guilds=False),
    "fluxerpy3_py": Abilities(knows_guilds=False, replies=False, resumes=False),
    "interfluxer_py": Abilities(knows_guilds=False),
    "nextcord_py": Abilities(),
}
NODE = {
    "discordjs_core": Abilities(),
    "discordjs": Abilities(),
}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    async with running(tmp_path) as process:
        yield process


@pytest.mark.parametrize("script", sorted(PYTHON))
async def test_a_bot_in_python(server: ServerProcess, script: str) -> None:
    path = os.pathsep.join([str(python_libraries()), str(HERE)])
    environment = {**os.environ, "PYTHONPATH": path}
    await converse(server, [sys.executable, str(HERE / f"{script}.py")], environment, PYTHON[script])


@pytest.mark.parametrize("script", sorted(NODE))
async def test_a_bot_on_node(server: ServerProcess, script: str, tmp_path: Path) -> None:
    # Modules are looked for beside the script that asks for them.
    (tmp_path / "node_modules").symlink_to(node_libraries() / "node_modules")
    for name in ("reports.mjs", f"{script}.mjs"):
        (tmp_path / name).write_text((HERE / name).read_text())
    command = [str(node()), "--no-warnings", str(tmp_path / f"{script}.mjs")]
    await converse(server, command, os.environ, NODE[script])
