"""Who may use a command, and where (interactions.md, Who may use a command).

A guild says it for one command, or for all of an application. Of what is said for a member the member's own entry
counts first, then those of its roles (one that allows is enough), then everyone's; of a channel its own entry, then
that of all channels. What is said for the command comes before what is said for all; where neither says anything of the
member, `default_member_permissions` decides. Administrators may use everything.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define
from chat.domain.applications.application_objects import bot_of
from chat.domain.core import Core
from chat.domain.interactions.command_objects import command_application, command_object, permissions_object
from chat.domain.standing.access import ChannelAccess, GuildChannelAccess
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.permissions import ADMINISTRATOR
from chat.domain.standing.private_channels import PrivateChannelAccess
from chat.errors import ApiError
from chat.registries.audit_actions import AuditAction
from chat.registries.channel_types import THREAD_CHANNEL_TYPES, ChannelType
from chat.registries.error_codes import ErrorCode
from chat.registries.interactions import CommandPermissionType, InteractionContext
from chat.registries.permissions import ALL_DEFINED, FULL_MASK, Permission
from chat.store.applications import applications
from chat.store.guilds import guilds
from chat.store.guilds.channels import Channel
from chat.store.interactions import application_commands
from chat.store.interactions.application_commands import Command, CommandPermissions
from chat.store.standing.guild_audit_log import AuditLogEntry

MANAGE_GUILD: Final = Permission.MANAGE_GUILD.value
SEND_MESSAGES: Final = Permission.SEND_MESSAGES.value

Entries = Sequence[Mapping[str, Any]]


@define(kw_only=True, eq=False)
class CommandAccess:
    """Which commands an account may use in a channel, and what guilds say about it."""

    _core: Core

    def in_channel(self, principal: Principal, channel_id: int, query: str) -> wire.ChannelCommands:
        """The commands that the caller can invoke in the channel, with their applications; with `query` those whose
        name has it.

        :raises ApiError: as `Access.channel`.
        """
        access = self._core.access.channel(principal, channel_id)
        usable = self.usable(access)
        shown = [command for command in usable if query.casefold() in command.name.casefold()]
        return {"application_commands": list(map(command_object, shown)), "applications": self._applications(shown)}

    def in_guild(self, principal: Principal, guild_id: int) -> wire.GuildCommands:
        """All commands that bots have in the guild, with what the guild says about them.

        :raises ApiError: as `Access.guild` with MANAGE_GUILD.
        """
        self._core.access.guild(principal, guild_id, MANAGE_GUILD)
        reader = self._core.database.reader
        ids = application_commands.applications_of_guild(reader, guild_id)
        found = [
            command
            for command in application_commands.usable(reader, ids, guild_id)
            if _is_for(command, InteractionContext.GUILD)
        ]
        said = application_commands.permissions_of_guild(reader, guild_id, ids)
        return {
            "application_commands": list(map(command_object, found)),
            "applications": self._applications(found),
            "permissions": list(map(permissions_object, said)),
        }

    def _applications(self, commands: Iterable[Command]) -> list[wire.CommandApplication]:
        """The applications that these commands belong to, as far as they have bots."""
        reader = self._core.database.reader
        told: list[wire.CommandApplication] = []
        for application_id in sorted({command.application_id for command in commands}):
            application = applications.by_id(reader, application_id)
            bot = None if application is None else bot_of(reader, application)
            if application is not None and bot is not None:
                told.append(command_application(application, bot))
        return told

    def usable(self, access: ChannelAccess) -> list[Command]:
        """The commands that the account may use in the channel; none where it may not write."""
        if not access.may(SEND_MESSAGES):
            return []
        reader = self._core.database.reader
        if isinstance(access, GuildChannelAccess):
            return self._of_guild(reader, access)
        if not isinstance(access, PrivateChannelAccess):
            return []
        found = [applications.by_bot(reader, user_id) for user_id in access.recipients if user_id != access.user_id]
        context = InteractionContext.BOT_DM
        if access.channel.type != ChannelType.DM:
            context = InteractionContext.PRIVATE_CHANNEL
        ids = [application.id for application in found if application is not None]
        return [command for command in application_commands.usable(reader, ids, None) if _is_for(command, context)]

    def _of_guild(self, connection: sqlite3.Connection, access: GuildChannelAccess) -> list[Command]:
        ids = application_commands.applications_of_guild(connection, access.state.id)
        if not ids:
            return []
        said = {
            (row.application_id, row.command_id): row.entries
            for row in application_commands.permissions_of_guild(connection, access.state.id, ids)
        }
        return [
            command
            for command in application_commands.usable(connection, ids, access.state.id)
            if _is_for(command, InteractionContext.GUILD)
            and may_use(
                command,
                access,
                said.get((command.application_id, command.id), ()),
                said.get((command.application_id, command.application_id), ()),
            )
        ]

    # What a guild says

    def of_guild(self, principal: Principal, application_id: int, guild_id: int) -> list[wire.GuildCommandPermissions]:
        """What the guild has set for commands of the application.

        :raises ApiError: UNKNOWN_APPLICATION; as `Access.guild`.
        """
        self._require_application(self._core.database.reader, application_id)
        self._core.access.guild(principal, guild_id)
        rows = application_commands.permissions_of_guild(self._core.database.reader, guild_id, [application_id])
        return list(map(permissions_object, rows))

    def of_command(
        self, principal: Principal, application_id: int, guild_id: int, command_id: int
    ) -> wire.GuildCommandPermissions:
        """What the guild has set for one command.

        :raises ApiError: as `of_guild`; UNKNOWN_APPLICATION_COMMAND_PERMISSIONS.
        """
        self._require_application(self._core.database.reader, application_id)
        self._core.access.guild(principal, guild_id)
        row = application_commands.permissions_of(self._core.database.reader, guild_id, application_id, command_id)
        if row is None:
            raise ApiError(ErrorCode.UNKNOWN_APPLICATION_COMMAND_PERMISSIONS)
        return permissions_object(row)

    async def set_permissions(
        self,
        principal: Principal,
        application_id: int,
        guild_id: int,
        command_id: int,
        entries: Entries,
        reason: str | None,
    ) -> wire.GuildCommandPermissions:
        """Set who may use a command, or all commands where `command_id` is the application's; none takes it back.

        :raises ApiError: as `Access.guild` with MANAGE_GUILD; UNKNOWN_APPLICATION; UNKNOWN_APPLICATION_COMMAND;
            MISSING_ACCESS where the application's bot is no member.
        """
        self._core.access.guild(principal, guild_id, MANAGE_GUILD)
        actor = Actor(principal.user_id, reason)
        after = CommandPermissions(guild_id, application_id, command_id, tuple(entries))

        def unit(connection: sqlite3.Connection) -> AuditLogEntry | None:
            if guilds.by_id(connection, guild_id) is None:
                raise ApiError(ErrorCode.UNKNOWN_GUILD)
            self._require_application(connection, application_id)
            if application_id not in application_commands.applications_of_guild(connection, guild_id):
                raise ApiError(ErrorCode.MISSING_ACCESS)
            command = application_commands.anywhere(connection, command_id)
            if command_id != application_id and (
                command is None or command.application_id != application_id or command.guild_id not in (None, guild_id)
            ):
                raise ApiError(ErrorCode.UNKNOWN_APPLICATION_COMMAND)
            before = application_commands.permissions_of(connection, guild_id, application_id, command_id)
            application_commands.put_permissions(connection, after)
            return self._core.audit_log.record_change(
                connection,
                guild_id,
                AuditAction.APPLICATION_COMMAND_PERMISSION_UPDATE,
                actor,
                command_id,
                _logged(() if before is None else before.entries),
                _logged(after.entries),
                options={"application_id": str(application_id)},
            )

        await self._core.database.write(unit, self._core.audit_log.publish, guard=principal.guard)
        return permissions_object(after)

    def _require_application(self, connection: sqlite3.Connection, application_id: int) -> None:
        if applications.by_id(connection, application_id) is None:
            raise ApiError(ErrorCode.UNKNOWN_APPLICATION)


def _logged(entries: Entries) -> Mapping[str, Mapping[str, Any]]:
    """What the audit log compares: each entry by the id that it is about."""
    return {str(entry["id"]): entry for entry in entries}


def _is_for(command: Command, context: InteractionContext) -> bool:
    contexts = command.body.get("contexts")
    return contexts is None or context in contexts


def may_use(command: Command, access: GuildChannelAccess, of_command: Entries, of_application: Entries) -> bool:
    """Whether a member may use the command in a channel of the guild."""
    channel = _place(access)
    if command.body.get("nsfw") and not (channel.nsfw if channel.nsfw_override is None else channel.nsfw_override):
        return False
    if access.permissions == FULL_MASK or access.permissions & ADMINISTRATOR:
        return True
    guild_id = access.state.id
    places = (_of_channel(of_command, channel.id, guild_id), _of_channel(of_application, channel.id, guild_id))
    if next((said for said in places if said is not None), True) is False:
        return False
    roles = access.member.role_ids
    said = _of_member(of_command, access.user_id, roles, guild_id)
    if said is not None:
        return said
    if _of_member(of_application, access.user_id, roles, guild_id) is False:
        return False
    return has_default_permissions(command, access.permissions)


def _place(access: GuildChannelAccess) -> Channel:
    """The channel that entries name: of a thread the one that it belongs to."""
    parent = None if access.channel.parent_id is None else access.state.channels.get(access.channel.parent_id)
    return parent if parent is not None and access.channel.type in THREAD_CHANNEL_TYPES else access.channel


def has_default_permissions(command: Command, held: int) -> bool:
    """Whether these permissions are those that the command asks for by itself. Bits that this server does not define
    ask for nothing."""
    asked = command.body.get("default_member_permissions")
    if asked is None:
        return True
    needed = int(asked)
    return needed != 0 and held & needed & ALL_DEFINED == needed & ALL_DEFINED


def _of_channel(entries: Entries, channel_id: int, guild_id: int) -> bool | None:
    said = {int(entry["id"]): entry["permission"] for entry in _about(entries, CommandPermissionType.CHANNEL)}
    return said.get(channel_id, said.get(guild_id - 1))


def _of_member(entries: Entries, user_id: int, role_ids: Collection[int], guild_id: int) -> bool | None:
    for entry in _about(entries, CommandPermissionType.USER):
        if int(entry["id"]) == user_id:
            return bool(entry["permission"])
    roles = {int(entry["id"]): bool(entry["permission"]) for entry in _about(entries, CommandPermissionType.ROLE)}
    of_roles = [allowed for role_id, allowed in roles.items() if role_id in role_ids and role_id != guild_id]
    return any(of_roles) if of_roles else roles.get(guild_id)


def _about(entries: Entries, kind: CommandPermissionType) -> Iterable[Mapping[str, Any]]:
    return (entry for entry in entries if entry["type"] == kind)
