"""What moderators of the instance work with: blocklists, reports, applications for discovery (administration.md,
Reports and discovery)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.administration.administration import ADMIN_GUILD, USER_SUMMARY
from chat.api.schemas.guilds.guilds import DISCOVERY_APPLICATION
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
