"""Schemathesis against a real server: no answer is a 5xx, and every one has the shape that the document promises.

A run is bounded in time, and what it makes up follows from a seed, which is always the same. For other and longer ones:
`SCHEMATHESIS_SEED=7 SCHEMATHESIS_TIMES=20 python -m pytest tests/openapi`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
import trio

from tests.durability.server_process import running
from tests.openapi.furnished import furnish

pytestmark = pytest.mark.long

SEED: Final = os.environ.get("SCHEMATHESIS_SEED", "1")
TIMES: Final = int(os.environ.get("SCHEMATHESIS_TIMES", "1"))
MORE_SECONDS: Final = 300
"""Beyond the time that a run has: a machine under load takes its time to start and to end."""

CONFIGURATION: Final = """\
[phases.coverage]
unexpected-methods = []
"""

HOOKS_FILE: Final = "CHAT_REAL_IDS"
CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
ADMINISTRATION: Final = "^/v1/admin"


@attrs.frozen
class Caller:
    """Whose credential is used, and for which operations."""

    name: str
    seconds: int
    options: tuple[str, ...]

    def authorization(self, world: dict[str, Any]) -> str:
        match self.name:
            case "bot":
                return f"Bot {world['bot']['token']}"
            case "admin":
                return f"Admin {world['admin_key']}"
            case _:
                return str(next(user["token"] for user in world["users"] if user["username"] == self.name))


CALLERS: Final = [
    # Who signs out has no credential any more.
    Caller("alice", 40, ("--exclude-path-regex", ADMINISTRATION, "--exclude-path", "/v1/auth/logout")),
    Caller("bot", 25, ("--exclude-path-regex", f"{ADMINISTRATION}|^/v1/auth/")),
    Caller("admin", 20, ("--include-path-regex", ADMINISTRATION)),
]


@pytest.mark.parametrize("caller", CALLERS, ids=lambda caller: caller.name)
async def test_every_answer_is_as_documented(caller: Caller, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as stream:
        async with running(tmp_path / "data", log=stream) as server:
            ids = tmp_path / "ids.json"
            ids.write_text(json.dumps(await furnish(server)), encoding="utf-8")
            base = str(server.world["base_url"])
            (tmp_path / "schemathesis.toml").write_text(CONFIGURATION, encoding="utf-8")
            seconds = TIMES * caller.seconds
            with trio.fail_after(seconds + MORE_SECONDS):
                run = await trio.run_process(
                    [
                        sys.executable, "-m", "schemathesis.cli", "run", f"{base}/openapi.json",
                        "--header", f"Authorization:{caller.authorization(server.world)}",
                        "--checks", ",".join(CHECKS), "--phases", "coverage,fuzzing,stateful", "--mode", "all",
                        "--max-time", str(seconds), "--seed", SEED, "--continue-on-failure", "--no-shrink",
                        "--request-timeout", "30", "--suppress-health-check", "all", "--warnings", "off",
                        *caller.options,
                    ],
                    cwd=tmp_path,
                    env={
                        **os.environ,
                        "PYTHONPATH": str(Path(__file__).parents[2]),
                        "SCHEMATHESIS_HOOKS": "tests.openapi.real_ids",
                        HOOKS_FILE: str(ids),
                    },
                    capture_stdout=True,
                    stderr=subprocess.STDOUT,
                    check=False,
                )  # fmt: skip
            assert run.returncode == 0, run.stdout.decode("utf-8", "replace")
            assert (await server.alice.get("/_health")).status == 200
    assert b"request failed" not in log.read_bytes()
