"""Commands of applications: the application registers them, by its bot or its owner (interactions.md, Application
commands)."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define
from chat.domain.core import Core
from chat.domain.interactions.command_objects import command_object
from chat.domain.interactions.command_rules import CommandDraft, require_command, texts_of_command
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.interactions import COMMAND_CREATIONS_A_DAY, COMMANDS_OF_TYPE, CommandType
from chat.store.applications import applications
from chat.store.applications.applications import Application
from chat.store.guilds import guilds
from chat.store.interactions import application_commands
from chat.store.interactions.application_commands import Command

DAY_MS: Final = 86_400_000


@define(kw_only=True, eq=False)
class ApplicationCommands:
    """Registers, reads, changes and deletes commands. `guild_id` is the guild whose commands are meant, None for those
    of every place. Each method raises UNKNOWN_APPLICATION; ACCESS_DENIED for all but the application's bot and its
    owner; and with a guild UNKNOWN_GUILD, and MISSING_ACCESS where the bot is no member."""

    _core: Core

    def of_application(
        self, principal: Principal, application_id: int, guild_id: int | None
    ) -> list[wire.ApplicationCommand]:
        """The commands, oldest first."""
        self._require(principal, application_id, guild_id)
        found = application_commands.of_place(self._core.database.reader, application_id, guild_id)
        return list(map(command_object, found))

    def get(
        self, principal: Principal, application_id: int, guild_id: int | None, command_id: int
    ) -> wire.ApplicationCommand:
        """One command. Raises UNKNOWN_APPLICATION_COMMAND."""
        self._require(principal, application_id, guild_id)
        return command_object(_known(self._core.database.reader, application_id, guild_id, command_id))

    async def create(
        self, principal: Principal, application_id: int, guild_id: int | None, draft: CommandDraft
    ) -> tuple[wire.ApplicationCommand, bool]:
        """Register a command, in place of one of the same type and name; tells whether there was none.

        :raises ApiError: MAX_APPLICATION_COMMANDS, MAX_APPLICATION_COMMAND_CREATES, CONTENT_BLOCKED.
        :raises InvalidFormBody: as `require_command`.
        """
        self._require(principal, application_id, guild_id)
        self._require_good(draft)

        def unit(connection: sqlite3.Connection) -> tuple[wire.ApplicationCommand, bool]:
            _require_still_there(connection, application_id, guild_id)
            present = application_commands.of_place(connection, application_id, guild_id)
            before = next((one for one in present if (one.type, one.name) == (draft.type, draft.name)), None)
            if before is None:
                _require_room(present, draft.type)
                self._count(connection, application_id, guild_id, 1)
            made = self._command(application_id, guild_id, draft, before)
            application_commands.put(connection, made)
            return command_object(made), before is None

        return await self._core.database.write(unit, guard=principal.guard)

    async def replace_all(
        self, principal: Principal, application_id: int, guild_id: int | None, drafts: Sequence[CommandDraft]
    ) -> list[wire.ApplicationCommand]:
        """Register these commands and no others; those that keep their type and name keep their ids.

        :raises ApiError: as `create`.
        :raises InvalidFormBody: as `require_command`, COMMAND_NAME_NOT_UNIQUE, each below the place in the list.
        """
        self._require(principal, application_id, guild_id)
        _require_all_good(drafts)
        for draft in drafts:
            self._core.blocked.require_text("\n".join(texts_of_command(draft)))

        def unit(connection: sqlite3.Connection) -> list[wire.ApplicationCommand]:
            _require_still_there(connection, application_id, guild_id)
            present = {
                (one.type, one.name): one for one in application_commands.of_place(connection, application_id, guild_id)
            }
            new = sum((draft.type, draft.name) not in present for draft in drafts)
            if new:
                self._count(connection, application_id, guild_id, new)
            made = [
                self._command(application_id, guild_id, draft, present.pop((draft.type, draft.name), None))
                for draft in drafts
            ]
            for gone in present.values():
                application_commands.delete(connection, gone.id)
            for command in made:
                application_commands.put(connection, command)
            return list(map(command_object, made))

        return await self._core.database.write(unit, guard=principal.guard)

    async def change(
        self,
        principal: Principal,
        application_id: int,
        guild_id: int | None,
        command_id: int,
        changes: Mapping[str, Any],
    ) -> wire.ApplicationCommand:
        """Change members of a command: `name`, and those of its body; a value of None takes a member away. `type` is
        the one that it has.

        :raises ApiError: UNKNOWN_APPLICATION_COMMAND, CONTENT_BLOCKED.
        :raises InvalidFormBody: as `require_command`; COMMAND_NAME_NOT_UNIQUE at `name`; INVALID_FORMAT at `type`.
        """
        self._require(principal, application_id, guild_id)

        def unit(connection: sqlite3.Connection) -> wire.ApplicationCommand:
            _require_still_there(connection, application_id, guild_id)
            before = _known(connection, application_id, guild_id, command_id)
            if changes.get("type", before.type) != before.type:
                raise InvalidFormBody.at("type", FieldCode.INVALID_FORMAT)
            body = {**before.body, **{name: value for name, value in changes.items() if name not in ("name", "type")}}
            kept = {name: value for name, value in body.items() if value is not None or name != "options"}
            draft = CommandDraft(before.type, changes.get("name", before.name), kept)
            self._require_good(draft)
            for other in application_commands.of_place(connection, application_id, guild_id):
                if other.id != command_id and (other.type, other.name) == (draft.type, draft.name):
                    raise InvalidFormBody.at("name", FieldCode.COMMAND_NAME_NOT_UNIQUE)
            after = self._command(application_id, guild_id, draft, before)
            application_commands.put(connection, after)
            return command_object(after)

        return await self._core.database.write(unit, guard=principal.guard)

    async def delete(self, principal: Principal, application_id: int, guild_id: int | None, command_id: int) -> None:
        """Delete a command. Raises UNKNOWN_APPLICATION_COMMAND."""
        self._require(principal, application_id, guild_id)

        def unit(connection: sqlite3.Connection) -> None:
            _known(connection, application_id, guild_id, command_id)
            application_commands.delete(connection, command_id)

        await self._core.database.write(unit, guard=principal.guard)

    def _require(self, principal: Principal, application_id: int, guild_id: int | None) -> None:
        application = applications.by_id(self._core.database.reader, application_id)
        if application is None:
            raise ApiError(ErrorCode.UNKNOWN_APPLICATION)
        if principal.user_id not in (application.bot_user_id, application.owner_id):
            raise ApiError(ErrorCode.ACCESS_DENIED)
        if guild_id is not None:
            self._require_in_guild(principal, application, guild_id)

    def _require_in_guild(self, principal: Principal, application: Application, guild_id: int) -> None:
        state = self._core.guild_states.get(guild_id)
        if state is None:
            raise ApiError(ErrorCode.UNKNOWN_GUILD)
        self._core.access.require_open(principal, state)
        if application.bot_user_id is None or state.member(application.bot_user_id) is None:
            raise ApiError(ErrorCode.MISSING_ACCESS)

    def _require_good(self, draft: CommandDraft) -> None:
        require_command(draft)
        self._core.blocked.require_text("\n".join(texts_of_command(draft)))

    def _command(
        self, application_id: int, guild_id: int | None, draft: CommandDraft, before: Command | None
    ) -> Command:
        """The command as it is registered; one that does not change keeps its version."""
        made = Command(
            id=self._core.snowflakes() if before is None else before.id,
            application_id=application_id,
            guild_id=guild_id,
            type=draft.type,
            name=draft.name,
            body=draft.body,
            version=0 if before is None else before.version,
        )
        return made if made == before else attrs.evolve(made, version=self._core.snowflakes())

    def _count(self, connection: sqlite3.Connection, application_id: int, guild_id: int | None, new: int) -> None:
        day = self._core.clock.now_ms() // DAY_MS
        if application_commands.note_made(connection, application_id, guild_id, day, new) > COMMAND_CREATIONS_A_DAY:
            raise ApiError(ErrorCode.MAX_APPLICATION_COMMAND_CREATES)


def _require_all_good(drafts: Sequence[CommandDraft]) -> None:
    """Check a whole list, and that it fits."""
    wrong: list[FieldError] = []
    names: set[tuple[int, str]] = set()
    for index, draft in enumerate(drafts):
        try:
            require_command(draft)
        except InvalidFormBody as error:
            wrong += [attrs.evolve(each, path=f"{index}.{each.path}") for each in error.errors]
        if (draft.type, draft.name) in names:
            wrong.append(FieldError(f"{index}.name", FieldCode.COMMAND_NAME_NOT_UNIQUE))
        names.add((draft.type, draft.name))
    if wrong:
        raise InvalidFormBody(wrong)
    for kind, count in Counter(draft.type for draft in drafts).items():
        if count > COMMANDS_OF_TYPE[CommandType(kind)]:
            raise ApiError(ErrorCode.MAX_APPLICATION_COMMANDS)


def _require_room(present: Sequence[Command], kind: int) -> None:
    if sum(command.type == kind for command in present) >= COMMANDS_OF_TYPE[CommandType(kind)]:
        raise ApiError(ErrorCode.MAX_APPLICATION_COMMANDS)


def _require_still_there(connection: sqlite3.Connection, application_id: int, guild_id: int | None) -> None:
    """In a unit: application and guild are there still."""
    if applications.by_id(connection, application_id) is None:
        raise ApiError(ErrorCode.UNKNOWN_APPLICATION)
    if guild_id is not None and guilds.by_id(connection, guild_id) is None:
        raise ApiError(ErrorCode.UNKNOWN_GUILD)


def _known(connection: sqlite3.Connection, application_id: int, guild_id: int | None, command_id: int) -> Command:
    command = application_commands.by_id(connection, application_id, guild_id, command_id)
    if command is None:
        raise ApiError(ErrorCode.UNKNOWN_APPLICATION_COMMAND)
    return command
