"""Options that several commands share, and how results are printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_DATA: Final = Path("chat-data")
PORT: Final = click.IntRange(0, 65_535)
DIRECTORY: Final = click.Path(file_okay=False, path_type=Path)
FILE: Final = click.Path(dir_okay=False, path_type=Path)


def data_option(command: Command) -> Command:
    """`--data DIR`, where the instance's data lies."""
    return click.option(
        "--data",
        type=DIRECTORY,
        default=DEFAULT_DATA,
        envvar="CHAT_DATA",
        show_default=True,
        show_envvar=True,
        help="Directory with the instance's data.",
    )(command)


def json_option(command: Command) -> Command:
    """`--json`, for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def print_json(value: object) -> None:
    """One JSON document."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def print_object(fields: Mapping[str, object], *, as_json: bool) -> None:
    """One thing: JSON, or a line for each field."""
    if as_json:
        print_json(fields)
    else:
        print_table(("field", "value"), fields.items(), heading=False)


def print_objects(things: Sequence[Mapping[str, object]], columns: Sequence[str], *, as_json: bool) -> None:
    """A list of things: JSON, or a table with these of their fields."""
    if as_json:
        print_json(things)
    else:
        print_table(columns, ([thing[column] for column in columns] for thing in things))


def print_table(columns: Sequence[str], rows: Iterable[Iterable[object]], *, heading: bool = True) -> None:
    """A table on a terminal; anywhere else tab-separated lines, for `cut` and `awk`."""
    texts = [[as_text(value) for value in row] for row in rows]
    if not sys.stdout.isatty():
        for text in [list(columns), *texts] if heading else texts:
            click.echo("\t".join(text))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, show_header=heading, box=None, pad_edge=False)
    for text in texts:
        table.add_row(*map(Text, text))
    Console().print(table)


def as_text(value: object) -> str:
    """A value as people write it: nothing for none, words for truths, lists joined by commas."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(as_text, value))
    return " ".join(str(value).split())
