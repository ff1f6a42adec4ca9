"""Application commands, everywhere and in single guilds, and who may use them (interactions.md, Application
commands)."""

from __future__ import annotations

from typing import Annotated, Final

from chat import wire
from chat.api.answers import Answer
from chat.api.fields import Items, Length
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.routes.interactions.command_bodies import (
    COMMAND_BODIES,
    ChangeCommand,
    CommandBody,
    SetCommandPermissions,
    command_changes,
    command_draft,
    permission_entries,
)
from chat.classes import frozen
from chat.domain.interactions.assemble import InteractionsArea
from chat.registries.interactions import COMMAND_NAME_CHARACTERS

routes = Routes(policy=Policy.USER)

MINUTE: Final = 60_000
READ: Final = Bucket("application:commands:read::application_id", 60, 10_000)
CHANGE: Final = Bucket("application:commands:change::application_id", 60, 20_000)
REPLACE: Final = Bucket("application:commands:replace::application_id", 30, MINUTE)
PERMISSIONS_READ: Final = Bucket("application:commands:permissions:read::guild_id", 60, 10_000)
PERMISSIONS_CHANGE: Final = Bucket("application:commands:permissions:change::guild_id", 30, 10_000)
IN_GUILD: Final = Bucket("guild:commands::guild_id", 30, 10_000)
IN_CHANNEL: Final = Bucket("channel:commands::channel_id", 60, 10_000)

COMMANDS: Final = "/v1/applications/{application_id}/commands"
OF_GUILD: Final = "/v1/applications/{application_id}/guilds/{guild_id}/commands"

CommandList = Annotated[list[CommandBody], Items(0, COMMAND_BODIES)]


@frozen
class CommandQuery:
    """What a person has typed of a command's name."""

    query: Annotated[str, Length(0, COMMAND_NAME_CHARACTERS)] = ""


# Of every place


@routes.operation("GET", COMMANDS, bucket=READ)
async def list_commands(request: Request, area: InteractionsArea, application_id: int) -> list[wire.ApplicationCommand]:
    """The application's commands of every place, oldest first."""
    return area.commands.of_application(request.principal, application_id, None)


@routes.operation(
    "POST", COMMANDS, bucket=CHANGE, answers=lambda: {200: wire.ApplicationCommand, 201: wire.ApplicationCommand}
)
async def create_command(request: Request, area: InteractionsArea, application_id: int, body: CommandBody) -> Answer:
    """Register a command of every place; it takes the place of one of the same type and name (200)."""
    made, is_new = await area.commands.create(request.principal, application_id, None, command_draft(body))
    return Answer(201 if is_new else 200, made)


@routes.operation("PUT", COMMANDS, bucket=REPLACE)
async def replace_commands(
    request: Request, area: InteractionsArea, application_id: int, body: CommandList
) -> list[wire.ApplicationCommand]:
    """Register these commands of every place, and no others."""
    drafts = list(map(command_draft, body))
    return await area.commands.replace_all(request.principal, application_id, None, drafts)


@routes.operation("GET", f"{COMMANDS}/{{command_id}}", bucket=READ)
async def get_command(
    request: Request, area: InteractionsArea, application_id: int, command_id: int
) -> wire.ApplicationCommand:
    """One command of every place."""
    return area.commands.get(request.principal, application_id, None, command_id)


@routes.operation("PATCH", f"{COMMANDS}/{{command_id}}", bucket=CHANGE)
async def change_command(
    request: Request, area: InteractionsArea, application_id: int, command_id: int, body: ChangeCommand
) -> wire.ApplicationCommand:
    """Change a command of every place."""
    return await area.commands.change(request.principal, application_id, None, command_id, command_changes(body))


@routes.operation("DELETE", f"{COMMANDS}/{{command_id}}", bucket=CHANGE)
async def delete_command(request: Request, area: InteractionsArea, application_id: int, command_id: int) -> None:
    """Delete a command of every place."""
    await area.commands.delete(request.principal, application_id, None, command_id)


# Of one guild


@routes.operation("GET", OF_GUILD, bucket=READ)
async def list_guild_commands(
    request: Request, area: InteractionsArea, application_id: int, guild_id: int
) -> list[wire.ApplicationCommand]:
    """The commands that the application has in the guild alone, oldest first."""
    return area.commands.of_application(request.principal, application_id, guild_id)


