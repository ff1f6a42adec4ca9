"""Guild creation templates: from untrusted JSON to a plan, or to the documented refusal (guilds.md, Creation template).

    template = read_template(body["template"], limits)     # INVALID_FORM_BODY: what every body is judged by
    plan = plan_of(template)                           # GUILD_TEMPLATE_INVALID: what only templates are judged by

The two steps are apart because other checks of Create guild come between them. Both are pure.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat.config import Limits
from chat.domain.guilds.guild_plan import (
    EVERYONE_NAME,
    FOR_A_ROLE,
    GENERAL_NAME,
    GuildPlan,
    PlannedChannel,
    PlannedOverwrite,
    PlannedRole,
)
from chat.domain.guilds.template_fields import INT32_MAXIMUM, Members, decimal_text
from chat.domain.standing.channel_names import channel_name
from chat.errors import ApiError
from chat.registries.channel_types import (
    SYSTEM_CHANNEL_TYPES,
    TEMPLATE_CHANNEL_TYPES,
    TEMPLATE_STAGE_VOICE,
    ChannelType,
)
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
"""What everyone's role is called in an overwrite, and as a role where none is named `@everyone`."""

_SYSTEM_CHANNEL_FLAGS: Final = int(sum(SystemChannelFlag))
_CHANNEL_TYPES: Final[Mapping[int, ChannelType]] = {
    **{kind.value: kind for kind in TEMPLATE_CHANNEL_TYPES},
    TEMPLATE_STAGE_VOICE: ChannelType.GUILD_VOICE,
}
_OVERWRITE_TYPES: Final[Mapping[str, float]] = {"role": FOR_A_ROLE, "member": 1}


@attrs.frozen
class TemplateRole:
    """A role of a template. `permissions` is as it came, and judged by `plan_of`."""

    id: str
    name: str
    permissions: object
    color: int
    hoist: bool
    mentionable: bool
    unicode_emoji: str | None


@attrs.frozen
class TemplateOverwrite:
    """An entry of a channel's `permission_overwrites`. The masks are as they came: those of skipped entries do not
    matter."""

    id: str
    for_a_role: bool
    allow: object
    deny: object


@attrs.frozen
class TemplateChannel:
    """A channel of a template; numbers are within their bounds already."""

    id: str
    type: int
    name: str
    topic: str | None
    position: int
    parent_id: str | None
    bitrate: int
    user_limit: int
    voice_connection_limit: int
    nsfw: bool
    rate_limit_per_user: int
    overwrites: tuple[TemplateOverwrite, ...]


@attrs.frozen(kw_only=True)
class Template:
    """A template whose members are of their types."""

    verification_level: int
    default_message_notifications: int
    explicit_content_filter: int
    system_channel_id: str | None
    afk_timeout: int
    system_channel_flags: int
    roles: tuple[TemplateRole, ...]
    channels: tuple[TemplateChannel, ...]
    is_oversized: bool
    """Whether there are more roles or channels than a template may have; those were not read."""


def read_template(value: object, limits: Limits, path: str = "template") -> Template:
    """The template that a JSON value holds.

    :raises InvalidFormBody: for a member of the wrong type or beyond its bounds, and for one that is missing.
    """
    members = Members(value, path)
    if type(members.any("name")) is not str:  # which is read and discarded, as the description is
        raise members.refusal("name")
    members.text("description")
    roles, channels = members.array("roles"), members.array("channels")
    return Template(
        verification_level=members.clamped_number("verification_level", 0, 3, 0),
        default_message_notifications=members.clamped_number("default_message_notifications", 0, 1, 0),
        explicit_content_filter=members.clamped_number("explicit_content_filter", 0, 2, 0),
        system_channel_id=members.optional_identifier("system_channel_id"),
        afk_timeout=members.clamped_number("afk_timeout", 60, 3_600, 300),
        system_channel_flags=members.integer("system_channel_flags", 0) & _SYSTEM_CHANNEL_FLAGS,
        roles=tuple(_role(role) for role in members.objects("roles", roles[:ROLES_MAXIMUM])),
        channels=tuple(_channel(one, limits) for one in members.objects("channels", channels[:CHANNELS_MAXIMUM])),
        is_oversized=len(roles) > ROLES_MAXIMUM or len(channels) > CHANNELS_MAXIMUM,
    )


def _role(members: Members) -> TemplateRole:
    return TemplateRole(
        id=members.identifier("id"),
        name=members.text("name", NAME_CHARACTERS) or "",
        permissions=members.any("permissions_new", members.any("permissions", 0)),
        color=members.integer_within("color", COLOR_MAXIMUM, 0),
        hoist=members.truth("hoist"),
        mentionable=members.truth("mentionable"),
        unicode_emoji=members.text("unicode_emoji", NAME_CHARACTERS) or None,
    )


