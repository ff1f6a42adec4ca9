"""`chat check`: whether the data of an instance is in order."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs
import click

from chat.cli.options import FILE, data_option, json_alone_option, print_json
from chat.errors import OperatorError

if TYPE_CHECKING:
    from chat.store.data_directory import DataDirectory

SETTINGS: Final = "settings"
DATABASE: Final = "database"
COUNTS: Final = "counts"
FILES: Final = "files"
KEY: Final = "signing key"


@attrs.frozen
class Problem:
    """Something that is wrong, and the check that found it."""

    check: str
    problem: str


@attrs.frozen
class _Step:
    check: str
    words: str
    look: Callable[[], Iterable[str]]


@click.command()
@data_option
@click.option("--config", "config_file", type=FILE, help="Settings file in place of DIR/chat.toml.")
@json_alone_option()
def check(data: Path, config_file: Path | None, as_json: bool) -> None:
    """Look for what is wrong with an instance.

    Settings, database, counts and files are looked through, whether or not a server runs; nothing is changed.
    """
    from chat.store.data_directory import DataDirectory

    directory = DataDirectory(data)
    directory.require()
    with contextlib.ExitStack() as stack:
        problems = list(_looked_through(_steps(directory, config_file, stack)))
    if as_json:
        print_json([attrs.asdict(problem) for problem in problems])
    else:
        for problem in problems:
            click.echo(f"{problem.check}: {problem.problem}")
    if problems:
        count = "1 thing is" if len(problems) == 1 else f"{len(problems)} things are"
        raise OperatorError(f"{count} wrong with {data}")


def _looked_through(steps: list[_Step]) -> Iterator[Problem]:
    """What the steps find, with a bar on a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=len(steps))
        for step in steps:
            progress.update(task, description=step.words)
            try:
                yield from (Problem(step.check, words) for words in step.look())
            except sqlite3.Error as error:
                yield Problem(step.check, f"cannot be read: {error}")
            progress.advance(task)


def _steps(directory: DataDirectory, config_file: Path | None, stack: contextlib.ExitStack) -> list[_Step]:
    from chat.clock import SystemClock
    from chat.media.file_check import missing_archives, missing_files, unowned_archives, unowned_files
    from chat.store import whole_database
    from chat.store.connections import connect

    steps = [
        _Step(SETTINGS, "settings", lambda: _settings(directory, config_file)),
        _Step(KEY, "signing key", lambda: _signing_key(directory)),
    ]
    try:
        connection = stack.enter_context(contextlib.closing(connect(directory.database, read_only=True)))
        is_current, words = _version(connection)
    except sqlite3.Error as error:
        reason = f"cannot be read: {error}"
        return [*steps, _Step(DATABASE, "database", lambda: [reason])]
    uploads, now_ms = directory.uploads, SystemClock().now_ms()
    steps += [
        _Step(DATABASE, "version of the database", lambda: words),
        _Step(DATABASE, "pages of the database", lambda: whole_database.damages(connection)),
        _Step(DATABASE, "references in the database", lambda: whole_database.broken_references(connection)),
    ]
    if is_current:
        steps += [
            _Step(KEY, "sealed secrets", lambda: _sealed_secrets(directory, connection)),
            _Step(COUNTS, "counts", lambda: whole_database.wrong_counts(connection)),
            _Step(DATABASE, "leftovers", lambda: whole_database.leftovers(connection)),
            _Step(FILES, "files", lambda: missing_files(connection, whole_database.stored_files(connection), uploads)),
            _Step(FILES, "files without an owner", lambda: unowned_files(connection, uploads, now_ms)),
            _Step(FILES, "archives", lambda: missing_archives(connection, directory.archives)),
            _Step(FILES, "archives without an owner", lambda: unowned_archives(connection, directory.archives, now_ms)),
        ]
    return steps


def _settings(directory: DataDirectory, config_file: Path | None) -> Iterator[str]:
    from chat.config import load_settings

    try:
        settings = load_settings(directory.path, config_file, os.environ).settings
    except OperatorError as error:
        yield str(error)
        return
    if settings.geolocation_file is not None:
        from chat.domain.signing_in.geolocation import problem_of

        problem = problem_of(directory.path / settings.geolocation_file)
        if problem is not None:
            yield f"geolocation_file: {problem}"


def _signing_key(directory: DataDirectory) -> Iterator[str]:
    from chat.store.data_directory import RESTORE_KEY, SIGNING_KEY_BYTES

    try:
        found = directory.key_file.stat()
    except FileNotFoundError:
        with contextlib.suppress(sqlite3.Error):  # told by the checks of the database
            if directory.holds_sealed_secrets():
                yield f"is missing: {RESTORE_KEY}"
        return  # else it is made when it is needed first
    if found.st_size != SIGNING_KEY_BYTES:
        yield f"has {found.st_size} bytes instead of {SIGNING_KEY_BYTES}"
    if stat.S_IMODE(found.st_mode) & 0o077:
        yield "can be read by others: its mode must be 0600"


def _sealed_secrets(directory: DataDirectory, connection: sqlite3.Connection) -> Iterator[str]:
    import secrets

    from chat.auth.keys import Keys
    from chat.domain.administration.command_line import unopened
    from chat.store.data_directory import SIGNING_KEY_BYTES

    with contextlib.suppress(OSError):  # told by `_signing_key`
        key = directory.key_file.read_bytes()
        if len(key) == SIGNING_KEY_BYTES:
            yield from unopened(connection, Keys(key, secrets.SystemRandom()))


def _version(connection: sqlite3.Connection) -> tuple[bool, list[str]]:
    """Whether the tables are those that this program knows, and what is to be said where they are not."""
    from chat.store.migrations import MIGRATIONS, schema_version

    version, known = schema_version(connection), len(MIGRATIONS)
    if version == known:
        return True, []
    age = "a newer" if version > known else "an older"
    return False, [f"is of {age} version of this program (schema {version}, not {known}): no more was looked at"]
