"""What `chat check` looks through, in steps: settings, signing key, database, counts and files. Nothing is changed."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from chat.auth.keys import Keys
from chat.classes import frozen
from chat.clock import SystemClock
from chat.config import load_settings
from chat.config.loading import SETTINGS as DECLARED
from chat.config.loading import Loaded
from chat.domain.administration.command_line import unopened
from chat.domain.signing_in.client_info import problem_of
from chat.errors import OperatorError
from chat.media import file_check
from chat.store import deep_check, whole_database
from chat.store.connections import connect
from chat.store.data_directory import RESTORE_KEY, SIGNING_KEY_BYTES, DataDirectory, is_writable_by_others
from chat.store.migrations import MIGRATIONS, schema_version

SETTINGS: Final = "settings"
DATABASE: Final = "database"
COUNTS: Final = "counts"
FILES: Final = "files"
SEARCH: Final = "search"
KEY: Final = "signing key"
ACCESS: Final = "access"
BROKER: Final = "broker"
SHOWN: Final = 8
"""Names that one problem tells."""

Tell = Callable[[str, float], None]
"""Hears what is looked at, and how many percent are done."""


@frozen
class Problem:
    """Something that is wrong, and the check that found it. What only warns may be as the operator wants it."""

    check: str
    problem: str
    only_warns: bool = False


@frozen
class CheckStep:
    """A part of the check."""

    check: str
    words: str
    look: Callable[[], Iterable[str]]
    only_warns: bool = False


def looked_through(steps: Sequence[CheckStep], tell: Tell) -> Iterator[Problem]:
    """What the steps find."""
    for number, step in enumerate(steps):
        tell(step.words, 100.0 * number / len(steps))
        try:
            yield from (Problem(step.check, words, step.only_warns) for words in step.look())
        except sqlite3.Error as error:
            yield Problem(step.check, f"cannot be read: {error}")


def steps(
    directory: DataDirectory, config_file: Path | None, stack: contextlib.ExitStack, *, deep: bool = False
) -> list[CheckStep]:
    """The parts of a check of a data directory; `stack` closes its database. `deep` reads every row and every file."""
    first = [
        CheckStep(SETTINGS, "settings", lambda: _settings(directory, config_file)),
        CheckStep(KEY, "signing key", lambda: _signing_key(directory)),
        CheckStep(ACCESS, "who may read the data", lambda: _open_to_others(directory, config_file)),
        CheckStep(BROKER, "broker of the gateway nodes", lambda: _broker(directory, config_file)),
        CheckStep(
            BROKER, "what the broker keeps", lambda: _broker(directory, config_file, warns=True), only_warns=True
        ),
    ]
    try:
        connection = stack.enter_context(contextlib.closing(connect(directory.database, read_only=True)))
        is_current, words = version(connection)
    except sqlite3.Error as error:
        reason = f"cannot be read: {error}"
        return [*first, CheckStep(DATABASE, "database", lambda: [reason])]
    found = [*first, CheckStep(DATABASE, "version of the database", lambda: words), *of_pages(connection)]
    if not is_current:
        return found
    uploads, archives, now_ms = directory.uploads, directory.archives, SystemClock().now_ms()
    stored = partial(whole_database.stored_files, connection)
    return [
        *found,
        *of_rows(connection, directory.key_file),
        CheckStep(DATABASE, "last id", lambda: whole_database.last_id_ahead(connection, now_ms), only_warns=True),
        CheckStep(FILES, "files", lambda: file_check.missing_files(connection, stored(), uploads)),
        CheckStep(FILES, "files without an owner", lambda: file_check.unowned_files(connection, uploads, now_ms)),
        CheckStep(FILES, "archives", lambda: file_check.missing_archives(connection, archives)),
        CheckStep(
            FILES, "archives without an owner", lambda: file_check.unowned_archives(connection, archives, now_ms)
        ),
        *(_deep(connection, uploads, now_ms) if deep else ()),
    ]


def _deep(connection: sqlite3.Connection, uploads: Path, now_ms: int) -> list[CheckStep]:
    return [
        CheckStep(DATABASE, "JSON in the database", lambda: deep_check.misshapen(connection)),
        CheckStep(DATABASE, "ids", lambda: deep_check.ids_out_of_range(connection, now_ms)),
        CheckStep(COUNTS, "counts of messages and threads", lambda: deep_check.wrong_counts(connection)),
        CheckStep(SEARCH, "search indexes", lambda: deep_check.wrong_search_entries(connection)),
        CheckStep(DATABASE, "order of members", lambda: deep_check.wrong_name_keys(connection)),
        CheckStep(FILES, "contents of files", lambda: file_check.changed_files(connection, uploads)),
    ]


def of_pages(connection: sqlite3.Connection) -> list[CheckStep]:
    """What holds for a database of any version."""
    return [
        CheckStep(DATABASE, "pages of the database", lambda: whole_database.damages(connection)),
        CheckStep(DATABASE, "references in the database", lambda: whole_database.broken_references(connection)),
    ]


def of_rows(connection: sqlite3.Connection, key_file: Path) -> list[CheckStep]:
    """What holds for the rows of a database of this version."""
    return [
        CheckStep(KEY, "sealed secrets", lambda: _sealed_secrets(key_file, connection)),
        CheckStep(COUNTS, "counts", lambda: whole_database.wrong_counts(connection)),
        CheckStep(DATABASE, "leftovers", lambda: whole_database.leftovers(connection)),
    ]


def _settings(directory: DataDirectory, config_file: Path | None) -> Iterator[str]:

    try:
        settings = load_settings(directory.path, config_file, os.environ).settings
    except OperatorError as error:
        yield str(error)
        return
    if settings.geolocation_file is not None:
        problem = problem_of(directory.path / settings.geolocation_file)
        if problem is not None:
            yield f"geolocation_file: {problem}"


def _broker(directory: DataDirectory, config_file: Path | None, *, warns: bool = False) -> Iterable[str]:
    with contextlib.suppress(OperatorError):  # of the settings: told by `_settings`
        nodes = load_settings(directory.path, config_file, os.environ).settings.nodes
        if nodes is not None:
            return _told_of_broker(nodes, warns=warns)
    return ()


def _told_of_broker(nodes: str, *, warns: bool) -> list[str]:
    try:
        from chat.checking.broker import problems, warnings  # only for those who have nodes
    except OperatorError as error:
        return [] if warns else [str(error)]
    return warnings(nodes) if warns else problems(nodes)


def _signing_key(directory: DataDirectory) -> Iterator[str]:
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


OTHERS: Final = 0o077


def _open_to_others(directory: DataDirectory, config_file: Path | None) -> Iterator[str]:
    """Whom the modes of what lies in the data directory let in, in that of backups and in the settings file. What a
    closed directory holds is closed."""
    with contextlib.suppress(OSError):
        yield from _opened(directory.path, but=directory.key_file.name)
    with contextlib.suppress(OperatorError, OSError):  # of the settings: told by `_settings`
        loaded = load_settings(directory.path, config_file, os.environ)
        backups = loaded.settings.backup.directory
        if backups is not None:
            yield from _opened(directory.path / backups)
        # One elsewhere may be read by a group, such as that of the server.
        if (
            config_file is not None
            and stat.S_IMODE(config_file.stat().st_mode) & 0o007
            and _holds_secrets(loaded, config_file)
        ):
            yield f"{config_file} holds secrets and can be read by others: chmod o= {config_file}"


def _opened(folder: Path, but: str = "") -> Iterator[str]:
    if is_writable_by_others(folder):
        yield f"others can write to {folder}: chmod -R go= {folder}"
    elif stat.S_IMODE(folder.stat().st_mode) & OTHERS:
        entries = [entry for entry in os.scandir(folder) if entry.name != but and not entry.is_symlink()]
        found = sorted(entry.name for entry in entries if stat.S_IMODE(entry.stat().st_mode) & OTHERS)
        if found:
            yield f"others can read {', '.join(found[:SHOWN])} in {folder}: chmod -R go= {folder}"


def _holds_secrets(loaded: Loaded, file: Path) -> bool:
    secret = (setting for setting in DECLARED.values() if setting.declaration.secret)
    return any(loaded.origins[setting.name] == str(file) for setting in secret)


def _sealed_secrets(key_file: Path, connection: sqlite3.Connection) -> Iterator[str]:
    with contextlib.suppress(OSError):  # told by `_signing_key`
        key = key_file.read_bytes()
        if len(key) == SIGNING_KEY_BYTES:
            yield from unopened(connection, Keys(key, secrets.SystemRandom()))


def version(connection: sqlite3.Connection) -> tuple[bool, list[str]]:
    """Whether the tables are those that this program knows, and what is to be said where they are not."""
    found, known = schema_version(connection), len(MIGRATIONS)
    if found == known:
        return True, []
    age = "a newer" if found > known else "an older"
    return False, [f"is of {age} version of this program (schema {found}, not {known}): no more was looked at"]
