"""The README's bots on client libraries run as printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest
import trio

from tests.conformance.clients.installed import node, node_libraries, python_libraries
from tests.conformance.clients.talk import Alice
from tests.durability.server_process import running
from tests.test_readme import blocks

pytestmark = pytest.mark.long

HEADING: Final = "Bots on client libraries"
SECONDS: Final = 120


async def ping(folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Start the server, write down its world, start the bot in that folder, and say `!ping` once it is there."""
    async with running(folder / "data") as server:
        (folder / "world.json").write_text(json.dumps(server.world), encoding="utf-8")
        bot = await trio.lowlevel.open_process(
            list(command), cwd=folder, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        try:
            alice = Alice(server.alice, server.world)
            with trio.fail_after(SECONDS):
                while not await alice.sessions_of_bot():
                    assert bot.returncode is None, "the bot ended"
                    await trio.sleep(0.1)
                asked = await alice.says("!ping")
                while (newest := (await alice.rest.messages(server.channel_id, limit=1)).expect(200)[0])["id"] == asked:
                    assert bot.returncode is None, "the bot ended"
                    await trio.sleep(0.1)
            assert (newest["content"], newest["author"]["id"]) == ("pong", alice.bot_id)
            assert newest["message_reference"]["message_id"] == asked
        finally:
            if bot.returncode is None:
                bot.kill()
            with trio.CancelScope(shield=True):
                await bot.wait()


async def test_the_bot_in_python_answers(tmp_path: Path) -> None:
    (code,) = blocks("python", HEADING)
    (tmp_path / "bot.py").write_text(code, encoding="utf-8")
    await ping(tmp_path, [sys.executable, "bot.py"], {**os.environ, "PYTHONPATH": str(python_libraries())})


async def test_the_bot_on_node_answers(tmp_path: Path) -> None:
    (code,) = blocks("js", HEADING)
    (tmp_path / "bot.mjs").write_text(code, encoding="utf-8")
    (tmp_path / "node_modules").symlink_to(node_libraries() / "node_modules")
    await ping(tmp_path, [str(node()), "--no-warnings", "bot.mjs"], os.environ)
