"""Application commands, interactions and components: their kinds, and what each kind may have (interactions.md,
Application commands).

The tables are what the program reads: a member that a kind does not name is refused for it, by name.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final


class CommandType(enum.IntEnum):
    """Where a person finds an application command."""

    CHAT_INPUT = 1
    """Behind `/` in the composer; has a description and options."""

    USER = 2
    """In the menu of a person."""

    MESSAGE = 3
    """A command in the menu of a message."""


class OptionType(enum.IntEnum):
    """What a person fills into an option of a command."""

    SUB_COMMAND = 1
    """A command below the command; has options of its own."""

    SUB_COMMAND_GROUP = 2
    """Holds sub-commands."""

    STRING = 3
    """Text, or one of the choices."""

    INTEGER = 4
    """A whole number from -2^53 to 2^53."""

    BOOLEAN = 5
    """Yes or no."""

    USER = 6
    """An account, by its id."""

    CHANNEL = 7
    """A channel of the guild, by its id."""

    ROLE = 8
    """A role of the guild, by its id."""

    MENTIONABLE = 9
    """An account or a role, by its id."""

    NUMBER = 10
    """A number from -2^53 to 2^53."""

    ATTACHMENT = 11
    """A file that comes with the interaction."""


class InteractionType(enum.IntEnum):
    """What a person did."""

    APPLICATION_COMMAND = 2
    """Invoked a command."""

    MESSAGE_COMPONENT = 3
    """Pressed a button, or chose in a menu."""

    APPLICATION_COMMAND_AUTOCOMPLETE = 4
    """Is typing into an option that completes itself."""

    MODAL_SUBMIT = 5
    """Submitted a form."""


class CallbackType(enum.IntEnum):
    """What an application answers an interaction with."""

    CHANNEL_MESSAGE_WITH_SOURCE = 4
    """A message."""

    DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE = 5
    """A message that comes later; the person sees that the application is at work."""

    DEFERRED_UPDATE_MESSAGE = 6
    """A change to the message that comes later; the person sees nothing."""

    UPDATE_MESSAGE = 7
    """A change to the message whose component was used."""

    APPLICATION_COMMAND_AUTOCOMPLETE_RESULT = 8
    """Choices for the option that is being typed."""

    MODAL = 9
    """A form."""


class ComponentType(enum.IntEnum):
    """A part of a message or of a form."""

    ACTION_ROW = 1
    """Holds up to five buttons, or one menu."""

    BUTTON = 2
    """Is pressed, or leads to an address."""

    STRING_SELECT = 3
    """A menu of texts that the application names."""

    TEXT_INPUT = 4
    """A line or a field of text, in forms alone."""

    USER_SELECT = 5
    """A menu of people."""

    ROLE_SELECT = 6
    """A menu of roles."""

    MENTIONABLE_SELECT = 7
    """A menu of people and roles."""

    CHANNEL_SELECT = 8
    """A menu of channels."""

    SECTION = 9
    """Texts with a button or a small picture beside them."""

    TEXT_DISPLAY = 10
    """Text with the markup of messages."""

    THUMBNAIL = 11
    """A small picture beside texts."""

    MEDIA_GALLERY = 12
    """Up to ten pictures or films."""

    FILE = 13
    """A file of the message."""

    SEPARATOR = 14
    """Room between two parts, with or without a line."""

    CONTAINER = 17
    """A box around parts, with a coloured edge if wanted."""

    LABEL = 18
    """Words above a part of a form."""


class ButtonStyle(enum.IntEnum):
    """The look of a button, and whether it leads to an address."""

    PRIMARY = 1
    """Blue: what is meant to be pressed."""

    SECONDARY = 2
    """Grey: one of several."""

    SUCCESS = 3
    """Green: agrees or completes."""

    DANGER = 4
    """Red: takes away or ends."""

    LINK = 5
    """Leads to an address; pressing it is no interaction."""


class TextInputStyle(enum.IntEnum):
    """The look of a text input."""

    SHORT = 1
    """One line."""

    PARAGRAPH = 2
    """Several lines."""


class InteractionContext(enum.IntEnum):
    """Where a command is used."""

    GUILD = 0
    """In a guild."""

    BOT_DM = 1
    """In a conversation with the application's bot."""

    PRIVATE_CHANNEL = 2
    """In any other conversation, or in a group."""


class IntegrationType(enum.IntEnum):
    """What an application is installed to."""

    GUILD_INSTALL = 0
    """A guild, as its bot."""

    USER_INSTALL = 1
    """An account. Kept as it is registered; nobody can install an application so here."""


class CommandPermissionType(enum.IntEnum):
    """Whom an entry of a command's permissions is about."""

    ROLE = 1
    USER = 2
    CHANNEL = 3