@routes.operation(
    "POST", OF_GUILD, bucket=CHANGE, answers=lambda: {200: wire.ApplicationCommand, 201: wire.ApplicationCommand}
)
async def create_guild_command(
    request: Request, area: InteractionsArea, application_id: int, guild_id: int, body: CommandBody
) -> Answer:
    """Register a command in the guild; it takes the place of one of the same type and name (200)."""
    made, is_new = await area.commands.create(request.principal, application_id, guild_id, command_draft(body))
    return Answer(201 if is_new else 200, made)


@routes.operation("PUT", OF_GUILD, bucket=REPLACE)
async def replace_guild_commands(
    request: Request, area: InteractionsArea, application_id: int, guild_id: int, body: CommandList
) -> list[wire.ApplicationCommand]:
    """Register these commands in the guild, and no others."""
    drafts = list(map(command_draft, body))
    return await area.commands.replace_all(request.principal, application_id, guild_id, drafts)


@routes.operation("GET", f"{OF_GUILD}/{{command_id}}", bucket=READ)
async def get_guild_command(
    request: Request, area: InteractionsArea, application_id: int, guild_id: int, command_id: int
) -> wire.ApplicationCommand:
    """One command of the guild."""
    return area.commands.get(request.principal, application_id, guild_id, command_id)


@routes.operation("PATCH", f"{OF_GUILD}/{{command_id}}", bucket=CHANGE)
async def change_guild_command(
    request: Request, area: InteractionsArea, application_id: int, guild_id: int, command_id: int, body: ChangeCommand
) -> wire.ApplicationCommand:
    """Change a command of the guild."""
    return await area.commands.change(request.principal, application_id, guild_id, command_id, command_changes(body))


@routes.operation("DELETE", f"{OF_GUILD}/{{command_id}}", bucket=CHANGE)
async def delete_guild_command(
    request: Request, area: InteractionsArea, application_id: int, guild_id: int, command_id: int
) -> None:
    """Delete a command of the guild."""
    await area.commands.delete(request.principal, application_id, guild_id, command_id)


# Who may use them


@routes.operation("GET", f"{OF_GUILD}/permissions", bucket=PERMISSIONS_READ)
async def list_command_permissions(
    request: Request, area: InteractionsArea, application_id: int, guild_id: int
) -> list[wire.GuildCommandPermissions]:
    """What the guild has set for commands of the application."""
    return area.command_access.of_guild(request.principal, application_id, guild_id)


@routes.operation("GET", f"{OF_GUILD}/{{command_id}}/permissions", bucket=PERMISSIONS_READ)
async def get_command_permissions(
    request: Request, area: InteractionsArea, application_id: int, guild_id: int, command_id: int
) -> wire.GuildCommandPermissions:
    """What the guild has set for one command; `command_id` may be the application's, for all of them."""
    return area.command_access.of_command(request.principal, application_id, guild_id, command_id)


@routes.operation(
    "PUT",
    f"{OF_GUILD}/{{command_id}}/permissions",
    policy=Policy.USER_ONLY,
    bucket=PERMISSIONS_CHANGE,
)
async def set_command_permissions(
    request: Request,
    area: InteractionsArea,
    application_id: int,
    guild_id: int,
    command_id: int,
    body: SetCommandPermissions,
) -> wire.GuildCommandPermissions:
    """Set who may use a command in the guild; `command_id` may be the application's, for all of them."""
    entries, reason = permission_entries(body), request.audit_log_reason
    return await area.command_access.set_permissions(
        request.principal, application_id, guild_id, command_id, entries, reason
    )


@routes.operation("GET", "/v1/channels/{channel_id}/application-commands", policy=Policy.USER_ONLY, bucket=IN_CHANNEL)
async def list_channel_commands(
    request: Request, area: InteractionsArea, channel_id: int, query: CommandQuery
) -> wire.ChannelCommands:
    """The commands that the caller can invoke in a channel, with their applications."""
    return area.command_access.in_channel(request.principal, channel_id, query.query)


@routes.operation("GET", "/v1/guilds/{guild_id}/application-commands", policy=Policy.USER_ONLY, bucket=IN_GUILD)
async def list_commands_in_guild(request: Request, area: InteractionsArea, guild_id: int) -> wire.GuildCommands:
    """All commands that bots have in the guild, with what the guild has set for them."""
    return area.command_access.in_guild(request.principal, guild_id)
