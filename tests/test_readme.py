"""README and the manual's page Operating say what is true: their commands run as printed, what they name is there."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
import pytest
from click.testing import CliRunner

from chat.cli.main import root
from chat.config import load_settings
from chat.testing.world import World
from tests.conformance.test_client_libraries import NODE, PYTHON

ROOT: Final = Path(__file__).parents[1]
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
OPERATING: Final = (ROOT / "chat" / "manual" / "operating.md").read_text(encoding="utf-8")
BOTH: Final = README + OPERATING
BIN: Final = Path(sys.executable).parent

SHELL_SECONDS: Final = 120
SLOWER: Final = 2
"""A machine that runs tests on both cores starts a server in more seconds than the README gives it."""

BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str, heading: str, paper: str = README) -> list[str]:
    """The code blocks of a language below a heading, in order."""
    section = re.split(r"^## ", paper, flags=re.MULTILINE)
    text = next(part for part in section if part.startswith(heading + "\n"))
    return [code for kind, code in BLOCK.findall(text) if kind == language]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def as_here(code: str, port: int) -> str:
    """The lines as printed, on this interpreter's environment, without its installation, on a port of our own."""
    lines = [line for line in code.splitlines() if "/pip " not in line]
    return "\n".join(lines).replace(".venv/bin/", f"{BIN}/").replace("8080", str(port))


def environment() -> dict[str, str]:
    """This process's, with no setting of chat's."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CHAT_")}


def run_in_shell(script: str, folder: Path, typed: str = "") -> str:
    """What a shell prints that runs the script in `folder` and reads `typed`; whatever it left running is ended."""
    times = ' "$1"' * SLOWER  # `sleep` adds up what it is given
    slowly = f"set -eu\nsleep() {{ command sleep{times}; }}\n"
    shell = subprocess.Popen(
        ["bash", "-c", slowly + script],
        cwd=folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        said, complaints = shell.communicate(typed, timeout=SHELL_SECONDS)
    finally:
        # Everything the shell started is of its process group; there is nobody left if it ended in good order.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()
    assert shell.returncode == 0, said + complaints
    return said


@pytest.mark.long
@pytest.mark.skipif(shutil.which("curl") is None, reason="the conversation is held with curl")
def test_the_first_conversation_runs_as_printed(tmp_path: Path) -> None:
    start, talk = blocks("sh", "A first conversation")
    (bot,) = blocks("python", "A first conversation")
    (tmp_path / "bot.py").write_text(bot, encoding="utf-8")
    port = free_port()
    script = f"{as_here(start, port)}\n{as_here(talk, port)}\nkill $(jobs -p)\nwait\n"
    said = run_in_shell(script, tmp_path)
    _, end = json.JSONDecoder().raw_decode(said)  # the message that was sent
    answer = json.loads(said[end:])
    world = json.loads((tmp_path / "world.json").read_text(encoding="utf-8"))
    assert [message["content"] for message in answer] == ["pong", "ping"]
    assert [message["author"]["id"] for message in answer] == [world["bot"]["user_id"], world["users"][0]["id"]]


def test_the_wait_for_a_server_that_cannot_start_ends(tmp_path: Path) -> None:
    start, _ = blocks("sh", "A first conversation")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        script = as_here(start.partition("value()")[0], taken.getsockname()[1])
        shell = subprocess.run(
            ["bash", "-c", script],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=SHELL_SECONDS,
            check=False,
        )
    assert "chat: cannot listen on 127.0.0.1 port" in shell.stderr
    assert shell.stdout == ""


def test_bash_completes_commands_by_the_line_that_is_printed(tmp_path: Path) -> None:
    (line,) = re.findall(r"put\n`(eval [^`]*)`", OPERATING)
    for typed, completed in (("chat us", "user"), ("chat user pass", "password"), ("chat serve --po", "--port")):
        words = typed.split()
        script = "\n".join(
            (
                f'PATH="{BIN}:$PATH"',
                line,
                f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}",
                "_chat_completion chat",
                'echo "${COMPREPLY[@]}"',
            )
        )
        assert run_in_shell(script, tmp_path).split() == [completed]


LIBRARIES: Final = {
    "discord_py": "discord.py",
    "disnake_py": "disnake",
    "eris": "Eris",
    "hikari_py": "hikari",
    "oceanic": "Oceanic",
    "discordjs": "discord.js",
    "discordjs_core": "its core packages",
    "fluxer_py": "fluxer.py",
    "fluxerpy3_py": "fluxerpy3",
    "interfluxer_py": "Interfluxer",
    "nextcord_py": "nextcord",
    "py_cord": "py-cord",
}
"""What the README calls the libraries whose scripts hold conversations."""


def test_the_client_libraries_that_are_named_are_those_that_hold_conversations() -> None:
    assert set(LIBRARIES) == {*PYTHON, *NODE}
    (names,) = re.findall(r"told the address: (.*?) hold whole", README.replace("\n", " "))
    named = re.split(r", | and (?!its)", names.replace("discord.js and its", "discord.js, its"))
    assert sorted(named) == sorted(LIBRARIES.values())


def test_which_commands_print_json_in_a_pipe() -> None:
    claimed = "which is also what a pipe gets"
    without = {command for command, help in helps_of_json() if claimed not in help}
    sentence = re.search(r"JSON; ([^.]*)\nprint lines in a pipe", OPERATING)
    assert sentence is not None
    named = set(re.findall(r"`chat ([^`]*)`", sentence[1]))
    assert {"config show" if command.startswith("config") else command.split()[0] for command in without} == named | {
        "dev"  # which prints no result, but that it serves
    }


def helps_of_json(group: click.Group = root, *words: str) -> Iterator[tuple[str, str]]:
    """Every command with `--json`, and the help of that."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from helps_of_json(command, *words, name)
        elif command is not None:
            for option in command.params:
                if isinstance(option, click.Option) and option.name == "as_json":
                    yield " ".join((*words, name)), option.help or ""


