"""`chat guild` and `chat invite`: guilds, and invites made by the instance itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

from chat.cli.administration import Instance, administer
from chat.cli.options import (
    fields_of,
    id_argument,
    instance_options,
    is_terminal,
    json_option,
    print_json,
    print_object,
    print_objects,
)
from chat.errors import OperatorError

if TYPE_CHECKING:
    from chat.config import Settings
    from chat.domain.administration.command_line import InviteAdministration
    from chat.store.guilds.channels import Channel
    from chat.store.guilds.guilds import Guild
    from chat.store.guilds.invites import Invite

GUILD_COLUMNS: Final = ("id", "name", "owner_id", "member_count", "features", "created_at")
CHANNEL_COLUMNS: Final = ("id", "name", "type", "parent_id")


@click.group()
def guild() -> None:
    """Guilds: find them, and give and take features."""


@guild.command("list")
@instance_options
@json_option
def list_guilds(data: Path, as_json: bool) -> None:
    """Every guild, the oldest first."""
    from chat.store.guilds import guilds

    async def command(instance: Instance) -> list[Guild]:
        return await instance.database.read(guilds.every)

    print_objects(
        [fields_of(found, *GUILD_COLUMNS) for found in administer(data, command)], GUILD_COLUMNS, as_json=as_json
    )


@guild.command()
@instance_options
@id_argument("guild_id")
@json_option
def show(data: Path, guild_id: int, as_json: bool) -> None:
    """Show a guild with its channels.

    `chat invite create` makes invites to them.
    """
    from chat.store.guilds import channels, guilds

    async def command(instance: Instance) -> tuple[Guild, list[Channel]]:
        def query(connection: sqlite3.Connection) -> tuple[Guild, list[Channel]]:
            found = guilds.by_id(connection, guild_id)
            if found is None:
                raise OperatorError(f"there is no guild {guild_id}")
            return found, channels.of_guild(connection, guild_id)

        return await instance.database.read(query)

    found, listed = administer(data, command)
    fields, shown = fields_of(found, *GUILD_COLUMNS), [fields_of(channel, *CHANNEL_COLUMNS) for channel in listed]
    if as_json or not is_terminal():
        print_json({**fields, "channels": shown})
        return
    print_object(fields, as_json=False)
    click.echo()
    print_objects(shown, CHANNEL_COLUMNS, as_json=False)


@guild.command()
@instance_options
@id_argument("guild_id")
@click.option("--add", multiple=True, metavar="F", help="A feature that the guild gets; may be repeated.")
@click.option("--remove", multiple=True, metavar="F", help="A feature that the guild loses; may be repeated.")
@json_option
def features(data: Path, guild_id: int, add: tuple[str, ...], remove: tuple[str, ...], as_json: bool) -> None:
    """Show or change the features of a guild.

    Those are among them that its owner cannot reach.
    """
    from chat.domain.administration.command_line import change_features

    async def command(instance: Instance) -> Guild:
        return await change_features(instance.database, instance.clock, instance.log, guild_id, add, remove)

    changed = administer(data, command)
    print_object(fields_of(changed, "id", "name", "features"), as_json=as_json)


T = TypeVar("T")

INVITE_COLUMNS: Final = (
    "code",
    "channel_id",
    "inviter_id",
    "uses",
    "max_uses",
    "expires_at",
    "temporary",
    "created_at",
)
MAX_AGE_SECONDS: Final = 604_800
MAX_USES: Final = 100


@click.group()
def invite() -> None:
    """Invites into guilds."""


@invite.command("create")
@instance_options
@id_argument("channel_id", "CHANNEL_ID")
@click.option(
    "--max-age",
    type=click.IntRange(0, MAX_AGE_SECONDS),
    default=0,
    metavar="SECONDS",
    help="How long it holds.  [default: for ever]",
)
@click.option(
    "--max-uses",
    type=click.IntRange(0, MAX_USES),
    default=0,
    metavar="N",
    help="How often it may be used.  [default: without limit]",
)
@click.option("--temporary", is_flag=True, help="Whoever comes in by it stays only while connected, or with a role.")
@json_option
def create_invite(data: Path, channel_id: int, max_age: int, max_uses: int, temporary: bool, as_json: bool) -> None:
    """Make an invite that leads to a channel.

    `chat guild show` lists the channels of a guild.
    """
    from chat.domain.guilds.invites import InviteTerms

    terms = InviteTerms(max_age=max_age, max_uses=max_uses, temporary=temporary)
    made, settings = _with_invites(data, lambda invites: invites.create(channel_id, terms))
    print_object(_invite_fields(made, settings), as_json=as_json)


@invite.command("list")
@instance_options
@id_argument("guild_id", "GUILD_ID")
@json_option
def list_invites(data: Path, guild_id: int, as_json: bool) -> None:
    """The invites of a guild, the newest first.

    Its custom invite code is not among them.
    """
    found, settings = _with_invites(data, lambda invites: invites.of_guild(guild_id))
    print_objects([_invite_fields(invite, settings) for invite in found], INVITE_COLUMNS, as_json=as_json)


@invite.command("delete")
@instance_options
@click.argument("code", metavar="CODE")
@json_option
def delete_invite(data: Path, code: str, as_json: bool) -> None:
    """Delete an invite into a guild."""
    deleted, settings = _with_invites(data, lambda invites: invites.delete(code))
    print_object(_invite_fields(deleted, settings), as_json=as_json)


def _with_invites(data: Path, command: Callable[[InviteAdministration], Awaitable[T]]) -> tuple[T, Settings]:
    from chat.domain.administration.command_line import InviteAdministration

    async def run(instance: Instance) -> tuple[T, Settings]:
        invites = InviteAdministration(
            instance.database, instance.clock, instance.snowflakes, instance.chance, instance.settings
        )
        return await command(invites), instance.settings

    return administer(data, run)


def _invite_fields(invite: Invite, settings: Settings) -> dict[str, object]:
    limits = ("max_age", "max_uses", "uses", "temporary")
    return {
        "code": invite.code,
        "url": f"{settings.public_url}/invite/{invite.code}",
        **fields_of(invite, "guild_id", "channel_id", "inviter_id", *limits, "created_at", "expires_at"),
    }
