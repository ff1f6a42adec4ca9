"""What moderators of the instance work with: guilds (administration.md, Administered guilds), blocklists, reports,
applications for discovery (administration.md, Reports and discovery)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.administration.administration import ADMIN_GUILD, NAMED_OWNER, USER_SUMMARY
from chat.api.schemas.guilds.guilds import DISCOVERY_APPLICATION, EMOJI, GUILD, MEMBER, ROLE, STICKER
from chat.api.schemas.shapes import (
    BOOLEAN,
    COUNT,
    OPEN_OBJECT,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    listed,
    member_of,
    nullable,
    record,
    wire_object,
)
from chat.registries.blocklists import Blocklist
from chat.registries.channel_types import ChannelType
from chat.registries.guild_values import JoinSource
from chat.registries.reports import ReportCategory, ReportKind, ReportStatus

BLOCKED_VALUE: Final = wire_object(
    "BlockedValue",
    {
        "list": member_of(Blocklist),
        "value": TEXT,
        "reason": nullable(TEXT),
        "added_by": nullable(SNOWFLAKE),
        "added_at": TIMESTAMP,
    },
)
BLOCKLIST_PAGE: Final = record({"entries": listed(BLOCKED_VALUE), "total": COUNT, "next_after": nullable(TEXT)})
BLOCKLIST_ANSWER: Final = record({"banned": BOOLEAN, "entry": nullable(BLOCKED_VALUE)})

REPORT: Final = wire_object(
    "Report",
    {
        "report_id": SNOWFLAKE,
        "kind": member_of(ReportKind),
        "reporter_id": nullable(SNOWFLAKE),
        "reporter": nullable(USER_SUMMARY),
        "reporter_email": nullable(TEXT),
        "reporter_full_legal_name": nullable(TEXT),
        "reporter_country_of_residence": nullable(TEXT),
        "reported_user_id": nullable(SNOWFLAKE),
        "reported_user": nullable(USER_SUMMARY),
        "guild_id": nullable(SNOWFLAKE),
        "guild_name": nullable(TEXT),
        "channel_id": nullable(SNOWFLAKE),
        "message_id": nullable(SNOWFLAKE),
        "category": member_of(ReportCategory),
        "additional_info": nullable(TEXT),
        "message": nullable(OPEN_OBJECT),
        "status": member_of(ReportStatus),
        "public_comment": nullable(TEXT),
        "resolved_by": nullable(SNOWFLAKE),
        "resolver": nullable(USER_SUMMARY),
        "resolved_at": nullable(TIMESTAMP),
        "created_at": TIMESTAMP,
    },
)
REPORTS_FOUND: Final = record({"reports": listed(REPORT), "total": COUNT})

REVIEWED_APPLICATION: Final = DISCOVERY_APPLICATION.extended(
    "ReviewedDiscoveryApplication",
    {"guild": nullable(ADMIN_GUILD), "applied_by": nullable(USER_SUMMARY), "reviewed_by": nullable(USER_SUMMARY)},
)
DISCOVERY_APPLICATIONS: Final = record({"applications": listed(REVIEWED_APPLICATION), "total": COUNT})


GUILDS_FOUND: Final = record({"guilds": listed(ADMIN_GUILD, maximum=200), "total": COUNT})

ADMIN_GUILD_DETAILS: Final = GUILD.extended(
    "AdminGuildDetails",
    {
        **NAMED_OWNER,
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
