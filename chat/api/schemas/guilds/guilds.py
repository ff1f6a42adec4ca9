"""Guilds and what belongs to them (guilds.md, Guild object)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.accounts import PARTIAL_USER
from chat.api.schemas.guilds.channels import GUILD_CHANNEL, THREAD
from chat.api.schemas.shapes import (
    ANYTHING,
    ASSET,
    BITS,
    BOOLEAN,
    COLOR,
    COUNT,
    OPEN_OBJECT,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    either,
    integer,
    listed,
    member_of,
    nullable,
    record,
    text,
    wire_object,
)
from chat.registries.audit_actions import AuditAction
from chat.registries.channel_types import ChannelType
from chat.registries.guild_values import (
    DefaultMessageNotifications,
    DiscoveryCategory,
    DiscoveryStatus,
    GuildExplicitContentFilter,
    JoinSource,
    MfaLevel,
    NsfwLevel,
    SplashCardAlignment,
    VerificationLevel,
)

_ASSETS: Final = {
    "icon": nullable(ASSET),
    "banner": nullable(ASSET),
    "banner_width": nullable(COUNT),
    "banner_height": nullable(COUNT),
    "splash": nullable(ASSET),
    "splash_width": nullable(COUNT),
    "splash_height": nullable(COUNT),
    "splash_card_alignment": member_of(SplashCardAlignment),
    "embed_splash": nullable(ASSET),
    "embed_splash_width": nullable(COUNT),
    "embed_splash_height": nullable(COUNT),
}

GUILD: Final = wire_object(
    "Guild",
    {
        "id": SNOWFLAKE,
        "name": text(100),
        **_ASSETS,
        "vanity_url_code": nullable(TEXT),
        "owner_id": SNOWFLAKE,
        "system_channel_id": nullable(SNOWFLAKE),
        "system_channel_flags": COUNT,
        "rules_channel_id": nullable(SNOWFLAKE),
        "afk_channel_id": nullable(SNOWFLAKE),
        "afk_timeout": COUNT,
        "features": listed(TEXT),
        "verification_level": member_of(VerificationLevel),
        "mfa_level": member_of(MfaLevel),
        "nsfw_level": member_of(NsfwLevel),
        "nsfw": BOOLEAN,
        "content_warning_level": COUNT,
        "content_warning_text": nullable(TEXT),
        "explicit_content_filter": member_of(GuildExplicitContentFilter),
        "default_message_notifications": member_of(DefaultMessageNotifications),
        "disabled_operations": COUNT,
        "message_history_cutoff": nullable(TIMESTAMP),
    },
)

PARTIAL_GUILD: Final = wire_object(
    "PartialGuild",
    {"id": SNOWFLAKE, "name": text(100), **_ASSETS, "features": listed(TEXT)},
    description="A guild as holders of an invite see it.",
)

LISTED_GUILD: Final = GUILD.extended(
    "ListedGuild",
    optional={
        "permissions": BITS,
        "threads_active": BOOLEAN,
        "approximate_member_count": COUNT,
        "approximate_presence_count": COUNT,
    },
    description="A guild in the list of those that the caller is in.",
)

DISCOVERED_GUILD: Final = PARTIAL_GUILD.extended(
    "DiscoveredGuild",
    {
        "verification_level": member_of(VerificationLevel),
        "member_count": COUNT,
        "online_count": COUNT,
        "description": nullable(TEXT),
        "category_id": nullable(member_of(DiscoveryCategory)),
    },
)

DISCOVERY_CATEGORY: Final = wire_object("DiscoveryCategory", {"id": member_of(DiscoveryCategory), "name": TEXT})

DISCOVERY_APPLICATION: Final = wire_object(
    "DiscoveryApplication",
    {
        "guild_id": SNOWFLAKE,
        "status": member_of(DiscoveryStatus),
        "category_id": member_of(DiscoveryCategory),
        "description": TEXT,
        "applied_at": TIMESTAMP,
        "reviewed_at": nullable(TIMESTAMP),
        "review_reason": nullable(TEXT),
    },
)

ROLE: Final = wire_object(
    "Role",
    {
        "id": SNOWFLAKE,
        "name": text(100),
        "color": COLOR,
        "position": COUNT,
        "hoist_position": nullable(COUNT),
        "permissions": BITS,
        "hoist": BOOLEAN,
        "mentionable": BOOLEAN,
    },
    optional={"unicode_emoji": TEXT},
)

EMOJI: Final = wire_object("Emoji", {"id": SNOWFLAKE, "name": TEXT, "animated": BOOLEAN, "nsfw": BOOLEAN})

STICKER: Final = wire_object(
    "Sticker",
    {
        "id": SNOWFLAKE,
        "name": TEXT,
        "description": TEXT,
        "tags": listed(TEXT, maximum=10),
        "animated": BOOLEAN,
        "nsfw": BOOLEAN,
    },
)

EMOJI_WITH_USER: Final = EMOJI.extended("EmojiWithUser", {"user": PARTIAL_USER})
STICKER_WITH_USER: Final = STICKER.extended("StickerWithUser", {"user": PARTIAL_USER})

EXPRESSION_METADATA: Final = wire_object(
    "ExpressionMetadata",
    {
        "id": SNOWFLAKE,
        "guild_id": SNOWFLAKE,
        "name": TEXT,
        "animated": BOOLEAN,
        "allow_cloning": BOOLEAN,
        "guild": record({"id": SNOWFLAKE, "name": TEXT, "icon": nullable(ASSET), "features": listed(TEXT)}),
    },
    description="Where an emoji or a sticker comes from.",
)

_FAILED: Final = listed(record({"name": TEXT, "error": TEXT}))
EMOJIS_MADE: Final = record({"success": listed(EMOJI), "failed": _FAILED})
STICKERS_MADE: Final = record({"success": listed(STICKER), "failed": _FAILED})

WHOLE_GUILD: Final = GUILD.extended(
    "GuildWithCollections",
    {
        "roles": listed(ROLE),
        "emojis": listed(EMOJI),
        "stickers": listed(STICKER),
        "channels": listed(GUILD_CHANNEL),
        "member_count": COUNT,
        "online_count": COUNT,
    },
    description="A guild with its roles, its expressions, the channels that the caller sees, and counts.",
)

MEMBER_PROFILE: Final = {
    "nick": nullable(TEXT),
    "avatar": nullable(ASSET),
    "banner": nullable(ASSET),
    "accent_color": nullable(COLOR),
}

MEMBER: Final = wire_object(
    "Member",
    {
        "user": PARTIAL_USER,
        **MEMBER_PROFILE,
        "roles": listed(SNOWFLAKE),
        "joined_at": TIMESTAMP,
        "mute": BOOLEAN,
        "deaf": BOOLEAN,
        "communication_disabled_until": nullable(TIMESTAMP),
        "profile_flags": COUNT,
    },
    optional={"mention_flags": COUNT},
)

MEMBER_SEARCH: Final = wire_object(
    "MemberSearch",
    {
        "guild_id": SNOWFLAKE,
        "members": listed(
            MEMBER.extended(
                "FoundMember",
                optional={
                    "supplemental": record(
                        {"join_source_type": nullable(member_of(JoinSource)), "inviter_id": nullable(SNOWFLAKE)}
                    )
                },
            )
        ),
        "page_result_count": COUNT,
        "total_result_count": COUNT,
    },
)

BAN: Final = wire_object(
    "Ban",
    {
        "user": PARTIAL_USER,
        "reason": nullable(TEXT),
        "moderator_id": SNOWFLAKE,
        "banned_at": TIMESTAMP,
        "expires_at": nullable(TIMESTAMP),
    },
)

INVITE: Final = wire_object(
    "Invite",
    {
        "code": TEXT,
        "type": integer(0, 3),
        "channel": record(
            {"id": SNOWFLAKE, "name": nullable(TEXT), "type": member_of(ChannelType)},
            optional={"recipients": listed(either(PARTIAL_USER, record({"username": TEXT}))), "icon": nullable(ASSET)},
        ),
        "member_count": COUNT,
        "presence_count": COUNT,
        "expires_at": nullable(TIMESTAMP),
        "temporary": BOOLEAN,
    },
    optional={"guild": PARTIAL_GUILD, "inviter": PARTIAL_USER},
    description="An invite as all see it who know its code.",
)

INVITE_WITH_METADATA: Final = INVITE.extended(
    "InviteWithMetadata",
    {"created_at": TIMESTAMP, "uses": COUNT, "max_uses": COUNT, "max_age": COUNT},
    description="An invite as those who manage it see it; `max_age` is in seconds.",
)

AUDIT_LOG_ENTRY: Final = wire_object(
    "AuditLogEntry",
    {"id": SNOWFLAKE, "action_type": member_of(AuditAction), "user_id": SNOWFLAKE, "target_id": nullable(TEXT)},
    optional={
        "reason": TEXT,
        "options": OPEN_OBJECT,
        "changes": listed(record({"key": TEXT}, optional={"old_value": ANYTHING, "new_value": ANYTHING})),
    },
)

WEBHOOK: Final = wire_object(
    "Webhook",
    {
        "id": SNOWFLAKE,
        "type": integer(1, 2),
        "guild_id": SNOWFLAKE,
        "channel_id": SNOWFLAKE,
        "name": nullable(TEXT),
        "avatar": nullable(ASSET),
    },
    optional={
        "token": TEXT,
        "user": PARTIAL_USER,
        "source_guild": record({"id": SNOWFLAKE, "name": TEXT, "icon": nullable(ASSET)}),
        "source_channel": record({"id": SNOWFLAKE, "name": TEXT}),
    },
    description="A webhook. The view that its token gives has no `user`; one that follows a channel has no `token`.",
)

AUDIT_LOG: Final = wire_object(
    "AuditLog",
    {"audit_log_entries": listed(AUDIT_LOG_ENTRY), "users": listed(PARTIAL_USER), "webhooks": listed(OPEN_OBJECT)},
    optional={"threads": listed(THREAD)},
    description="`threads` is for callers who know threads.",
)

VANITY_URL: Final = record({"code": nullable(TEXT)}, optional={"uses": COUNT})

VOICE_REGION: Final = wire_object("VoiceRegion", {"id": TEXT, "name": TEXT, "emoji": TEXT})
