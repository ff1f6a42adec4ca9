"""Administrative operations (document 002; wire facts 7)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.shapes import (
    BOOLEAN,
    INTEGER,
    OPEN_OBJECT,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    TRUE,
    choice,
    listed,
    member_of,
    nullable,
    record,
    wire_object,
)
from chat.api.schemas.users import ADMIN_USER
from chat.registries.acls import Acl
from chat.registries.jobs import JobStatus, JobType
from chat.registries.reports import ReportStatus

API_KEY: Final = wire_object(
    "AdminApiKey",
    {
        "key_id": SNOWFLAKE,
        "name": TEXT,
        "acls": listed(TEXT),
        "created_by_user_id": SNOWFLAKE,
        "created_at": TIMESTAMP,
        "last_used_at": nullable(TIMESTAMP),
        "expires_at": nullable(TIMESTAMP),
    },
)

NEW_API_KEY: Final = API_KEY.extended("NewAdminApiKey", {"key": TEXT}, without=("created_by_user_id", "last_used_at"))

ACL_NAMES: Final = record({"acls": listed(member_of(Acl))})
USER: Final = record({"user": ADMIN_USER})
SUCCESS: Final = record({"success": TRUE})
REPORTED: Final = wire_object("Reported", {"report_id": SNOWFLAKE, "status": member_of(ReportStatus)})

ALL_MESSAGES: Final = wire_object(
    "AllMessages",
    {"success": TRUE, "dry_run": BOOLEAN, "channel_count": INTEGER, "message_count": INTEGER},
    optional={"job_id": SNOWFLAKE},
)
SHRED_ORDERED: Final = wire_object("MessageShredOrdered", {"success": TRUE, "job_id": SNOWFLAKE, "requested": INTEGER})
SHRED: Final = wire_object(
    "MessageShred",
    {"status": choice("not_found", "in_progress", "completed", "failed")},
    optional={
        "requested": INTEGER,
        "total": INTEGER,
        "processed": INTEGER,
        "skipped": INTEGER,
        "started_at": TIMESTAMP,
        "completed_at": TIMESTAMP,
        "failed_at": TIMESTAMP,
        "error": TEXT,
    },
)
JOB: Final = wire_object(
    "Job",
    {
        "job_id": SNOWFLAKE,
        "task_type": member_of(JobType),
        "status": member_of(JobStatus),
        "progress_current": INTEGER,
        "progress_total": nullable(INTEGER),
        "progress_message": nullable(TEXT),
        "error_message": nullable(TEXT),
        "created_at": TIMESTAMP,
        "started_at": nullable(TIMESTAMP),
        "completed_at": nullable(TIMESTAMP),
        "requested_by_user_id": nullable(SNOWFLAKE),
        "audit_log_reason": nullable(TEXT),
        "attempts": INTEGER,
        "max_attempts": INTEGER,
        "run_at": TIMESTAMP,
        "cancel_requested": BOOLEAN,
        "context_link": nullable(TEXT),
        "payload": OPEN_OBJECT,
        "result": nullable(OPEN_OBJECT),
    },
)
USERS_FOUND: Final = record({"users": listed(ADMIN_USER), "total": INTEGER})
