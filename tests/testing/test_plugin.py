"""The plugin in a project that is not ours: it is there by itself, and it is not in the way."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

GREETING = """
import pytest

async def test_greeting(chat_world, autojump_clock):
    bob = await chat_world.bob.connect()
    await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")
    message = await bob.expect("MESSAGE_CREATE")
    assert message.data["content"] == "hello"

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


FAILING = """
async def test_said(chat_world, autojump_clock):
    await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")
    assert False

async def test_not_this_one(chat_world, autojump_clock):
    pass
"""


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(folder, "-m", "pytest", "-q", "-p", "no:schemathesis", *arguments)


@pytest.mark.long
def test_a_failure_tells_what_was_said_and_is_run_again(tmp_path: Path) -> None:
    (tmp_path / "test_failing.py").write_text(FAILING)
    done = pytest_in(tmp_path)
    assert "1 failed, 1 passed" in done.stdout
    assert '"content":"hello"' in done.stdout.partition("what was said")[2]
    command = done.stdout.partition("run it again")[2].splitlines()[1]
    failure = json.loads(Path(command.removeprefix("pytest --chat-replay ")).read_text())
    assert failure["test"] == "test_failing.py::test_said"
    assert [said["who"] for said in failure["said"]] == ["alice", "alice"]
    again = pytest_in(tmp_path, *command.split()[1:])
    assert "1 failed, 1 deselected" in again.stdout


IMPOSSIBLE = {
    "def test_a(chat_world):\n    pass": "make it `async def`",
    "from hypothesis import given, strategies as st\n@given(st.none())\nasync def test_a(chat_world, _):\n    pass": (
        "put @chat.testing.in_world below @given"
    ),
    "import pytest\n@pytest.mark.asyncio\nasync def test_a(chat_world):\n    pass": "is marked for another loop",
}


@pytest.mark.parametrize("text", IMPOSSIBLE)
def test_a_test_that_cannot_run_is_told_why(tmp_path: Path, text: str) -> None:
    (tmp_path / "test_impossible.py").write_text(text)
    done = pytest_in(tmp_path)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert IMPOSSIBLE[text] in done.stderr


def test_a_plugin_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_greeting.py").write_text(GREETING)
    done = pytest_in(tmp_path, "-p", "no:trio")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "needs the plugin pytest-trio: pip install 'chat[testing]'" in done.stderr


def test_an_option_that_is_wrong_is_named(tmp_path: Path) -> None:
    for arguments in (("--chat-seed", "x"), ("--chat-replay", "none.json"), ("--chat-url", "here")):
        done = pytest_in(tmp_path, *arguments)
        assert done.returncode == pytest.ExitCode.USAGE_ERROR
        assert done.stderr.startswith("ERROR: chat: "), done.stderr


def test_it_imports_nothing_until_it_is_used(tmp_path: Path) -> None:
    heavy = {"trio", "hypothesis", "trio_websocket", "chat.server", "quart", "attrs"}
    code = f"import chat.testing.plugin, sys; print(sorted({heavy!r} & set(sys.modules)))"
    assert run(tmp_path, "-c", code).stdout == "[]\n"


def test_the_kit_names_what_it_has(tmp_path: Path) -> None:
    code = "import chat.testing as kit; print([name for name in kit.__all__ if getattr(kit, name) is None])"
    assert run(tmp_path, "-c", code).stdout == "[]\n"


ELSEWHERE = """
async def test_talk(chat_world, autojump_clock):
    bob = await chat_world.bob.connect()
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")).expect(200)
    await bob.expect("MESSAGE_CREATE", where=lambda d: d["content"] == "hello")
    assert chat_world.bot.id

async def test_talk_again(chat_world):
    page = (await chat_world.alice.rest.messages(chat_world.channel_id)).expect(200)
    assert "hello" not in [message["content"] for message in page]

async def test_inside(chat_server):
    assert False, "this one needs a server in the test"
"""


@pytest.mark.long
@pytest.mark.parametrize("command", ["dev", "serve"])
def test_the_same_tests_against_a_server_elsewhere(tmp_path: Path, command: str) -> None:
    """Of `chat dev` the kit takes the world; on a server that has none it registers people, as strangers would."""
    (tmp_path / "test_elsewhere.py").write_text(ELSEWHERE)
    start = [sys.executable, "-m", "chat", command, "--port", "0", "--data", str(tmp_path / "data")]
    with subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            origin = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
            assert origin is not None
            done = pytest_in(tmp_path, "--chat-url", f"{origin[0]}/v1")
            assert "2 passed, 1 skipped" in done.stdout, done.stdout
        finally:
            process.terminate()
