"""`chat storage`: what takes the room on the disk, and cleaning up."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from chat import wire
from chat.cli.administration import Instance, administer
from chat.cli.options import instance_options, is_terminal, json_option, print_json, print_objects, print_table
from chat.registries.jobs import CleanUp

MEGABYTE: Final = 1_000_000


@click.group(invoke_without_command=True)
@instance_options
@json_option
@click.pass_context
def storage(context: click.Context, data: Path, as_json: bool) -> None:
    """What takes the room on the disk.

    By kind, by guild and by account.
    """
    if context.invoked_subcommand is None:
        found = administer(data, _overview)
        if as_json or not is_terminal():
            print_json(found)
        else:
            _print_to_people(found)


async def _overview(instance: Instance) -> wire.Storage:
    return await instance.areas().administration.storage.overview()


def _print_to_people(found: Mapping[str, Any]) -> None:
    disk = found["disk"]
    click.echo(f"{_in_words(disk['free_bytes'])} of {_in_words(disk['total_bytes'])} are free")
    for heading, rows in (
        ("what", [(part["part"], part) for part in found["parts"]]),
        ("guild", [(guild["name"] or guild["guild_id"], guild) for guild in found["guilds"]]),
        ("account", [(account["username"] or account["user_id"], account) for account in found["accounts"]]),
    ):
        if rows:
            click.echo()
            print_table(
                (heading, "size", "files"), ((name, _in_words(one["bytes"]), one["files"]) for name, one in rows)
            )


def _in_words(size: int) -> str:
    return f"{size / MEGABYTE:,.1f} MB"


@storage.command("clean")
@instance_options
@click.option("--dry-run", is_flag=True, help="Count what would be deleted, and delete nothing.")
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice([kind.value for kind in CleanUp]), help="Only this; repeatable."
)
@json_option
def clean(data: Path, dry_run: bool, kinds: tuple[str, ...], as_json: bool) -> None:
    """Delete files that nothing needs.

    A job does it: that of a running server at once, else the next start begins with it. A dry run counts here and now.
    """
    wanted = [CleanUp(kind) for kind in kinds] or list(CleanUp)

    async def count(instance: Instance) -> list[dict[str, object]]:
        cleaning = instance.areas().administration.storage
        found = [(kind, await cleaning.found(kind, only_look=True)) for kind in wanted]
        return [{"kind": kind.value, "files": one.files, "bytes": one.bytes} for kind, one in found]

    async def order(instance: Instance) -> wire.AdminCleanStorageAnswer:
        from chat.domain.administration import server_notes

        with instance.telling(server_notes.job_ordered()):
            return await instance.areas().administration.storage.order(instance.acting(), wanted, dry_run=False)

    if dry_run:
        found = administer(data, count)
        columns = ("kind", "files", "size")
        print_objects(found, columns, as_json=as_json, in_words=lambda one: {"size": _in_words(one["bytes"])})
        return
    job = administer(data, order)
    if as_json or not is_terminal():
        print_json(job)
    else:
        click.echo(f"job {job['job_id']} cleans up: chat job show {job['job_id']} tells how far it is")
