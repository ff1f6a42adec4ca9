"""Accounts, their settings and push subscriptions (accounts.md, User objects)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.shapes import (
    ASSET,
    BITS,
    BOOLEAN,
    COLOR,
    COUNT,
    EMAIL,
    INTEGER,
    NULL,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    TRUE,
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
from chat.registries.acls import Acl
from chat.registries.jobs import ArchiveState
from chat.registries.statuses import Status
from chat.registries.user_flags import AuthenticatorType

DISCRIMINATOR: Final = text(pattern="^[0-9]{4}$")
NAME: Final = text(256)

PARTIAL_USER: Final = wire_object(
    "PartialUser",
    {
        "id": SNOWFLAKE,
        "username": NAME,
        "discriminator": DISCRIMINATOR,
        "global_name": nullable(NAME),
        "avatar": nullable(ASSET),
        "avatar_color": nullable(COLOR),
        "flags": integer(0),
    },
    optional={"bot": TRUE, "system": TRUE, "mention_flags": COUNT},
    description="An account as others see it; a deleted one is shown as the placeholder DeletedUser#0000.",
)

PREMIUM: Final = {
    "premium_type": nullable(COUNT),
    "premium_since": nullable(TIMESTAMP),
    "premium_until": nullable(TIMESTAMP),
    "premium_will_cancel": BOOLEAN,
    "premium_billing_cycle": nullable(TEXT),
    "premium_lifetime_sequence": nullable(INTEGER),
    "premium_grace_ends_at": nullable(TIMESTAMP),
    "premium_discriminator": BOOLEAN,
    "premium_badge_hidden": BOOLEAN,
    "premium_badge_masked": BOOLEAN,
    "premium_badge_timestamp_hidden": BOOLEAN,
    "premium_badge_sequence_hidden": BOOLEAN,
    "premium_purchase_disabled": BOOLEAN,
    "premium_enabled_override": BOOLEAN,
    "premium_perks_disabled": BOOLEAN,
    "has_dismissed_premium_onboarding": BOOLEAN,
    "has_ever_purchased": BOOLEAN,
    "has_unread_gift_inventory": BOOLEAN,
    "unread_gift_inventory_count": COUNT,
}

PENDING_MESSAGE_DELETION: Final = wire_object(
    "PendingMessageDeletion",
    {"scheduled_at": TIMESTAMP, "channel_count": COUNT, "message_count": COUNT},
    description="When an account's own messages go, and how many there were in how many channels when it asked.",
)

OWN_ARCHIVE: Final = wire_object(
    "OwnArchive",
    {
        "id": SNOWFLAKE,
        "harvest_id": SNOWFLAKE,
        "status": member_of(ArchiveState),
        "include_attachments": BOOLEAN,
        "requested_at": TIMESTAMP,
        "created_at": TIMESTAMP,
        "started_at": nullable(TIMESTAMP),
        "completed_at": nullable(TIMESTAMP),
        "failed_at": nullable(TIMESTAMP),
        "error_message": nullable(TEXT),
        "file_size": nullable(BITS),
        "progress_percent": integer(0, 100),
        "progress_step": nullable(TEXT),
        "download_url_expires_at": nullable(TIMESTAMP),
        "expires_at": TIMESTAMP,
        "next_at": TIMESTAMP,
    },
)

PRIVATE_USER: Final = PARTIAL_USER.extended(
    "PrivateUser",
    {
        "bot": BOOLEAN,
        "is_staff": BOOLEAN,
        "acls": listed(TEXT),
        "traits": listed(TEXT),
        "email": nullable(EMAIL),
        "phone": NULL,
        "has_verified_phone": BOOLEAN,
        "bio": nullable(TEXT),
        "pronouns": nullable(TEXT),
        "accent_color": nullable(COLOR),
        "banner": nullable(ASSET),
        "banner_color": nullable(COLOR),
        "mfa_enabled": BOOLEAN,
        "verified": BOOLEAN,
        "nsfw_allowed": BOOLEAN,
        "required_actions": listed(TEXT),
        "password_last_changed_at": nullable(TIMESTAMP),
        "last_voice_activity_sharing_change_at": nullable(TIMESTAMP),
        "pending_bulk_message_deletion": nullable(PENDING_MESSAGE_DELETION),
        "terms_agreed_at": nullable(TIMESTAMP),
        "privacy_agreed_at": nullable(TIMESTAMP),
        **PREMIUM,
    },
    optional={
        "email_bounced": BOOLEAN,
        "authenticator_types": listed(member_of(AuthenticatorType)),
        "age_verified_adult": TRUE,
        "timezone": nullable(TEXT),
        "timezone_privacy_flags": COUNT,
    },
    description="An account as it sees itself. An OAuth2 application sees empty lists, false and null in the place of "
    "what is private.",
)

ADMIN_USER: Final = wire_object(
    "AdminUser",
    {
        "id": SNOWFLAKE,
        "username": NAME,
        "discriminator": integer(0, 9_999),
        "global_name": nullable(NAME),
        "bot": BOOLEAN,
        "system": BOOLEAN,
        "flags": BITS,
        "premium_flags": COUNT,
        "avatar": nullable(ASSET),
        "banner": nullable(ASSET),
        "bio": nullable(TEXT),
        "pronouns": nullable(TEXT),
        "accent_color": nullable(COLOR),
        "email": nullable(EMAIL),
        "email_verified": BOOLEAN,
        "email_bounced": BOOLEAN,
        "date_of_birth": nullable(TEXT),
        "locale": nullable(TEXT),
        "premium_type": nullable(COUNT),
        "premium_since": nullable(TIMESTAMP),
        "premium_until": nullable(TIMESTAMP),
        "premium_grace_ends_at": nullable(TIMESTAMP),
        "premium_lifetime_sequence": nullable(INTEGER),
        "temp_banned_until": nullable(TIMESTAMP),
        "pending_deletion_at": nullable(TIMESTAMP),
        "pending_bulk_message_deletion_at": nullable(TIMESTAMP),
        "deletion_reason_code": nullable(INTEGER),
        "deletion_public_reason": nullable(TEXT),
        "deletion_audit_log_reason": nullable(TEXT),
        "deletion_scheduled_by": nullable(SNOWFLAKE),
        "deletion_scheduled_at": nullable(TIMESTAMP),
        "acls": listed(member_of(Acl)),
        "traits": listed(TEXT, maximum=100),
        "has_totp": BOOLEAN,
        "authenticator_types": listed(member_of(AuthenticatorType)),
        "last_active_at": nullable(TIMESTAMP),
        "last_active_ip": nullable(TEXT),
        "last_active_ip_reverse": nullable(TEXT),
        "last_active_location": nullable(TEXT),
    },
    description="An account as the administration sees it.",
)

RELATIONSHIP: Final = wire_object(
    "Relationship",
    {
        "id": SNOWFLAKE,
        "type": choice(1, 2, 3, 4),
        "user": PARTIAL_USER,
        "nickname": nullable(TEXT),
        "share_voice_activity": BOOLEAN,
        "friend_shares_voice_activity": BOOLEAN,
    },
    optional={"since": TIMESTAMP},
    description="What the caller has with another account: 1 friend, 2 blocked, 3 asked by it, 4 asked by the caller.",
)

GUILD_FOLDER: Final = wire_object(
    "GuildFolder",
    {
        "id": integer(-1),
        "name": nullable(text(100)),
        "color": nullable(COLOR),
        "flags": COUNT,
        "icon": text(64),
        "guild_ids": listed(SNOWFLAKE),
    },
)

CUSTOM_STATUS: Final = wire_object(
    "CustomStatus",
    {
        "text": nullable(TEXT),
        "expires_at": nullable(TIMESTAMP),
        "emoji_id": nullable(SNOWFLAKE),
        "emoji_name": nullable(TEXT),
        "emoji_animated": BOOLEAN,
    },
)

USER_SETTINGS: Final = wire_object(
    "UserSettings",
    {
        "status": member_of(Status),
        "status_resets_at": nullable(TIMESTAMP),
        "status_resets_to": nullable(member_of(Status)),
        "theme": choice("dark", "dark_legacy", "coal", "light", "system"),
        "locale": TEXT,
        "restricted_guilds": listed(SNOWFLAKE),
        "bot_restricted_guilds": listed(SNOWFLAKE),
        "default_guilds_restricted": BOOLEAN,
        "bot_default_guilds_restricted": BOOLEAN,
        "inline_attachment_media": BOOLEAN,
        "inline_embed_media": BOOLEAN,
        "gif_auto_play": BOOLEAN,
        "render_embeds": BOOLEAN,
        "render_reactions": BOOLEAN,
        "animate_emoji": BOOLEAN,
        "animate_stickers": integer(0, 2),
        "render_spoilers": integer(0, 2),
        "message_display_compact": BOOLEAN,
        "friend_source_flags": COUNT,
        "incoming_call_flags": COUNT,
        "group_dm_add_permission_flags": COUNT,
        "guild_folders": listed(GUILD_FOLDER),
        "guild_positions": listed(SNOWFLAKE),
        "custom_status": nullable(CUSTOM_STATUS),
        "afk_timeout": COUNT,
        "time_format": integer(0, 2),
        "developer_mode": BOOLEAN,
        "trusted_domains": listed(TEXT),
        "default_hide_muted_channels": BOOLEAN,
        "sensitive_content_friend_dm_filter": integer(0, 2),
        "sensitive_content_non_friend_dm_filter": integer(0, 2),
        "sensitive_content_guild_filter": integer(0, 2),
        "suppress_unprivileged_self_mentions": BOOLEAN,
        "suppress_unprivileged_self_mentions_bypass_user_ids": listed(SNOWFLAKE),
        "staff_dm_access_user_ids": listed(SNOWFLAKE),
        "synced_preferences": TEXT,
        "profile_privacy": integer(0, 2),
        "default_share_voice_activity": BOOLEAN,
    },
)

MUTE_CONFIG: Final = wire_object("MuteConfig", {"end_time": nullable(TIMESTAMP), "selected_time_window": integer(-1)})

USER_GUILD_SETTINGS: Final = wire_object(
    "UserGuildSettings",
    {
        "guild_id": nullable(SNOWFLAKE),
        "message_notifications": integer(0, 3),
        "muted": BOOLEAN,
        "mute_config": nullable(MUTE_CONFIG),
        "mobile_push": BOOLEAN,
        "suppress_everyone": BOOLEAN,
        "suppress_roles": BOOLEAN,
        "hide_muted_channels": BOOLEAN,
        "channel_overrides": nullable(
            mapped(
                record(
                    {
                        "collapsed": BOOLEAN,
                        "message_notifications": integer(0, 3),
                        "muted": BOOLEAN,
                        "mute_config": nullable(MUTE_CONFIG),
                    },
                    optional={"unread_badges": integer(0, 3)},
                ),
                names=SNOWFLAKE,
            )
        ),
        "unread_badges": nullable(integer(0, 3)),
        "version": COUNT,
    },
    description="What an account wants to be told of a guild; `guild_id` null: of conversations outside of guilds.",
)


_SUBSCRIPTION_ID: Final = text(pattern="^[0-9a-f]{32}$")
_PUSH_SUBSCRIPTION: Final = wire_object(
    "PushSubscription", {"subscription_id": _SUBSCRIPTION_ID, "user_agent": nullable(TEXT)}
)

NOTIFICATION_WORDS: Final = record({"words": listed(text(50, minimum=1), maximum=50)})

PUSH_SUBSCRIBED: Final = record({"subscription_id": _SUBSCRIPTION_ID})
PUSH_SUBSCRIPTIONS: Final = record({"subscriptions": listed(_PUSH_SUBSCRIPTION)})
PUSH_UNSUBSCRIBED: Final = record({"success": choice(True)})
