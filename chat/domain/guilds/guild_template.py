"""Guild creation templates: from untrusted JSON to a plan, or to the documented refusal (guilds.md, Creation template).

    template = read_template(body["template"], limits)     # INVALID_FORM_BODY: what every body is judged by
    plan = plan_of(template)                               # GUILD_TEMPLATE_INVALID: what only templates are judged by

The two steps are apart because other checks of Create guild come between them. Both are pure.

Types are strict, as everywhere in request bodies: `true` is no integer, `1.0` is no integer. Null stands for the
default of a member that has one.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.config import Limits
from chat.domain.guilds.channel_fields import channel_name
from chat.domain.guilds.guild_plan import (
    EVERYONE_NAME,
    FOR_A_ROLE,
    GENERAL_NAME,
    GuildPlan,
    PlannedChannel,
    PlannedOverwrite,
    PlannedRole,
)
from chat.errors import ApiError, InvalidFormBody
from chat.protocol.visible_text import without_nul
from chat.protocol.whole_numbers import whole
from chat.registries.channel_types import (
    SYSTEM_CHANNEL_TYPES,
    TEMPLATE_CHANNEL_TYPES,
    TEMPLATE_STAGE_VOICE,
    ChannelType,
)
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.guild_values import SystemChannelFlag
from chat.registries.permissions import (
    ALL_DEFINED,
    DEFAULT_EVERYONE,
    DEFAULT_THREAD_PERMISSIONS,
    THREAD_PERMISSIONS,
    Permission,
)

ROLES_MAXIMUM: Final = 250
CHANNELS_MAXIMUM: Final = 500
OVERWRITES_MAXIMUM: Final = 1_000
"""Entries in one channel's `permission_overwrites`: no channel has as many roles to name, and reading stays short."""

NAME_CHARACTERS: Final = 100
COLOR_MAXIMUM: Final = 0xFFFFFF
EVERYONE_ID: Final = "0"
"""The id of the everyone role in overwrites of a template, and among its roles if none is named `@everyone`."""

_SYSTEM_CHANNEL_FLAGS: Final = int(sum(SystemChannelFlag))
_CHANNEL_TYPES: Final[Mapping[int, ChannelType]] = {
    **{kind.value: kind for kind in TEMPLATE_CHANNEL_TYPES},
    TEMPLATE_STAGE_VOICE: ChannelType.GUILD_VOICE,
}
_OVERWRITE_TYPES: Final[Mapping[str, float]] = {"role": FOR_A_ROLE, "member": 1}


@frozen
class TemplateRole:
    """A role of a template. `permissions` is as it came, and judged by `plan_of`."""

    id: str
    permissions: object
    planned: PlannedRole


@frozen
class TemplateOverwrite:
    """An entry of a channel's `permission_overwrites`. The masks are as they came: those of skipped entries do not
    matter."""

    id: str
    for_a_role: bool
    allow: object
    deny: object


@frozen
class TemplateChannel:
    """A channel of a template; `planned` is it as a voice channel, which has all fields."""

    id: str
    type: int
    parent_id: str | None
    overwrites: tuple[TemplateOverwrite, ...]
    planned: PlannedChannel


@frozen(kw_only=True)
class Template:
    """A template whose members are of their types; `plan` is without its roles and channels."""

    system_channel_id: str | None
    roles: tuple[TemplateRole, ...]
    channels: tuple[TemplateChannel, ...]
    is_oversized: bool
    """Whether there are more roles or channels than a template may have; those were not read."""
    plan: GuildPlan


