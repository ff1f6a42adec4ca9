"""`chat invite`: invites into guilds, made by the instance itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

from chat.cli.options import id_argument, instance_options, json_option, print_object, print_objects

if TYPE_CHECKING:
    from chat.cli.administration import Instance
    from chat.config import Settings
    from chat.domain.administration.invite_administration import InviteAdministration
    from chat.store.guilds.invites import Invite

T = TypeVar("T")

COLUMNS: Final = ("code", "channel_id", "inviter_id", "uses", "max_uses", "expires_at", "temporary", "created_at")
MAX_AGE_SECONDS: Final = 604_800
MAX_USES: Final = 100


@click.group()
def invite() -> None:
    """Invites into guilds."""


@invite.command()
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
def create(data: Path, channel_id: int, max_age: int, max_uses: int, temporary: bool, as_json: bool) -> None:
    """Make an invite that leads to a channel.

    `chat guild show` lists the channels of a guild.
    """
    from chat.domain.guilds.invites import InviteTerms

    terms = InviteTerms(max_age=max_age, max_uses=max_uses, temporary=temporary)
    made, settings = _administered(data, lambda invites: invites.create(channel_id, terms))
    print_object(_fields(made, settings), as_json=as_json)


@invite.command("list")
@instance_options
@id_argument("guild_id", "GUILD_ID")
@json_option
def list_(data: Path, guild_id: int, as_json: bool) -> None:
    """The invites of a guild, the newest first.

    Its custom invite code is not among them.
    """
    found, settings = _administered(data, lambda invites: invites.of_guild(guild_id))
    print_objects([_fields(invite, settings) for invite in found], COLUMNS, as_json=as_json)


@invite.command()
@instance_options
@click.argument("code", metavar="CODE")
@json_option
def delete(data: Path, code: str, as_json: bool) -> None:
    """Delete an invite into a guild."""
    deleted, settings = _administered(data, lambda invites: invites.delete(code))
    print_object(_fields(deleted, settings), as_json=as_json)


def _administered(data: Path, command: Callable[[InviteAdministration], Awaitable[T]]) -> tuple[T, Settings]:
    from chat.cli.administration import administer
    from chat.domain.administration.invite_administration import InviteAdministration

    async def run(instance: Instance) -> tuple[T, Settings]:
        invites = InviteAdministration(
            instance.database, instance.clock, instance.snowflakes, instance.chance, instance.settings
        )
        return await command(invites), instance.settings

    return administer(data, run)


def _fields(invite: Invite, settings: Settings) -> dict[str, object]:
    from chat.clock import iso_timestamp

    return {
        "code": invite.code,
        "url": f"{settings.public_url}/invite/{invite.code}",
        "guild_id": str(invite.guild_id),
        "channel_id": str(invite.channel_id),
        "inviter_id": None if invite.inviter_id is None else str(invite.inviter_id),
        "max_age": invite.max_age,
        "max_uses": invite.max_uses,
        "uses": invite.uses,
        "temporary": invite.temporary,
        "created_at": iso_timestamp(invite.created_at),
        "expires_at": None if invite.expires_at is None else iso_timestamp(invite.expires_at),
    }
