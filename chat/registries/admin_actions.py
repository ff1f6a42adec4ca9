"""What administrators do, as the administrative audit log names it (administration.md, Audit entries).

Each action has the kind of thing that its entries are about, and the keys of the metadata that an entry may have.
`chat.domain.administration.admin_audit_log` writes nothing else.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from chat.classes import frozen


class AdminTarget(enum.StrEnum):
    """The `target_type` of an entry (administration.md, Audit entries)."""

    USER = "user"
    GUILD = "guild"
    GUILD_MEMBER = "guild_member"
    GUILD_EMOJI = "guild_emoji"
    GUILD_STICKER = "guild_sticker"
    MESSAGE = "message"
    MESSAGE_DELETION = "message_deletion"
    """The deletion of all messages of an account."""
    MESSAGE_SHRED = "message_shred"
    """A job that deletes listed messages."""
    ASSET = "asset"
    """An image that the instance serves."""
    APPLICATION = "application"
    REPORT = "report"
    SEARCH_INDEX = "search_index"
    SYSTEM_DM = "system_dm"
    """A message from the instance to accounts."""
    VOICE_REGION = "voice_region"
    VOICE_SERVER = "voice_server"
    IP = "ip"
    EMAIL = "email"
    EMAIL_DOMAIN = "email_domain"
    PHRASE = "phrase"
    URL = "url"
    """The URL of a page."""
    URL_DOMAIN = "url_domain"
    FILE_SHA = "file_sha"
    """A file, by its digest."""
    AVATAR_HASH = "avatar_hash"
    PROFILE_SUBSTRING = "profile_substring"
    """A text in profiles."""
    INSTANCE = "instance"
    """The instance itself: its policy and its limits."""


@frozen
class AdminActionKind:
    """What entries of an action are about, and the keys of their metadata."""

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
    TRIGGER_GUILD_ARCHIVE = "trigger_guild_archive"
    LIST_USER_CHANGE_LOG = "list_user_change_log"
    DELETE_ALL_USER_MESSAGES_DRY_RUN = "delete_all_user_messages_dry_run"
    DELETE_ALL_USER_MESSAGES = "delete_all_user_messages"
    QUEUE_MESSAGE_SHRED = "queue_message_shred"
    BULK_UPDATE_USER_FLAGS = "bulk_update_user_flags"
    BULK_UPDATE_GUILD_FEATURES = "bulk_update_guild_features"
    BULK_ADD_GUILD_MEMBERS = "bulk_add_guild_members"
    BULK_SCHEDULE_DELETION = "bulk_schedule_deletion"
    BAN_EMAIL = "ban_email"
    CHECK_EMAIL_BAN = "check_email_ban"
    UNBAN_EMAIL = "unban_email"
    LIST_EMAIL_BANS = "list_email_bans"
    BAN_IP = "ban_ip"
    CHECK_IP_BAN = "check_ip_ban"
    UNBAN_IP = "unban_ip"
    LIST_IP_BANS = "list_ip_bans"
    BAN_PHRASE = "ban_phrase"
    CHECK_PHRASE_BAN = "check_phrase_ban"
    UNBAN_PHRASE = "unban_phrase"
    LIST_PHRASE_BANS = "list_phrase_bans"
    BAN_URL = "ban_url"
    CHECK_URL_BAN = "check_url_ban"
    UNBAN_URL = "unban_url"
    LIST_URL_BANS = "list_url_bans"
    BAN_URL_DOMAIN = "ban_url_domain"
    CHECK_URL_DOMAIN_BAN = "check_url_domain_ban"
    UNBAN_URL_DOMAIN = "unban_url_domain"
    LIST_URL_DOMAIN_BANS = "list_url_domain_bans"
    BAN_FILE_SHA = "ban_file_sha"
    CHECK_FILE_SHA_BAN = "check_file_sha_ban"
    UNBAN_FILE_SHA = "unban_file_sha"
    LIST_FILE_SHA_BANS = "list_file_sha_bans"
    BAN_AVATAR_HASH = "ban_avatar_hash"
    CHECK_AVATAR_HASH_BAN = "check_avatar_hash_ban"
    UNBAN_AVATAR_HASH = "unban_avatar_hash"
    LIST_AVATAR_HASH_BANS = "list_avatar_hash_bans"
    BAN_PROFILE_SUBSTRING = "ban_profile_substring"
    CHECK_PROFILE_SUBSTRING_BAN = "check_profile_substring_ban"
    UNBAN_PROFILE_SUBSTRING = "unban_profile_substring"
    LIST_PROFILE_SUBSTRING_BANS = "list_profile_substring_bans"
    RESOLVE_REPORT = "resolve_report"
    GET_REPORT = "get_report"
    LIST_REPORTS = "list_reports"
    LIST_DISCOVERY_APPLICATIONS = "list_discovery_applications"
    APPROVE_DISCOVERY = "approve_discovery"
    REJECT_DISCOVERY = "reject_discovery"
    REMOVE_FROM_DISCOVERY = "remove_from_discovery"
    SEARCH_GUILDS = "search_guilds"
    GET_GUILD = "get_guild"
    UPDATE_NAME = "update_name"
    UPDATE_VANITY = "update_vanity"
    TRANSFER_GUILD_OWNERSHIP = "transfer_guild_ownership"
    UPDATE_FEATURES = "update_features"
    UPDATE_SETTINGS = "update_settings"
    CLEAR_GUILD_FIELDS = "clear_guild_fields"
    DELETE_GUILD = "delete_guild"
    RELOAD_GUILD = "reload_guild"
    SHUTDOWN_GUILD = "shutdown_guild"
    LIST_GUILD_MEMBERS = "list_guild_members"
    LIST_GUILD_AUDIT_LOG = "list_guild_audit_log"
    LIST_GUILD_EMOJIS = "list_guild_emojis"
    LIST_GUILD_STICKERS = "list_guild_stickers"
    FORCE_ADD_MEMBER = "force_add_member"
    KICK_MEMBER = "kick_member"
    BAN_MEMBER = "ban_member"
    UNBAN_MEMBER = "unban_member"
    PURGE_GUILD_EMOJI = "purge_guild_emoji"
    PURGE_GUILD_STICKER = "purge_guild_sticker"
    RELOAD_GUILDS = "reload_guilds"
    LIST_CHANNEL_MESSAGES = "list_channel_messages"
    GET_MESSAGE = "get_message"
    LOOKUP_MESSAGE = "lookup_message"
    DELETE_MESSAGE = "delete_message"
    GET_APPLICATION = "get_application"
    TRANSFER_OWNERSHIP = "transfer_ownership"
    GET_INSTANCE_CONFIG = "get_instance_config"
    UPDATE_INSTANCE_CONFIG = "update_instance_config"
    GET_LIMIT_CONFIG = "get_limit_config"
    UPDATE_LIMIT_CONFIG = "update_limit_config"
    CLEAN_STORAGE = "clean_storage"
    LIST_REGISTRATIONS = "list_registrations"
    APPROVE_REGISTRATION = "approve_registration"
    REJECT_REGISTRATION = "reject_registration"
    SEND_SYSTEM_DM = "send_system_dm"


_KEYS: Final[Mapping[AdminTarget, Mapping[AdminAction, str]]] = {
    AdminTarget.USER: {
        AdminAction.SEARCH_USERS: "selector result_count total user_id_count user_id limit offset has_query",
        AdminAction.GET_USER: "found",
        AdminAction.CHANGE_USERNAME: "old_username new_username discriminator",
        AdminAction.CHANGE_EMAIL: "old_email new_email",
        AdminAction.VERIFY_EMAIL: "email",
        AdminAction.RESEND_VERIFICATION_EMAIL: "email",
        AdminAction.SEND_PASSWORD_RESET: "email",
        AdminAction.CREATE_PASSWORD_RESET_LINK: "",
        AdminAction.REVOKE_RECOVERY_KIT: "",
        AdminAction.CHANGE_DOB: "old_dob new_dob",
        AdminAction.CLEAR_FIELDS: "fields",
        AdminAction.SET_BOT_STATUS: "bot",
        AdminAction.SET_SYSTEM_STATUS: "system",
        AdminAction.SET_ACLS: "acls",
        AdminAction.SET_TRAITS: "traits",
        AdminAction.UPDATE_FLAGS: "add_flags remove_flags new_flags",
        AdminAction.UPDATE_PREMIUM_FLAGS: "add_flags remove_flags new_flags",
        AdminAction.LIST_USER_STORE_PURCHASES: "result_count",
        AdminAction.REFRESH_STORE_PURCHASES: "purchase_count",
        AdminAction.TEMP_BAN: "duration_hours reason banned_until notify_user notification_sent",
        AdminAction.UNBAN: "notify_user notification_sent public_reason",
        AdminAction.ANNOTATE_BAN: "ban_audit_log_id",
        AdminAction.SCHEDULE_DELETION: (
            "days reason_code pending_deletion_at notify_user notification_sent notification_template "
            "replaced_pending_deletion_at replaced_scheduled_by replaced_scheduled_at replaced_reason_code"
        ),
        AdminAction.AUTO_RESOLVE_REPORTS_ON_DELETION: "outcome found_count resolved_count failed_count notified_count",
        AdminAction.CANCEL_DELETION: (
            "cancelled_pending_deletion_at cancelled_scheduled_by cancelled_scheduled_at "
            "cancelled_reason_code notify_user"
        ),
        AdminAction.LIST_USER_GUILDS: "limit with_counts guild_count before_guild_id after_guild_id",
        AdminAction.LIST_USER_DM_CHANNELS: "type channel_count limit before_channel_id after_channel_id",
        AdminAction.LIST_USER_APPLICATIONS: "application_count",
        AdminAction.LIST_USER_RELATIONSHIPS: "friend_count incoming_request_count outgoing_request_count blocked_count",
        AdminAction.REMOVE_RELATIONSHIPS_BY_CATEGORY: "category removed_count",
        AdminAction.REMOVE_RELATIONSHIP: "target_user_id category",
        AdminAction.LIST_USER_SESSIONS: "session_count",
        AdminAction.TERMINATE_SESSIONS: "",
        AdminAction.LIST_WEBAUTHN_CREDENTIALS: "credential_count",
        AdminAction.DELETE_WEBAUTHN_CREDENTIAL: "credential_id",
        AdminAction.DISABLE_MFA: "",
        AdminAction.CANCEL_BULK_MESSAGE_DELETION: "",
        AdminAction.TRIGGER_USER_ARCHIVE: "archive_id include_attachments",
        AdminAction.LIST_USER_CHANGE_LOG: "limit entry_count has_page_token",
        AdminAction.BULK_UPDATE_USER_FLAGS: "job_id user_count add_flags remove_flags",
        AdminAction.BULK_SCHEDULE_DELETION: "job_id user_count reason_code public_reason days notify_user",
        AdminAction.LIST_REGISTRATIONS: "result_count",
        AdminAction.APPROVE_REGISTRATION: "",
        AdminAction.REJECT_REGISTRATION: "",
    },
    AdminTarget.GUILD: {
        AdminAction.TRIGGER_GUILD_ARCHIVE: "archive_id include_attachments",
        AdminAction.BULK_UPDATE_GUILD_FEATURES: "job_id guild_count add_features remove_features",
        AdminAction.BULK_ADD_GUILD_MEMBERS: "job_id user_count",
        AdminAction.LIST_DISCOVERY_APPLICATIONS: "status limit offset result_count",
        AdminAction.APPROVE_DISCOVERY: "reason",
        AdminAction.REJECT_DISCOVERY: "reason",
        AdminAction.REMOVE_FROM_DISCOVERY: "reason",
        AdminAction.SEARCH_GUILDS: "has_query limit offset result_count total",
        AdminAction.GET_GUILD: "",
        AdminAction.UPDATE_NAME: "old_name new_name",
        AdminAction.UPDATE_VANITY: "old_vanity_url_code new_vanity_url_code",
        AdminAction.TRANSFER_GUILD_OWNERSHIP: "old_owner_id new_owner_id",
        AdminAction.UPDATE_FEATURES: "add_features remove_features new_features",
        AdminAction.UPDATE_SETTINGS: (
            "content_warning_level content_warning_text default_message_notifications disabled_operations "
            "explicit_content_filter mfa_level nsfw nsfw_level verification_level"
        ),
        AdminAction.CLEAR_GUILD_FIELDS: "fields",
        AdminAction.DELETE_GUILD: "name owner_id member_count",
        AdminAction.RELOAD_GUILD: "",
        AdminAction.SHUTDOWN_GUILD: "",
        AdminAction.LIST_GUILD_MEMBERS: "has_query limit offset result_count total",
        AdminAction.LIST_GUILD_AUDIT_LOG: "limit entry_count before_entry_id after_entry_id user_id action_type",
        AdminAction.LIST_GUILD_EMOJIS: "result_count",
        AdminAction.LIST_GUILD_STICKERS: "result_count",
        AdminAction.RELOAD_GUILDS: "guild_count all",
    },
    AdminTarget.MESSAGE_DELETION: {
        AdminAction.DELETE_ALL_USER_MESSAGES_DRY_RUN: "user_id channel_count message_count dry_run",
        AdminAction.DELETE_ALL_USER_MESSAGES: "user_id channel_count message_count dry_run",
    },
    AdminTarget.MESSAGE_SHRED: {AdminAction.QUEUE_MESSAGE_SHRED: "user_id job_id requested_entries"},
    AdminTarget.EMAIL: {
        AdminAction.BAN_EMAIL: "reason",
        AdminAction.CHECK_EMAIL_BAN: "banned",
        AdminAction.UNBAN_EMAIL: "",
        AdminAction.LIST_EMAIL_BANS: "limit result_count",
    },
    AdminTarget.IP: {
        AdminAction.BAN_IP: "reason",
        AdminAction.CHECK_IP_BAN: "banned",
        AdminAction.UNBAN_IP: "",
        AdminAction.LIST_IP_BANS: "limit result_count",
    },
    AdminTarget.PHRASE: {
        AdminAction.BAN_PHRASE: "reason",
        AdminAction.CHECK_PHRASE_BAN: "banned",
        AdminAction.UNBAN_PHRASE: "",
        AdminAction.LIST_PHRASE_BANS: "limit result_count",
    },
    AdminTarget.URL: {
        AdminAction.BAN_URL: "reason",
        AdminAction.CHECK_URL_BAN: "banned",
        AdminAction.UNBAN_URL: "",
        AdminAction.LIST_URL_BANS: "limit result_count",
    },
    AdminTarget.URL_DOMAIN: {
        AdminAction.BAN_URL_DOMAIN: "reason",
        AdminAction.CHECK_URL_DOMAIN_BAN: "banned",
        AdminAction.UNBAN_URL_DOMAIN: "",
        AdminAction.LIST_URL_DOMAIN_BANS: "limit result_count",
    },
    AdminTarget.FILE_SHA: {
        AdminAction.BAN_FILE_SHA: "reason",
        AdminAction.CHECK_FILE_SHA_BAN: "banned",
        AdminAction.UNBAN_FILE_SHA: "",
        AdminAction.LIST_FILE_SHA_BANS: "limit result_count",
    },
    AdminTarget.AVATAR_HASH: {
        AdminAction.BAN_AVATAR_HASH: "reason",
        AdminAction.CHECK_AVATAR_HASH_BAN: "banned",
        AdminAction.UNBAN_AVATAR_HASH: "",
        AdminAction.LIST_AVATAR_HASH_BANS: "limit result_count",
    },
    AdminTarget.PROFILE_SUBSTRING: {
        AdminAction.BAN_PROFILE_SUBSTRING: "reason",
        AdminAction.CHECK_PROFILE_SUBSTRING_BAN: "banned",
        AdminAction.UNBAN_PROFILE_SUBSTRING: "",
        AdminAction.LIST_PROFILE_SUBSTRING_BANS: "limit result_count",
    },
    AdminTarget.REPORT: {
        AdminAction.RESOLVE_REPORT: "public_comment notified",
        AdminAction.GET_REPORT: "found",
        AdminAction.LIST_REPORTS: "status limit result_count",
    },
    AdminTarget.GUILD_MEMBER: {
        AdminAction.FORCE_ADD_MEMBER: "guild_id",
        AdminAction.KICK_MEMBER: "guild_id",
        AdminAction.BAN_MEMBER: "guild_id reason duration_seconds delete_message_seconds",
        AdminAction.UNBAN_MEMBER: "guild_id",
    },
    AdminTarget.GUILD_EMOJI: {AdminAction.PURGE_GUILD_EMOJI: "guild_id name"},
    AdminTarget.GUILD_STICKER: {AdminAction.PURGE_GUILD_STICKER: "guild_id name"},
    AdminTarget.MESSAGE: {
        AdminAction.LIST_CHANNEL_MESSAGES: (
            "channel_id limit message_count around_message_id before_message_id after_message_id"
        ),
        AdminAction.GET_MESSAGE: "channel_id",
        AdminAction.LOOKUP_MESSAGE: "selector found channel_id",
        AdminAction.DELETE_MESSAGE: "channel_id author_id",
    },
    AdminTarget.APPLICATION: {
        AdminAction.GET_APPLICATION: "",
        AdminAction.TRANSFER_OWNERSHIP: "old_owner_id new_owner_id",
    },
    AdminTarget.INSTANCE: {
        AdminAction.GET_INSTANCE_CONFIG: "",
        AdminAction.UPDATE_INSTANCE_CONFIG: (
            "service_name service_description welcome_invite "
            "registration email_verification_required single_community_enabled single_community_guild_id "
            "direct_messages_disabled reset"
        ),
        AdminAction.GET_LIMIT_CONFIG: "",
        AdminAction.UPDATE_LIMIT_CONFIG: "limits reset",
        AdminAction.CLEAN_STORAGE: "job_id kinds dry_run",
    },
    AdminTarget.SYSTEM_DM: {AdminAction.SEND_SYSTEM_DM: "job_id requested_count everyone user_id"},
}
"""The keys of each action's metadata, by what its entries are about."""

ADMIN_ACTIONS: Final[Mapping[AdminAction, AdminActionKind]] = MappingProxyType(
    {
        action: AdminActionKind(target, frozenset(keys.split()))
        for target, actions in _KEYS.items()
        for action, keys in actions.items()
    }
)
"""The whole registry; every action is in it."""