def _channel(members: Members, limits: Limits) -> TemplateChannel:
    overwrites = members.array("permission_overwrites", [])
    if len(overwrites) > OVERWRITES_MAXIMUM:
        raise members.refusal("permission_overwrites")
    return TemplateChannel(
        id=members.identifier("id"),
        type=members.integer("type"),
        name=members.text("name", NAME_CHARACTERS) or "",
        topic=members.text("topic", limits.max_topic_length, "CONTENT_EXCEEDS_MAX_LENGTH"),
        position=members.integer_within("position", INT32_MAXIMUM),
        parent_id=members.optional_identifier("parent_id"),
        bitrate=members.clamped_integer("bitrate", limits.min_bitrate, limits.max_bitrate, limits.default_bitrate),
        user_limit=members.clamped_integer("user_limit", 0, limits.max_user_limit, 0),
        voice_connection_limit=members.clamped_integer(
            "voice_connection_limit", 1, limits.max_voice_connection_limit, limits.default_voice_connection_limit
        ),
        nsfw=members.truth("nsfw"),
        rate_limit_per_user=members.clamped_integer("rate_limit_per_user", 0, limits.max_rate_limit_per_user, 0),
        overwrites=tuple(_overwrite(entry) for entry in members.objects("permission_overwrites", overwrites)),
    )


def _overwrite(members: Members) -> TemplateOverwrite:
    kind = members.any("type")
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
    """What a guild of this template is made of.

    :raises ApiError: GUILD_TEMPLATE_INVALID for too many roles or channels, an id that is there twice, and a permission
        value that is no integer.
    """
    if template.is_oversized:
        raise ApiError("GUILD_TEMPLATE_INVALID")
    _require_distinct([role.id for role in template.roles])
    _require_distinct([channel.id for channel in template.channels])
    everyone = _everyone(template.roles)
    ordinary = [role for role in template.roles if role is not everyone]
    places: dict[str, int | None] = {role.id: place for place, role in enumerate(ordinary)}
    places[EVERYONE_ID] = None
    if everyone is not None:
        places[everyone.id] = None
    channels, system_channel = _channels(template, places)
    return GuildPlan(
        everyone=_everyone_mask(0 if everyone is None else _mask(everyone.permissions)),
        roles=tuple(_planned_role(role) for role in ordinary),
        channels=channels,
        system_channel=system_channel,
        verification_level=template.verification_level,
        default_message_notifications=template.default_message_notifications,
        explicit_content_filter=template.explicit_content_filter,
        afk_timeout=template.afk_timeout,
        system_channel_flags=template.system_channel_flags,
    )


def _require_distinct(ids: Sequence[str]) -> None:
    if len(set(ids)) < len(ids):
        raise ApiError("GUILD_TEMPLATE_INVALID")


def _everyone(roles: Sequence[TemplateRole]) -> TemplateRole | None:
    """The role that stands for everyone's: by its name, and where none has it by its id."""
    named = next((role for role in roles if role.name == EVERYONE_NAME), None)
    return named or next((role for role in roles if role.id == EVERYONE_ID), None)


def _mask(value: object) -> int:
    digits = decimal_text(value)
    if digits is None:
        raise ApiError("GUILD_TEMPLATE_INVALID")
    return int(digits) & ALL_DEFINED


def _everyone_mask(mask: int) -> int:
    if mask == 0:
        return DEFAULT_EVERYONE
    if mask & Permission.SEND_MESSAGES and not mask & THREAD_PERMISSIONS:
        return mask | DEFAULT_THREAD_PERMISSIONS
    return mask


def _planned_role(role: TemplateRole) -> PlannedRole:
    return PlannedRole(
        name=role.name,
        permissions=_mask(role.permissions),
        color=role.color,
        hoist=role.hoist,
        mentionable=role.mentionable,
        unicode_emoji=role.unicode_emoji,
    )


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
    is_category = kind is ChannelType.GUILD_CATEGORY  # which is in no other one, and holds no text
    voice: dict[str, Any] = {}
    if kind is ChannelType.GUILD_VOICE:
        voice = {
            "bitrate": channel.bitrate,
            "user_limit": channel.user_limit,
            "voice_connection_limit": channel.voice_connection_limit,
        }
    return PlannedChannel(
        type=kind,
        name=channel_name(channel.name, kind, flexible=False),
        position=channel.position,
        parent=None if is_category or channel.parent_id is None else categories.get(channel.parent_id),
        topic=None if is_category else channel.topic,
        nsfw=channel.nsfw,
        rate_limit_per_user=0 if is_category else channel.rate_limit_per_user,
        overwrites=_planned_overwrites(channel.overwrites, roles),
        **voice,
    )


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