def read_template(value: object, limits: Limits, path: str = "template") -> Template:
    """The template that a JSON value holds.

    :raises InvalidFormBody: for a member of the wrong type or beyond its bounds, and for one that is missing.
    """
    members = TemplateMembers(value, path)
    if type(members.any("name")) is not str:  # which is read and discarded, as the description is
        raise members.refusal("name")
    members.text("description")
    roles, channels = members.array("roles"), members.array("channels")
    verification_level = members.clamped_number("verification_level", 0, 3, 0)
    default_message_notifications = members.clamped_number("default_message_notifications", 0, 1, 0)
    explicit_content_filter = members.clamped_number("explicit_content_filter", 0, 2, 0)
    system_channel_id = members.optional_identifier("system_channel_id")
    plan = GuildPlan(
        channels=(),
        system_channel=0,
        afk_timeout=members.clamped_number("afk_timeout", 60, 3_600, 300),
        system_channel_flags=members.integer("system_channel_flags", 0) & _SYSTEM_CHANNEL_FLAGS,
        verification_level=verification_level,
        default_message_notifications=default_message_notifications,
        explicit_content_filter=explicit_content_filter,
    )
    return Template(
        system_channel_id=system_channel_id,
        roles=tuple(_role(role) for role in members.objects("roles", roles[:ROLES_MAXIMUM])),
        channels=tuple(_channel(one, limits) for one in members.objects("channels", channels[:CHANNELS_MAXIMUM])),
        is_oversized=len(roles) > ROLES_MAXIMUM or len(channels) > CHANNELS_MAXIMUM,
        plan=plan,
    )


def _role(members: TemplateMembers) -> TemplateRole:
    return TemplateRole(
        id=members.identifier("id"),
        planned=PlannedRole(
            name=members.text("name", NAME_CHARACTERS) or "",
            permissions=0,
            color=members.integer_within("color", COLOR_MAXIMUM, 0),
            hoist=members.truth("hoist"),
            mentionable=members.truth("mentionable"),
            unicode_emoji=members.text("unicode_emoji", NAME_CHARACTERS) or None,
        ),
        permissions=members.any("permissions_new", members.any("permissions", 0)),
    )


def _channel(members: TemplateMembers, limits: Limits) -> TemplateChannel:
    overwrites = members.array("permission_overwrites", [])
    if len(overwrites) > OVERWRITES_MAXIMUM:
        raise members.refusal("permission_overwrites")
    channel_id, kind = members.identifier("id"), members.integer("type")
    name = members.text("name", NAME_CHARACTERS) or ""
    topic = members.text("topic", limits.max_topic_length, FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)
    position, parent_id = members.integer_within("position", INT32_MAXIMUM), members.optional_identifier("parent_id")
    return TemplateChannel(
        id=channel_id,
        type=kind,
        parent_id=parent_id,
        planned=PlannedChannel(
            type=ChannelType.GUILD_VOICE,
            name=name,
            topic=topic,
            position=position,
            bitrate=members.clamped_integer("bitrate", limits.min_bitrate, limits.max_bitrate, limits.default_bitrate),
            user_limit=members.clamped_integer("user_limit", 0, limits.max_user_limit, 0),
            voice_connection_limit=members.clamped_integer(
                "voice_connection_limit", 1, limits.max_voice_connection_limit, limits.default_voice_connection_limit
            ),
            nsfw=members.truth("nsfw"),
            rate_limit_per_user=members.clamped_integer("rate_limit_per_user", 0, limits.max_rate_limit_per_user, 0),
        ),
        overwrites=tuple(_overwrite(entry) for entry in members.objects("permission_overwrites", overwrites)),
    )


def _overwrite(members: TemplateMembers) -> TemplateOverwrite:
    kind = whole(members.any("type"))
    if type(kind) is str:
        resolved = _OVERWRITE_TYPES.get(kind)
        with contextlib.suppress(ValueError):  # text that is no number is not 0 either
            resolved = float(kind) if resolved is None else resolved
    elif type(kind) is int:
        resolved = kind
    else:
        raise members.refusal("type")
    return TemplateOverwrite(
        id=members.identifier("id"),
        for_a_role=resolved == FOR_A_ROLE,
        allow=members.any("allow"),
        deny=members.any("deny"),
    )


