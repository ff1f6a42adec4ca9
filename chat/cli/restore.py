"""`chat restore`: an instance out of a backup."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from chat.cli.backup import progress_bar
from chat.cli.options import FILE, data_option, json_option, print_object
from chat.errors import OperatorError

if TYPE_CHECKING:
    from chat.backup.place import BackupPlace
    from chat.backup.restoring import BackupSource

EXISTING: Final = click.Path(exists=True, readable=True, path_type=Path)


@click.command()
@click.argument("file", type=EXISTING, required=False)
@data_option
@click.option("--at", "moment", metavar="TIME", help="Of a directory of backups, the last one made by then.")
@click.option("--aside", is_flag=True, help="Keep what is in the data directory, in a directory in it.")
@click.option("--config", "config_file", type=FILE, help="Settings file in place of DIR/chat.toml.")
@json_option
def restore(
    file: Path | None, data: Path, moment: str | None, aside: bool, config_file: Path | None, as_json: bool
) -> None:
    """Make a data directory out of a backup.

    FILE is what `chat backup` has written, a directory of backups, or one backup in it; where it is left out, the
    directory that the setting backup.directory names. TIME is a day (2026-11-25) or a moment (2026-11-25T18:30, in the
    machine's time zone unless it says another). The data directory must be empty, or not there. It gets its
    contents only when all of the backup was found to be whole.
    """
    import time

    from chat.backup.place import stamp
    from chat.backup.restoring import aside_name, restore

    where = _directory_of(data, config_file) if file is None else file
    source = _source(where, moment)
    target = aside_name(data, stamp(time.time_ns() // 1_000_000)) if aside and data.is_dir() else None
    with progress_bar() as tell:
        count = restore(source, data, tell, aside=target, stays=_staying(data, where))
    if count is None:
        click.echo(f"chat: a restore of {data} that was broken off is finished", err=True)
        return
    told: dict[str, object] = {"data": str(data), "files": count}
    if not isinstance(file, Path) or file.is_dir():
        told["backup"] = source.name
    if target is not None:
        told["aside"] = str(data / target)
    print_object(told, as_json=as_json)


def _directory_of(data: Path, config_file: Path | None) -> Path:
    """The directory that the settings name. Raises OperatorError."""
    from chat.backup.place import directory_of
    from chat.config import load_settings

    directory = directory_of(load_settings(data, config_file, os.environ).settings, data)
    if directory is None:
        raise OperatorError("which backup? Name its file or directory, or set backup.directory")
    return directory


def _source(where: Path, moment: str | None) -> BackupSource:
    from chat.backup.place import BackupPlace
    from chat.backup.restoring import OfDirectory, TarFile

    if where.is_file():
        if moment is not None:
            raise click.UsageError("--at chooses among the backups of a directory.")
        return TarFile(where)
    at = None if moment is None else moment_of(moment)
    for place in (BackupPlace(where), BackupPlace(where.parent)):
        if place.place_id is not None:
            backups = place.backups()
            if place.path == where:
                backups = [backup for backup in backups if backup.is_whole]
            else:
                backups = [backup for backup in backups if backup.path.name == where.name]
            chosen = [backup for backup in backups if at is None or backup.created_at <= at]
            if not chosen:
                raise OperatorError(f"there is no backup {_by(moment)}in {where}{_earliest(place)}")
            return OfDirectory(place, chosen[-1])
    raise OperatorError(f"there are no backups in {where}")


def _by(moment: str | None) -> str:
    return "" if moment is None else f"of {moment} or before "


def _earliest(place: BackupPlace) -> str:
    from chat.clock import iso_timestamp

    backups = place.backups()
    return f": the first is of {iso_timestamp(backups[0].created_at)}" if backups else ""


def moment_of(text: str) -> int:
    """A moment as people write it, in Unix milliseconds; of a day alone its end. Raises click.UsageError."""
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(f"{text!r} is no day and no moment such as 2026-11-25 or 2026-11-25T18:30.") from None
    try:
        if len(text) <= len("2026-11-25"):
            moment += datetime.timedelta(days=1)
        return round(moment.timestamp() * 1_000)
    except (OverflowError, ValueError):
        raise click.UsageError(f"{text!r} is too far away.") from None


def _staying(data: Path, where: Path) -> frozenset[str]:
    """What is never moved aside: the backups, where they lie in the data directory themselves."""
    from chat.backup.place import BESIDE

    # As `Path.resolve`, which raises RuntimeError for links that lead in a circle.
    inside, home = Path(os.path.realpath(where)), Path(os.path.realpath(data))
    if inside.is_relative_to(home) and inside != home:
        return frozenset({BESIDE, inside.relative_to(home).parts[0]})
    return frozenset({BESIDE})
