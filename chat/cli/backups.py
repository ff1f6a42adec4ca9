"""`chat backups`: the directory of backups that share their files."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from chat.cli.backup import progress_bar
from chat.cli.options import DIRECTORY, FILE, data_option, json_option, print_object, print_objects
from chat.errors import OperatorError

if TYPE_CHECKING:
    from chat.backup.contents import Tell
    from chat.backup.place import Backup, BackupPlace
    from chat.config import Settings

COLUMNS: Final = ("name", "created_at", "reason", "size", "new_size", "files", "version", "state")

REPORT_SECONDS: Final = 1.0
"""Between two lines of progress for the server."""

directory_option = click.option(
    "--directory", type=DIRECTORY, help="The directory with the backups.  [default: backup.directory]"
)
config_option = click.option("--config", "config_file", type=FILE, help="Settings file in place of DIR/chat.toml.")


@click.group()
def backups() -> None:
    """Backups in a directory, which share their files."""


@backups.command("make")
@data_option
@config_option
@directory_option
@click.option("--keep", type=click.IntRange(1), help="Backups that are kept.  [default: backup.keep]")
@click.option("--begin-anew", is_flag=True, help="Begin in an empty directory where the last backups are not found.")
@click.option("--report", is_flag=True, hidden=True, help="Print lines of JSON on the way, for the server.")
@json_option
def make(
    data: Path,
    config_file: Path | None,
    directory: Path | None,
    keep: int | None,
    begin_anew: bool,
    report: bool,
    as_json: bool,
) -> None:
    """Make a backup now, whether or not a server runs.

    What earlier backups hold already is not copied again. It is checked as by `chat check`; then old backups go.
    """
    from chat.backup.attempts import attempt
    from chat.backup.making import Wishes
    from chat.backup.pacing import be_patient
    from chat.clock import SystemClock
    from chat.store.data_directory import DataDirectory

    settings, place = _opened(data, config_file, directory)
    wishes = Wishes(
        keep=settings.backup.keep if keep is None else keep,
        spare_bytes=settings.backup.spare_bytes,
        reason="schedule" if report else "command",
        settings_file=config_file,
        begin_anew=begin_anew,
    )
    be_patient()
    source = DataDirectory(data)
    source.require()
    if report:
        backup = attempt(source, place, wishes, SystemClock(), _reporter())
    else:
        with progress_bar() as tell:
            backup = attempt(source, place, wishes, SystemClock(), tell)
    for remark in backup.remarks:
        click.echo(f"chat: {remark}", err=True)
    print_object(_fields(backup), as_json=as_json or report)


@backups.command("list")
@data_option
@config_option
@directory_option
@json_option
def list_backups(data: Path, config_file: Path | None, directory: Path | None, as_json: bool) -> None:
    """Every backup, the oldest first."""
    _, place = _opened(data, config_file, directory)
    _require_backups(place)
    print_objects([_fields(backup) for backup in place.backups()], COLUMNS, as_json=as_json, in_words=_in_words)


@backups.command("check")
@data_option
@config_option
@directory_option
@click.argument("name", required=False)
@json_option
def check_backups(
    data: Path, config_file: Path | None, directory: Path | None, name: str | None, as_json: bool
) -> None:
    """Compare every file with its digest.

    All backups are read, or NAME alone.
    """
    from chat.backup.checking import checked_copy, damaged_files

    _, place = _opened(data, config_file, directory)
    _require_backups(place)
    found = [backup for backup in place.backups() if name in {None, backup.path.name}]
    if not found:
        raise OperatorError(f"there is no backup {name} in {place.path}")
    wrong: list[dict[str, object]] = []
    seen: set[str] = set()
    with progress_bar() as tell:
        for backup in found:
            problems = [*damaged_files(place, backup.path, seen, tell), *checked_copy(place, backup.path, tell)[0]]
            wrong += [{"name": backup.path.name, "problem": problem} for problem in problems]
    if wrong or as_json:
        print_objects(wrong, ("name", "problem"), as_json=as_json)
    if wrong:
        raise OperatorError(f"{len({entry['name'] for entry in wrong})} of {len(found)} backups are damaged")


def _opened(data: Path, config_file: Path | None, directory: Path | None) -> tuple[Settings, BackupPlace]:
    """The settings, and the directory with the backups. Raises OperatorError where none is named."""
    from chat.backup.place import BackupPlace, directory_of
    from chat.config import load_settings

    settings = load_settings(data, config_file, os.environ).settings
    path = directory_of(settings, data) if directory is None else directory.absolute()
    if path is None:
        raise OperatorError("where are the backups? Set backup.directory, or name them with --directory")
    return settings, BackupPlace(path)


def _require_backups(place: BackupPlace) -> None:
    if place.place_id is None:
        raise OperatorError(f"there are no backups in {place.path}")


def _fields(backup: Backup) -> Mapping[str, object]:
    from chat.clock import iso_timestamp

    return {
        "name": backup.path.name,
        "path": str(backup.path),
        "created_at": iso_timestamp(backup.created_at),
        "reason": backup.reason,
        "size": backup.bytes,
        "new_size": backup.new_bytes,
        "files": backup.files,
        "version": backup.version,
        "schema": backup.schema,
        "state": "whole" if backup.is_whole else "damaged",
        "problems": list(backup.problems),
        "remarks": list(backup.remarks),
    }


def _in_words(fields: Any) -> dict[str, object]:
    return {name: f"{fields[name] / 1_000_000:,.1f} MB" for name in ("size", "new_size")}


def _reporter(now: Callable[[], float] = time.monotonic) -> Tell:
    """Prints what is done as a line of JSON, at most one each REPORT_SECONDS."""
    told_at = -REPORT_SECONDS

    def tell(words: str, percent: float) -> None:
        nonlocal told_at
        if now() - told_at >= REPORT_SECONDS:
            told_at = now()
            click.echo(json.dumps({"doing": words, "percent": round(percent, 1)}))

    return tell
