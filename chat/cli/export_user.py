"""`chat export-user`: what the instance has of an account, in a ZIP file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chat.cli.administration import Instance, administer
from chat.cli.options import FILE, instance_options, json_option, print_object
from chat.errors import OperatorError

if TYPE_CHECKING:
    from chat.cli.output import Tell


@click.command("export-user")
@instance_options
@click.argument("name", metavar="ID")
@click.argument("file", type=FILE)
@click.option("--include-attachments", is_flag=True, help="The files that the account uploaded, too.")
@json_option
def export_user(data: Path, name: str, file: Path, include_attachments: bool, as_json: bool) -> None:
    """Write what there is of an account to a file.

    FILE becomes a ZIP file like the archives of administrators.
    ID is an id, a username, a tag (alice#0001) or a mail address. A server may run meanwhile.
    """
    from chat.cli.output import new_file, progress_bar

    async def command(instance: Instance) -> dict[str, object]:
        account = instance.accounts.find(name)
        with new_file(file) as draft, progress_bar() as tell:
            size = await _export(instance, account.id, draft, tell, include_attachments=include_attachments)
        return {"id": str(account.id), "username": account.username, "file": str(file), "size": size}

    print_object(administer(data, command), as_json=as_json)


async def _export(instance: Instance, user_id: int, draft: Path, tell: Tell, *, include_attachments: bool) -> int:
    """Write the file; its bytes."""
    from chat.domain.administration.archive_building import ArchiveBuild, NoRoom, Wish
    from chat.media.storage import MediaStorage
    from chat.media.zip_writing import ZipWriter, list_of
    from chat.registries.jobs import ArchiveSubject

    storage = MediaStorage(instance.directory.uploads, in_threads=False)
    wish = Wish(kind=ArchiveSubject.USER, subject_id=user_id, include_attachments=include_attachments)
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
