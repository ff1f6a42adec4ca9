"""The plugin in a project that is not ours: it is there by itself, and it is not in the way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

GREETING = """
import pytest

@pytest.mark.trio
async def test_greeting(chat_world, autojump_clock):
    bob = await chat_world.bob.connect()
    await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")
    message = await bob.expect("MESSAGE_CREATE")
    assert message.data["content"] == "hello"

@pytest.mark.trio
@pytest.mark.chat_settings(**{"gateway.heartbeat_interval_ms": 1000})
async def test_settings(chat_world, autojump_clock):
    client = await chat_world.open()
    assert client.heartbeat_interval_ms == 1000
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, check=False)


@pytest.mark.long
def test_its_fixtures_are_there(tmp_path: Path) -> None:
    (tmp_path / "test_greeting.py").write_text(GREETING)
    plugins = ("-p", "no:cacheprovider", "-p", "no:schemathesis")  # the latter starts slowly
    done = run(tmp_path, "-m", "pytest", "-q", *plugins, "--strict-markers", "-W", "error")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_it_imports_nothing_until_it_is_used(tmp_path: Path) -> None:
    heavy = {"trio", "hypothesis", "trio_websocket", "chat.server", "quart", "attrs"}
    code = f"import chat.testing.plugin, sys; print(sorted({heavy!r} & set(sys.modules)))"
    assert run(tmp_path, "-c", code).stdout == "[]\n"


def test_the_kit_names_what_it_has(tmp_path: Path) -> None:
    code = "import chat.testing as kit; print([name for name in kit.__all__ if getattr(kit, name) is None])"
    assert run(tmp_path, "-c", code).stdout == "[]\n"
