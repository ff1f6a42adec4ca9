"""What there is in a guild, for its archives: the tables, see `chat.store.administration.archive_rows`.

Messages and files are read in another way (`chat.store.administration.archive_reading`).
"""

from __future__ import annotations

from typing import Final

from chat.store.administration.archive_rows import Table

GUILD_TABLES: Final = (
    Table(
        name="guild/guild",
        title="The guild and its settings",
        single=True,
        query="""
        SELECT id AS _key, id, owner_id, name, icon, banner, splash, splash_card_alignment, embed_splash,
               vanity_url_code, system_channel_id, system_channel_flags, rules_channel_id, afk_channel_id, afk_timeout,
               features, verification_level, mfa_level, nsfw, content_warning_level, content_warning_text,
               explicit_content_filter, default_message_notifications, disabled_operations,
               message_history_cutoff AS message_history_cutoff_at, member_count, created_at
          FROM guilds WHERE id = :subject AND id > :after
        """,
    ),
    Table(
        name="guild/roles",
        title="Roles",
        query="""
        SELECT id AS _key, id, name, color, position, hoist_position, permissions, hoist, mentionable, unicode_emoji
          FROM roles WHERE guild_id = :subject AND id > :after
        """,
    ),
    Table(
        name="guild/channels",
        title="Channels and threads, with their permission overwrites",
        query="""
        SELECT channels.id AS _key, channels.id, type, name, topic, position, channels.parent_id, nsfw,
               rate_limit_per_user, bitrate, user_limit, url, owner_id, last_message_id, flags, forum,
               (SELECT json_group_array(json_object('id', CAST(target_id AS TEXT), 'type', overwrites.type,
                                                    'allow', CAST(allow AS TEXT), 'deny', CAST(deny AS TEXT)))
                  FROM permission_overwrites AS overwrites WHERE channel_id = channels.id) AS overwrites,
               (SELECT json_object('archived', json(iif(archived, 'true', 'false')),
                                   'locked', json(iif(locked, 'true', 'false')),
                                   'message_count', message_count, 'member_count', member_count)
                  FROM threads WHERE threads.id = channels.id) AS thread
          FROM channels WHERE channels.guild_id = :subject AND channels.id > :after
        """,
    ),
    Table(
        name="guild/members",
        title="Members",
        query="""
        SELECT members.user_id AS _key, members.user_id, username, discriminator, global_name, bot, nick,
               members.avatar, members.banner, joined_at, mute, deaf, communication_disabled_until, inviter_id,
               (SELECT json_group_array(CAST(role_id AS TEXT)) FROM member_roles
                 WHERE member_roles.guild_id = :subject AND member_roles.user_id = members.user_id) AS roles
          FROM members JOIN users ON users.id = members.user_id
         WHERE members.guild_id = :subject AND members.user_id > :after
        """,
    ),
    Table(
        name="guild/bans",
        title="Bans",
        query="""
        SELECT user_id AS _key, user_id, moderator_id, reason, banned_at, expires_at FROM bans
         WHERE guild_id = :subject AND user_id > :after
        """,
    ),
    Table(
        name="guild/invites",
        title="Invites",
        query="""
        SELECT code AS _key, code, channel_id, inviter_id, created_at, expires_at, max_age, max_uses, uses, temporary
          FROM invites WHERE guild_id = :subject AND code > :after
        """,
    ),
    Table(
        name="guild/expressions",
        title="Emojis and stickers",
        query="""
        SELECT id AS _key, id, kind, user_id, name, animated, description, tags FROM expressions
         WHERE guild_id = :subject AND id > :after
        """,
    ),
    Table(
        name="guild/webhooks",
        title="Webhooks, without their tokens",
        query="""
        SELECT id AS _key, id, type, channel_id, user_id, name, avatar FROM webhooks
         WHERE guild_id = :subject AND id > :after
        """,
    ),
    Table(
        name="guild/audit_log",
        title="The guild's audit log",
        query="""
        SELECT id AS _key, id, action_type, user_id, target_id, reason, options, changes FROM guild_audit_log
         WHERE guild_id = :subject AND id > :after
        """,
    ),
)
"""In the order in which they are read."""
