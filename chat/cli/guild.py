"""`chat guild` and `chat invite`: guilds, and invites made by the instance itself."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from chat.cli.administration import Instance, administer, administering
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
@administering(*GUILD_COLUMNS)
async def list_guilds(instance: Instance) -> list[dict[str, Any]]:
    """Every guild, the oldest first."""
    from chat.store.guilds import guilds

    return [fields_of(found, *GUILD_COLUMNS) for found in await instance.database.read(guilds.every)]


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
@administering()
async def features(instance: Instance, guild_id: int, add: tuple[str, ...], remove: tuple[str, ...]) -> dict[str, Any]:
    """Show or change the features of a guild.

    Those are among them that its owner cannot reach.
    """
    from chat.domain.administration.command_line import change_features

    changed = await change_features(instance.database, instance.clock, instance.log, guild_id, add, remove)
    return fields_of(changed, "id", "name", "features")


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
@administering()
async def create_invite(
    instance: Instance, channel_id: int, max_age: int, max_uses: int, temporary: bool
) -> dict[str, object]:
    """Make an invite that leads to a channel.

    `chat guild show` lists the channels of a guild.
    """
    from chat.domain.guilds.invites import InviteTerms

    terms = InviteTerms(max_age=max_age, max_uses=max_uses, temporary=temporary)
    return _invite_fields(await _invites(instance).create(channel_id, terms), instance)


@invite.command("list")
@instance_options
@id_argument("guild_id", "GUILD_ID")
@administering(*INVITE_COLUMNS)
async def list_invites(instance: Instance, guild_id: int) -> list[dict[str, object]]:
    """The invites of a guild, the newest first.

    Its custom invite code is not among them.
    """
    return [_invite_fields(invite, instance) for invite in await _invites(instance).of_guild(guild_id)]


@invite.command("delete")
@instance_options
@click.argument("code", metavar="CODE")
@administering()
async def delete_invite(instance: Instance, code: str) -> dict[str, object]:
    """Delete an invite into a guild."""
    return _invite_fields(await _invites(instance).delete(code), instance)


def _invites(instance: Instance) -> InviteAdministration:
    from chat.domain.administration.command_line import InviteAdministration

    return InviteAdministration(
        instance.database, instance.clock, instance.snowflakes, instance.chance, instance.settings
    )


def _invite_fields(invite: Invite, instance: Instance) -> dict[str, object]:
    limits = ("max_age", "max_uses", "uses", "temporary")
    return {
        "code": invite.code,
        "url": f"{instance.settings.public_url}/invite/{invite.code}",
        **fields_of(invite, "guild_id", "channel_id", "inviter_id", *limits, "created_at", "expires_at"),
    }
