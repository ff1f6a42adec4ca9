"""`chat import`: communities that are brought along from elsewhere, beside a running server or without one."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from chat.cli.administration import Instance, administer, administering
from chat.cli.backup import progress_bar
from chat.cli.options import id_argument, instance_options, is_terminal, json_option, print_json, print_object
from chat.errors import OperatorError
from chat.registries.imports import ImportSource

if TYPE_CHECKING:
    from chat.domain.imports.import_report import ImportFields, ImportReport
    from chat.imports.export_files import ExportFiles
    from chat.imports.sources import Export
    from chat.imports.wishes import ReadingWish
    from chat.store.imports.imports import Import


COLUMNS: Final = ("id", "guild_id", "source", "path", "state", "created_at")
LOCK: Final = "import.lock"
YOUNG_OBJECTS: Final = 100_000
"""As many more objects than before have the garbage collector look for cycles."""
MILLISECONDS: Final = 1_000


@click.group("import")
def import_() -> None:
    """Bring a community along from elsewhere.

    What another program exported becomes channels, people and messages of a guild. Nobody is told, nothing counts as
    unread. An import that broke off goes on when its command is given again.
    """


def _moment(context: click.Context, parameter: click.Parameter, value: str | None) -> int:
    if value is None:
        return 0
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is no date, such as 2021-05-01.", context, parameter) from None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * MILLISECONDS)


def _reading(command: Callable[..., None]) -> Callable[..., None]:
    """The options of commands that bring an export along."""
    options = (
        instance_options,
        click.argument("path", metavar="PATH", type=click.Path(path_type=Path)),
        click.option("--guild", "guild", required=True, metavar="NAME_OR_ID", help="Where it goes."),
        click.option("--owner", metavar="U", help="Make the guild of that name, and have U own it."),
        click.option("--dry-run", is_flag=True, help="Tell what would come and what cannot, and write nothing."),
        click.option("--since", callback=_moment, metavar="DATE", help="Leave older messages where they are."),
        click.option("--channels", multiple=True, metavar="NAME_OR_ID", help="Only this channel; repeatable."),
        click.option("--without-files", is_flag=True, help="Leave out files, pictures of people, emojis."),
        json_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


@import_.command()
@_reading
def discord(**options: Any) -> None:
    """Read what DiscordChatExporter wrote as JSON.

    PATH is the directory or the ZIP archive: a file for each channel, with or without the media, and perhaps the
    template of the guild. Messages keep their ids, so a newer export brings what is new.
    """
    from chat.imports.discord import DiscordExport

    _bring(ImportSource.DISCORD, DiscordExport.open, **options)


@import_.command()
@_reading
def slack(**options: Any) -> None:
    """Read what Slack exports of a workspace.

    PATH is the ZIP archive, or a directory with what it holds: channels.json, users.json, and a folder for each
    channel. Direct messages stay behind. Files come along where a program has put them beside the messages.
    """
    from chat.imports.slack import SlackExport

    _bring(ImportSource.SLACK, SlackExport.open, **options)


@import_.command()
@_reading
def mattermost(**options: Any) -> None:
    """Read Mattermost's bulk export.

    PATH is the file of JSON lines, or the ZIP archive or the directory with that file and data/. Several teams become
    categories. Direct messages stay behind.
    """
    from chat.imports.mattermost import MattermostExport

    _bring(ImportSource.MATTERMOST, MattermostExport.open, **options)


@import_.command()
@_reading
def zulip(**options: Any) -> None:
    """Read what Zulip exports of an organization.

    PATH is the tar.gz archive, or a directory with what it holds. Channels become forums, topics their posts. Direct
    messages stay behind.
    """
    from chat.imports.zulip import ZulipExport

    _bring(ImportSource.ZULIP, ZulipExport.open, **options)


@import_.command()
@_reading
def matrix(**options: Any) -> None:
    """Read rooms of Matrix that Element exported as JSON.

    PATH is a directory or a ZIP archive with an export.json, or with several in folders of their own. Each room becomes
    a channel; one that not everybody may join is for those alone who were in it.
    """
    from chat.imports.matrix import MatrixExport

    _bring(ImportSource.MATRIX, MatrixExport.open, **options)


@import_.command()
@_reading
def community(**options: Any) -> None:
    """Read what `chat export guild` wrote.

    PATH is the directory, or a ZIP archive of it. It may come from another instance, or from a program that writes the
    intermediate form.
    """
    from chat.imports.community import CommunityExport

    _bring(ImportSource.COMMUNITY, CommunityExport.open, **options)


def _bring(
    source: ImportSource,
    read: Callable[[ExportFiles], Export],
    *,
    data: Path,
    path: Path,
    guild: str,
    owner: str | None,
    dry_run: bool,
    since: int,
    channels: tuple[str, ...],
    without_files: bool,
    as_json: bool,
) -> None:
    from chat.imports.wishes import ReadingWish

    wish = ReadingWish(since=since, channels=frozenset(channels), files=not without_files)
    place = str(path.resolve())

    async def command(instance: Instance) -> ImportFields:
        from chat.imports.export_files import open_export

        with contextlib.closing(open_export(path)) as files:
            export = read(files)  # what is no export makes no guild
            if dry_run:
                return _previewed(instance, export, wish, await _guild_here(instance, guild))
            with alone(instance):
                guild_id, is_new = await _guild(instance, guild, owner)
                kept = {"since": wish.since, "channels": sorted(wish.channels), "files": wish.files}
                made = await instance.areas().imports.imports.begin(guild_id, source, place, kept)
                return await carried_out(instance, files, export, made, wish, is_new=is_new)

    _print(administer(data, command), as_json=as_json)


def _previewed(instance: Instance, export: Export, wish: ReadingWish, guild_id: int | None) -> ImportFields:
    from chat.domain.imports.import_preview import preview
    from chat.domain.imports.import_report import report_fields

    records = export.read(wish, instance.clock.now_ms())
    most = instance.settings.limits.attachment_max_size_premium
    told = report_fields(preview(instance.database.reader, records, most, guild_id))
    return {
        "id": None,
        "guild_id": None,
        "state": "dry run",
        "counts": told["counts"],
        "present": told["present"],
        "bytes": told["bytes"],
        "missing": told["missing"],
        "refused": told["refused"],
        "listed": told["listed"],
    }


async def carried_out(
    instance: Instance, files: ExportFiles, export: Export, made: Import, wish: ReadingWish, *, is_new: bool
) -> ImportFields:
    """Carry an import out, with a bar on a terminal. Raises as `Imports.carry_out`."""
    import trio

    from chat.domain.imports.imports import import_fields

    areas = instance.areas()
    await areas.administration.blocklists.load()
    records = export.read(wish, instance.clock.now_ms())
    with progress_bar() as tell:

        def told(report: ImportReport) -> None:
            tell(f"{report.came['messages']:,} messages", export.percent_read)

        _collect_seldom()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(areas.policy.media.workers.run)
            over = await areas.imports.imports.carry_out(
                made, files, records, told, is_new=is_new, with_files=wish.files
            )
            nursery.cancel_scope.cancel()
    return import_fields(over)


def _collect_seldom() -> None:
    """Records hold no cycles, and there are millions of them: looking for cycles takes a tenth of an import."""
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 10, 10)


async def _guild_here(instance: Instance, name: str) -> int | None:
    """The guild of that id or name; None where there is none yet."""
    from chat.store.guilds import guilds

    every = await instance.database.read(guilds.every)
    found = [one.id for one in every if str(one.id) == name] or [one.id for one in every if one.name == name]
    if len(found) > 1:
        raise OperatorError(f"several guilds are called {name}: {', '.join(map(str, found))}")
    return found[0] if found else None


async def _guild(instance: Instance, name: str, owner: str | None) -> tuple[int, bool]:
    """The guild of that id or name, and whether it was made for this or by an earlier import that made it."""
    from chat.domain.guilds.guilds import GuildWish
    from chat.store.imports import imports

    here = await _guild_here(instance, name)
    if here is not None:
        return here, imports.made_by_any(instance.database.reader, "guild", here)
    if owner is None:
        raise OperatorError(f"there is no guild {name}; --owner U makes one of that name")
    account = instance.accounts.find(owner)
    if account.bot:
        raise OperatorError(f"{account.username} is a bot: guilds belong to people")
    made = await instance.create_guild(account, GuildWish(name=name))
    guild_id = int(made["id"])

    await instance.areas().imports.imports.prepare_new_guild(guild_id)
    return guild_id, True


@contextlib.contextmanager
def alone(instance: Instance, *, waits: bool = False) -> Iterator[None]:
    """One import at a time: two would count what they bring twice. The lock goes with its process. `waits` waits for
    another one's end."""
    descriptor = os.open(instance.directory.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(descriptor)
        raise OperatorError("another import is under way: chat import list") from None
    try:
        yield
    finally:
        os.close(descriptor)


def _print(fields: ImportFields, *, as_json: bool) -> None:
    """Counts one by one for people; all of it as JSON."""
    if as_json or not is_terminal():
        print_json(fields)
        return
    shown = {name: fields[name] for name in ("id", "guild_id", "state") if fields[name] is not None}
    shown |= {kind: f"{count:,}" for kind, count in fields["counts"].items() if count}
    shown |= {f"{kind} that were here": f"{count:,}" for kind, count in fields["present"].items() if count}
    for one in (*fields["missing"], *fields["refused"]):
        shown[f"{one['count']:,} {one['kind']}"] = one["words"]
    print_object(shown, as_json=False)


@import_.command("list")
@instance_options
@administering(*COLUMNS)
async def list_imports(instance: Instance) -> list[ImportFields]:
    """Every import, the newest first."""
    return instance.areas().imports.imports.every()


@import_.command()
@instance_options
@id_argument("import_id")
@json_option
def show(data: Path, import_id: int, as_json: bool) -> None:
    """Show how far an import is, and what did not come."""

    async def command(instance: Instance) -> ImportFields:
        from chat.domain.imports.imports import import_fields

        return import_fields(instance.areas().imports.imports.find(import_id))

    _print(administer(data, command), as_json=as_json)


@import_.command()
@instance_options
@id_argument("import_id")
@json_option
def cancel(data: Path, import_id: int, as_json: bool) -> None:
    """End an import before its next portion; what came stays."""

    async def command(instance: Instance) -> ImportFields:
        from chat.domain.imports.imports import import_fields

        return import_fields(await instance.areas().imports.imports.cancel(import_id))

    _print(administer(data, command), as_json=as_json)


@import_.command()
@instance_options
@id_argument("import_id")
@json_option
def undo(data: Path, import_id: int, as_json: bool) -> None:
    """Take out again what an import brought.

    What somebody here has edited, answered, saved or reacted to since stays, with what it needs. So does what people
    wrote whom a member has claimed; `claimed` counts them.
    """

    async def command(instance: Instance) -> dict[str, str | int]:
        with alone(instance):
            return await instance.areas().imports.undoing.undo(import_id)

    found = administer(data, command)
    print_object(found, as_json=as_json)
