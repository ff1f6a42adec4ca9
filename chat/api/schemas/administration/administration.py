"""What administrative operations answer about accounts, the audit log, jobs, archives and the instance
(administration.md, Conventions)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from chat.api.schemas.accounts import ADMIN_USER
from chat.api.schemas.shapes import (
    ADDRESS,
    ASSET,
    BITS,
    BOOLEAN,
    COUNT,
    INTEGER,
    NULL,
    NUMBER,
    OPEN_OBJECT,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    TRUE,
    Shape,
    choice,
    integer,
    listed,
    mapped,
    member_of,
    nullable,
    record,
    text,
    wire_object,
)
from chat.api.schemas.signing_in import WEBAUTHN_CREDENTIAL
from chat.domain.administration.gateway_nodes import NodeState
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminTarget
from chat.registries.channel_types import ChannelType
from chat.registries.jobs import ArchiveSubject, JobStatus, JobType
from chat.registries.reports import ReportStatus
from chat.registries.store_purchases import PurchaseEnvironment, PurchaseKind, PurchaseState, StoreProvider

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
ARCHIVE: Final = wire_object(
    "Archive",
    {
        "archive_id": SNOWFLAKE,
        "subject_type": member_of(ArchiveSubject),
        "subject_id": SNOWFLAKE,
        "requested_by": SNOWFLAKE,
        "requested_at": TIMESTAMP,
        "started_at": nullable(TIMESTAMP),
        "completed_at": nullable(TIMESTAMP),
        "failed_at": nullable(TIMESTAMP),
        "file_size": nullable(BITS),
        "progress_percent": integer(0, 100),
        "progress_step": nullable(TEXT),
        "error_message": nullable(TEXT),
        "download_url_expires_at": nullable(TIMESTAMP),
        "expires_at": TIMESTAMP,
    },
)
ARCHIVE_ADDRESS: Final = record({"downloadUrl": ADDRESS, "expiresAt": TIMESTAMP})

USERS_FOUND: Final = record({"users": listed(ADMIN_USER), "total": INTEGER})
USERS: Final = record({"users": listed(ADMIN_USER, maximum=1)})

USER_SUMMARY: Final = wire_object(
    "AdminUserSummary",
    {
        "id": SNOWFLAKE,
        "username": TEXT,
        "discriminator": text(4),
        "global_name": nullable(TEXT),
        "avatar": nullable(ASSET),
    },
)

NAMED_OWNER: Final[Mapping[str, Shape]] = {
    "owner_username": nullable(TEXT),
    "owner_global_name": nullable(TEXT),
    "owner_discriminator": nullable(text(4)),
}

ADMIN_GUILD: Final = wire_object(
    "AdminGuild",
    {
        "id": SNOWFLAKE,
        "name": TEXT,
        "features": listed(TEXT),
        "owner_id": SNOWFLAKE,
        **NAMED_OWNER,
        "icon": nullable(ASSET),
        "banner": nullable(ASSET),
        "member_count": COUNT,
        "nsfw": BOOLEAN,
        "content_warning_level": COUNT,
        "content_warning_text": nullable(TEXT),
    },
    optional={"approximate_member_count": COUNT, "approximate_presence_count": COUNT},
)
GUILDS: Final = record({"guilds": listed(ADMIN_GUILD)})

ADMIN_APPLICATION: Final = wire_object(
    "AdminApplication",
    {
        "id": SNOWFLAKE,
        "name": TEXT,
        "owner_user_id": SNOWFLAKE,
        **NAMED_OWNER,
        "bot_user_id": nullable(SNOWFLAKE),
        "bot_username": nullable(TEXT),
        "bot_global_name": nullable(TEXT),
        "bot_discriminator": nullable(text(4)),
        "bot_is_public": BOOLEAN,
        "bot_require_code_grant": BOOLEAN,
        "oauth2_redirect_uris": listed(TEXT),
        "has_client_secret": BOOLEAN,
        "has_bot_token": BOOLEAN,
        "bot_token_preview": nullable(TEXT),
        "bot_token_created_at": nullable(TIMESTAMP),
        "client_secret_created_at": nullable(TIMESTAMP),
        "version": COUNT,
    },
)
APPLICATIONS: Final = record({"applications": listed(ADMIN_APPLICATION)})

ADMIN_PRIVATE_CHANNEL: Final = wire_object(
    "AdminPrivateChannel",
    {
        "channel_id": SNOWFLAKE,
        "channel_type": nullable(choice(int(ChannelType.DM), int(ChannelType.GROUP_DM))),
        "channel_nsfw": nullable(BOOLEAN),
        "guild_nsfw_level": NULL,
        "recipient_ids": listed(SNOWFLAKE, maximum=100),
        "recipients": listed(USER_SUMMARY, maximum=100),
        "last_message_id": nullable(SNOWFLAKE),
        "is_open": BOOLEAN,
        "name": nullable(TEXT),
        "icon": nullable(ASSET),
        "owner_id": nullable(SNOWFLAKE),
    },
)
PRIVATE_CHANNELS: Final = record({"channels": listed(ADMIN_PRIVATE_CHANNEL)})

ADMIN_RELATIONSHIP: Final = wire_object(
    "AdminRelationship",
    {
        "target_user_id": SNOWFLAKE,
        "category": choice("friend", "incoming_request", "outgoing_request", "blocked"),
        "nickname": nullable(TEXT),
        "since": nullable(TIMESTAMP),
        "target": nullable(USER_SUMMARY),
    },
)
RELATIONSHIPS: Final = record(
    {name: listed(ADMIN_RELATIONSHIP) for name in ("friends", "incoming_requests", "outgoing_requests", "blocked")}
)
REMOVED: Final = record({"removed_count": COUNT})

ADMIN_SESSION: Final = wire_object(
    "AdminUserSession",
    {
        "session_id_hash": TEXT,
        "created_at": TIMESTAMP,
        "approx_last_used_at": TIMESTAMP,
        "client_ip": TEXT,
        "client_ip_reverse": nullable(TEXT),
        "client_location": nullable(TEXT),
        "client_os": nullable(TEXT),
        "client_platform": nullable(TEXT),
        "deleted_at": nullable(TIMESTAMP),
    },
)
SESSIONS: Final = record({"sessions": listed(ADMIN_SESSION)})
TERMINATED: Final = record({"terminated_count": COUNT})

CHANGE_LOG_ENTRY: Final = wire_object(
    "AdminUserChangeLogEntry",
    {
        "event_id": SNOWFLAKE,
        "field": TEXT,
        "old_value": nullable(TEXT),
        "new_value": nullable(TEXT),
        "reason": nullable(TEXT),
        "actor_user_id": nullable(SNOWFLAKE),
        "event_at": TIMESTAMP,
    },
)
CHANGE_LOG: Final = record({"entries": listed(CHANGE_LOG_ENTRY, maximum=200), "next_page_token": nullable(TEXT)})

RESET_LINK: Final = wire_object("PasswordResetLink", {"url": ADDRESS, "expires_at": TIMESTAMP})
PASSKEYS: Final = listed(WEBAUTHN_CREDENTIAL)

_ENTRY_SUMMARY: Final = USER_SUMMARY.extended("AuditLogUser", {}, without=("avatar",))
_ENTRY_GUILD: Final = record({"id": SNOWFLAKE, "name": TEXT})
ENTRY_CHANNEL: Final = record(
    {"id": SNOWFLAKE, "name": nullable(TEXT), "type": INTEGER, "guild_id": nullable(SNOWFLAKE)}
)
AUDIT_LOG_ENTRY: Final = wire_object(
    "AdminAuditLogEntry",
    {
        "log_id": SNOWFLAKE,
        "admin_user_id": SNOWFLAKE,
        "admin_user": nullable(_ENTRY_SUMMARY),
        "target_type": member_of(AdminTarget),
        "target_id": TEXT,
        "target_user": nullable(_ENTRY_SUMMARY),
        "target_guild": nullable(_ENTRY_GUILD),
        "target_channel": nullable(ENTRY_CHANNEL),
        "related_users": mapped(nullable(_ENTRY_SUMMARY), names=SNOWFLAKE),
        "related_guilds": mapped(nullable(_ENTRY_GUILD), names=SNOWFLAKE),
        "related_channels": mapped(nullable(ENTRY_CHANNEL), names=SNOWFLAKE),
        "action": TEXT,
        "audit_log_reason": nullable(TEXT),
        "metadata": mapped(TEXT),
        "created_at": text(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$"),
    },
)
AUDIT_LOG_ENTRIES: Final = record({"logs": listed(AUDIT_LOG_ENTRY, maximum=200), "total": INTEGER})


_LIFE: Final = {"started_at": TIMESTAMP, "uptime_seconds": COUNT, "memory_bytes": nullable(COUNT)}

INSTANCE_FIGURES: Final = wire_object(
    "InstanceFigures",
    {
        **_LIFE,
        "version": TEXT,
        "accounts": record({"people": COUNT, "bots": COUNT, "deleted": COUNT}),
        "guilds": COUNT,
        "channels": COUNT,
        "messages": COUNT,
        "storage": record({"upload_bytes": COUNT, "database_bytes": COUNT}),
        "jobs_waiting": COUNT,
        "sessions": COUNT,
        "online": COUNT,
    },
    description="How much the instance holds; counts of the store may be some seconds old.",
)

FIGURE_HISTORY: Final = wire_object(
    "FigureHistory",
    {
        "period": choice("day", "week"),
        "since": TIMESTAMP,
        "until": TIMESTAMP,
        "step_seconds": COUNT,
        "points": listed(
            wire_object(
                "FigurePoint",
                {
                    "at": TIMESTAMP,
                    "messages": COUNT,
                    "requests": COUNT,
                    "failures": COUNT,
                    "p50_ms": nullable(NUMBER),
                    "p99_ms": nullable(NUMBER),
                    "online": COUNT,
                    "sessions": COUNT,
                    "lag_ms": NUMBER,
                    "memory_bytes": COUNT,
                    "stored_bytes": COUNT,
                },
                description="A span of time: what came to pass in it, and of what stands the most at one time.",
            )
        ),
    },
    description="What the server measured of itself; spans in which it did not run are left out.",
)

GATEWAY_FIGURES: Final = wire_object(
    "GatewayFigures",
    {
        **_LIFE,
        "connections": COUNT,
        "sessions": record({"total": COUNT, "attached": COUNT, "retained": COUNT, "bots": COUNT}),
        "guilds_in_memory": COUNT,
        "presences": COUNT,
        "voice_connections": COUNT,
        "backlog": COUNT,
    },
    description="The gateway of the node; `memory_bytes` is the whole process.",
)

GATEWAY_GUILDS: Final = record(
    {
        "guilds": listed(
            wire_object(
                "GatewayGuild",
                {
                    "guild_id": SNOWFLAKE,
                    "name": TEXT,
                    "icon": nullable(ASSET),
                    "member_count": COUNT,
                    "session_count": COUNT,
                    "presence_count": COUNT,
                    "memory_bytes": COUNT,
                },
                description="A guild in memory; `memory_bytes` is an estimate.",
            ),
            maximum=200,
        )
    }
)

GATEWAY_NODES: Final = record(
    {
        "broker_is_up": nullable(BOOLEAN),
        "nodes": listed(
            wire_object(
                "GatewayNode",
                {
                    "id": TEXT,
                    "name": TEXT,
                    "version": TEXT,
                    "state": choice(*NodeState),
                    "sockets": COUNT,
                    "attached": COUNT,
                    "sessions": COUNT,
                    "unheard_messages": COUNT,
                    "backlog_events": COUNT,
                    "deliveries": COUNT,
                    "cpu_seconds": NUMBER,
                    "resident_bytes": COUNT,
                    "heard_at": TIMESTAMP,
                    "heard_seconds_ago": COUNT,
                },
                description="A process that holds gateway sockets for this server.",
            )
        ),
    }
)

INSTANCE_CONFIG: Final = record(
    {
        "config": record(
            {
                "service_name": TEXT,
                "service_description": nullable(TEXT),
                "welcome_invite": nullable(TEXT),
                "registration": choice("open", "approval", "closed"),
                "email_verification_required": BOOLEAN,
                "single_community_enabled": BOOLEAN,
                "single_community_guild_id": nullable(SNOWFLAKE),
                "direct_messages_disabled": BOOLEAN,
            }
        ),
        "overridden": listed(TEXT),
    }
)

LIMIT_CONFIG: Final = record({"limits": mapped(COUNT), "defaults": mapped(COUNT), "overridden": listed(TEXT)})

REGISTRATIONS: Final = record(
    {
        "registrations": listed(
            record(
                {"user": USER_SUMMARY, "email": nullable(TEXT), "client_ip": nullable(TEXT), "registered_at": TIMESTAMP}
            )
        )
    }
)


STORE_PURCHASE: Final = wire_object(
    "StorePurchase",
    {
        "id": SNOWFLAKE,
        "user_id": nullable(SNOWFLAKE),
        "provider": member_of(StoreProvider),
        "kind": member_of(PurchaseKind),
        "slot": TEXT,
        "environment": member_of(PurchaseEnvironment),
        "app_id": TEXT,
        "product_id": TEXT,
        "base_plan_id": nullable(TEXT),
        "latest_transaction_id": nullable(TEXT),
        "ownership_type": nullable(TEXT),
        "state": member_of(PurchaseState),
        "store_state": nullable(TEXT),
        "entitled": BOOLEAN,
        "expires_at": nullable(TIMESTAMP),
        "grace_ends_at": nullable(TIMESTAMP),
        "auto_renew": nullable(BOOLEAN),
        "started_at": nullable(TIMESTAMP),
        "purchased_at": nullable(TIMESTAMP),
        "revoked_at": nullable(TIMESTAMP),
        "revocation_reason": nullable(TEXT),
        "superseded": BOOLEAN,
        "acknowledged": BOOLEAN,
        "gift_code": nullable(TEXT),
        "bound_at": nullable(TIMESTAMP),
        "last_event_at": nullable(TIMESTAMP),
        "synced_at": nullable(TIMESTAMP),
        "created_at": TIMESTAMP,
        "updated_at": TIMESTAMP,
    },
    description="A purchase in an app store as the administration sees it.",
)

PURCHASES: Final = record({"purchases": listed(STORE_PURCHASE)})
