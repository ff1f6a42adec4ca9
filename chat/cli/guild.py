"""`chat guild`: guilds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from chat.cli.options import data_option, json_option, print_object

if TYPE_CHECKING:
    from chat.cli.administration import Instance
    from chat.store.guilds import Guild


@click.group()
def guild() -> None:
    """Guilds."""


@guild.command()
@data_option
@click.argument("guild_id", metavar="ID", type=click.IntRange(0, (1 << 63) - 1))
@click.option("--add", multiple=True, metavar="F", help="A feature that the guild gets; may be repeated.")
@click.option("--remove", multiple=True, metavar="F", help="A feature that the guild loses; may be repeated.")
@json_option
def features(data: Path, guild_id: int, add: tuple[str, ...], remove: tuple[str, ...], as_json: bool) -> None:
    """Show or change the features of guild ID, those included that its owner cannot reach."""
    from chat.cli.administration import administer
    from chat.domain.guild_administration import change_features

    async def command(instance: Instance) -> Guild:
        return await change_features(instance.database, instance.clock, guild_id, add, remove)

    changed = administer(data, command)
    fields = {"id": str(changed.id), "name": changed.name, "features": sorted(changed.features)}
    print_object(fields, as_json=as_json)
