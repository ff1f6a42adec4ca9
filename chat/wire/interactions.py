"""Application commands and who may use them (interactions.md, Application commands)."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from chat.registries.channel_types import ChannelType
from chat.registries.interactions import (
    CallbackType,
    CommandPermissionType,
    CommandType,
    IntegrationType,
    InteractionContext,
    InteractionType,
    OptionType,
)
from chat.wire.accounts import PartialUser
from chat.wire.messages import Message
from chat.wire.values import Asset, Bits, Count, Nameless, Snowflake, one_of

Localizations = dict[str, str]
"""Words by the language that they are in, such as `de` or `en-GB`."""


class CommandChoice(Nameless):
    name: str
    """What people choose from, up to 100 characters."""
    name_localizations: NotRequired[Localizations | None]
    """The same in other languages."""
    value: str | int | float
    """What the application gets: text of up to 100 characters, or a number."""


class CommandOption(TypedDict):
    type: Annotated[int, one_of(OptionType)]
    """What is filled in: 1 a sub-command, 2 a group of them, 3 text, 4 a whole number, 5 yes or no, 6 an account, 7 a
    channel, 8 a role, 9 an account or a role, 10 a number, 11 a file."""
    name: str
    """The name of the option, 1 to 32 lower-case letters, digits, `-`, `_` and `'` of any script."""
    name_localizations: NotRequired[Localizations | None]
    """The name in other languages."""
    description: str
    """What it is for, 1 to 100 characters."""
    description_localizations: NotRequired[Localizations | None]
    """The description in other languages."""
    required: NotRequired[bool]
    """Whether the command cannot be sent without it; required ones come first."""
    choices: NotRequired[list[CommandChoice]]
    """What alone may be chosen, up to 25."""
    options: NotRequired[list[CommandOption]]
    """Of a sub-command its options, of a group its sub-commands; up to 25."""
    channel_types: NotRequired[list[Annotated[int, one_of(ChannelType)]]]
    """Types of the channels that may be chosen; all where it is absent."""
    min_value: NotRequired[float]
    """The least number."""
    max_value: NotRequired[float]
    """The greatest number."""
    min_length: NotRequired[Count]
    """The fewest characters, up to 6,000."""
    max_length: NotRequired[Count]
    """The most characters, up to 6,000."""
    autocomplete: NotRequired[bool]
    """Whether the application offers choices while a person types."""


class ApplicationCommand(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    application_id: Snowflake
    """The application that it belongs to."""
    guild_id: NotRequired[Snowflake]
    """The guild that alone has it; absent for a command of every place."""
    type: Annotated[int, one_of(CommandType)]
    """Where people find it: 1 behind `/` in the composer, 2 in the menu of a person, 3 in the menu of a message."""
    name: str
    """Its name, 1 to 32 characters; of type 1 lower-case letters, digits, `-`, `_` and `'` of any script."""
    name_localizations: Localizations | None
    """The name in other languages."""
    description: str
    """What it does, 1 to 100 characters; empty for types 2 and 3."""
    description_localizations: Localizations | None
    """The description in other languages."""
    options: NotRequired[list[CommandOption]]
    """What people fill in; of type 1 alone."""
    default_member_permissions: Bits | None
    """The permissions that a member needs for it where the guild says nothing else; null for none, `0` for
    administrators alone."""
    nsfw: bool
    """Whether it is for channels for adults only."""
    contexts: list[Annotated[int, one_of(InteractionContext)]] | None
    """Where it is used: 0 in guilds, 1 in conversations with the bot, 2 in other conversations; null for everywhere."""
    integration_types: list[Annotated[int, one_of(IntegrationType)]]
    """What the application has to be installed to: 0 a guild."""
    version: Snowflake
    """An id that is new with each change."""


class CommandPermission(TypedDict):
    id: Snowflake
    """The role, the account or the channel; the guild's own id stands for everyone, one less for all channels."""
    type: Annotated[int, one_of(CommandPermissionType)]
    """What the id is of: 1 a role, 2 an account, 3 a channel."""
    permission: bool
    """Whether the command may be used."""


class GuildCommandPermissions(TypedDict):
    id: Snowflake
    """The command; the application itself for what holds for all its commands."""
    application_id: Snowflake
    """The application that the command belongs to."""
    guild_id: Snowflake
    """The guild that has said so."""
    permissions: list[CommandPermission]
    """Who may use it and where, up to 100 entries."""


class CommandApplication(TypedDict):
    """An application as people choose its commands."""

    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""
    icon: Asset | None
    """The picture of the thing: the hash of a stored picture; null for none."""
    bot: PartialUser
    """The account that answers."""


class ChannelCommands(TypedDict):
    """What the caller can invoke in a channel."""

    application_commands: list[ApplicationCommand]
    """The commands, those of one application together."""
    applications: list[CommandApplication]
    """The applications that they belong to."""


class GuildCommands(TypedDict):
    """What bots have in a guild, for those who say who may use it."""

    application_commands: list[ApplicationCommand]
    """The commands, those of one application together."""
    applications: list[CommandApplication]
    """The applications that they belong to."""
    permissions: list[GuildCommandPermissions]
    """What the guild has said so far; nothing of commands that are as their applications made them."""


class AnsweredInteraction(Nameless):
    id: Snowflake
    """The interaction that was answered."""
    type: Annotated[int, one_of(InteractionType)]
    """What the person did."""
    response_message_id: NotRequired[Snowflake]
    """The message that was made or changed."""
    response_message_loading: NotRequired[bool]
    """Whether the application is still at work on it."""
    response_message_ephemeral: NotRequired[bool]
    """Whether the person alone sees it."""


class CallbackResource(Nameless):
    type: Annotated[int, one_of(CallbackType)]
    """With what the interaction was answered."""
    message: NotRequired[Message]
    """The message that was made or changed."""


class InteractionCallback(TypedDict):
    """What came of a first answer."""

    interaction: AnsweredInteraction
    """The interaction itself."""
    resource: CallbackResource
    """What the answer made."""
