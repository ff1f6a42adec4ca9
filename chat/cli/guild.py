"""`chat guild`: guilds."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from chat.cli.options import (
    id_argument,
    instance_options,
    is_terminal,
    json_option,
    print_json,
    print_object,
    print_objects,
)

if TYPE_CHECKING:
    from chat.cli.administration import Instance
    from chat.store.guilds.channels import Channel
    from chat.store.guilds.guilds import Guild

COLUMNS: Final = ("id", "name", "owner_id", "member_count", "features", "created_at")
CHANNEL_COLUMNS: Final = ("id", "name", "type", "parent_id")


@click.group()
def guild() -> None:
    """Guilds: find them, and give and take features."""


@guild.command("list")
@instance_options
@json_option
def list_(data: Path, as_json: bool) -> None:
    """Every guild, the oldest first."""
    from chat.cli.administration import administer
    from chat.store.guilds import guilds

    async def command(instance: Instance) -> list[Guild]:
        return await instance.database.read(guilds.every)

    print_objects([_fields(found) for found in administer(data, command)], COLUMNS, as_json=as_json)


@guild.command()
@instance_options
@id_argument("guild_id")
@json_option
def show(data: Path, guild_id: int, as_json: bool) -> None:
    """Show a guild with its channels.

    `chat invite create` makes invites to them.
    """
    from chat.cli.administration import administer
    from chat.errors import OperatorError
    from chat.store.guilds import channels, guilds

    async def command(instance: Instance) -> tuple[Guild, list[Channel]]:
        def query(connection: sqlite3.Connection) -> tuple[Guild, list[Channel]]:
            found = guilds.by_id(connection, guild_id)
            if found is None:
                raise OperatorError(f"there is no guild {guild_id}")
            return found, channels.of_guild(connection, guild_id)

        return await instance.database.read(query)

    found, listed = administer(data, command)
    fields, shown = _fields(found), [_channel_fields(channel) for channel in listed]
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
    from chat.cli.administration import administer
    from chat.domain.administration.guild_administration import change_features

    async def command(instance: Instance) -> Guild:
        return await change_features(instance.database, instance.clock, instance.log, guild_id, add, remove)

    changed = administer(data, command)
    fields = {"id": str(changed.id), "name": changed.name, "features": sorted(changed.features)}
    print_object(fields, as_json=as_json)


def _fields(guild: Guild) -> dict[str, object]:
    from chat.clock import iso_timestamp

    return {
        "id": str(guild.id),
        "name": guild.name,
        "owner_id": str(guild.owner_id),
        "member_count": guild.member_count,
        "features": sorted(guild.features),
        "created_at": iso_timestamp(guild.created_at),
    }


def _channel_fields(channel: Channel) -> dict[str, object]:
    return {
        "id": str(channel.id),
        "name": channel.name,
        "type": channel.type,
        "parent_id": None if channel.parent_id is None else str(channel.parent_id),
    }
