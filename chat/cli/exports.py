"""`chat export`: a community that leaves, or is to be kept elsewhere."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from chat.cli.administration import Instance, administering
from chat.cli.options import instance_options
from chat.errors import OperatorError

MARK: Final = ".export"
"""The file that says of a directory that an export is written into it, or was when its process ended."""


SHOWN: Final = {
    "role": "roles",
    "channel": "channels",
    "person": "people",
    "expression": "expressions",
    "message": "messages",
    "trouble": "left_behind",
}
"""What was written, by the kinds of records."""


@click.group("export")
def export() -> None:
    """Write what an instance has so that another one can read it."""


@export.command("guild")
@instance_options
@click.argument("guild_id", metavar="ID", type=int)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@administering()
async def export_guild(instance: Instance, guild_id: int, folder: Path) -> dict[str, object]:
    """Write a guild with its messages and files to a directory.

    DIR is made; `chat import community` reads it. A server may run meanwhile.
    """
    from chat.store.guilds import guilds

    if guilds.by_id(instance.database.reader, guild_id) is None:
        raise OperatorError(f"there is no guild {guild_id}")
    areas = instance.areas()
    await areas.administration.blocklists.load()
    with _new_folder(folder) as draft:
        made = areas.imports.imports.export_of(guild_id, draft)
        await made.write()
    return {
        "id": str(guild_id),
        "folder": str(folder),
        **{shown: made.counts[kind] for kind, shown in SHOWN.items() if made.counts[kind]},
    }


@contextlib.contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """A directory to fill, which becomes `folder` at the end. Nothing is left of a block that fails; what a killed one
    has left goes with the next."""
    draft = folder.with_name(f"{folder.name}.part")
    if os.path.lexists(folder):
        raise OperatorError(f"{folder} exists already")
    try:
        with _alone_in(draft):
            try:
                yield draft
                draft.rename(folder)
            except BaseException:
                shutil.rmtree(draft, ignore_errors=True)
                raise
            (folder / MARK).unlink()
    except OSError as error:
        raise OperatorError(f"cannot write {folder}: {error.strerror or error}") from error


@contextlib.contextmanager
def _alone_in(draft: Path) -> Iterator[None]:
    """An empty directory that no other export writes to. Raises OperatorError for one that another export made, or
    that none has made: it is locked as long as its process lives."""
    marked = draft / MARK
    with contextlib.suppress(FileExistsError):
        draft.mkdir(mode=0o700)
    if draft.is_symlink() or not (marked.exists() or not any(draft.iterdir())):
        raise OperatorError(f"{draft} is none of an export: it has to go first")
    descriptor = os.open(marked, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for left in draft.iterdir():
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left)
            elif left != marked:
                left.unlink()
        yield
    except BlockingIOError:
        raise OperatorError(f"another export to {draft} is under way") from None
    finally:
        os.close(descriptor)
