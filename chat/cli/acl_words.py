"""ACLs on the command line: `--acl A --acl B`, or the words that follow in `--acl A B`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from chat.cli.options import Command

more_acls_argument: Callable[[Command], Command] = click.argument("more", metavar="", nargs=-1)
"""The words of a command line that belong to nothing else."""


def acls_of(option: str, given: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """The ACLs that were given; `option` is the name of what they belong to. An empty word is none.

    Raises click.UsageError for words that follow on no such option.
    """
    if more and not given:
        raise click.UsageError(f"unexpected: {' '.join(more)} (ACLs come after {option})")
    return tuple(acl for acl in (*given, *more) if acl)
