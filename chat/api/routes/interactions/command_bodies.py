"""The bodies of application commands, and what they mean to the domain (interactions.md, Application commands)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import attrs

from chat import wire
from chat.api.fields import OMITTED, Items, Length, Maybe, Pattern, PermissionBits, Range, Refusal, Schema, Snowflake
from chat.classes import frozen
from chat.domain.interactions.command_rules import CommandDraft, CommandMembers
from chat.protocol.visible_text import visible
from chat.protocol.whole_numbers import whole
from chat.registries.channel_types import ChannelType
from chat.registries.error_codes import FieldCode
from chat.registries.interactions import (
    CHOICE_NAME_CHARACTERS,
    COMMAND_DESCRIPTION_CHARACTERS,
    COMMAND_NAME_CHARACTERS,
    COMMAND_OPTIONS,
    COMMAND_PERMISSIONS,
    OPTION_CHOICES,
    OPTION_TEXT_CHARACTERS,
    CommandPermissionType,
    CommandType,
    IntegrationType,
    InteractionContext,
    OptionType,
)

CHOICE_TEXT_CHARACTERS: Final = 6_000
"""A longer value of a choice is refused before it is looked at."""

LANGUAGES: Final = 64
LANGUAGE: Final = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})?", re.ASCII)
COMMAND_BODIES: Final = 200
"""More are refused before they are looked at; the domain knows the limit of each type."""


class Plain:
    """Text or a number, as it is; a whole number that comes as `1.0` is one."""

    schema: Final[Schema] = {"type": ["string", "integer", "number"], "maxLength": CHOICE_TEXT_CHARACTERS}

    def read(self, value: object) -> str | int | float:
        plain = whole(value)
        if type(plain) is str:
            if len(plain) > CHOICE_TEXT_CHARACTERS:
                raise Refusal(FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)
            return visible(plain)
        if type(plain) is int or type(plain) is float:
            return plain
        raise Refusal


class PlainNumber:
    """A number as it is; a whole number that comes as `1.0` is one."""

    schema: Final[Schema] = {"type": "number"}

    def read(self, value: object) -> int | float:
        plain = whole(value)
        if type(plain) is int or type(plain) is float:
            return plain
        raise Refusal


CommandName = Annotated[str, Length(1, COMMAND_NAME_CHARACTERS)]
Description = Annotated[str, Length(0, COMMAND_DESCRIPTION_CHARACTERS)]
Language = Annotated[str, Pattern(LANGUAGE)]
Names = Annotated[dict[Language, CommandName], Items(0, LANGUAGES)]
Descriptions = Annotated[dict[Language, Description], Items(0, LANGUAGES)]
Bound = Annotated[float, PlainNumber()]
Characters = Annotated[int, Range(0, OPTION_TEXT_CHARACTERS)]


@frozen(kw_only=True)
class ChoiceBody:
    """One of the values that may be chosen."""

    name: Annotated[str, Length(1, CHOICE_NAME_CHARACTERS)]
    name_localizations: dict[Language, Annotated[str, Length(1, CHOICE_NAME_CHARACTERS)]] | None = None
    value: Annotated[str, Plain()]


Choices = Annotated[list[ChoiceBody], Items(0, OPTION_CHOICES)]


@frozen(kw_only=True)
class ValueOptionBody:
    """An option that takes a value."""

    type: OptionType
    name: CommandName
    name_localizations: Names | None = None
    description: Annotated[str, Length(1, COMMAND_DESCRIPTION_CHARACTERS)]
    description_localizations: Descriptions | None = None
    required: bool = False
    choices: Choices | None = None
    channel_types: Annotated[list[ChannelType], Items(0, len(ChannelType))] | None = None
    min_value: Bound | None = None
    max_value: Bound | None = None
    min_length: Characters | None = None
    max_length: Annotated[int, Range(1, OPTION_TEXT_CHARACTERS)] | None = None
    autocomplete: bool = False


@frozen(kw_only=True)
class SubCommandBody(ValueOptionBody):
    """An option of a group or of a command: it may hold such as take a value."""

    options: Annotated[list[ValueOptionBody], Items(0, COMMAND_OPTIONS)] | None = None


@frozen(kw_only=True)
class OptionBody(ValueOptionBody):
    """An option of a command: it may hold sub-commands, or options that take a value."""

    options: Annotated[list[SubCommandBody], Items(0, COMMAND_OPTIONS)] | None = None


Options = Annotated[list[OptionBody], Items(0, COMMAND_OPTIONS)]
Contexts = Annotated[list[InteractionContext], Items(0, len(InteractionContext))]
IntegrationTypes = Annotated[list[IntegrationType], Items(0, len(IntegrationType))]


@frozen(kw_only=True)
class CommandBody:
    """A command to be registered. `dm_permission` is how older libraries say whether it is used outside of guilds, and
    `default_permission` whether anybody may use it before the guild says who."""

    type: CommandType = CommandType.CHAT_INPUT
    name: CommandName
    name_localizations: Names | None = None
    description: Description = ""
    description_localizations: Descriptions | None = None
    options: Options | None = None
    default_member_permissions: PermissionBits | None = None
    default_permission: bool | None = None
    dm_permission: bool | None = None
    nsfw: bool = False
    contexts: Contexts | None = None
    integration_types: IntegrationTypes | None = None


@frozen(kw_only=True)
class ChangeCommand:
    """Changes to a command; what is absent stays. `type` is the one that it has."""

    type: Maybe[CommandType] = OMITTED
    name: Maybe[CommandName] = OMITTED
    name_localizations: Maybe[Names | None] = OMITTED
    description: Maybe[Description] = OMITTED
    description_localizations: Maybe[Descriptions | None] = OMITTED
    options: Maybe[Options | None] = OMITTED
    default_member_permissions: Maybe[PermissionBits | None] = OMITTED
    default_permission: Maybe[bool | None] = OMITTED
    dm_permission: Maybe[bool | None] = OMITTED
    nsfw: Maybe[bool] = OMITTED
    contexts: Maybe[Contexts | None] = OMITTED
    integration_types: Maybe[IntegrationTypes | None] = OMITTED


@frozen
class PermissionEntry:
    """Whether a role, an account or a channel may use the command."""

    id: Snowflake
    type: CommandPermissionType
    permission: bool


@frozen
class SetCommandPermissions:
    """Who may use the command; nobody named takes it back."""

    permissions: Annotated[list[PermissionEntry], Items(0, COMMAND_PERMISSIONS)]


def command_draft(body: CommandBody) -> CommandDraft:
    """The command that a body asks for."""
    members = {field.name: getattr(body, field.name) for field in attrs.fields(CommandBody)}
    return CommandDraft(body.type.value, body.name, _stored(members))


def command_changes(body: ChangeCommand) -> CommandMembers:
    """The members that a change gives, as `ApplicationCommands.change` takes them."""
    members = {field.name: getattr(body, field.name) for field in attrs.fields(ChangeCommand)}
    given = {name: value for name, value in members.items() if value is not OMITTED}
    stored = _stored(given)
    if "options" in given:
        stored.setdefault("options", None)
    if "name" in given:
        stored["name"] = given["name"]
    if "type" in given:
        stored["type"] = given["type"].value
    return stored


def permission_entries(body: SetCommandPermissions) -> list[wire.CommandPermission]:
    """The entries as they are stored and shown, each id and type once."""
    entries = {(entry.id, entry.type): entry for entry in body.permissions}
    return [
        {"id": str(entry.id), "type": entry.type.value, "permission": entry.permission} for entry in entries.values()
    ]


def _stored(members: Mapping[str, Any]) -> CommandMembers:
    """Members of a command's body as it is stored, of those that are given."""
    told: CommandMembers = {}
    if "name_localizations" in members:
        told["name_localizations"] = members["name_localizations"]
    if "description" in members:
        told["description"] = members["description"]
    if "description_localizations" in members:
        told["description_localizations"] = members["description_localizations"]
    if "nsfw" in members:
        told["nsfw"] = members["nsfw"]
    if members.get("options"):
        told["options"] = list(map(_option, members["options"]))
    if "default_member_permissions" in members:
        asked = members["default_member_permissions"]
        told["default_member_permissions"] = None if asked is None else str(asked)
    if members.get("default_permission") is False and members.get("default_member_permissions") is None:
        told["default_member_permissions"] = "0"
    if members.get("dm_permission") is False and not members.get("contexts"):
        told["contexts"] = [InteractionContext.GUILD.value]
    elif "contexts" in members:
        told["contexts"] = _numbers(members["contexts"])
    if "integration_types" in members:
        told["integration_types"] = _numbers(members["integration_types"]) or [IntegrationType.GUILD_INSTALL.value]
    return told


