"""What administrators do, as the administrative audit log names it (document 002, the Audit clause of each operation).

One row per action: its name, the kind of thing that its entries are about, and the metadata that an entry may have.
`chat.domain.admin_audit_log` writes nothing else.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import attrs


class AdminTarget(enum.StrEnum):
    """The `target_type` of an entry (wire facts 7.3)."""

    USER = "user"
    GUILD = "guild"
    GUILD_MEMBER = "guild_member"
    GUILD_EMOJI = "guild_emoji"
    GUILD_STICKER = "guild_sticker"
    MESSAGE = "message"
    MESSAGE_DELETION = "message_deletion"
    MESSAGE_SHRED = "message_shred"
    ASSET = "asset"
    APPLICATION = "application"
    REPORT = "report"
    SEARCH_INDEX = "search_index"
    SYSTEM_DM = "system_dm"
    VOICE_REGION = "voice_region"
    VOICE_SERVER = "voice_server"
    IP = "ip"
    EMAIL = "email"
    EMAIL_DOMAIN = "email_domain"
    PHRASE = "phrase"
    URL = "url"
    URL_DOMAIN = "url_domain"
    FILE_SHA = "file_sha"
    AVATAR_HASH = "avatar_hash"
    PROFILE_SUBSTRING = "profile_substring"


@attrs.frozen
class AdminActionKind:
    """One row of the table: what entries of an action are about, and the keys of their metadata."""

    target: AdminTarget
    metadata: frozenset[str]


class AdminAction(enum.StrEnum):
    """The `action` of an entry."""

    SEARCH_USERS = "search_users"
    GET_USER = "get_user"
    CHANGE_USERNAME = "change_username"
    CHANGE_EMAIL = "change_email"
    VERIFY_EMAIL = "verify_email"
    RESEND_VERIFICATION_EMAIL = "resend_verification_email"
    SEND_PASSWORD_RESET = "send_password_reset"  # noqa: S105 - the name of an action
    CREATE_PASSWORD_RESET_LINK = "create_password_reset_link"  # noqa: S105
    REVOKE_RECOVERY_KIT = "revoke_recovery_kit"
    CHANGE_DOB = "change_dob"
    CLEAR_FIELDS = "clear_fields"
    SET_BOT_STATUS = "set_bot_status"
    SET_SYSTEM_STATUS = "set_system_status"
    SET_ACLS = "set_acls"
    SET_TRAITS = "set_traits"
    UPDATE_FLAGS = "update_flags"
    UPDATE_PREMIUM_FLAGS = "update_premium_flags"
    LIST_USER_STORE_PURCHASES = "list_user_store_purchases"
    REFRESH_STORE_PURCHASES = "refresh_store_purchases"
    TEMP_BAN = "temp_ban"
    UNBAN = "unban"
    ANNOTATE_BAN = "annotate_ban"
    SCHEDULE_DELETION = "schedule_deletion"
    AUTO_RESOLVE_REPORTS_ON_DELETION = "auto_resolve_reports_on_deletion"
    CANCEL_DELETION = "cancel_deletion"
    LIST_USER_GUILDS = "list_user_guilds"
    LIST_USER_DM_CHANNELS = "list_user_dm_channels"
    LIST_USER_APPLICATIONS = "list_user_applications"
    LIST_USER_RELATIONSHIPS = "list_user_relationships"
    REMOVE_RELATIONSHIPS_BY_CATEGORY = "remove_relationships_by_category"
    REMOVE_RELATIONSHIP = "remove_relationship"
    LIST_USER_SESSIONS = "list_user_sessions"
    TERMINATE_SESSIONS = "terminate_sessions"
    LIST_WEBAUTHN_CREDENTIALS = "list_webauthn_credentials"
    DELETE_WEBAUTHN_CREDENTIAL = "delete_webauthn_credential"
    DISABLE_MFA = "disable_mfa"
    CANCEL_BULK_MESSAGE_DELETION = "cancel_bulk_message_deletion"
    TRIGGER_USER_ARCHIVE = "trigger_user_archive"
    LIST_USER_CHANGE_LOG = "list_user_change_log"
    DELETE_ALL_USER_MESSAGES_DRY_RUN = "delete_all_user_messages_dry_run"
    DELETE_ALL_USER_MESSAGES = "delete_all_user_messages"
    QUEUE_MESSAGE_SHRED = "queue_message_shred"
    BAN_EMAIL = "ban_email"
    CHECK_EMAIL_BAN = "check_email_ban"
    UNBAN_EMAIL = "unban_email"
    BAN_IP = "ban_ip"
    CHECK_IP_BAN = "check_ip_ban"
    UNBAN_IP = "unban_ip"
    BAN_PHRASE = "ban_phrase"
    CHECK_PHRASE_BAN = "check_phrase_ban"
    UNBAN_PHRASE = "unban_phrase"
    BAN_URL = "ban_url"
    CHECK_URL_BAN = "check_url_ban"
    UNBAN_URL = "unban_url"
    BAN_URL_DOMAIN = "ban_url_domain"
    CHECK_URL_DOMAIN_BAN = "check_url_domain_ban"
    UNBAN_URL_DOMAIN = "unban_url_domain"
    BAN_FILE_SHA = "ban_file_sha"
    CHECK_FILE_SHA_BAN = "check_file_sha_ban"
    UNBAN_FILE_SHA = "unban_file_sha"
    BAN_AVATAR_HASH = "ban_avatar_hash"
    CHECK_AVATAR_HASH_BAN = "check_avatar_hash_ban"
    UNBAN_AVATAR_HASH = "unban_avatar_hash"
    BAN_PROFILE_SUBSTRING = "ban_profile_substring"
    CHECK_PROFILE_SUBSTRING_BAN = "check_profile_substring_ban"
    UNBAN_PROFILE_SUBSTRING = "unban_profile_substring"
    RESOLVE_REPORT = "resolve_report"
    GET_REPORT = "get_report"
    LIST_REPORTS = "list_reports"


def _row(*metadata: str, target: AdminTarget = AdminTarget.USER) -> AdminActionKind:
    return AdminActionKind(target, frozenset(metadata))


ADMIN_ACTIONS: Final[Mapping[AdminAction, AdminActionKind]] = MappingProxyType(
    {
        AdminAction.SEARCH_USERS: _row(
            "selector", "result_count", "total", "user_id_count", "user_id", "limit", "offset", "has_query"
        ),
        AdminAction.GET_USER: _row("found"),
        AdminAction.CHANGE_USERNAME: _row("old_username", "new_username", "discriminator"),
        AdminAction.CHANGE_EMAIL: _row("old_email", "new_email"),
        AdminAction.VERIFY_EMAIL: _row("email"),
        AdminAction.RESEND_VERIFICATION_EMAIL: _row("email"),
        AdminAction.SEND_PASSWORD_RESET: _row("email"),
        AdminAction.CREATE_PASSWORD_RESET_LINK: _row(),
        AdminAction.REVOKE_RECOVERY_KIT: _row(),
        AdminAction.CHANGE_DOB: _row("old_dob", "new_dob"),
        AdminAction.CLEAR_FIELDS: _row("fields"),
        AdminAction.SET_BOT_STATUS: _row("bot"),
        AdminAction.SET_SYSTEM_STATUS: _row("system"),
        AdminAction.SET_ACLS: _row("acls"),
        AdminAction.SET_TRAITS: _row("traits"),
        AdminAction.UPDATE_FLAGS: _row("add_flags", "remove_flags", "new_flags"),
        AdminAction.UPDATE_PREMIUM_FLAGS: _row("add_flags", "remove_flags", "new_flags"),
        AdminAction.LIST_USER_STORE_PURCHASES: _row("result_count"),
        AdminAction.REFRESH_STORE_PURCHASES: _row("purchase_count"),
        AdminAction.TEMP_BAN: _row("duration_hours", "reason", "banned_until", "notify_user", "notification_sent"),
        AdminAction.UNBAN: _row("notify_user", "notification_sent", "public_reason"),
        AdminAction.ANNOTATE_BAN: _row("ban_audit_log_id"),
        AdminAction.SCHEDULE_DELETION: _row(
            "days",
            "reason_code",
            "pending_deletion_at",
            "notify_user",
            "notification_sent",
            "notification_template",
            "replaced_pending_deletion_at",
            "replaced_scheduled_by",
            "replaced_scheduled_at",
            "replaced_reason_code",
        ),
        AdminAction.AUTO_RESOLVE_REPORTS_ON_DELETION: _row(
            "outcome", "found_count", "resolved_count", "failed_count", "notified_count"
        ),
        AdminAction.CANCEL_DELETION: _row(
            "cancelled_pending_deletion_at",
            "cancelled_scheduled_by",
            "cancelled_scheduled_at",
            "cancelled_reason_code",
            "notify_user",
        ),
        AdminAction.LIST_USER_GUILDS: _row("limit", "with_counts", "guild_count", "before_guild_id", "after_guild_id"),
        AdminAction.LIST_USER_DM_CHANNELS: _row(
            "type", "channel_count", "limit", "before_channel_id", "after_channel_id"
        ),
        AdminAction.LIST_USER_APPLICATIONS: _row("application_count"),
        AdminAction.LIST_USER_RELATIONSHIPS: _row(
            "friend_count", "incoming_request_count", "outgoing_request_count", "blocked_count"
        ),
        AdminAction.REMOVE_RELATIONSHIPS_BY_CATEGORY: _row("category", "removed_count"),
        AdminAction.REMOVE_RELATIONSHIP: _row("target_user_id", "category"),
        AdminAction.LIST_USER_SESSIONS: _row("session_count"),
        AdminAction.TERMINATE_SESSIONS: _row(),
        AdminAction.LIST_WEBAUTHN_CREDENTIALS: _row("credential_count"),
        AdminAction.DELETE_WEBAUTHN_CREDENTIAL: _row("credential_id"),
        AdminAction.DISABLE_MFA: _row(),
        AdminAction.CANCEL_BULK_MESSAGE_DELETION: _row(),
        AdminAction.TRIGGER_USER_ARCHIVE: _row("archive_id", "include_attachments"),
        AdminAction.LIST_USER_CHANGE_LOG: _row("limit", "entry_count", "has_page_token"),
        AdminAction.DELETE_ALL_USER_MESSAGES_DRY_RUN: _row(
            "user_id", "channel_count", "message_count", "dry_run", target=AdminTarget.MESSAGE_DELETION
        ),
        AdminAction.DELETE_ALL_USER_MESSAGES: _row(
            "user_id", "channel_count", "message_count", "dry_run", target=AdminTarget.MESSAGE_DELETION
        ),
        AdminAction.QUEUE_MESSAGE_SHRED: _row(
            "user_id", "job_id", "requested_entries", target=AdminTarget.MESSAGE_SHRED
        ),
        AdminAction.BAN_EMAIL: _row("reason", target=AdminTarget.EMAIL),
        AdminAction.CHECK_EMAIL_BAN: _row("banned", target=AdminTarget.EMAIL),
        AdminAction.UNBAN_EMAIL: _row(target=AdminTarget.EMAIL),
        AdminAction.BAN_IP: _row("reason", target=AdminTarget.IP),
        AdminAction.CHECK_IP_BAN: _row("banned", target=AdminTarget.IP),
        AdminAction.UNBAN_IP: _row(target=AdminTarget.IP),
        AdminAction.BAN_PHRASE: _row("reason", target=AdminTarget.PHRASE),
        AdminAction.CHECK_PHRASE_BAN: _row("banned", target=AdminTarget.PHRASE),
        AdminAction.UNBAN_PHRASE: _row(target=AdminTarget.PHRASE),
        AdminAction.BAN_URL: _row("reason", target=AdminTarget.URL),
        AdminAction.CHECK_URL_BAN: _row("banned", target=AdminTarget.URL),
        AdminAction.UNBAN_URL: _row(target=AdminTarget.URL),
        AdminAction.BAN_URL_DOMAIN: _row("reason", target=AdminTarget.URL_DOMAIN),
        AdminAction.CHECK_URL_DOMAIN_BAN: _row("banned", target=AdminTarget.URL_DOMAIN),
        AdminAction.UNBAN_URL_DOMAIN: _row(target=AdminTarget.URL_DOMAIN),
        AdminAction.BAN_FILE_SHA: _row("reason", target=AdminTarget.FILE_SHA),
        AdminAction.CHECK_FILE_SHA_BAN: _row("banned", target=AdminTarget.FILE_SHA),
        AdminAction.UNBAN_FILE_SHA: _row(target=AdminTarget.FILE_SHA),
        AdminAction.BAN_AVATAR_HASH: _row("reason", target=AdminTarget.AVATAR_HASH),
        AdminAction.CHECK_AVATAR_HASH_BAN: _row("banned", target=AdminTarget.AVATAR_HASH),
        AdminAction.UNBAN_AVATAR_HASH: _row(target=AdminTarget.AVATAR_HASH),
        AdminAction.BAN_PROFILE_SUBSTRING: _row("reason", target=AdminTarget.PROFILE_SUBSTRING),
        AdminAction.CHECK_PROFILE_SUBSTRING_BAN: _row("banned", target=AdminTarget.PROFILE_SUBSTRING),
        AdminAction.UNBAN_PROFILE_SUBSTRING: _row(target=AdminTarget.PROFILE_SUBSTRING),
        AdminAction.RESOLVE_REPORT: _row("public_comment", "notified", target=AdminTarget.REPORT),
        AdminAction.GET_REPORT: _row("found", target=AdminTarget.REPORT),
        AdminAction.LIST_REPORTS: _row("status", "limit", "result_count", target=AdminTarget.REPORT),
    }
)
"""The whole registry; every action has its row."""
