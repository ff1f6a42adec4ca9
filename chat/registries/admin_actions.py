"""What administrators do, as the administrative audit log names it (administration.md, Audit entries).

One row per action: its name, the kind of thing that its entries are about, and the metadata that an entry may have.
`chat.domain.administration.admin_audit_log` writes nothing else.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import attrs


class AdminTarget(enum.StrEnum):
    """The `target_type` of an entry (administration.md, Audit entries)."""

    USER = "user"
    """An account."""

    GUILD = "guild"
    """A guild."""

    GUILD_MEMBER = "guild_member"
    """A member of a guild."""

    GUILD_EMOJI = "guild_emoji"
    """An emoji of a guild."""

    GUILD_STICKER = "guild_sticker"
    """A sticker of a guild."""

    MESSAGE = "message"
    """A message."""

    MESSAGE_DELETION = "message_deletion"
    """The deletion of all messages of an account."""

    MESSAGE_SHRED = "message_shred"
    """A job that deletes listed messages."""

    ASSET = "asset"
    """An image that the instance serves."""

    APPLICATION = "application"
    """An application."""

    REPORT = "report"
    """A report."""

    SEARCH_INDEX = "search_index"
    """The index that searches of messages use."""

    SYSTEM_DM = "system_dm"
    """A message from the instance to accounts."""

    VOICE_REGION = "voice_region"
    """A voice region."""

    VOICE_SERVER = "voice_server"
    """A voice server."""

    IP = "ip"
    """A network address."""

    EMAIL = "email"
    """A mail address."""

    EMAIL_DOMAIN = "email_domain"
    """The domain of mail addresses."""

    PHRASE = "phrase"
    """A phrase."""

    URL = "url"
    """The address of a page."""

    URL_DOMAIN = "url_domain"
    """The domain of pages."""

    FILE_SHA = "file_sha"
    """A file, by its digest."""

    AVATAR_HASH = "avatar_hash"
    """An avatar, by its hash."""

    PROFILE_SUBSTRING = "profile_substring"
    """A text in profiles."""

    INSTANCE = "instance"
    """The instance itself: its policy and its limits."""


@attrs.frozen
class AdminActionKind:
    """One row of the table: what entries of an action are about, and the keys of their metadata."""

    target: AdminTarget
    metadata: frozenset[str]


class AdminAction(enum.StrEnum):
    """The `action` of an entry."""

    SEARCH_USERS = "search_users"
    """Accounts were searched."""

    GET_USER = "get_user"
    """An account was looked at."""

    CHANGE_USERNAME = "change_username"
    """An account got another name or discriminator."""

    CHANGE_EMAIL = "change_email"
    """An account got another mail address."""

    VERIFY_EMAIL = "verify_email"
    """The mail address of an account was declared verified."""

    RESEND_VERIFICATION_EMAIL = "resend_verification_email"
    """The letter that verifies an address was sent again."""

    SEND_PASSWORD_RESET = "send_password_reset"  # noqa: S105 - the name of an action
    """The letter that resets a password was sent."""

    CREATE_PASSWORD_RESET_LINK = "create_password_reset_link"  # noqa: S105
    """A link that resets a password was made."""

    REVOKE_RECOVERY_KIT = "revoke_recovery_kit"
    """A recovery kit was taken away."""

    CHANGE_DOB = "change_dob"
    """The date of birth of an account was changed."""

    CLEAR_FIELDS = "clear_fields"
    """Fields of a profile were emptied."""

    SET_BOT_STATUS = "set_bot_status"
    """An account was made a bot, or a person again."""

    SET_SYSTEM_STATUS = "set_system_status"
    """An account was made the system's, or ordinary again."""

    SET_ACLS = "set_acls"
    """An account got other administrative permissions."""

    SET_TRAITS = "set_traits"
    """An account got other traits."""

    UPDATE_FLAGS = "update_flags"
    """Flags of an account were set and cleared."""

    UPDATE_PREMIUM_FLAGS = "update_premium_flags"
    """Premium flags of an account were set and cleared."""

    LIST_USER_STORE_PURCHASES = "list_user_store_purchases"
    """The purchases of an account were listed."""

    REFRESH_STORE_PURCHASES = "refresh_store_purchases"
    """The purchases of an account were asked for at the store again."""

    TEMP_BAN = "temp_ban"
    """An account was banned, for hours or for good."""

    UNBAN = "unban"
    """The ban of an account was lifted."""

    ANNOTATE_BAN = "annotate_ban"
    """A note was added to the ban of an account."""

    SCHEDULE_DELETION = "schedule_deletion"
    """The erasure of an account was scheduled or replaced."""

    AUTO_RESOLVE_REPORTS_ON_DELETION = "auto_resolve_reports_on_deletion"
    """Reports against an account were resolved by its deletion."""

    CANCEL_DELETION = "cancel_deletion"
    """The scheduled erasure of an account was taken back."""

    LIST_USER_GUILDS = "list_user_guilds"
    """The guilds of an account were listed."""

    LIST_USER_DM_CHANNELS = "list_user_dm_channels"
    """The conversations of an account were listed."""

    LIST_USER_APPLICATIONS = "list_user_applications"
    """The applications of an account were listed."""

    LIST_USER_RELATIONSHIPS = "list_user_relationships"
    """The relationships of an account were listed."""

    REMOVE_RELATIONSHIPS_BY_CATEGORY = "remove_relationships_by_category"
    """All relationships of a kind were taken from an account."""

    REMOVE_RELATIONSHIP = "remove_relationship"
    """One relationship was taken from an account."""

    LIST_USER_SESSIONS = "list_user_sessions"
    """The sign-ins of an account were listed."""

    TERMINATE_SESSIONS = "terminate_sessions"
    """Every sign-in of an account was ended."""

    LIST_WEBAUTHN_CREDENTIALS = "list_webauthn_credentials"
    """The passkeys of an account were listed."""

    DELETE_WEBAUTHN_CREDENTIAL = "delete_webauthn_credential"
    """A passkey of an account was deleted."""

    DISABLE_MFA = "disable_mfa"
    """Every second factor was taken from an account."""

    CANCEL_BULK_MESSAGE_DELETION = "cancel_bulk_message_deletion"
    """The deletion of its messages that an account asked for was cancelled."""

    TRIGGER_USER_ARCHIVE = "trigger_user_archive"
    """An archive of an account was ordered."""

    TRIGGER_GUILD_ARCHIVE = "trigger_guild_archive"
    """An archive of a guild was ordered."""

    LIST_USER_CHANGE_LOG = "list_user_change_log"
    """The changes of an account's name and address were listed."""

    DELETE_ALL_USER_MESSAGES_DRY_RUN = "delete_all_user_messages_dry_run"
    """The messages of an account were counted before their deletion."""

    DELETE_ALL_USER_MESSAGES = "delete_all_user_messages"
    """All messages of an account were deleted."""

    QUEUE_MESSAGE_SHRED = "queue_message_shred"
    """The deletion of listed messages was ordered."""

    BULK_UPDATE_USER_FLAGS = "bulk_update_user_flags"
    """One change of flags was ordered for many accounts."""

    BULK_UPDATE_GUILD_FEATURES = "bulk_update_guild_features"
    """One change of features was ordered for many guilds."""

    BULK_ADD_GUILD_MEMBERS = "bulk_add_guild_members"
    """Many accounts were ordered into a guild."""

    BULK_SCHEDULE_DELETION = "bulk_schedule_deletion"
    """The erasure of many accounts was ordered to be scheduled."""

    BAN_EMAIL = "ban_email"
    """A mail address was blocked."""

    CHECK_EMAIL_BAN = "check_email_ban"
    """A mail address was looked up in the blocklist."""

    UNBAN_EMAIL = "unban_email"
    """A mail address was allowed again."""

    LIST_EMAIL_BANS = "list_email_bans"
    """Blocked mail addresses were listed."""

    BAN_IP = "ban_ip"
    """A network was blocked."""

    CHECK_IP_BAN = "check_ip_ban"
    """A network was looked up in the blocklist."""

    UNBAN_IP = "unban_ip"
    """A network was allowed again."""

    LIST_IP_BANS = "list_ip_bans"
    """Blocked networks were listed."""

    BAN_PHRASE = "ban_phrase"
    """A phrase was blocked."""

    CHECK_PHRASE_BAN = "check_phrase_ban"
    """A phrase was looked up in the blocklist."""

    UNBAN_PHRASE = "unban_phrase"
    """A phrase was allowed again."""

    LIST_PHRASE_BANS = "list_phrase_bans"
    """Blocked phrases were listed."""

    BAN_URL = "ban_url"
    """The address of a page was blocked."""

    CHECK_URL_BAN = "check_url_ban"
    """The address of a page was looked up in the blocklist."""

    UNBAN_URL = "unban_url"
    """The address of a page was allowed again."""

    LIST_URL_BANS = "list_url_bans"
    """Blocked pages were listed."""

    BAN_URL_DOMAIN = "ban_url_domain"
    """The domain of pages was blocked."""

    CHECK_URL_DOMAIN_BAN = "check_url_domain_ban"
    """The domain of pages was looked up in the blocklist."""

    UNBAN_URL_DOMAIN = "unban_url_domain"
    """The domain of pages was allowed again."""

    LIST_URL_DOMAIN_BANS = "list_url_domain_bans"
    """Blocked domains of pages were listed."""

    BAN_FILE_SHA = "ban_file_sha"
    """A file was blocked."""

    CHECK_FILE_SHA_BAN = "check_file_sha_ban"
    """A file was looked up in the blocklist."""

    UNBAN_FILE_SHA = "unban_file_sha"
    """A file was allowed again."""

    LIST_FILE_SHA_BANS = "list_file_sha_bans"
    """Blocked files were listed."""

    BAN_AVATAR_HASH = "ban_avatar_hash"
    """An avatar was blocked."""

    CHECK_AVATAR_HASH_BAN = "check_avatar_hash_ban"
    """An avatar was looked up in the blocklist."""

    UNBAN_AVATAR_HASH = "unban_avatar_hash"
    """An avatar was allowed again."""

    LIST_AVATAR_HASH_BANS = "list_avatar_hash_bans"
    """Blocked avatars were listed."""

    BAN_PROFILE_SUBSTRING = "ban_profile_substring"
    """A text in profiles was blocked."""

    CHECK_PROFILE_SUBSTRING_BAN = "check_profile_substring_ban"
    """A text in profiles was looked up in the blocklist."""

    UNBAN_PROFILE_SUBSTRING = "unban_profile_substring"
    """A text in profiles was allowed again."""

    LIST_PROFILE_SUBSTRING_BANS = "list_profile_substring_bans"
    """Blocked texts in profiles were listed."""

    RESOLVE_REPORT = "resolve_report"
    """A report was resolved."""

    GET_REPORT = "get_report"
    """A report was looked at."""

    LIST_REPORTS = "list_reports"
    """Reports were listed."""

    LIST_DISCOVERY_APPLICATIONS = "list_discovery_applications"
    """Applications for public discovery were listed."""

    APPROVE_DISCOVERY = "approve_discovery"
    """A guild was taken into public discovery."""

    REJECT_DISCOVERY = "reject_discovery"
    """A guild's application for public discovery was turned down."""

    REMOVE_FROM_DISCOVERY = "remove_from_discovery"
    """A guild was taken out of public discovery."""

    SEARCH_GUILDS = "search_guilds"
    """Guilds were searched."""

    GET_GUILD = "get_guild"
    """A guild was looked at."""

    UPDATE_NAME = "update_name"
    """A guild got another name."""

    UPDATE_VANITY = "update_vanity"
    """A guild got another custom invite code, or lost it."""

    TRANSFER_GUILD_OWNERSHIP = "transfer_guild_ownership"
    """A guild was handed over to another member."""

    UPDATE_FEATURES = "update_features"
    """A guild got features, or lost some."""

    UPDATE_SETTINGS = "update_settings"
    """Settings of a guild were changed."""

    CLEAR_GUILD_FIELDS = "clear_guild_fields"
    """Images of a guild were taken away."""

    DELETE_GUILD = "delete_guild"
    """A guild was deleted."""

    RELOAD_GUILD = "reload_guild"
    """The state of a guild was read from the store again."""

    SHUTDOWN_GUILD = "shutdown_guild"
    """The state of a guild was dropped from memory."""

    LIST_GUILD_MEMBERS = "list_guild_members"
    """The members of a guild were listed."""

    LIST_GUILD_AUDIT_LOG = "list_guild_audit_log"
    """The audit log of a guild was read."""

    LIST_GUILD_EMOJIS = "list_guild_emojis"
    """The emojis of a guild were listed."""

    LIST_GUILD_STICKERS = "list_guild_stickers"
    """The stickers of a guild were listed."""

    FORCE_ADD_MEMBER = "force_add_member"
    """An account was made a member of a guild."""

    KICK_MEMBER = "kick_member"
    """A member was removed from a guild."""

    BAN_MEMBER = "ban_member"
    """An account was kept out of a guild."""

    UNBAN_MEMBER = "unban_member"
    """An account may come into a guild again."""

    PURGE_GUILD_EMOJI = "purge_guild_emoji"
    """An emoji of a guild was deleted with its image."""

    PURGE_GUILD_STICKER = "purge_guild_sticker"
    """A sticker of a guild was deleted with its image."""

    RELOAD_GUILDS = "reload_guilds"
    """The states of guilds were read from the store again."""

    LIST_CHANNEL_MESSAGES = "list_channel_messages"
    """Messages of a channel were listed."""

    GET_MESSAGE = "get_message"
    """A message was looked at."""

    LOOKUP_MESSAGE = "lookup_message"
    """A message was looked for."""

    DELETE_MESSAGE = "delete_message"
    """A message was deleted."""

    GET_APPLICATION = "get_application"
    """An application was looked at."""

    TRANSFER_OWNERSHIP = "transfer_ownership"
    """An application was given to another owner."""

    GET_INSTANCE_CONFIG = "get_instance_config"
    """The policy of the instance was read."""

    UPDATE_INSTANCE_CONFIG = "update_instance_config"
    """The policy of the instance was changed."""

    GET_LIMIT_CONFIG = "get_limit_config"
    """The limits of the instance were read."""

    UPDATE_LIMIT_CONFIG = "update_limit_config"
    """Limits of the instance were changed."""

    LIST_REGISTRATIONS = "list_registrations"
    """Registrations that wait were listed."""

    APPROVE_REGISTRATION = "approve_registration"
    """A registration was approved."""

    REJECT_REGISTRATION = "reject_registration"
    """A registration was turned down."""

    SEND_SYSTEM_DM = "send_system_dm"
    """A message from the instance to accounts was ordered."""


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
        AdminAction.TRIGGER_GUILD_ARCHIVE: _row("archive_id", "include_attachments", target=AdminTarget.GUILD),
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
        AdminAction.BULK_UPDATE_USER_FLAGS: _row("job_id", "user_count", "add_flags", "remove_flags"),
        AdminAction.BULK_UPDATE_GUILD_FEATURES: _row(
            "job_id", "guild_count", "add_features", "remove_features", target=AdminTarget.GUILD
        ),
        AdminAction.BULK_ADD_GUILD_MEMBERS: _row("job_id", "user_count", target=AdminTarget.GUILD),
        AdminAction.BULK_SCHEDULE_DELETION: _row(
            "job_id", "user_count", "reason_code", "public_reason", "days", "notify_user"
        ),
        AdminAction.BAN_EMAIL: _row("reason", target=AdminTarget.EMAIL),
        AdminAction.CHECK_EMAIL_BAN: _row("banned", target=AdminTarget.EMAIL),
        AdminAction.UNBAN_EMAIL: _row(target=AdminTarget.EMAIL),
        AdminAction.LIST_EMAIL_BANS: _row("limit", "result_count", target=AdminTarget.EMAIL),
        AdminAction.BAN_IP: _row("reason", target=AdminTarget.IP),
        AdminAction.CHECK_IP_BAN: _row("banned", target=AdminTarget.IP),
        AdminAction.UNBAN_IP: _row(target=AdminTarget.IP),
        AdminAction.LIST_IP_BANS: _row("limit", "result_count", target=AdminTarget.IP),
        AdminAction.BAN_PHRASE: _row("reason", target=AdminTarget.PHRASE),
        AdminAction.CHECK_PHRASE_BAN: _row("banned", target=AdminTarget.PHRASE),
        AdminAction.UNBAN_PHRASE: _row(target=AdminTarget.PHRASE),
        AdminAction.LIST_PHRASE_BANS: _row("limit", "result_count", target=AdminTarget.PHRASE),
        AdminAction.BAN_URL: _row("reason", target=AdminTarget.URL),
        AdminAction.CHECK_URL_BAN: _row("banned", target=AdminTarget.URL),
        AdminAction.UNBAN_URL: _row(target=AdminTarget.URL),
        AdminAction.LIST_URL_BANS: _row("limit", "result_count", target=AdminTarget.URL),
        AdminAction.BAN_URL_DOMAIN: _row("reason", target=AdminTarget.URL_DOMAIN),
        AdminAction.CHECK_URL_DOMAIN_BAN: _row("banned", target=AdminTarget.URL_DOMAIN),
        AdminAction.UNBAN_URL_DOMAIN: _row(target=AdminTarget.URL_DOMAIN),
        AdminAction.LIST_URL_DOMAIN_BANS: _row("limit", "result_count", target=AdminTarget.URL_DOMAIN),
        AdminAction.BAN_FILE_SHA: _row("reason", target=AdminTarget.FILE_SHA),
        AdminAction.CHECK_FILE_SHA_BAN: _row("banned", target=AdminTarget.FILE_SHA),
        AdminAction.UNBAN_FILE_SHA: _row(target=AdminTarget.FILE_SHA),
        AdminAction.LIST_FILE_SHA_BANS: _row("limit", "result_count", target=AdminTarget.FILE_SHA),
        AdminAction.BAN_AVATAR_HASH: _row("reason", target=AdminTarget.AVATAR_HASH),
        AdminAction.CHECK_AVATAR_HASH_BAN: _row("banned", target=AdminTarget.AVATAR_HASH),
        AdminAction.UNBAN_AVATAR_HASH: _row(target=AdminTarget.AVATAR_HASH),
        AdminAction.LIST_AVATAR_HASH_BANS: _row("limit", "result_count", target=AdminTarget.AVATAR_HASH),
        AdminAction.BAN_PROFILE_SUBSTRING: _row("reason", target=AdminTarget.PROFILE_SUBSTRING),
        AdminAction.CHECK_PROFILE_SUBSTRING_BAN: _row("banned", target=AdminTarget.PROFILE_SUBSTRING),
        AdminAction.UNBAN_PROFILE_SUBSTRING: _row(target=AdminTarget.PROFILE_SUBSTRING),
        AdminAction.LIST_PROFILE_SUBSTRING_BANS: _row("limit", "result_count", target=AdminTarget.PROFILE_SUBSTRING),
        AdminAction.RESOLVE_REPORT: _row("public_comment", "notified", target=AdminTarget.REPORT),
        AdminAction.GET_REPORT: _row("found", target=AdminTarget.REPORT),
        AdminAction.LIST_REPORTS: _row("status", "limit", "result_count", target=AdminTarget.REPORT),
        AdminAction.LIST_DISCOVERY_APPLICATIONS: _row(
            "status", "limit", "offset", "result_count", target=AdminTarget.GUILD
        ),
        AdminAction.APPROVE_DISCOVERY: _row("reason", target=AdminTarget.GUILD),
        AdminAction.REJECT_DISCOVERY: _row("reason", target=AdminTarget.GUILD),
        AdminAction.REMOVE_FROM_DISCOVERY: _row("reason", target=AdminTarget.GUILD),
        AdminAction.SEARCH_GUILDS: _row(
            "has_query", "limit", "offset", "result_count", "total", target=AdminTarget.GUILD
        ),
        AdminAction.GET_GUILD: _row(target=AdminTarget.GUILD),
        AdminAction.UPDATE_NAME: _row("old_name", "new_name", target=AdminTarget.GUILD),
        AdminAction.UPDATE_VANITY: _row("old_vanity_url_code", "new_vanity_url_code", target=AdminTarget.GUILD),
        AdminAction.TRANSFER_GUILD_OWNERSHIP: _row("old_owner_id", "new_owner_id", target=AdminTarget.GUILD),
        AdminAction.UPDATE_FEATURES: _row("add_features", "remove_features", "new_features", target=AdminTarget.GUILD),
        AdminAction.UPDATE_SETTINGS: _row(
            "content_warning_level",
            "content_warning_text",
            "default_message_notifications",
            "disabled_operations",
            "explicit_content_filter",
            "mfa_level",
            "nsfw",
            "nsfw_level",
            "verification_level",
            target=AdminTarget.GUILD,
        ),
        AdminAction.CLEAR_GUILD_FIELDS: _row("fields", target=AdminTarget.GUILD),
        AdminAction.DELETE_GUILD: _row("name", "owner_id", "member_count", target=AdminTarget.GUILD),
        AdminAction.RELOAD_GUILD: _row(target=AdminTarget.GUILD),
        AdminAction.SHUTDOWN_GUILD: _row(target=AdminTarget.GUILD),
        AdminAction.LIST_GUILD_MEMBERS: _row(
            "has_query", "limit", "offset", "result_count", "total", target=AdminTarget.GUILD
        ),
        AdminAction.LIST_GUILD_AUDIT_LOG: _row(
            "limit",
            "entry_count",
            "before_entry_id",
            "after_entry_id",
            "user_id",
            "action_type",
            target=AdminTarget.GUILD,
        ),
        AdminAction.LIST_GUILD_EMOJIS: _row("result_count", target=AdminTarget.GUILD),
        AdminAction.LIST_GUILD_STICKERS: _row("result_count", target=AdminTarget.GUILD),
        AdminAction.FORCE_ADD_MEMBER: _row("guild_id", target=AdminTarget.GUILD_MEMBER),
        AdminAction.KICK_MEMBER: _row("guild_id", target=AdminTarget.GUILD_MEMBER),
        AdminAction.BAN_MEMBER: _row(
            "guild_id", "reason", "duration_seconds", "delete_message_seconds", target=AdminTarget.GUILD_MEMBER
        ),
        AdminAction.UNBAN_MEMBER: _row("guild_id", target=AdminTarget.GUILD_MEMBER),
        AdminAction.PURGE_GUILD_EMOJI: _row("guild_id", "name", target=AdminTarget.GUILD_EMOJI),
        AdminAction.PURGE_GUILD_STICKER: _row("guild_id", "name", target=AdminTarget.GUILD_STICKER),
        AdminAction.RELOAD_GUILDS: _row("guild_count", "all", target=AdminTarget.GUILD),
        AdminAction.LIST_CHANNEL_MESSAGES: _row(
            "channel_id",
            "limit",
            "message_count",
            "around_message_id",
            "before_message_id",
            "after_message_id",
            target=AdminTarget.MESSAGE,
        ),
        AdminAction.GET_MESSAGE: _row("channel_id", target=AdminTarget.MESSAGE),
        AdminAction.LOOKUP_MESSAGE: _row("selector", "found", "channel_id", target=AdminTarget.MESSAGE),
        AdminAction.DELETE_MESSAGE: _row("channel_id", "author_id", target=AdminTarget.MESSAGE),
        AdminAction.GET_APPLICATION: _row(target=AdminTarget.APPLICATION),
        AdminAction.TRANSFER_OWNERSHIP: _row("old_owner_id", "new_owner_id", target=AdminTarget.APPLICATION),
        AdminAction.GET_INSTANCE_CONFIG: _row(target=AdminTarget.INSTANCE),
        AdminAction.UPDATE_INSTANCE_CONFIG: _row(
            "registration",
            "email_verification_required",
            "single_community_enabled",
            "single_community_guild_id",
            "direct_messages_disabled",
            "reset",
            target=AdminTarget.INSTANCE,
        ),
        AdminAction.GET_LIMIT_CONFIG: _row(target=AdminTarget.INSTANCE),
        AdminAction.UPDATE_LIMIT_CONFIG: _row("limits", "reset", target=AdminTarget.INSTANCE),
        AdminAction.LIST_REGISTRATIONS: _row("result_count"),
        AdminAction.APPROVE_REGISTRATION: _row(),
        AdminAction.REJECT_REGISTRATION: _row(),
        AdminAction.SEND_SYSTEM_DM: _row(
            "job_id", "requested_count", "everyone", "user_id", target=AdminTarget.SYSTEM_DM
        ),
    }
)
"""The whole registry; every action has its row."""
