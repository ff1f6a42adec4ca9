"""Every command of the program with its options, as `--help` prints them."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from typing import Final

import click

from chat.manual.markdown_text import page, table

PROGRAM: Final = "chat.cli.main:root"
"""Found by its name when the page is made, as the commands themselves are: the command line stands above the manual."""


def commands_page() -> str:
    """Every command with its options."""
    root: click.Group = pkgutil.resolve_name(PROGRAM)
    context = click.Context(root, info_name="chat")
    return page(
        "Commands",
        "Every command works on the data directory: `--data DIR`, else the variable `CHAT_DATA`, else `./chat-data`. "
        "It does not matter whether a server runs on that directory; a running server takes notice at once.\n\n"
        "On a terminal a command prints tables, in a pipe it prints JSON. It exits with 0 when it has done what you "
        "asked for, with 1 and one line on standard error when it has not, and with 2 when you called it wrongly.",
        *(_command_section(name, context) for name in root.list_commands(context)),
    )


def _command_section(name: str, parent: click.Context, depth: int = 2) -> str:
    group = parent.command
    command = group.get_command(parent, name) if isinstance(group, click.Group) else None
    if command is None:
        raise LookupError(f"there is no command {parent.command_path} {name}")
    context = click.Context(command, info_name=name, parent=parent)
    parts = [f"{'#' * depth} {context.command_path}", _paragraphs(command.help or "")]
    if isinstance(command, click.Group):
        parts += [_command_section(inner, context, depth + 1) for inner in command.list_commands(context)]
    else:
        usage = " ".join([context.command_path, *filter(None, map(str.strip, command.collect_usage_pieces(context)))])
        parts.insert(1, f"`{usage}`")
        rows = list(_option_rows(command, context))
        if rows:
            parts.append(table(("option", "meaning"), rows))
    return "\n\n".join(part for part in parts if part)


def _option_rows(command: click.Command, context: click.Context) -> Iterator[list[str]]:
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None and record[0] and record[1]:
            yield [f"`{record[0]}`", _escaped(" ".join(record[1].split()))]


def _paragraphs(text: str) -> str:
    """A help text of click as Markdown: what stands behind \\b keeps its lines as a list of code."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        kept = paragraph.startswith("\b")
        lines = [line.strip() for line in paragraph.strip("\b\n").splitlines()]
        parts.append("```\n" + "\n".join(lines) + "\n```" if kept else _escaped(" ".join(lines)))
    return "\n\n".join(parts)


def _escaped(text: str) -> str:
    """Text of a terminal, in which nothing but backquotes is markup."""
    return re.sub(r"([*_<\[])(?=[^`]*(?:`[^`]*`[^`]*)*$)", r"\\\1", text)
