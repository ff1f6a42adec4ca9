"""Channels by type, and threads (guilds.md, Channels). A member that a type does not own is absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from chat.api.schemas.accounts import MUTE_CONFIG, PARTIAL_USER
from chat.api.schemas.shapes import (
    ADDRESS,
    ASSET,
    BITS,
    BOOLEAN,
    COUNT,
    OPEN_OBJECT,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    ObjectShape,
    Shape,
    choice,
    either,
    integer,
    listed,
    mapped,
    member_of,
    nullable,
    record,
    text,
    wire_object,
)
from chat.registries.channel_types import ChannelType, OverwriteType

OVERWRITE: Final = wire_object(
    "PermissionOverwrite", {"id": SNOWFLAKE, "type": member_of(OverwriteType), "allow": BITS, "deny": BITS}
)

_COMMON: Final[Mapping[str, Shape]] = {
    "id": SNOWFLAKE,
    "guild_id": SNOWFLAKE,
    "name": text(100),
    "position": COUNT,
    "permission_overwrites": listed(OVERWRITE),
    "nsfw": BOOLEAN,
    "nsfw_override": nullable(BOOLEAN),
    "content_warning_level": COUNT,
    "content_warning_text": nullable(TEXT),
}

_IN_CATEGORY: Final[Mapping[str, Shape]] = {"parent_id": nullable(SNOWFLAKE)}
_TOPICAL: Final[Mapping[str, Shape]] = {**_IN_CATEGORY, "topic": nullable(TEXT), "rate_limit_per_user": COUNT}
_THREAD_DEFAULTS: Final[Mapping[str, Shape]] = {
    "default_auto_archive_duration": nullable(COUNT),
    "default_thread_rate_limit_per_user": COUNT,
    "flags": COUNT,
}
_MESSAGES: Final[Mapping[str, Shape]] = {
    "last_message_id": nullable(SNOWFLAKE),
    "last_pin_timestamp": nullable(TIMESTAMP),
}


def _of_type(
    name: str, *types: ChannelType, members: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None
) -> ObjectShape:
    return wire_object(
        name, {**_COMMON, "type": choice(*(int(type) for type in types)), **members}, optional=optional or {}
    )


TEXT_CHANNEL: Final = _of_type(
    "TextChannel",
    ChannelType.GUILD_TEXT,
    ChannelType.GUILD_ANNOUNCEMENT,
    members={**_TOPICAL, **_MESSAGES},
    optional=_THREAD_DEFAULTS,
)

VOICE_CHANNEL: Final = _of_type(
    "VoiceChannel",
    ChannelType.GUILD_VOICE,
    members={
        **_TOPICAL,
        **_MESSAGES,
        "bitrate": COUNT,
        "user_limit": COUNT,
        "voice_connection_limit": COUNT,
        "rtc_region": nullable(TEXT),
    },
    optional={**_THREAD_DEFAULTS, "rtc_p2p": BOOLEAN},
)

CATEGORY: Final = _of_type("CategoryChannel", ChannelType.GUILD_CATEGORY, members={})
LINK_CHANNEL: Final = _of_type(
    "LinkChannel", ChannelType.GUILD_LINK, members={**_IN_CATEGORY, "url": nullable(ADDRESS)}
)

FORUM_TAG: Final = wire_object(
    "ForumTag",
    {
        "id": SNOWFLAKE,
        "name": TEXT,
        "moderated": BOOLEAN,
        "emoji_id": nullable(SNOWFLAKE),
        "emoji_name": nullable(TEXT),
    },
)

FORUM_CHANNEL: Final = _of_type(
    "ForumChannel",
    ChannelType.GUILD_FORUM,
    ChannelType.GUILD_MEDIA,
    members={**_TOPICAL},
    optional={
        **_MESSAGES,
        **_THREAD_DEFAULTS,
        "available_tags": listed(FORUM_TAG),
        "default_reaction_emoji": nullable(record({"emoji_id": nullable(SNOWFLAKE), "emoji_name": nullable(TEXT)})),
        "default_sort_order": nullable(integer(0, 1)),
        "default_forum_layout": integer(0, 2),
        "default_tag_setting": nullable(TEXT),
    },
)

GUILD_CHANNEL: Final = either(TEXT_CHANNEL, VOICE_CHANNEL, CATEGORY, LINK_CHANNEL, FORUM_CHANNEL)
"""Any channel of a guild that is no thread."""

DM: Final = wire_object(
    "DirectMessageChannel",
    {"id": SNOWFLAKE, "type": choice(int(ChannelType.DM)), **_MESSAGES, "recipients": listed(PARTIAL_USER)},
    description="The conversation of two; `recipients` is the other.",
)

GROUP_DM: Final = wire_object(
    "GroupChannel",
    {
        "id": SNOWFLAKE,
        "type": choice(int(ChannelType.GROUP_DM)),
        **_MESSAGES,
        "icon": nullable(ASSET),
        "owner_id": nullable(SNOWFLAKE),
    },
    optional={"name": TEXT, "recipients": listed(PARTIAL_USER), "nicks": mapped(TEXT, names=SNOWFLAKE)},
    description="A conversation of several; `recipients` are the others, absent where there are none.",
)

PERSONAL_NOTES: Final = wire_object(
    "PersonalNotesChannel",
    {"id": SNOWFLAKE, "type": choice(int(ChannelType.DM_PERSONAL_NOTES)), **_MESSAGES},
    description="What an account writes to itself; its id is that of the account.",
)

PRIVATE_CHANNEL: Final = either(DM, GROUP_DM, PERSONAL_NOTES)
"""Any conversation outside of guilds."""

THREAD_MEMBER: Final = wire_object(
    "ThreadMember",
    {"id": SNOWFLAKE, "user_id": SNOWFLAKE, "join_timestamp": TIMESTAMP, "flags": integer(0, 15), "muted": BOOLEAN},
    optional={"mute_config": nullable(MUTE_CONFIG), "member": OPEN_OBJECT},
)

THREAD: Final = wire_object(
    "Thread",
    {
        "id": SNOWFLAKE,
        "type": choice(
            *map(int, (ChannelType.ANNOUNCEMENT_THREAD, ChannelType.PUBLIC_THREAD, ChannelType.PRIVATE_THREAD))
        ),
        "guild_id": SNOWFLAKE,
        "parent_id": SNOWFLAKE,
        "owner_id": SNOWFLAKE,
        "name": text(100),
        **_MESSAGES,
        "rate_limit_per_user": COUNT,
        "flags": COUNT,
        "thread_metadata": record(
            {
                "archived": BOOLEAN,
                "auto_archive_duration": choice(60, 1_440, 4_320, 10_080),
                "archive_timestamp": TIMESTAMP,
                "locked": BOOLEAN,
                "create_timestamp": TIMESTAMP,
            },
            optional={"invitable": BOOLEAN},
        ),
        "message_count": COUNT,
        "total_message_sent": COUNT,
        "member_count": integer(0, 50),
    },
    optional={
        "applied_tags": listed(SNOWFLAKE, maximum=5),
        "member_ids_preview": listed(SNOWFLAKE, maximum=8),
        "member": THREAD_MEMBER,
    },
)

FOLLOWED_CHANNEL: Final = wire_object("FollowedChannel", {"channel_id": SNOWFLAKE, "webhook_id": SNOWFLAKE})

CHANNEL: Final = either(GUILD_CHANNEL, THREAD, PRIVATE_CHANNEL)
"""Any channel."""

THREADS: Final = record({"threads": listed(THREAD), "members": listed(THREAD_MEMBER)}, optional={"has_more": BOOLEAN})
