"""Commands and their permissions as the wire has them (interactions.md, Application commands)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from chat import wire
from chat.domain.standing.user_objects import partial_user
from chat.store.accounts.accounts import Account
from chat.store.applications.applications import Application
from chat.store.interactions.application_commands import Command, CommandPermissions

NOTHING_SAID: Final[Mapping[str, object]] = {
    "name_localizations": None,
    "description": "",
    "description_localizations": None,
    "default_member_permissions": None,
    "nsfw": False,
    "contexts": None,
    "integration_types": [0],
}
"""The members of a command that says nothing of them."""


def command_object(command: Command) -> wire.ApplicationCommand:
    """A command as everybody sees it."""
    shown = {
        "id": str(command.id),
        "application_id": str(command.application_id),
        "type": command.type,
        "name": command.name,
        **NOTHING_SAID,
        **command.body,
        "version": str(command.version),
    }
    if command.guild_id is not None:
        shown["guild_id"] = str(command.guild_id)
    return cast("wire.ApplicationCommand", shown)


def permissions_object(row: CommandPermissions) -> wire.GuildCommandPermissions:
    """What a guild has set for a command."""
    return {
        "id": str(row.command_id),
        "application_id": str(row.application_id),
        "guild_id": str(row.guild_id),
        "permissions": [cast("wire.CommandPermission", dict(entry)) for entry in row.entries],
    }


def command_application(application: Application, bot: Account) -> wire.CommandApplication:
    """An application as people choose its commands."""
    return {
        "id": str(application.id),
        "name": application.name,
        "icon": application.icon or bot.avatar,
        "bot": partial_user(bot),
    }
