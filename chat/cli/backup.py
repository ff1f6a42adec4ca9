"""`chat backup` and `chat export-user`: everything of an instance, or of one account, in one file, while its server
runs.

What a backup holds stands in `chat.backup.contents`. An account's data becomes a ZIP file, like the archives of
administrators.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from chat.cli.administration import Instance, administering
from chat.cli.options import FILE, data_option, instance_options, json_option, print_object
from chat.errors import OperatorError

if TYPE_CHECKING:
    from chat.backup.contents import Tell


@click.command()
@data_option
@click.argument("file", type=FILE)
@json_option
def backup(data: Path, file: Path, as_json: bool) -> None:
    """Write everything of an instance to a file.

    Database, uploads, archives, signing key and settings as they are at one moment, whether or not a server runs.
    `chat restore` makes an instance of it again. Keep FILE as you keep the data directory: it holds all its secrets.
    """
    from chat.backup import tar_file
    from chat.store.data_directory import DataDirectory
    from chat.store.whole_database import few

    directory = DataDirectory(data)
    directory.require()
    directory.signing_key()
    with new_file(file) as draft, progress_bar() as tell:
        written = tar_file.write(directory, draft, tell)
        size = draft.stat().st_size
    if written.missing:
        click.echo(f"chat: {written.missing} files were missing before (see `chat check`)", err=True)
    print_object({"file": str(file), "size": size, "files": written.files}, as_json=as_json)
    if written.damages:
        raise OperatorError(f"{file} is written, and has damaged files in it: {'; '.join(few(written.damages))}")


WHOLE: Final = 100.0


@contextlib.contextmanager
def progress_bar() -> Iterator[Tell]:
    """A bar on standard error for as long as the block lasts."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=WHOLE)
        yield lambda words, percent: progress.update(task, description=words, completed=percent)


@contextlib.contextmanager
def new_file(file: Path) -> Iterator[Path]:
    """A path for the block to write, which becomes `file` at its end; nothing is left of a block that fails. Raises
    OperatorError if there is such a file already, and if the disk is at fault."""
    draft = file.with_name(f"{file.name}.{os.getpid()}.part")
    if os.path.lexists(file):
        raise OperatorError(f"{file} exists already")
    try:
        yield draft
        _give_name(draft, file)
    except OSError as error:
        raise OperatorError(f"cannot write {file}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def _give_name(draft: Path, file: Path) -> None:
    descriptor = os.open(draft, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(draft, file)  # never in place of another file
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        draft.rename(file)


@click.command("export-user")
@instance_options
@click.argument("name", metavar="ID")
@click.argument("file", type=FILE)
@click.option("--include-attachments", is_flag=True, help="The files that the account uploaded, too.")
@administering()
async def export_user(instance: Instance, name: str, file: Path, include_attachments: bool) -> dict[str, object]:
    """Write an account's data to a file.

    FILE becomes a ZIP file like the archives of administrators.
    ID is an id, a username, a tag (alice#0001) or a mail address. A server may run meanwhile.
    """

    account = instance.accounts.find(name)
    with new_file(file) as draft, progress_bar() as tell:
        size = await _export(instance, account.id, draft, tell, include_attachments=include_attachments)
    return {"id": str(account.id), "username": account.username, "file": str(file), "size": size}


async def _export(instance: Instance, user_id: int, draft: Path, tell: Tell, *, include_attachments: bool) -> int:
    """Write the file; its bytes."""
    from chat.domain.administration.archive_building import ArchiveBuild, ArchiveWish, NoRoom
    from chat.media.storage import MediaStorage
    from chat.media.zip_writing import ZipWriter, list_of
    from chat.registries.jobs import ArchiveSubject

    storage = MediaStorage(instance.directory.uploads, in_threads=False)
    wish = ArchiveWish(kind=ArchiveSubject.USER, subject_id=user_id, include_attachments=include_attachments)
    build = ArchiveBuild(wish, storage.path_of)
    began_at = instance.clock.now_ms()
    state = await instance.database.read(build.begun)
    writer = ZipWriter(draft)
    try:
        while not build.is_done(state):
            tell(build.step_name(state), build.percent(state))
            page = await instance.database.read(partial(build.read, state=state))
            state = build.write(writer, state, page, spare_bytes=0, folder=draft.parent, now_ms=instance.clock.now_ms())
        return build.finish(writer, state, began_at=began_at, now_ms=instance.clock.now_ms())
    except NoRoom as error:
        raise OperatorError(str(error)) from error
    finally:
        writer.close()
        list_of(draft).unlink(missing_ok=True)
