"""The check of a backup after it was written: what `chat check` does, on the copy."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from chat.backup.contents import DATABASE, PIECE_BYTES, SIGNING_KEY, Tell, files_of_rows
from chat.backup.place import BackupPlace, is_shared
from chat.checking.instance import FILES, CheckStep, looked_through, of_pages, of_rows, version
from chat.errors import OperatorError
from chat.store.connections import connect
from chat.store.data_directory import SIGNING_KEY_BYTES
from chat.store.whole_database import few

INSTRUCTIONS_A_WORD: Final = 5_000_000
"""Steps of SQLite's machine between two words of progress."""

CHECKING: Final = "Checking"


def checked_copy(place: BackupPlace, path: Path, tell: Tell) -> tuple[list[str], list[str]]:
    """What is wrong with a backup at this path, and what it says of the instance itself.

    Damaged pages, broken references, missing files and files that are not what their rows say make it no backup to rely
    on; a count that is off is no worse in the copy than it was before.
    """
    try:
        with contextlib.closing(connect(path / DATABASE, read_only=True)) as connection:
            connection.set_progress_handler(lambda: tell(CHECKING, 50.0), INSTRUCTIONS_A_WORD)
            is_current, _ = version(connection)
            files = [CheckStep(FILES, "files", lambda: missing_files(place, path))]
            if is_current:
                files.append(CheckStep(FILES, "files and their rows", lambda: differing_files(place, path, connection)))
            problems = list(looked_through([*of_pages(connection), *files], tell))
            rows = of_rows(connection, path / SIGNING_KEY) if is_current else []
            remarks = list(looked_through(rows, tell))
    except (sqlite3.Error, OperatorError) as error:
        return [f"its database cannot be read: {error}"], []
    return [f"{found.check}: {found.problem}" for found in problems], [found.problem for found in remarks]


def missing_files(place: BackupPlace, path: Path) -> Iterator[str]:
    """The files that a backup names and that are not there."""
    try:
        manifest = place.manifest(path)
    except (OSError, ValueError) as error:
        yield str(error)
        return
    for name, digest in manifest.items():
        there = place.size_of(digest) is not None if is_shared(name) else (path / name).is_file()
        if not there:
            yield f"{name} is missing"
    for name in (DATABASE, SIGNING_KEY):
        if name not in manifest:
            yield f"{name} is missing"
    with contextlib.suppress(OSError):
        if (path / SIGNING_KEY).stat().st_size != SIGNING_KEY_BYTES:
            yield "the signing key is none"


def differing_files(place: BackupPlace, path: Path, connection: sqlite3.Connection) -> Iterator[str]:
    """The uploads and archives of a backup that are not what the rows of its database say: damaged before they came
    here. Their contents are not read."""
    return few(_differing_files(place, path, connection))


def _differing_files(place: BackupPlace, path: Path, connection: sqlite3.Connection) -> Iterator[str]:
    try:
        manifest = place.manifest(path)
    except (OSError, ValueError):  # told by `missing_files`
        return
    for file in files_of_rows(connection):
        digest = manifest.get(file.name)
        size = None if digest is None else place.size_of(digest)
        if digest is None or size is None:
            continue
        problem = file.problem(size, digest)
        if problem is not None:
            yield f"{file.name} {problem}"


def damaged_files(place: BackupPlace, path: Path, seen: set[str], tell: Tell) -> Iterator[str]:
    """The files of a backup whose content is not what it was; shared ones that were `seen` already are not read
    again."""
    try:
        manifest = place.manifest(path)
    except (OSError, ValueError) as error:
        yield str(error)
        return
    for number, (name, digest) in enumerate(manifest.items()):
        if digest in seen:
            continue
        tell(CHECKING, 100.0 * number / len(manifest))
        try:
            found = digest_of(place.file(digest) if is_shared(name) else path / name)
        except OSError as error:
            yield f"{name} cannot be read: {error.strerror}"
            continue
        if found != digest:
            yield f"{name} was changed or damaged"
        elif is_shared(name):
            seen.add(digest)


def digest_of(path: Path) -> str:
    """The SHA-256 of a file. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as content:
        while piece := content.read(PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()
