"""What the instance has of an account, and what there is in a guild, for archives: the tables (see
`chat.store.administration.archive_reading`, which also reads messages and files)."""

from __future__ import annotations

from typing import Final

from chat.registries.acls import Acl
from chat.store.administration.archive_reading import Table

_EMAIL: Final = frozenset({Acl.USER_VIEW_EMAIL})
_IP: Final = frozenset({Acl.USER_VIEW_IP})
_CHANGES: Final = frozenset({Acl.USER_VIEW_CONTACT_LOG, Acl.USER_VIEW_EMAIL})

PROTECTING: Final = (*sorted(_CHANGES | _IP), Acl.USER_VIEW_DOB, Acl.AUDIT_LOG_VIEW)
"""The ACLs without which parts of an account are not shown (administration.md, Redaction)."""

USER_TABLES: Final = (
    Table(
        name="account/account",
        title="The account and its profile",
        single=True,
        query="""
        SELECT id AS _key, id, username, discriminator, global_name, email, email_verified, email_bounced, bot, system,
               flags, premium_flags, premium_type, premium_since AS premium_since_at, premium_until, avatar, banner,
               accent_color, bio, pronouns, date_of_birth, acls, traits, created_at, last_active_at, last_active_ip,
               temp_banned_until, password_hash IS NOT NULL AS has_password, password_last_changed_at,
               totp_secret IS NOT NULL AS has_totp, passkey_second_factor, terms_agreed_at, privacy_agreed_at,
               pending_bulk_message_deletion_at
          FROM users WHERE id = :subject AND id > :after
        """,
        protected={
            "email": _EMAIL,
            "email_verified": _EMAIL,
            "email_bounced": _EMAIL,
            "date_of_birth": frozenset({Acl.USER_VIEW_DOB}),
            "last_active_ip": _IP,
        },
    ),
    Table(
        name="account/settings",
        title="Settings",
        single=True,
        query="""
        SELECT user_id AS _key, body AS settings FROM user_settings WHERE user_id = :subject AND user_id > :after
        """,
    ),
    Table(
        name="account/guild_settings",
        title="Settings of single guilds; 0 stands for private conversations",
        query="""
        SELECT guild_id AS _key, guild_id, body AS settings FROM user_guild_settings
         WHERE user_id = :subject AND guild_id > :after
        """,
    ),
    Table(
        name="account/deletion",
        title="The scheduled erasure of the account, if there is one",
        single=True,
        query="""
        SELECT user_id AS _key, due_at, reason_code, public_reason, scheduled_at FROM account_deletions
         WHERE user_id = :subject AND user_id > :after
        """,
    ),
    Table(
        name="account/changes",
        title="Earlier names and mail addresses",
        query="""
        SELECT id AS _key, field, old_value, new_value, changed_at FROM account_changes
         WHERE user_id = :subject AND id > :after
        """,
        protected={"old_value": _CHANGES, "new_value": _CHANGES},
    ),
    Table(
        name="account/sessions",
        title="Sign-ins, those that ended recently included",
        query="""
        SELECT * FROM (
            SELECT hex(token_hash) AS _key, created_at, last_used_at, NULL AS ended_at, address, user_agent, client_os,
                   client_platform
              FROM auth_sessions WHERE user_id = :subject
             UNION ALL
            SELECT hex(token_hash) AS _key, created_at, last_used_at, ended_at, address, user_agent, client_os,
                   client_platform
              FROM ended_auth_sessions WHERE user_id = :subject
        ) WHERE _key > :after
        """,
        protected=dict.fromkeys(("address", "user_agent", "client_os", "client_platform"), _IP),
    ),
    Table(
        name="account/passkeys",
        title="Passkeys by name",
        query="""
        SELECT hex(credential_id) AS _key, name, created_at, last_used_at FROM webauthn_credentials
         WHERE user_id = :subject AND hex(credential_id) > :after
        """,
    ),
    Table(
        name="account/authorized_addresses",
        title="Networks that the account has signed in from",
        query="""
        SELECT network AS _key, network, authorized_at FROM authorized_addresses
         WHERE user_id = :subject AND network > :after
        """,
        protected={"network": _IP},
    ),
    Table(
        name="account/identities",
        title="Identities at a single sign-on provider",
        query="""
        SELECT issuer || ' ' || subject AS _key, issuer, subject, created_at FROM sso_identities
         WHERE user_id = :subject AND issuer || ' ' || subject > :after
        """,
    ),
    Table(
        name="account/authorized_applications",
        title="Applications that may act for the account",
        query="""
        SELECT oauth2_grants.id AS _key, application_id, applications.name, scopes, oauth2_grants.created_at
          FROM oauth2_grants JOIN applications ON applications.id = application_id
         WHERE user_id = :subject AND oauth2_grants.id > :after
        """,
    ),
    Table(
        name="account/push_subscriptions",
        title="Browsers that are told of messages",
        query="""
        SELECT id AS _key, user_agent, created_at FROM push_subscriptions WHERE user_id = :subject AND id > :after
        """,
        protected={"user_agent": _IP},
    ),
    Table(
        name="account/admin_api_keys",
        title="Admin API keys by name",
        query="""
        SELECT id AS _key, id, name, acls, created_at, expires_at, last_used_at FROM admin_api_keys
         WHERE owner_id = :subject AND id > :after
        """,
    ),
    Table(
        name="account/store_purchases",
        title="Purchases in app stores",
        query="""
        SELECT id AS _key, id, provider, kind, slot, environment, app_id, product_id, base_plan_id,
               latest_transaction_id, ownership_type, state, expires_at, grace_ends_at, auto_renew, started_at,
               purchased_at, revoked_at, revocation_reason, superseded, bound_at, created_at
          FROM store_purchases WHERE user_id = :subject AND id > :after
        """,
    ),
    Table(
        name="account/administrative_actions",
        title="What the account did as an administrator",
        query="""
        SELECT id AS _key, id, action, target_type, target_id, reason FROM admin_audit_log
         WHERE admin_user_id = :subject AND id > :after
        """,
        protected={"reason": frozenset({Acl.AUDIT_LOG_VIEW})},
    ),
    Table(
        name="applications",
        title="Applications and bots of the account",
        query="""
        SELECT id AS _key, id, name, description, icon, bot_user_id, bot_public, bot_require_code_grant, redirect_uris,
               created_at
          FROM applications WHERE owner_id = :subject AND id > :after
        """,
    ),
    Table(
        name="people/relationships",
        title="Friends, requests and blocks",
        query="""
        SELECT target_id AS _key, target_id AS user_id, username, discriminator, type, nickname,
               since AS since_at, share_voice_activity
          FROM relationships JOIN users ON users.id = target_id
         WHERE user_id = :subject AND target_id > :after
        """,
    ),
    Table(
        name="people/notes",
        title="Notes about others",
        query="""
        SELECT target_id AS _key, target_id AS user_id, username, note
          FROM user_notes JOIN users ON users.id = target_id
         WHERE user_id = :subject AND target_id > :after
        """,
    ),
    Table(
        name="guilds/memberships",
        title="Guilds that the account is in, and its profile there",
        query="""
        SELECT members.guild_id AS _key, members.guild_id, guilds.name, owner_id, nick, members.avatar, members.banner,
               members.accent_color, bio, pronouns, joined_at, mute, deaf, communication_disabled_until,
               (SELECT json_group_array(json_object('id', CAST(roles.id AS TEXT), 'name', roles.name))
                  FROM member_roles JOIN roles ON roles.id = role_id
                 WHERE member_roles.guild_id = members.guild_id AND member_roles.user_id = :subject) AS roles
          FROM members JOIN guilds ON guilds.id = members.guild_id
         WHERE user_id = :subject AND members.guild_id > :after
        """,
    ),
    Table(
        name="guilds/threads",
        title="Threads that the account has joined",
        query="""
        SELECT thread_id AS _key, thread_id, channels.name, channels.guild_id, joined_at, muted
          FROM thread_members JOIN channels ON channels.id = thread_id
         WHERE user_id = :subject AND thread_id > :after
        """,
    ),
    Table(
        name="conversations/private_channels",
        title="Conversations and groups, and who is in them",
        query="""
        SELECT channel_id AS _key, channel_id, channels.type, channels.name, channels.owner_id, is_group, is_shown,
               joined_at,
               (SELECT json_group_array(json_object('id', CAST(users.id AS TEXT), 'username', username))
                  FROM private_channel_recipients AS others JOIN users ON users.id = others.user_id
                 WHERE others.channel_id = private_channel_recipients.channel_id) AS recipients
          FROM private_channel_recipients JOIN channels ON channels.id = channel_id
         WHERE user_id = :subject AND channel_id > :after
        """,
    ),
    Table(
        name="reading/read_states",
        title="How far the account has read",
        query="""
        SELECT channel_id AS _key, channel_id, last_message_id, mention_count FROM read_states
         WHERE user_id = :subject AND channel_id > :after
        """,
    ),
    Table(
        name="reading/saved_messages",
        title="Messages that the account has saved",
        query="""
        SELECT id AS _key, channel_id, message_id FROM saved_messages WHERE user_id = :subject AND id > :after
        """,
    ),
    Table(
        name="reading/favorite_memes",
        title="Favourite memes",
        query="""
        SELECT favorite_memes.id AS _key, favorite_memes.id, name, alt_text, tags, filename, content_type, size
          FROM favorite_memes JOIN attachments ON attachments.id = favorite_memes.id
         WHERE favorite_memes.user_id = :subject AND favorite_memes.id > :after
        """,
    ),
    Table(
        name="reports",
        title="Reports that the account has made",
        query="""
        SELECT id AS _key, id, kind, reported_user_id, guild_id, channel_id, message_id, category, additional_info,
               status, public_comment, resolved_at
          FROM reports WHERE reporter_id = :subject AND id > :after
        """,
    ),
    Table(
        name="messages/reactions",
        title="Reactions of the account",
        query="""
        SELECT reaction_id AS _key, channel_id, message_id, emoji_id, emoji_name
          FROM message_reaction_users
          JOIN message_reactions ON message_reactions.id = reaction_id
          JOIN messages ON messages.id = message_id
         WHERE user_id = :subject AND reaction_id > :after
        """,
    ),
)
"""In the order in which they are read."""


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
