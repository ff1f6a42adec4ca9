"""`chat config`, `chat mail` and `chat openapi`: what follows from the settings alone; and `chat check`: whether the
data of an instance is in order."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs
import click

from chat.cli.options import (
    FILE,
    as_text,
    data_option,
    is_terminal,
    json_alone_option,
    json_option,
    print_json,
    print_table,
)
from chat.errors import OperatorError

if TYPE_CHECKING:
    from chat.store.data_directory import DataDirectory


@click.group()
def config() -> None:
    """Settings, and where each comes from."""


@config.command("show")
@data_option
@click.option("--config", "config_file", type=FILE, help="Settings file in place of DIR/chat.toml.")
@click.option("--dev", is_flag=True, help="The settings of `chat dev`.")
@json_alone_option()
def show_settings(data: Path, config_file: Path | None, dev: bool, as_json: bool) -> None:
    """Every setting with its value, origin and meaning.

    What is chosen in the instance configuration, while a server runs, counts more than file and environment.
    """
    from chat.config.loading import ORIGIN, SETTINGS, accepted, effective, load_settings
    from chat.store.administration.instance import chosen_settings_in_file
    from chat.store.data_directory import DataDirectory

    loaded = load_settings(data, config_file, os.environ, development=dev)
    chosen = accepted(chosen_settings_in_file(DataDirectory(data).database))
    in_force = effective(loaded.settings, chosen)
    shown: list[dict[str, object]] = []
    for name, setting in SETTINGS.items():
        value = setting.of(in_force)
        is_chosen = name in chosen or value != setting.of(loaded.settings)
        if setting.declaration.secret and value is not None:
            value = "(secret)"
        shown.append(
            {
                "name": name,
                "value": value,
                "origin": ORIGIN if is_chosen else loaded.origins[name],
                "unit": setting.declaration.unit,
                "expected": setting.expected,
                "help": setting.declaration.help,
            }
        )
    if as_json:
        print_json(shown)
    else:
        rows = ([row["name"], _as_written(row["value"]), row["origin"], _meaning(row)] for row in shown)
        print_table(("setting", "value", "from", "meaning"), rows)


def _as_written(value: object) -> str:
    """The value in the words in which it is set."""
    return str(value).lower() if isinstance(value, bool) else as_text(value)


def _meaning(row: Mapping[str, object]) -> str:
    return f"{row['help']} ({row['unit']})" if row["unit"] else str(row["help"])


@click.group()
def mail() -> None:
    """Outgoing mail: whether it goes out."""


@mail.command("test")
@data_option
@click.option("--config", "config_file", type=FILE, help="Settings file in place of DIR/chat.toml.")
@click.argument("address", metavar="ADDRESS")
@json_option
def send_trial(data: Path, config_file: Path | None, address: str, as_json: bool) -> None:
    """Send a letter and say what became of it.

    It goes to ADDRESS, with the settings that hold.
    """
    from chat.config import load_settings
    from chat.mail.letters import Letterhead, trial
    from chat.mail.outbox import Sender
    from chat.mail.smtp import Refused, ServerUnusable

    settings = load_settings(data, config_file, os.environ).settings
    if settings.mail.mode != "smtp":
        raise OperatorError(f"setting mail.mode: expected smtp, not {settings.mail.mode}: this instance sends no mail")
    sender = Sender.of(settings)
    server = f"{settings.mail.host} port {settings.mail.port}"
    letter = trial(Letterhead.of(settings))
    try:
        connection = sender.connect()
        try:
            sender.send(connection, address, letter, f"test.{secrets.token_hex(8)}", time.time_ns() // 1_000_000)
        finally:
            connection.close()
    except ServerUnusable as error:
        raise OperatorError(f"{server} cannot be used: {error}") from error
    except Refused as error:
        raise OperatorError(f"{server} does not take mail for {address}: {error}") from error
    if as_json or not is_terminal():
        print_json({"server": server, "address": address})
    else:
        click.echo(f"{server} has taken a letter to {address}")


@click.command()
@data_option
@click.option("--config", "config_file", type=FILE, help="Settings file in place of DIR/chat.toml.")
def openapi(data: Path, config_file: Path | None) -> None:
    """Print the OpenAPI document of the HTTP API.

    It is what GET /v1/openapi.json answers.
    """
    import orjson

    from chat.admin.routes import ADMIN_ROUTES
    from chat.api.openapi.document import openapi_document
    from chat.api.routes import ROUTES
    from chat.config.loading import load_settings

    settings = load_settings(data, config_file, os.environ).settings
    document = openapi_document([*ROUTES, *ADMIN_ROUTES], settings.public_url)
    style = orjson.OPT_INDENT_2 if sys.stdout.isatty() else 0
    click.echo(orjson.dumps(document, option=style))


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
    from chat.cli.backup import progress_bar

    with progress_bar() as tell:
        for number, step in enumerate(steps):
            tell(step.words, 100.0 * number / len(steps))
            try:
                yield from (Problem(step.check, words) for words in step.look())
            except sqlite3.Error as error:
                yield Problem(step.check, f"cannot be read: {error}")


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
        from chat.domain.signing_in.client_info import problem_of

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