def test_accounts_and_bots_come_from_the_command_line_as_printed(tmp_path: Path) -> None:
    (commands,) = blocks("sh", "The command line", OPERATING)
    said = run_in_shell(f'PATH="{BIN}:$PATH"\n{commands}', tmp_path)
    assert "carla" in said
    assert "helper" in said
    assert "cha_" in said
    assert "temp_ban" in said
    assert (tmp_path / "chat-data").is_dir()


def test_the_server_prints_the_line_that_is_printed(tmp_path: Path) -> None:
    port = free_port()
    (line,) = blocks("", "Run it")
    server = subprocess.Popen(
        [str(BIN / "python"), "-m", "chat", "serve", "--port", str(port)],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == line.replace("8080", str(port))
        server.send_signal(signal.SIGTERM)
        assert server.wait(SHELL_SECONDS) == 0
        assert server.stdout.read() == ""
        assert (tmp_path / "chat-data").is_dir()
    finally:
        server.kill()
        server.wait()
        assert server.stdout is not None
        server.stdout.close()


def test_the_test_of_the_test_kit_passes(tmp_path: Path) -> None:
    (code,) = blocks("python", "A test in four lines")
    (tmp_path / "test_printed.py").write_text(code, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\ntrio_mode = true\n", encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:schemathesis", str(tmp_path)],  # which starts slowly
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SHELL_SECONDS,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert "1 passed" in run.stdout


def test_ci_begins_with_the_printed_test_command_and_goes_on_with_the_long_tests() -> None:
    printed = blocks("sh", "Run it")[-1].rpartition("&&")[2].strip().removeprefix(".venv/bin/")
    quick, long = re.findall(r"^python -m pytest .*", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)
    assert quick.startswith(f"{printed} ")
    assert " -m long " in long
    assert f"{printed} -m long" in README


def command_of(line: str) -> str:
    """The words of a line that name the command; what follows is its arguments."""
    group: click.Command | None = root
    words: list[str] = []
    for word in line.split():
        if not isinstance(group, click.Group):
            break
        group = group.get_command(click.Context(group), word)
        words.append(word)
    return " ".join(words)


COMMANDS: Final = sorted(
    {command_of(line) for line in re.findall(r"^(?:\.venv/bin/)?chat ((?:[a-z-]+ ?)+)", BOTH, re.MULTILINE)}
    | {command_of(line) for line in re.findall(r"`chat ((?:[a-z-]+ ?)+)", BOTH)}
)


def test_commands_are_named() -> None:
    assert len(COMMANDS) >= 7


def test_every_command_that_is_named_exists() -> None:
    for command in COMMANDS:
        shown = CliRunner().invoke(root, [*command.split(), "--help"], prog_name="chat")
        assert shown.exit_code == 0, (command, shown.output)
        assert f"Usage: chat {command} " in shown.output


def test_every_setting_that_is_named_exists(tmp_path: Path) -> None:
    named = set(re.findall(r"(?<!_)CHAT_[A-Z_]*[A-Z]", BOTH)) - {"CHAT_DATA"}  # the directory that holds the settings
    known = {f"CHAT_{name.upper().replace('.', '__')}" for name in load_settings(tmp_path).origins}
    assert named
    assert named <= known


async def test_every_route_that_is_named_exists(chat_world: World, autojump_clock: Any) -> None:
    named = set(re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/[^\s`]*)`", BOTH))
    assert named
    for method, path in named:
        answer = await chat_world.anyone.request(method, path)
        assert answer.status not in {404, 405}, (method, path)


def test_every_file_that_is_named_exists() -> None:
    named = set(re.findall(r"`((?:chat|docs|tests|spec_fixtures|\.ci)/[\w./-]*)`", BOTH)) | {
        "LICENSE",
        ".ci/constraints.txt",
    }
    for path in named:
        assert (ROOT / path).exists(), path
