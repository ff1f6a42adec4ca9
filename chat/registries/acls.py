"""Access control list entries: what an account or an admin API key may do below /v1/admin (administration.md, ACLs).

An account reaches the Admin API with `admin:authenticate` or `*`; each operation there asks for more (access.md, Admin
credentials; administration.md, ACLs).
"""

from __future__ import annotations

import enum
from typing import Final


class Acl(enum.StrEnum):
    """One thing that an administrator may be allowed; the registry is closed."""

    EVERYTHING = "*"
    """Everything, the Admin API itself included."""

    ACL_SET_USER = "acl:set:user"
    """Change what an account may do as an administrator."""

    ADMIN_API_KEY_MANAGE = "admin_api_key:manage"
    """Make, list, change and delete one's own admin API keys."""

    APPLICATION_LOOKUP = "application:lookup"
    """Read applications."""

    APPLICATION_LIST_BY_OWNER = "application:list:by_owner"
    """List an account's applications."""

    APPLICATION_TRANSFER_OWNERSHIP = "application:transfer_ownership"
    """Give an application another owner."""

    ARCHIVE_TRIGGER_GUILD = "archive:trigger:guild"
    """Start an archive of a guild."""

    ARCHIVE_TRIGGER_USER = "archive:trigger:user"
    """Start an archive of an account."""

    ARCHIVE_VIEW_ALL = "archive:view_all"
    """Read archives that others have started."""

    ASSET_PURGE = "asset:purge"
    """Delete stored media."""

    AUDIT_LOG_VIEW = "audit_log:view"
    """Read the administrative audit log and private reasons."""

    ADMIN_AUTHENTICATE = "admin:authenticate"
    """Use the Admin API at all."""

    JOBS_VIEW = "jobs:view"
    """Read background jobs."""

    JOBS_CANCEL = "jobs:cancel"
    """Cancel background jobs."""

    BAN_EMAIL_ADD = "ban:email:add"
    """Block mail addresses."""

    BAN_EMAIL_CHECK = "ban:email:check"
    """See whether mail addresses are blocked."""

    BAN_EMAIL_REMOVE = "ban:email:remove"
    """Unblock mail addresses."""

    BAN_PHRASE_ADD = "ban:phrase:add"
    """Block phrases."""

    BAN_PHRASE_CHECK = "ban:phrase:check"
    """See whether phrases are blocked."""

    BAN_PHRASE_REMOVE = "ban:phrase:remove"
    """Unblock phrases."""

    BAN_IP_ADD = "ban:ip:add"
    """Block network addresses."""

    BAN_IP_CHECK = "ban:ip:check"
    """See whether network addresses are blocked."""

    BAN_IP_REMOVE = "ban:ip:remove"
    """Unblock network addresses."""

    BAN_URL_ADD = "ban:url:add"
    """Block addresses of pages."""

    BAN_URL_CHECK = "ban:url:check"
    """See whether addresses of pages are blocked."""

    BAN_URL_REMOVE = "ban:url:remove"
    """Unblock addresses of pages."""

    BAN_URL_DOMAIN_ADD = "ban:url_domain:add"
    """Block domains of pages."""

    BAN_URL_DOMAIN_CHECK = "ban:url_domain:check"
    """See whether domains of pages are blocked."""

    BAN_URL_DOMAIN_REMOVE = "ban:url_domain:remove"
    """Unblock domains of pages."""

    BAN_FILE_SHA_ADD = "ban:file_sha:add"
    """Block files."""

    BAN_FILE_SHA_CHECK = "ban:file_sha:check"
    """See whether files are blocked."""

    BAN_FILE_SHA_REMOVE = "ban:file_sha:remove"
    """Unblock files."""

    BAN_AVATAR_HASH_ADD = "ban:avatar_hash:add"
    """Block avatars."""

    BAN_AVATAR_HASH_CHECK = "ban:avatar_hash:check"
    """See whether avatars are blocked."""

    BAN_AVATAR_HASH_REMOVE = "ban:avatar_hash:remove"
    """Unblock avatars."""

    BAN_PROFILE_SUBSTRING_ADD = "ban:profile_substring:add"
    """Block parts of profiles."""

    BAN_PROFILE_SUBSTRING_CHECK = "ban:profile_substring:check"
    """See whether parts of profiles are blocked."""

    BAN_PROFILE_SUBSTRING_REMOVE = "ban:profile_substring:remove"
    """Unblock parts of profiles."""

    BULK_ADD_GUILD_MEMBERS = "bulk:add:guild_members"
    """Add many accounts to a guild."""

    BULK_DELETE_USERS = "bulk:delete:users"
    """Schedule the deletion of many accounts."""

    BULK_UPDATE_GUILD_FEATURES = "bulk:update:guild_features"
    """Change the features of many guilds."""

    BULK_UPDATE_USER_FLAGS = "bulk:update:user_flags"
    """Change the flags of many accounts."""

    CSAM_SUBMIT_NCMEC = "csam:submit_ncmec"
    """Report child abuse material to the authorities."""

    DISCOVERY_REMOVE = "discovery:remove"
    """Take a guild out of discovery."""

    DISCOVERY_REVIEW = "discovery:review"
    """Decide on applications for discovery."""

    GATEWAY_MEMORY_STATS = "gateway:memory_stats"
    """Read the gateway's memory figures."""

    GATEWAY_RELOAD_ALL = "gateway:reload_all"
    """Have the gateway read every guild anew."""

    GIFT_CODES_GENERATE = "gift_codes:generate"
    """Make gift codes."""

    GUILD_AUDIT_LOG_VIEW = "guild:audit_log:view"
    """Read a guild's audit log."""

    GUILD_BAN_MEMBER = "guild:ban_member"
    """Ban members of a guild."""

    GUILD_DELETE = "guild:delete"
    """Delete guilds."""

    GUILD_FORCE_ADD_MEMBER = "guild:force_add_member"
    """Add an account to a guild."""

    GUILD_KICK_MEMBER = "guild:kick_member"
    """Remove members of a guild."""

    GUILD_LIST_MEMBERS = "guild:list:members"
    """List the members of a guild."""

    GUILD_LOOKUP = "guild:lookup"
    """Read guilds."""

    GUILD_RELOAD = "guild:reload"
    """Have the gateway read a guild anew."""

    GUILD_SHUTDOWN = "guild:shutdown"
    """End a guild's process."""

    GUILD_TRANSFER_OWNERSHIP = "guild:transfer_ownership"
    """Give a guild another owner."""

    GUILD_UPDATE_FEATURES = "guild:update:features"
    """Change a guild's features."""

    GUILD_UPDATE_NAME = "guild:update:name"
    """Change a guild's name."""

    GUILD_UPDATE_SETTINGS = "guild:update:settings"
    """Change a guild's settings."""

    GUILD_UPDATE_VANITY = "guild:update:vanity"
    """Change a guild's custom invite code."""

    INSTANCE_CONFIG_UPDATE = "instance:config:update"
    """Change the instance's configuration."""

    INSTANCE_CONFIG_VIEW = "instance:config:view"
    """Read the instance's configuration."""

    INSTANCE_LIMIT_CONFIG_UPDATE = "instance:limit_config:update"
    """Change the instance's limits."""

    INSTANCE_LIMIT_CONFIG_VIEW = "instance:limit_config:view"
    """Read the instance's limits."""

    MESSAGE_DELETE_ALL = "message:delete_all"
    """Delete all messages of an account."""

    MESSAGE_DELETE = "message:delete"
    """Delete a message."""

    MESSAGE_LOOKUP = "message:lookup"
    """Read messages."""

    MESSAGE_SHRED = "message:shred"
    """Shred listed messages."""

    REPORT_RESOLVE = "report:resolve"
    """Close reports."""

    REPORT_VIEW = "report:view"
    """Read reports."""

    REPORT_VIEW_REPORTER_PII = "report:view:reporter_pii"
    """See who reported."""

    SYSTEM_DM_SEND = "system_dm:send"
    """Send messages from the system account."""

    SYSTEM_HEAP_SNAPSHOT = "system:heap_snapshot"
    """Take a picture of the server's memory."""

    USER_CANCEL_BULK_MESSAGE_DELETION = "user:cancel:bulk_message_deletion"
    """Cancel an account's own bulk deletion of messages."""

    USER_CREATE_PASSWORD_RESET_LINK = "user:create:password_reset_link"  # noqa: S105 - a name
    """Make a link that resets a password."""

    USER_DELETE = "user:delete"
    """Schedule and cancel the deletion of accounts."""

    USER_DELETE_RECOVERY_KIT = "user:delete:recovery_kit"
    """Delete an account's recovery kit."""

    USER_LIST_DM_CHANNELS = "user:list:dm_channels"
    """List an account's conversations."""

    USER_LIST_GUILDS = "user:list:guilds"
    """List an account's guilds."""

    USER_LIST_RELATIONSHIPS = "user:list:relationships"
    """List an account's relationships."""

    USER_LIST_SESSIONS = "user:list:sessions"
    """List an account's sign-ins."""

    USER_LOOKUP = "user:lookup"
    """Read accounts."""

    USER_REMOVE_RELATIONSHIP = "user:remove:relationship"
    """Remove relationships."""

    USER_VIEW_CONTACT_LOG = "user:view:contact_log"
    """Read how addresses and names of an account changed."""

    USER_VIEW_DOB = "user:view:dob"
    """See dates of birth."""

    USER_VIEW_EMAIL = "user:view:email"
    """See mail addresses."""

    USER_VIEW_IP = "user:view:ip"
    """See network addresses."""

    USER_TEMP_BAN = "user:temp_ban"
    """Ban accounts and lift bans."""

    USER_UPDATE_BOT_STATUS = "user:update:bot_status"
    """Mark accounts as bots and as system accounts."""

    USER_UPDATE_DOB = "user:update:dob"
    """Change dates of birth."""

    USER_UPDATE_EMAIL = "user:update:email"
    """Change and verify mail addresses."""

    USER_UPDATE_FLAGS = "user:update:flags"
    """Change flags of accounts, end their sign-ins."""

    USER_UPDATE_MFA = "user:update:mfa"
    """Read and remove second factors."""

    USER_UPDATE_PROFILE = "user:update:profile"
    """Clear fields of profiles."""

    USER_UPDATE_TRAITS = "user:update:traits"
    """Change traits of accounts."""

    USER_UPDATE_USERNAME = "user:update:username"
    """Change usernames."""

    VOICE_REGION_CREATE = "voice:region:create"
    """Add voice regions."""

    VOICE_REGION_DELETE = "voice:region:delete"
    """Remove voice regions."""

    VOICE_REGION_LIST = "voice:region:list"
    """List voice regions."""

    VOICE_REGION_UPDATE = "voice:region:update"
    """Change voice regions."""

    VOICE_SERVER_CREATE = "voice:server:create"
    """Add voice servers."""

    VOICE_SERVER_DELETE = "voice:server:delete"
    """Remove voice servers."""

    VOICE_SERVER_LIST = "voice:server:list"
    """List voice servers."""

    VOICE_SERVER_UPDATE = "voice:server:update"
    """Change voice servers."""


ACLS: Final[tuple[Acl, ...]] = tuple(Acl)
"""Every entry, in the order in which GET /v1/admin/acls tells them."""

ACLS_MAXIMUM: Final = 106
"""Entries that an account holds at most (administration.md, ACLs)."""