def plan_of(template: Template) -> GuildPlan:
    """The plan of a guild that is made from this template.

    :raises ApiError: GUILD_TEMPLATE_INVALID for too many roles or channels, an id that is there twice, and a permission
        value that is no integer.
    """
    if template.is_oversized:
        raise ApiError(ErrorCode.GUILD_TEMPLATE_INVALID)
    _require_distinct([role.id for role in template.roles])
    _require_distinct([channel.id for channel in template.channels])
    everyone = _everyone(template.roles)
    ordinary = [role for role in template.roles if role is not everyone]
    places: dict[str, int | None] = {role.id: place for place, role in enumerate(ordinary)}
    places[EVERYONE_ID] = None
    if everyone is not None:
        places[everyone.id] = None
    channels, system_channel = _channels(template, places)
    return attrs.evolve(
        template.plan,
        everyone=_everyone_mask(0 if everyone is None else _mask(everyone.permissions)),
        roles=tuple(attrs.evolve(role.planned, permissions=_mask(role.permissions)) for role in ordinary),
        channels=channels,
        system_channel=system_channel,
    )


def _require_distinct(ids: Sequence[str]) -> None:
    if len(set(ids)) < len(ids):
        raise ApiError(ErrorCode.GUILD_TEMPLATE_INVALID)


def _everyone(roles: Sequence[TemplateRole]) -> TemplateRole | None:
    """The role that stands for everyone's: by its name, and where none has it by its id."""
    named = next((role for role in roles if role.planned.name == EVERYONE_NAME), None)
    return named or next((role for role in roles if role.id == EVERYONE_ID), None)


def _mask(value: object) -> int:
    digits = decimal_text(value)
    if digits is None:
        raise ApiError(ErrorCode.GUILD_TEMPLATE_INVALID)
    return int(digits) & ALL_DEFINED


def _everyone_mask(mask: int) -> int:
    if mask == 0:
        return DEFAULT_EVERYONE
    if mask & Permission.SEND_MESSAGES and not mask & THREAD_PERMISSIONS:
        return mask | DEFAULT_THREAD_PERMISSIONS
    return mask


def _channels(template: Template, roles: Mapping[str, int | None]) -> tuple[tuple[PlannedChannel, ...], int]:
    """The channels that come into being, and which of them receives system messages."""
    made = [(channel, _CHANNEL_TYPES[channel.type]) for channel in template.channels if channel.type in _CHANNEL_TYPES]
    categories = {channel.id: place for place, (channel, kind) in enumerate(made) if kind is ChannelType.GUILD_CATEGORY}
    planned = [_planned_channel(channel, kind, categories, roles) for channel, kind in made]
    candidates = {channel.id: place for place, (channel, kind) in enumerate(made) if kind in SYSTEM_CHANNEL_TYPES}
    if not candidates:
        return (*planned, PlannedChannel(ChannelType.GUILD_TEXT, GENERAL_NAME)), len(planned)
    first = next(iter(candidates.values()))
    return tuple(planned), candidates.get(template.system_channel_id or "", first)


def _planned_channel(
    channel: TemplateChannel, kind: ChannelType, categories: Mapping[str, int], roles: Mapping[str, int | None]
) -> PlannedChannel:
    planned = attrs.evolve(
        channel.planned,
        type=kind,
        name=channel_name(channel.planned.name, kind, flexible=False),
        overwrites=_planned_overwrites(channel.overwrites, roles),
    )
    if kind is ChannelType.GUILD_CATEGORY:  # which is in no other one, and holds no text
        planned = attrs.evolve(planned, topic=None, rate_limit_per_user=0)
    elif channel.parent_id is not None:
        planned = attrs.evolve(planned, parent=categories.get(channel.parent_id))
    if kind is not ChannelType.GUILD_VOICE:
        planned = attrs.evolve(planned, bitrate=None, user_limit=None, voice_connection_limit=None)
    return planned


def _planned_overwrites(
    entries: Sequence[TemplateOverwrite], roles: Mapping[str, int | None]
) -> tuple[PlannedOverwrite, ...]:
    """The entries for roles of the template; of several for one role the last."""
    applied = {
        roles[entry.id]: PlannedOverwrite(roles[entry.id], _mask(entry.allow), _mask(entry.deny))
        for entry in entries
        if entry.for_a_role and entry.id in roles
    }
    return tuple(applied.values())


