"""`chat check`: whether the data of an instance is in order."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chat.cli.options import FILE, data_option, json_alone_option, print_json
from chat.errors import OperatorError

if TYPE_CHECKING:
    from chat.checking.instance import Problem


@click.command()
@data_option
@click.option("--config", "config_file", type=FILE, help="Settings file in place of DIR/chat.toml.")
@click.option("--deep", is_flag=True, help="Read every row and every file as well, which may take long.")
@json_alone_option()
def check(data: Path, config_file: Path | None, deep: bool, as_json: bool) -> None:
    """Look for what is wrong with an instance.

    Settings, database, counts and files are looked through, whether or not a server runs; nothing is changed. With
    --deep also what is in JSON columns and in files, ids, further counts, the search indexes and the names by which
    lists order members. What only warns does not count as wrong.
    """
    problems = _found(data, config_file, deep=deep)
    if as_json:
        print_json([_told(problem) for problem in problems])
    else:
        for problem in problems:
            click.echo(f"{'warning: ' if problem.only_warns else ''}{problem.check}: {problem.problem}")
    wrong = sum(not problem.only_warns for problem in problems)
    if wrong:
        count = "1 thing is" if wrong == 1 else f"{wrong} things are"
        raise OperatorError(f"{count} wrong with {data}")


def _told(problem: Problem) -> dict[str, object]:
    told: dict[str, object] = {"check": problem.check, "problem": problem.problem}
    return {**told, "only_warns": True} if problem.only_warns else told


def _found(data: Path, config_file: Path | None, *, deep: bool) -> list[Problem]:
    """What is wrong, with a bar on a terminal."""
    from chat.checking.instance import looked_through, steps
    from chat.cli.backup import progress_bar
    from chat.store.data_directory import DataDirectory

    directory = DataDirectory(data)
    directory.require()
    with contextlib.ExitStack() as stack, progress_bar() as tell:
        return list(looked_through(steps(directory, config_file, stack, deep=deep), tell))
