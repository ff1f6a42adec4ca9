"""How the command line ends: 0, 1 or 2, with one clear line and no traceback for what a person can cause."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import trio

import chat
from chat import __version__
from chat.cli import main as cli
from chat.errors import ApiError, InvalidFormBody, OperatorError
from chat.registries.error_codes import ErrorCode, FieldCode
from tests.cli.command_line import Run


def in_a_process(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    root = Path(chat.__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-m", "chat", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(root)} | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_version_is_printed(run: Run) -> None:
    assert run("--version").out == f"chat {__version__}\n"


def test_help_names_every_command(run: Run) -> None:
    ending = run("--help")
    assert ending.status == cli.DONE
    for name in cli.COMMANDS:
        assert f"\n  {name} " in ending.out
    assert "..." not in ending.out.partition("Commands:")[2]


def commands(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command, with the words that lead to it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*names, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)


def test_every_command_and_every_option_explains_itself(run: Run) -> None:
    for names, command in commands(cli.root):
        ending = run(*names, "--help")
        assert (ending.status, ending.err) == (cli.DONE, ""), names
        assert ending.out.startswith(f"Usage: chat {' '.join(names)} "), names
        assert command.help, names
        assert "..." not in ending.out.partition("Commands:")[2], names
        for parameter in command.params:
            assert not isinstance(parameter, click.Option) or parameter.help, (names, parameter.name)


def test_shells_complete_commands(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_CHAT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "chat user se")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert run().out.split() == ["plain,sessions"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["serve", "--port", "99999"],
        ["serve", "--port", "http"],
        ["serve", "--nonsense"],
        ["user", "create"],
        ["user", "password"],
        ["bot", "create", "--name", "helper"],
        ["user", "create", "--username", "x", "--bot-of", "1", "--email", "x@example.com"],
    ],
)
def test_wrong_usage_ends_with_2_and_points_to_the_help(run: Run, arguments: list[str]) -> None:
    ending = run(*arguments)
    assert (ending.status, ending.out) == (cli.WRONG_USAGE, "")
    assert "Error: " in ending.err
    assert "Traceback" not in ending.err


@pytest.mark.parametrize("arguments", [["config", "show"], ["serve"], ["user", "create", "--username", "alice"]])
def test_a_wrong_setting_ends_with_1_and_one_line(run: Run, data: Path, arguments: list[str]) -> None:
    data.mkdir()
    (data / "chat.toml").write_text("prt = 1")
    ending = run(*arguments, "--data", data)
    assert (ending.status, ending.out) == (cli.FAILED, "")
    assert ending.err == f"chat: unknown setting prt ({data / 'chat.toml'}): did you mean port?\n"


def test_a_process_ends_the_same_way(data: Path) -> None:
    ending = in_a_process("config", "show", "--data", data, CHAT_PORT="http")
    assert (ending.returncode, ending.stdout) == (1, "")
    assert ending.stderr.splitlines() == [
        'chat: setting port (environment CHAT_PORT): expected a whole number from 0 to 65535, not "http"'
    ]


def test_a_working_directory_that_is_gone_is_told(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    ending = run("backups", "list", "--directory", "backups", "--data", data)
    assert (ending.status, ending.out) == (cli.FAILED, "")
    assert ending.err == "chat: the working directory is gone: change into one that is there\n"


def test_a_data_directory_that_leads_in_a_circle_is_no_traceback(
    run: Run, data: Path, tmp_path: Path, alice: str
) -> None:
    circle, backups = tmp_path / "circle", tmp_path / "backups"
    circle.symlink_to("circle")
    assert run("backups", "make", "--directory", backups, "--data", data).status == 0
    for arguments in (["restore", backups], ["check"], ["user", "list"], ["setup", "--yes"], ["config", "show"]):
        ending = run(*arguments, "--data", circle)
        assert (ending.status, ending.err.count("\n")) == (cli.FAILED, 1), (arguments, ending)
        assert ending.err.startswith("chat: ")


def test_a_reader_that_leaves_early_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "chat", "config", "show"],
        env=os.environ | {"PYTHONPATH": str(Path(chat.__file__).parents[1]), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


async def _raise(*errors: Exception) -> None:
    async with trio.open_nursery() as nursery:
        for error in errors:
            nursery.start_soon(_raise_one, error)


async def _raise_one(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OperatorError("the disk\nis full"), "chat: the disk is full\n"),
        (InvalidFormBody.at("email", FieldCode.EMAIL_ALREADY_IN_USE), "chat: email: "),
        (ApiError(ErrorCode.UNKNOWN_USER), "chat: "),
    ],
)
def test_what_a_person_can_mend_is_one_line_also_out_of_a_nursery(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception, line: str
) -> None:
    monkeypatch.setattr(cli.root, "main", lambda **_: trio.run(_raise, error))
    ending = run()
    assert ending.status == cli.FAILED
    assert ending.err.startswith(line)
    assert ending.err.count("\n") == 1


def test_a_defect_of_the_program_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli.root, "main", lambda **_: trio.run(_raise, ZeroDivisionError()))
    with pytest.raises(ExceptionGroup):
        cli.main([])