IDENTIFIER_DIGITS: Final = 100
"""Longer numbers name nothing; the bound keeps reading them cheap."""

INT32_MAXIMUM: Final = (1 << 31) - 1

_DIGITS: Final = re.compile(rf"[0-9]{{1,{IDENTIFIER_DIGITS}}}", re.ASCII)
_REQUIRED: Final = object()


def decimal_text(value: object) -> str | None:
    """The digits of a decimal string or of a whole number; None for everything else."""
    number = whole(value)
    if type(number) is int:
        return str(number) if 0 <= number < 10**IDENTIFIER_DIGITS else None
    return value if type(value) is str and _DIGITS.fullmatch(value) else None


class TemplateMembers:
    """The members of one JSON object.

    Every method raises InvalidFormBody at the member's path when it holds something else than asked for, or is missing
    and has no default.
    """

    def __init__(self, value: object, path: str) -> None:
        self._path = path
        if type(value) is not dict:
            raise InvalidFormBody.at(path, FieldCode.INVALID_FORMAT)
        self._members: dict[str, object] = value

    def any(self, name: str, default: object = _REQUIRED) -> Any:
        """The member as it came."""
        value = self._members.get(name)
        if value is None and default is _REQUIRED:
            raise self.refusal(name)
        return default if value is None else value

    def text(
        self, name: str, maximum: int | None = None, code: FieldCode = FieldCode.STRING_LENGTH_INVALID
    ) -> str | None:
        """Text of at most `maximum` characters; None if it is null or missing."""
        value = self.any(name, None)
        if value is not None and type(value) is not str:
            raise self.refusal(name)
        if value is not None and maximum is not None and len(value) > maximum:
            raise self.refusal(name, code)
        return None if value is None else without_nul(value)

    def truth(self, name: str) -> bool:
        """A boolean, by default false."""
        value = self.any(name, False)
        if type(value) is not bool:
            raise self.refusal(name)
        return value

    def integer(self, name: str, default: object = _REQUIRED) -> int:
        """A whole number of any size."""
        value = whole(self.any(name, default))
        if type(value) is not int:
            raise self.refusal(name)
        return value

    def integer_within(self, name: str, maximum: int, default: object = _REQUIRED) -> int:
        """A whole number from 0 to `maximum`."""
        value = self.integer(name, default)
        if not 0 <= value <= maximum:
            raise self.refusal(name)
        return value

    def clamped_integer(self, name: str, minimum: int, maximum: int, default: int) -> int:
        """A whole number, brought between the bounds."""
        return min(max(self.integer(name, default), minimum), maximum)

    def clamped_number(self, name: str, minimum: int, maximum: int, default: int) -> int:
        """Any number, without its fraction, brought between the bounds."""
        value = self.any(name, default)
        if type(value) is int or (type(value) is float and math.isfinite(value)):
            return min(max(int(value), minimum), maximum)
        raise self.refusal(name)

    def identifier(self, name: str) -> str:
        """A decimal string or a whole number, as digits."""
        digits = decimal_text(self.any(name))
        if digits is None:
            raise self.refusal(name)
        return digits

    def optional_identifier(self, name: str) -> str | None:
        """As `identifier`; None if it is null or missing."""
        return None if self.any(name, None) is None else self.identifier(name)

    def array(self, name: str, default: object = _REQUIRED) -> list[Any]:
        """An array of anything."""
        value = self.any(name, default)
        if type(value) is not list:
            raise self.refusal(name)
        return value

    def objects(self, name: str, values: list[Any]) -> Iterator[TemplateMembers]:
        """The items of an array, which are objects, each under its index."""
        for index, value in enumerate(values):
            yield TemplateMembers(value, f"{self._path}.{name}.{index}")

    def refusal(self, name: str, code: FieldCode = FieldCode.INVALID_FORMAT) -> InvalidFormBody:
        """The error to raise about a member."""
        return InvalidFormBody.at(f"{self._path}.{name}", code)
