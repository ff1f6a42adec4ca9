"""Options that several commands share, and how results are printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

GAP: Final = 2
"""Characters between two columns of a table."""

NARROWEST: Final = 24
"""Characters that the last column of a table has at least."""

SNOWFLAKE_MAXIMUM: Final = (1 << 63) - 1


class SnowflakeType(click.ParamType[int]):
    """The id of something: a whole number of 63 bits."""

    name = "id"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> int:
        """The number; fails as wrong usage for any other word."""
        word = str(value)
        if not (word.isascii() and word.isdecimal() and int(word) <= SNOWFLAKE_MAXIMUM):
            self.fail(f"{word!r} is no id, which is a whole number.", parameter, context)
        return int(word)


SNOWFLAKE: Final = SnowflakeType()

DEFAULT_DATA: Final = Path("chat-data")
PORT: Final = click.IntRange(0, 65_535)
DIRECTORY: Final = click.Path(file_okay=False, path_type=Path)
FILE: Final = click.Path(dir_okay=False, path_type=Path)

_SETTINGS_FILE: Final = "chat.settings_file"


data_option = click.option(
    "--data",
    type=DIRECTORY,
    default=DEFAULT_DATA,
    envvar="CHAT_DATA",
    show_default=True,
    show_envvar=True,
    help="Directory with the instance's data.",
)


def instance_options(command: Command) -> Command:
    """`--data DIR` and `--config FILE`: the instance that a command administers (`chat.cli.administration`)."""
    return data_option(
        click.option(
            "--config",
            type=FILE,
            expose_value=False,
            callback=_remember_settings_file,
            help="Settings file in place of DIR/chat.toml, where the server has one.",
        )(command)
    )


def _remember_settings_file(context: click.Context, _: click.Parameter, file: Path | None) -> None:
    context.meta[_SETTINGS_FILE] = file


def settings_file() -> Path | None:
    """The settings file that the command line named."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_SETTINGS_FILE)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, which is also what a pipe gets.")


def json_alone_option(help: str = "Print JSON.") -> Callable[[Command], Command]:
    """`--json` of a command that prints words wherever it is not asked for JSON."""
    return click.option("--json", "as_json", is_flag=True, help=help)


account_argument = click.argument("name", metavar="U")
"""An account: what `Administration.find` takes."""


def id_argument(name: str, metavar: str = "ID") -> Callable[[Command], Command]:
    return click.argument(name, metavar=metavar, type=SNOWFLAKE)


reason_option = click.option("--reason", help="Why; it stands in the audit log.")
notify_option = click.option("--notify/--no-notify", default=True, show_default=True, help="Mail the holder.")
more_acls_argument = click.argument("more", metavar="", nargs=-1)
"""Further words of a command line: ACLs that were given without repeating the option."""


def acls_of(option: str, given: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """The ACLs that were given; `option` is the name of what they belong to. An empty word is none. Raises
    click.UsageError for words that follow on no such option."""
    if more and not given:
        raise click.UsageError(f"unexpected: {' '.join(more)} (ACLs come after {option})")
    return tuple(acl for acl in (*given, *more) if acl)


# Printing


def is_terminal() -> bool:
    """Whether a person reads what is printed."""
    return sys.stdout.isatty()


def print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2 if is_terminal() else None))


def fields_of(record: object, *names: str) -> dict[str, object]:
    """These members of a row as the wire has them: ids as text, moments as ISO 8601, sets in order."""
    return {name: _on_the_wire(name, getattr(record, name)) for name in names}


def _on_the_wire(name: str, value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return list(value)
    if value is not None and (name == "id" or name.endswith("_id")):
        return str(value)
    if value is not None and name.endswith("_at"):
        from chat.clock import iso_timestamp

        return iso_timestamp(value)
    return value


def print_object(fields: Mapping[str, object], *, as_json: bool, shown: Sequence[str] | None = None) -> None:
    """One thing: a line for each field on a terminal (those of `shown`, or all), JSON anywhere else."""
    if as_json or not is_terminal():
        print_json(fields)
    else:
        names = fields.keys() if shown is None else shown
        print_table(("field", "value"), ((name, fields[name]) for name in names), heading=False)


InWords = Callable[[Mapping[str, Any]], Mapping[str, object]]


def no_words(_: Mapping[str, Any]) -> Mapping[str, object]:
    """Nothing beside the fields themselves."""
    return {}


def print_objects(
    things: Sequence[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool, in_words: InWords = no_words
) -> None:
    """A list of things: a table with these of their fields on a terminal, JSON with all of them anywhere else.

    `in_words` gives the fields that only people are shown.
    """
    if as_json or not is_terminal():
        print_json(things)
    else:
        shown = ({**thing, **in_words(thing)} for thing in things)
        print_table(columns, ([fields[column] for column in columns] for fields in shown))


def print_table(columns: Sequence[str], rows: Iterable[Iterable[object]], *, heading: bool = True) -> None:
    """A table on a terminal; anywhere else tab-separated lines, for `cut` and `awk`."""
    texts = [[as_text(value) for value in row] for row in rows]
    if not is_terminal():
        for text in [list(columns), *texts] if heading else texts:
            click.echo("\t".join(text))
        return
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    # Only the last column is folded, so that ids can be copied. A terminal that is too narrow for the others wraps
    # whole lines itself.
    lines = [list(columns), *texts] if heading else texts
    needed = sum(max((len(line[place]) for line in lines), default=0) + GAP for place in range(len(columns) - 1))
    console = Console()
    console.width = max(console.width, needed + NARROWEST)
    table = Table(
        *(Column(column, no_wrap=True) for column in columns[:-1]),
        Column(columns[-1], overflow="fold"),
        show_header=heading,
        box=None,
        pad_edge=False,
    )
    for text in texts:
        table.add_row(*map(Text, text))
    console.print(table, soft_wrap=True)


def as_text(value: object) -> str:
    """A value as people write it: nothing for none, words for truths, lists joined by commas.

    Names are other people's choice: what would move the cursor or colour the terminal is shown as a replacement
    character.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(as_text, value))
    words = " ".join(str(value).split())
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in words)