def _numbers(values: Sequence[int] | None) -> list[int] | None:
    return None if values is None else sorted({int(value) for value in values})


def _option(body: ValueOptionBody) -> wire.CommandOption:
    """An option as it is stored and shown: without what was not given."""
    shown: wire.CommandOption = {"type": body.type.value, "name": body.name, "description": body.description}
    if body.name_localizations is not None:
        shown["name_localizations"] = body.name_localizations
    if body.description_localizations is not None:
        shown["description_localizations"] = body.description_localizations
    if body.min_value is not None:
        shown["min_value"] = body.min_value
    if body.max_value is not None:
        shown["max_value"] = body.max_value
    if body.min_length is not None:
        shown["min_length"] = body.min_length
    if body.max_length is not None:
        shown["max_length"] = body.max_length
    if body.required:
        shown["required"] = True
    if body.autocomplete:
        shown["autocomplete"] = True
    if body.choices:
        shown["choices"] = [_choice(choice) for choice in body.choices]
    if body.channel_types:
        shown["channel_types"] = sorted({int(value) for value in body.channel_types})
    options = getattr(body, "options", None)
    if options:
        shown["options"] = list(map(_option, options))
    return shown


def _choice(body: ChoiceBody) -> wire.CommandChoice:
    shown: wire.CommandChoice = {"name": body.name, "value": body.value}
    if body.name_localizations:
        shown["name_localizations"] = body.name_localizations
    return shown
