"""Guilds as administrators see them (administration.md, Administered guilds)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.administration.administration import ADMIN_GUILD, USER_SUMMARY
from chat.api.schemas.guilds.guilds import EMOJI, GUILD, MEMBER, ROLE, STICKER
from chat.api.schemas.shapes import (
    BOOLEAN,
    COUNT,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    listed,
    member_of,
    nullable,
    record,
    text,
)
from chat.registries.channel_types import ChannelType
from chat.registries.join_sources import JoinSource

GUILDS_FOUND: Final = record({"guilds": listed(ADMIN_GUILD, maximum=200), "total": COUNT})

ADMIN_GUILD_DETAILS: Final = GUILD.extended(
    "AdminGuildDetails",
    {
        "owner_username": nullable(TEXT),
        "owner_global_name": nullable(TEXT),
        "owner_discriminator": nullable(text(4)),
        "member_count": COUNT,
        "approximate_member_count": COUNT,
        "approximate_presence_count": COUNT,
        "created_at": TIMESTAMP,
        "roles": listed(ROLE),
        "channels": listed(
            record(
                {
                    "id": SNOWFLAKE,
                    "name": nullable(TEXT),
                    "type": member_of(ChannelType),
                    "position": COUNT,
                    "parent_id": nullable(SNOWFLAKE),
                    "nsfw": BOOLEAN,
                }
            )
        ),
        "emoji_count": COUNT,
        "sticker_count": COUNT,
    },
    description="A guild with its roles and an outline of its channels, threads apart.",
)

ADMIN_GUILD_MEMBER: Final = MEMBER.extended(
    "AdminGuildMember",
    {
        "user": USER_SUMMARY,
        "is_owner": BOOLEAN,
        "join_source_type": nullable(member_of(JoinSource)),
        "inviter_id": nullable(SNOWFLAKE),
    },
    without=("user",),
)
ADMIN_GUILD_MEMBERS: Final = record({"members": listed(ADMIN_GUILD_MEMBER, maximum=200), "total": COUNT})

_CREATOR: Final = {"creator_id": SNOWFLAKE, "creator": nullable(USER_SUMMARY)}
ADMIN_EMOJI: Final = EMOJI.extended("AdminEmoji", _CREATOR)
ADMIN_STICKER: Final = STICKER.extended("AdminSticker", _CREATOR)
