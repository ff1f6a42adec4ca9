"""What a new guild is to be made of, before anything has an id (guilds.md, Create guild).

Roles and channels of a plan refer to each other by their place in it. `founded` turns a plan into the rows to write.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Final

import attrs

from chat.classes import frozen
from chat.config import Limits
from chat.domain.standing.guild_states import Channel, Member, Role
from chat.registries.channel_types import ChannelType
from chat.registries.guild_values import JoinSource
from chat.registries.permissions import DEFAULT_EVERYONE
from chat.snowflake import snowflake_time_ms
from chat.store.guilds.channels import Overwrite
from chat.store.guilds.guilds import Guild

EVERYONE_NAME: Final = "@everyone"
GENERAL_NAME: Final = "general"

FOR_A_ROLE: Final = 0
"""The type of an overwrite that is for a role."""

NO_COLUMNS: Final = frozenset({"type", "parent", "overwrites"})
"""Fields of a planned channel that are no columns as they are."""


@frozen
class PlannedRole:
    """A role beside everyone's."""

    name: str
    permissions: int
    color: int = 0
    hoist: bool = False
    mentionable: bool = False
    unicode_emoji: str | None = None


@frozen
class PlannedOverwrite:
    """What a channel allows and denies to one role."""

    role: int | None
    """The role's index in the plan; None is the everyone role."""

    allow: int
    deny: int


@frozen
class PlannedChannel:
    """A channel; a bit rate is in bits a second, the rate limit in seconds."""

    type: ChannelType
    name: str
    position: int = 0
    parent: int | None = None
    """The index of its category in the plan."""

    topic: str | None = None
    nsfw: bool = False
    rate_limit_per_user: int = 0
    bitrate: int | None = None
    user_limit: int | None = None
    voice_connection_limit: int | None = None
    overwrites: tuple[PlannedOverwrite, ...] = ()


@frozen(kw_only=True)
class GuildPlan:
    """A guild without a name, an owner and ids."""

    channels: tuple[PlannedChannel, ...]
    system_channel: int
    """The place in the plan of the channel that receives system messages."""

    everyone: int = DEFAULT_EVERYONE
    """The permissions of the everyone role."""

    roles: tuple[PlannedRole, ...] = ()
    """In ascending order of position, from 1."""

    verification_level: int = 0
    default_message_notifications: int = 0
    explicit_content_filter: int = 0
    afk_timeout: int = 300
    system_channel_flags: int = 0


@frozen
class NewGuild:
    """The rows of a guild that is to come into being."""

    guild: Guild
    roles: tuple[Role, ...]
    channels: tuple[Channel, ...]
    """Categories before what they hold."""

    owner: Member


def default_plan(limits: Limits) -> GuildPlan:
    """A guild without a template: one text and one voice channel, each in its category."""
    return GuildPlan(
        channels=(
            PlannedChannel(ChannelType.GUILD_CATEGORY, "Text Channels", position=0),
            PlannedChannel(ChannelType.GUILD_CATEGORY, "Voice Channels", position=1),
            PlannedChannel(ChannelType.GUILD_TEXT, GENERAL_NAME, parent=0),
            PlannedChannel(
                ChannelType.GUILD_VOICE,
                "General",
                parent=1,
                bitrate=limits.default_bitrate,
                user_limit=0,
                voice_connection_limit=limits.default_voice_connection_limit,
            ),
        ),
        system_channel=2,
    )


def founded(
    plan: GuildPlan,
    *,
    guild_id: int,
    name: str,
    icon: str | None,
    owner_id: int,
    features: Set[str],
    snowflakes: Callable[[], int],
) -> NewGuild:
    """The rows of a plan, under newly allocated snowflakes."""
    created_at = snowflake_time_ms(guild_id)
    role_ids = [snowflakes() for _ in plan.roles]
    channel_ids = [snowflakes() for _ in plan.channels]
    everyone = Role(guild_id, guild_id, EVERYONE_NAME, position=0, permissions=plan.everyone)
    rows = [
        _channel(planned, channel_id, guild_id, role_ids, channel_ids)
        for channel_id, planned in zip(channel_ids, plan.channels, strict=True)
    ]
    return NewGuild(
        guild=Guild(
            id=guild_id,
            owner_id=owner_id,
            name=name,
            created_at=created_at,
            icon=icon,
            system_channel_id=channel_ids[plan.system_channel],
            system_channel_flags=plan.system_channel_flags,
            afk_timeout=plan.afk_timeout,
            features=frozenset(features),
            verification_level=plan.verification_level,
            explicit_content_filter=plan.explicit_content_filter,
            default_message_notifications=plan.default_message_notifications,
        ),
        roles=(
            everyone,
            *(
                Role(id=role_id, guild_id=guild_id, position=position, **attrs.asdict(planned))
                for position, (role_id, planned) in enumerate(zip(role_ids, plan.roles, strict=True), start=1)
            ),
        ),
        channels=tuple(sorted(rows, key=lambda row: row.type != ChannelType.GUILD_CATEGORY)),
        owner=Member(guild_id, owner_id, created_at, join_source=JoinSource.CREATOR.value),
    )


def _channel(
    planned: PlannedChannel, channel_id: int, guild_id: int, role_ids: list[int], channel_ids: list[int]
) -> Channel:
    overwrites = (
        Overwrite(guild_id if entry.role is None else role_ids[entry.role], FOR_A_ROLE, entry.allow, entry.deny)
        for entry in planned.overwrites
    )
    columns = attrs.asdict(planned, recurse=False, filter=lambda field, _: field.name not in NO_COLUMNS)
    return Channel(
        **columns,
        id=channel_id,
        guild_id=guild_id,
        type=planned.type.value,
        parent_id=None if planned.parent is None else channel_ids[planned.parent],
        overwrites=tuple(sorted(overwrites, key=lambda entry: entry.target_id)),
    )