NUMBERED: Final = frozenset({OptionType.INTEGER, OptionType.NUMBER})
"""Options that take a number."""

HOLDING: Final = frozenset({OptionType.SUB_COMMAND, OptionType.SUB_COMMAND_GROUP})
"""Options that hold options and take no value."""

NAMING: Final = frozenset(
    {OptionType.USER, OptionType.CHANNEL, OptionType.ROLE, OptionType.MENTIONABLE, OptionType.ATTACHMENT}
)
"""Options that take the id of something; of a file it is made once the file is there."""

OPTION_MEMBERS: Final[Mapping[str, frozenset[OptionType]]] = {
    "options": HOLDING,
    "choices": NUMBERED | {OptionType.STRING},
    "autocomplete": NUMBERED | {OptionType.STRING},
    "min_value": NUMBERED,
    "max_value": NUMBERED,
    "min_length": frozenset({OptionType.STRING}),
    "max_length": frozenset({OptionType.STRING}),
    "channel_types": frozenset({OptionType.CHANNEL}),
    "required": frozenset(OptionType) - HOLDING,
}
"""Members of an option that only some types may have."""

COMMANDS_OF_TYPE: Final[Mapping[CommandType, int]] = {
    CommandType.CHAT_INPUT: 100,
    CommandType.USER: 15,
    CommandType.MESSAGE: 15,
}
"""Commands of a type that an application may have, everywhere and once more in each guild; one more is
MAX_APPLICATION_COMMANDS."""

COMMAND_CREATIONS_A_DAY: Final = 200
"""New commands of an application in one day (UTC), everywhere and once more in each guild; one more is
MAX_APPLICATION_COMMAND_CREATES."""

COMMAND_NAME_CHARACTERS: Final = 32
"""Characters in the name of a command or of an option; a longer one is CONTENT_EXCEEDS_MAX_LENGTH."""

COMMAND_DESCRIPTION_CHARACTERS: Final = 100
"""Characters in a description; a longer one is CONTENT_EXCEEDS_MAX_LENGTH."""

COMMAND_CHARACTERS: Final = 8_000
"""Characters of names, descriptions and values of choices in one command, all together."""

COMMAND_OPTIONS: Final = 25
"""Options of a command, of a group or of a sub-command."""

OPTION_CHOICES: Final = 25
"""Choices of an option."""

CHOICE_NAME_CHARACTERS: Final = 100
"""Characters that people read of a choice."""

CHOICE_VALUE_CHARACTERS: Final = 100
"""Characters in the value of a choice."""

OPTION_TEXT_CHARACTERS: Final = 6_000
"""The most characters that an option of text may ask for."""

SAFE_INTEGER: Final = 1 << 53
"""The bound of whole numbers that every client can hold."""

COMMAND_PERMISSIONS: Final = 100
"""Entries in the permissions of one command in a guild."""

CALLBACKS_OF: Final[Mapping[InteractionType, frozenset[CallbackType]]] = {
    InteractionType.APPLICATION_COMMAND: frozenset(
        {
            CallbackType.CHANNEL_MESSAGE_WITH_SOURCE,
            CallbackType.DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE,
            CallbackType.MODAL,
        }
    ),
    InteractionType.MESSAGE_COMPONENT: frozenset(
        {
            CallbackType.CHANNEL_MESSAGE_WITH_SOURCE,
            CallbackType.DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE,
            CallbackType.DEFERRED_UPDATE_MESSAGE,
            CallbackType.UPDATE_MESSAGE,
            CallbackType.MODAL,
        }
    ),
    InteractionType.APPLICATION_COMMAND_AUTOCOMPLETE: frozenset({CallbackType.APPLICATION_COMMAND_AUTOCOMPLETE_RESULT}),
    InteractionType.MODAL_SUBMIT: frozenset(
        {
            CallbackType.CHANNEL_MESSAGE_WITH_SOURCE,
            CallbackType.DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE,
            CallbackType.DEFERRED_UPDATE_MESSAGE,
            CallbackType.UPDATE_MESSAGE,
        }
    ),
}
"""With what an interaction of each type may be answered first."""

PING: Final = 1
"""The type of what an application's endpoint is asked when its address is set."""

PONG: Final = 1
"""The type of what an endpoint answers a ping with, at 200."""

ANSWER_WITHIN_MS: Final = 3_000
"""An interaction without a first answer after this time counts as not answered; a later one is UNKNOWN_INTERACTION."""

TOKEN_LIFETIME_MS: Final = 15 * 60_000
"""How long an interaction's token is good for further answers; later it is INVALID_WEBHOOK_TOKEN."""
