"""What the test kit logs where a test chose nothing: an error with its traceback, in lines that somebody reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

LINES_MAXIMUM: Final = 5
PROGRAM: Final = """
import sys
from pathlib import Path

import structlog
import trio
from trio.testing import MockClock

from chat.testing import open_chat_server


async def main():
    large = [dict.fromkeys(range(1_000)) for _ in range(100)]
    async with open_chat_server(Path(sys.argv[1])):
        try:
            large[1_000]
        except IndexError:
            structlog.get_logger("chat").exception("internal error", authorization="Bot 5.secret")


trio.run(main, clock=MockClock())
"""


def test_an_error_is_a_line_with_its_traceback(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    lines = ran.stderr.splitlines()
    assert len(lines) <= LINES_MAXIMUM
    (line,) = (line for line in lines if "internal error" in line)
    assert "IndexError" in line
    assert "5.secret" not in line
