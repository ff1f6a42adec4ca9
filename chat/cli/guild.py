"""`chat guild`, `chat channel` and `chat invite`: guilds, and channels and invites made by the instance itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import click

from chat.cli.administration import Instance, administer, administering
from chat.cli.options import (
    SNOWFLAKE,
    fields_of,
    id_argument,
    instance_options,
    is_terminal,
    json_option,
    print_json,
    print_object,
    print_objects,
)
from chat.errors import ApiError, OperatorError
from chat.registries.error_codes import ErrorCode

if TYPE_CHECKING:
    from chat.domain.administration.command_line import InviteAdministration
    from chat.store.guilds.channels import Channel
    from chat.store.guilds.guilds import Guild
    from chat.store.guilds.invites import Invite

GUILD_COLUMNS: Final = ("id", "name", "owner_id", "member_count", "features", "created_at")
CHANNEL_COLUMNS: Final = ("id", "name", "type", "parent_id")

NAME_LENGTH: Final = 100
TEMPLATE_BYTES: Final = 1_048_576
"""More than the largest template that a guild can be made of."""


@click.group()
def guild() -> None:
    """Guilds: make and find them, and give and take features."""


@guild.command("create")
@instance_options
@click.option("--owner", required=True, metavar="U", help="Who owns it: username, tag, mail address or id.")
@click.option("--name", required=True, metavar="N", help="1 to 100 characters.")
@click.option(
    "--template", type=click.File("rb"), metavar="FILE", help="What it is made of, as JSON; - reads standard input."
)
@administering(*GUILD_COLUMNS)
async def create_guild(instance: Instance, owner: str, name: str, template: IO[bytes] | None) -> Mapping[str, object]:
    """Make a guild that U owns.

    Without a template it has a text and a voice channel. On an instance of one community it is made all the same.
    """
    from chat.domain.guilds.guilds import GuildWish
    from chat.store.guilds import guilds

    account = instance.accounts.find(owner)
    if account.bot:
        raise OperatorError(f"{account.username} is a bot: guilds belong to people")
    wish = GuildWish(name=name, template=None if template is None else template_of(template))
    try:
        made = await instance.create_guild(account, wish)
    except ApiError as error:
        if error.code != ErrorCode.MAX_GUILDS:
            raise
        raise OperatorError(f"{account.username} is in as many guilds as an account may be in") from None
    found = guilds.by_id(instance.database.reader, int(made["id"]))
    return fields_of(found, *GUILD_COLUMNS)


def template_of(file: IO[bytes]) -> object:
    """The template that a file holds, which is JSON of at most TEMPLATE_BYTES. Raises OperatorError."""
    import orjson  # the standard library's reader of JSON fails on what is nested deeply

    text = file.read(TEMPLATE_BYTES + 1)
    if len(text) > TEMPLATE_BYTES:
        raise OperatorError(f"{file.name} has more than {TEMPLATE_BYTES} bytes: that is no template")
    try:
        found: object = orjson.loads(text)
    except ValueError as error:
        raise OperatorError(f"{file.name} is no JSON: {error}") from error
    if type(found) is not dict:
        raise OperatorError(f"{file.name} is no template, which is a JSON object")
    return found


@guild.command("list")
@instance_options
@administering(*GUILD_COLUMNS)
async def list_guilds(instance: Instance) -> list[dict[str, object]]:
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
async def features(
    instance: Instance, guild_id: int, add: tuple[str, ...], remove: tuple[str, ...]
) -> Mapping[str, object]:
    """Show or change the features of a guild.

    Those are among them that its owner cannot reach.
    """
    from chat.domain.administration.command_line import change_features

    changed = await change_features(instance.database, instance.clock, instance.log, guild_id, add, remove)
    return fields_of(changed, "id", "name", "features")


CHANNEL_TYPES: Final = {"text": 0, "voice": 2, "category": 4, "announcement": 5, "forum": 15, "media": 16}
"""What channels can be made as here, by the words for it."""


class ChannelTypeWord(click.ParamType[int]):
    """The type of a channel: its word or its number."""

    name = "type"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> int:
        """The number; fails as wrong usage for any other word."""
        numbers = {str(number): number for number in CHANNEL_TYPES.values()}
        found = {**CHANNEL_TYPES, **numbers}.get(str(value).lower())
        if found is None:
            expected = ", ".join(f"{word} ({number})" for word, number in CHANNEL_TYPES.items())
            self.fail(f"{value!r} is no type: expected one of {expected}.", parameter, context)
        return found


@click.group()
def channel() -> None:
    """Channels of guilds."""


@channel.command("create")
@instance_options
@id_argument("guild_id", "GUILD_ID")
@click.option("--name", required=True, metavar="N", help="1 to 100 characters.")
@click.option(
    "--type",
    "kind",
    type=ChannelTypeWord(),
    default="text",
    show_default=True,
    metavar="T",
    help=f"{', '.join(CHANNEL_TYPES)}, or the number of one.",
)
@click.option("--parent", type=SNOWFLAKE, metavar="ID", help="The category that it goes into.")
@click.option("--topic", metavar="WORDS", help="What it is about.")
@administering(*CHANNEL_COLUMNS)
async def create_channel(
    instance: Instance, guild_id: int, name: str, kind: int, parent: int | None, topic: str | None
) -> Mapping[str, object]:
    """Make a channel in a guild.

    It stands last where it goes, and has the permissions of its category.
    """
    from chat.domain.administration import server_notes
    from chat.registries.channel_types import ChannelType

    if not 1 <= len(name) <= NAME_LENGTH:
        raise OperatorError(f"the name of a channel has 1 to {NAME_LENGTH} characters")
    fields = {"name": name, "parent_id": parent, "topic": topic}
    given = {key: value for key, value in fields.items() if value is not None}

    def leave(connection: sqlite3.Connection, channel_id: int, entry_ids: Sequence[int]) -> None:
        notes = server_notes.channel_created(guild_id, channel_id, entry_ids)
        server_notes.leave(connection, notes, instance.clock.now_ms())

    try:
        made = await instance.areas().guilds.guild_channels.create_beside(guild_id, ChannelType(kind), given, leave)
    except ApiError as error:
        if error.code != ErrorCode.UNKNOWN_GUILD:
            raise
        raise OperatorError(f"there is no guild {guild_id}") from None
    return fields_of(made, *CHANNEL_COLUMNS)


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
    return await make_invite(instance, channel_id, max_age=max_age, max_uses=max_uses, temporary=temporary)


async def make_invite(instance: Instance, channel_id: int, **terms: Any) -> dict[str, object]:
    """An invite that leads to a channel, with these of `InviteTerms`. Raises OperatorError as
    `InviteAdministration.create`."""
    from chat.domain.guilds.invites import InviteTerms

    return _invite_fields(await _invites(instance).create(channel_id, InviteTerms(**terms)), instance)


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
