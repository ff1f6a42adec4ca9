"""Components of messages and forms: what each kind has, holds and allows (interactions.md, Components).

`KINDS` is what the program reads: a component is judged, completed and numbered by its row alone.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final

from chat.classes import frozen
from chat.registries.channel_types import ChannelType
from chat.registries.interactions import ButtonStyle, ComponentType, TextInputStyle


class Said(enum.Enum):
    """What a member of a component is."""

    TEXT = "text"
    """Text of a length."""

    TRUTH = "truth"
    """Yes or no."""

    NUMBER = "number"
    """A whole number within bounds."""

    ADDRESS = "address"
    """An address of http or https, up to a length."""

    MEDIA = "media"
    """`{url}`: an address, or `attachment://NAME` of the same message."""

    EMOJI = "emoji"
    """`{id?, name?, animated?}`."""

    ID = "id"
    """The id of something, as text or as a number; text from there on."""

    OBJECTS = "objects"
    """A list of plain objects with members of their own."""

    CHANNEL_TYPES = "channel types"
    """A list of channel types."""


@frozen
class ComponentMember:
    """A member: what it is, between which bounds (characters, value or items), whether it has to be there, what it is
    when it is not told, and for `OBJECTS` the members of each."""

    said: Said
    least: int = 0
    most: int = 0
    required: bool = False
    default: object = None
    of: Mapping[str, ComponentMember] | None = None
    among: frozenset[int] | None = None
    """The only numbers that there are."""


@frozen
class Held:
    """Components in a component: which kinds, and how many. `single` for a member that is one component."""

    kinds: frozenset[ComponentType]
    least: int = 1
    most: int = 1
    single: bool = False


@frozen
class ComponentKind:
    members: Mapping[str, ComponentMember]
    holds: Mapping[str, Held] = {}


def _text(most: int, least: int = 0, *, required: bool = False) -> ComponentMember:
    return ComponentMember(Said.TEXT, least, most, required)


def _number(least: int, most: int, default: int | None = None) -> ComponentMember:
    return ComponentMember(Said.NUMBER, least, most, default=default)


def _one_of(kinds: type[enum.IntEnum], *, required: bool = False, default: int | None = None) -> ComponentMember:
    values = frozenset(int(kind) for kind in kinds)
    return ComponentMember(Said.NUMBER, min(values), max(values), required, default, among=values)


_FALSE: Final = ComponentMember(Said.TRUTH, default=False)
_TRUE: Final = ComponentMember(Said.TRUTH, default=True)
_MEDIA: Final = ComponentMember(Said.MEDIA, most=2_048, required=True)
_EMOJI: Final = ComponentMember(Said.EMOJI)
_CUSTOM_ID: Final = _text(100, 1, required=True)
_LABEL: Final = _text(80)
_PICTURE: Final = {"media": _MEDIA, "description": _text(1_024), "spoiler": _FALSE}

_MENU: Final[Mapping[str, ComponentMember]] = {
    "custom_id": _CUSTOM_ID,
    "placeholder": _text(150),
    "min_values": _number(0, 25, 1),
    "max_values": _number(1, 25, 1),
    "disabled": _FALSE,
    "required": ComponentMember(Said.TRUTH),
}
_MENU_OPTION: Final[Mapping[str, ComponentMember]] = {
    "label": _text(100, 1, required=True),
    "value": _text(100, 1, required=True),
    "description": _text(100),
    "emoji": _EMOJI,
    "default": _FALSE,
}
_DEFAULT_VALUE: Final[Mapping[str, ComponentMember]] = {
    "id": ComponentMember(Said.ID, required=True),
    "type": _text(7, 4, required=True),
}
_CHOSEN: Final = ComponentMember(Said.OBJECTS, most=25, of=_DEFAULT_VALUE)

MENUS: Final = frozenset(
    {
        ComponentType.STRING_SELECT,
        ComponentType.USER_SELECT,
        ComponentType.ROLE_SELECT,
        ComponentType.MENTIONABLE_SELECT,
        ComponentType.CHANNEL_SELECT,
    }
)
"""Components that people choose in."""

DEFAULTS_OF: Final[Mapping[ComponentType, frozenset[str]]] = {
    ComponentType.USER_SELECT: frozenset({"user"}),
    ComponentType.ROLE_SELECT: frozenset({"role"}),
    ComponentType.MENTIONABLE_SELECT: frozenset({"user", "role"}),
    ComponentType.CHANNEL_SELECT: frozenset({"channel"}),
}
"""What the `default_values` of a menu may be."""

_IN_ROW: Final = frozenset({ComponentType.BUTTON, ComponentType.TEXT_INPUT}) | MENUS
_IN_BOX: Final = frozenset(
    {
        ComponentType.ACTION_ROW,
        ComponentType.SECTION,
        ComponentType.TEXT_DISPLAY,
        ComponentType.MEDIA_GALLERY,
        ComponentType.FILE,
        ComponentType.SEPARATOR,
    }
)

COMPONENTS_OF_MESSAGE: Final = 40
"""Components of a message of the second form, with all that they hold."""

TEXT_OF_MESSAGE: Final = 4_000
"""Characters of all texts in a message of the second form."""

ROW_BUTTONS: Final = 5
"""Buttons of a row; of anything else a row holds one."""

ID_MAXIMUM: Final = (1 << 31) - 1
"""The highest `id` that a component may give itself."""

KINDS: Final[Mapping[ComponentType, ComponentKind]] = {
    ComponentType.ACTION_ROW: ComponentKind({}, {"components": Held(_IN_ROW, 1, ROW_BUTTONS)}),
    ComponentType.BUTTON: ComponentKind(
        {
            "style": _one_of(ButtonStyle, required=True),
            "label": _LABEL,
            "emoji": _EMOJI,
            "custom_id": _text(100, 1),
            "url": ComponentMember(Said.ADDRESS, most=512),
            "disabled": _FALSE,
        }
    ),
    ComponentType.STRING_SELECT: ComponentKind(
        {**_MENU, "options": ComponentMember(Said.OBJECTS, 1, 25, required=True, of=_MENU_OPTION)}
    ),
    ComponentType.TEXT_INPUT: ComponentKind(
        {
            "custom_id": _CUSTOM_ID,
            "style": _one_of(TextInputStyle, required=True),
            "label": _text(45),
            "min_length": _number(0, 4_000),
            "max_length": _number(1, 4_000),
            "required": _TRUE,
            "value": _text(4_000),
            "placeholder": _text(100),
        }
    ),
    ComponentType.USER_SELECT: ComponentKind({**_MENU, "default_values": _CHOSEN}),
    ComponentType.ROLE_SELECT: ComponentKind({**_MENU, "default_values": _CHOSEN}),
    ComponentType.MENTIONABLE_SELECT: ComponentKind({**_MENU, "default_values": _CHOSEN}),
    ComponentType.CHANNEL_SELECT: ComponentKind(
        {
            **_MENU,
            "default_values": _CHOSEN,
            "channel_types": ComponentMember(Said.CHANNEL_TYPES, most=len(ChannelType)),
        }
    ),
    ComponentType.SECTION: ComponentKind(
        {},
        {
            "components": Held(frozenset({ComponentType.TEXT_DISPLAY}), 1, 3),
            "accessory": Held(frozenset({ComponentType.BUTTON, ComponentType.THUMBNAIL}), single=True),
        },
    ),
    ComponentType.TEXT_DISPLAY: ComponentKind({"content": _text(4_000, 1, required=True)}),
    ComponentType.THUMBNAIL: ComponentKind(_PICTURE),
    ComponentType.MEDIA_GALLERY: ComponentKind(
        {"items": ComponentMember(Said.OBJECTS, 1, 10, required=True, of=_PICTURE)}
    ),
    ComponentType.FILE: ComponentKind({"file": _MEDIA, "spoiler": _FALSE}),
    ComponentType.SEPARATOR: ComponentKind({"divider": _TRUE, "spacing": _number(1, 2, 1)}),
    ComponentType.CONTAINER: ComponentKind(
        {"accent_color": _number(0, 0xFFFFFF), "spoiler": _FALSE},
        {"components": Held(_IN_BOX, 1, COMPONENTS_OF_MESSAGE)},
    ),
    ComponentType.LABEL: ComponentKind(
        {"label": _text(45, 1, required=True), "description": _text(100)},
        {"component": Held(MENUS | {ComponentType.TEXT_INPUT}, single=True)},
    ),
}
"""The row of each kind."""


class ComponentPlace(enum.Enum):
    """Where components stand."""

    FIRST_FORM = "first form"
    """Below a message that has a text or embeds."""

    SECOND_FORM = "second form"
    """In place of a text and embeds (flag 32768)."""

    FORM = "form"
    """In a form that an application opens."""


AT_THE_TOP: Final[Mapping[ComponentPlace, Held]] = {
    ComponentPlace.FIRST_FORM: Held(frozenset({ComponentType.ACTION_ROW}), 0, 5),
    ComponentPlace.SECOND_FORM: Held(_IN_BOX | {ComponentType.CONTAINER}, 0, COMPONENTS_OF_MESSAGE),
    ComponentPlace.FORM: Held(
        frozenset({ComponentType.ACTION_ROW, ComponentType.LABEL, ComponentType.TEXT_DISPLAY}), 1, 5
    ),
}
"""What may stand at the top, and how much."""

IN_FORMS_ALONE: Final = frozenset({ComponentType.TEXT_INPUT, ComponentType.LABEL})
NOT_IN_FORMS: Final = frozenset({ComponentType.BUTTON})
"""Kinds that forms do not have."""
