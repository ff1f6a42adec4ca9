"""What the instance has of an account, and what there is in a guild, for archives: the tables (see
`chat.store.administration.archive_reading`, which also reads messages and files)."""

from __future__ import annotations

from functools import partial
from typing import Final

from chat.registries.acls import Acl
from chat.store.administration.archive_reading import Table

_IP: Final = frozenset({Acl.USER_VIEW_IP})
_CHANGES: Final = frozenset({Acl.USER_VIEW_CONTACT_LOG, Acl.USER_VIEW_EMAIL})

PROTECTING: Final = (*sorted(_CHANGES | _IP), Acl.USER_VIEW_DOB, Acl.AUDIT_LOG_VIEW)
"""The ACLs without which parts of an account are not shown (administration.md, Redaction)."""

_SESSION: Final = "user_id, token_hash, created_at, last_used_at, address, user_agent, client_os, client_platform"

USER_TABLES: Final = (
    Table(
        "account/account",
        "The account and its profile",
        "users",
        """
        id, username, discriminator, global_name, email, email_verified, email_bounced, bot, system, flags,
        premium_flags, premium_type, premium_since AS premium_since_at, premium_until, avatar, banner, accent_color,
        bio, pronouns, date_of_birth, acls, traits, created_at, last_active_at, last_active_ip, temp_banned_until,
        password_hash IS NOT NULL AS has_password, password_last_changed_at, totp_secret IS NOT NULL AS has_totp,
        passkey_second_factor, terms_agreed_at, privacy_agreed_at, pending_bulk_message_deletion_at
        """,
        of="id",
        single=True,
        protected={
            **dict.fromkeys(("email", "email_verified", "email_bounced"), frozenset({Acl.USER_VIEW_EMAIL})),
            "date_of_birth": frozenset({Acl.USER_VIEW_DOB}),
            "last_active_ip": _IP,
        },
    ),
    Table("account/settings", "Settings", "user_settings", "body AS settings", key="user_id", single=True),
    Table(
        "account/guild_settings",
        "Settings of single guilds; 0 stands for private conversations",
        "user_guild_settings",
        "guild_id, body AS settings",
        key="guild_id",
    ),
    Table(
        "account/notification_words",
        "Words of which the account wants to hear",
        "notification_words",
        "words",
        key="user_id",
        single=True,
    ),
    Table(
        "account/deletion",
        "The scheduled erasure of the account, if there is one",
        "account_deletions",
        "due_at, reason_code, public_reason, scheduled_at",
        key="user_id",
        single=True,
    ),
    Table(
        "account/changes",
        "Earlier names and mail addresses",
        "account_changes",
        "field, old_value, new_value, changed_at",
        protected={"old_value": _CHANGES, "new_value": _CHANGES},
    ),
    Table(
        "account/sessions",
        "Sign-ins, those that ended recently included",
        f"""(SELECT {_SESSION}, NULL AS ended_at FROM auth_sessions WHERE user_id = :subject
              UNION ALL
             SELECT {_SESSION}, ended_at FROM ended_auth_sessions WHERE user_id = :subject)""",  # noqa: S608 - our own
        "created_at, last_used_at, ended_at, address, user_agent, client_os, client_platform",
        key="hex(token_hash)",
        protected=dict.fromkeys(("address", "user_agent", "client_os", "client_platform"), _IP),
    ),
    Table(
        "account/passkeys",
        "Passkeys by name",
        "webauthn_credentials",
        "name, created_at, last_used_at",
        key="hex(credential_id)",
    ),
    Table(
        "account/authorized_addresses",
        "Networks that the account has signed in from",
        "authorized_addresses",
        "network, authorized_at",
        key="network",
        protected={"network": _IP},
    ),
    Table(
        "account/identities",
        "Identities at a single sign-on provider",
        "sso_identities",
        "issuer, subject, created_at",
        key="issuer || ' ' || subject",
    ),
    Table(
        "account/authorized_applications",
        "Applications that may act for the account",
        "oauth2_grants JOIN applications ON applications.id = application_id",
        "application_id, applications.name, scopes, oauth2_grants.created_at",
        key="oauth2_grants.id",
    ),
    Table(
        "account/push_subscriptions",
        "Browsers that are told of messages",
        "push_subscriptions",
        "user_agent, created_at",
        protected={"user_agent": _IP},
    ),
    Table(
        "account/admin_api_keys",
        "Admin API keys by name",
        "admin_api_keys",
        "id, name, acls, created_at, expires_at, last_used_at",
        of="owner_id",
    ),
    Table(
        "account/store_purchases",
        "Purchases in app stores",
        "store_purchases",
        """
        id, provider, kind, slot, environment, app_id, product_id, base_plan_id, latest_transaction_id,
        ownership_type, state, expires_at, grace_ends_at, auto_renew, started_at, purchased_at, revoked_at,
        revocation_reason, superseded, bound_at, created_at
        """,
    ),
    Table(
        "account/administrative_actions",
        "What the account did as an administrator",
        "admin_audit_log",
        "id, action, target_type, target_id, reason",
        of="admin_user_id",
        protected={"reason": frozenset({Acl.AUDIT_LOG_VIEW})},
    ),
    Table(
        "applications",
        "Applications and bots of the account",
        "applications",
        """
        id, name, description, icon, bot_user_id, bot_public, bot_require_code_grant, public_client, redirect_uris,
        interactions_endpoint_url, created_at
        """,
        of="owner_id",
    ),
    Table(
        "application_commands",
        "Commands that the account's applications have registered",
        "application_commands JOIN applications ON applications.id = application_id",
        "application_commands.id, application_id, guild_id, type, application_commands.name, body",
        key="application_commands.id",
        of="applications.owner_id",
    ),
    Table(
        "people/relationships",
        "Friends, requests and blocks",
        "relationships JOIN users ON users.id = target_id",
        """
        target_id AS user_id, username, discriminator, type, nickname, since AS since_at, share_voice_activity
        """,
        key="target_id",
    ),
    Table(
        "people/notes",
        "Notes about others",
        "user_notes JOIN users ON users.id = target_id",
        "target_id AS user_id, username, note",
        key="target_id",
    ),
    Table(
        "guilds/memberships",
        "Guilds that the account is in, and its profile there",
        "members JOIN guilds ON guilds.id = members.guild_id",
        """
        members.guild_id, guilds.name, owner_id, nick, members.avatar, members.banner,
               members.accent_color, bio, pronouns, joined_at, mute, deaf, communication_disabled_until,
               (SELECT json_group_array(json_object('id', CAST(roles.id AS TEXT), 'name', roles.name))
                  FROM member_roles JOIN roles ON roles.id = role_id
                 WHERE member_roles.guild_id = members.guild_id AND member_roles.user_id = :subject) AS roles
        """,
        key="members.guild_id",
    ),
    Table(
        "guilds/threads",
        "Threads that the account has joined",
        "thread_members JOIN channels ON channels.id = thread_id",
        "thread_id, channels.name, channels.guild_id, joined_at, muted",
        key="thread_id",
    ),
    Table(
        "conversations/private_channels",
        "Conversations and groups, and who is in them",
        "private_channel_recipients JOIN channels ON channels.id = channel_id",
        """
        channel_id, channels.type, channels.name, channels.owner_id, is_group, is_shown,
               joined_at,
               (SELECT json_group_array(json_object('id', CAST(users.id AS TEXT), 'username', username))
                  FROM private_channel_recipients AS others JOIN users ON users.id = others.user_id
                 WHERE others.channel_id = private_channel_recipients.channel_id) AS recipients
        """,
        key="channel_id",
    ),
    Table(
        "reading/read_states",
        "How far the account has read",
        "read_states",
        "channel_id, last_message_id, mention_count",
        key="channel_id",
    ),
    Table("reading/saved_messages", "Messages that the account has saved", "saved_messages", "channel_id, message_id"),
    Table(
        "reading/favorite_memes",
        "Favourite memes",
        "favorite_memes JOIN attachments ON attachments.id = favorite_memes.id",
        "favorite_memes.id, name, alt_text, tags, filename, content_type, size",
        key="favorite_memes.id",
        of="favorite_memes.user_id",
    ),
    Table(
        "reading/reminders",
        "Messages of which the account wants to be reminded",
        "reminders",
        "message_id, channel_id, remind_at, told_at",
        key="message_id",
    ),
    Table(
        "account/claimed_people",
        "People of imported communities whom the account has claimed; what they wrote is the account's",
        "placeholders JOIN users ON users.id = placeholders.user_id",
        "guild_id, user_id, original_id, users.username, users.global_name, claimed_at",
        of="claimed_by",
        key="guild_id || ' ' || user_id",
    ),
    Table(
        "account/claim_requests",
        "People of imported communities of whom the account says that it is them",
        "claim_requests",
        "guild_id, user_id, requested_at",
        of="claimant_id",
        key="guild_id",
    ),
    Table(
        "account/brought_exports",
        "Communities that the account has brought along in the browser",
        "brought_exports",
        "id, filename, size, state, guild_id, import_id, created_at, changed_at",
    ),
    Table(
        "messages/interactions",
        "What the account did with commands, components and forms in the last half hour",
        "interactions",
        "id, application_id, type, channel_id, guild_id, message_id, name, created_at, answered_with",
    ),
    Table(
        "messages/ephemeral",
        "Answers of applications that the account alone saw in that time",
        "ephemeral_messages JOIN interactions ON interactions.id = interaction_id",
        "ephemeral_messages.id, interaction_id, body AS message",
        key="ephemeral_messages.id",
    ),
    Table(
        "messages/poll_votes",
        "Answers that the account gave in polls",
        "poll_votes",
        "message_id, answer_id, voted_at",
        key="message_id || '/' || answer_id",
    ),
    Table(
        "messages/drafts",
        "What the account has typed and not sent",
        "drafts",
        "channel_id, content, edited_at",
        key="channel_id",
    ),
    Table(
        "messages/scheduled",
        "Messages that the account has scheduled; their files are among its files",
        "scheduled_messages",
        "id, channel_id, scheduled_at, local_at, timezone, body AS message, status_reason, invalidated_at",
    ),
    Table(
        "reports",
        "Reports that the account has made",
        "reports",
        """
        id, kind, reported_user_id, guild_id, channel_id, message_id, category, additional_info, status,
        public_comment, resolved_at
        """,
        of="reporter_id",
    ),
    Table(
        "messages/reactions",
        "Reactions of the account",
        "message_reaction_users JOIN message_reactions ON message_reactions.id = reaction_id"
        " JOIN messages ON messages.id = message_id",
        "channel_id, message_id, emoji_id, emoji_name",
        key="reaction_id",
    ),
)
"""In the order in which they are read."""


_GuildTable: Final = partial(Table, of="guild_id")

GUILD_TABLES: Final = (
    Table(
        "guild/guild",
        "The guild and its settings",
        "guilds",
        """
        id, owner_id, name, icon, banner, splash, splash_card_alignment, embed_splash, vanity_url_code,
        system_channel_id, system_channel_flags, rules_channel_id, afk_channel_id, afk_timeout, features,
        verification_level, mfa_level, nsfw, content_warning_level, content_warning_text, explicit_content_filter,
        default_message_notifications, disabled_operations, message_history_cutoff AS message_history_cutoff_at,
        message_retention_days, member_count, created_at
        """,
        of="id",
        single=True,
    ),
    _GuildTable(
        "guild/roles",
        "Roles",
        "roles",
        "id, name, color, position, hoist_position, permissions, hoist, mentionable, unicode_emoji",
    ),
    Table(
        "guild/channels",
        "Channels and threads, with their permission overwrites",
        "channels",
        """
        channels.id, type, name, topic, position, channels.parent_id, nsfw,
               rate_limit_per_user, message_retention_days, bitrate, user_limit, url, owner_id, last_message_id, flags,
               forum,
               (SELECT json_group_array(json_object('id', CAST(target_id AS TEXT), 'type', overwrites.type,
                                                    'allow', CAST(allow AS TEXT), 'deny', CAST(deny AS TEXT)))
                  FROM permission_overwrites AS overwrites WHERE channel_id = channels.id) AS overwrites,
               (SELECT json_object('archived', json(iif(archived, 'true', 'false')),
                                   'locked', json(iif(locked, 'true', 'false')),
                                   'message_count', message_count, 'member_count', member_count)
                  FROM threads WHERE threads.id = channels.id) AS thread
        """,
        key="channels.id",
        of="channels.guild_id",
    ),
    Table(
        "guild/members",
        "Members",
        "members JOIN users ON users.id = members.user_id",
        """
        members.user_id, username, discriminator, global_name, bot, nick,
               members.avatar, members.banner, joined_at, mute, deaf, communication_disabled_until, inviter_id,
               (SELECT json_group_array(CAST(role_id AS TEXT)) FROM member_roles
                 WHERE member_roles.guild_id = :subject AND member_roles.user_id = members.user_id) AS roles
        """,
        key="members.user_id",
        of="members.guild_id",
    ),
    _GuildTable("guild/bans", "Bans", "bans", "user_id, moderator_id, reason, banned_at, expires_at", key="user_id"),
    _GuildTable(
        "guild/invites",
        "Invites",
        "invites",
        "code, channel_id, inviter_id, created_at, expires_at, max_age, max_uses, uses, temporary, placeholder_id",
        key="code",
    ),
    _GuildTable(
        "guild/placeholders",
        "People of imports, and who has claimed them",
        "placeholders",
        "user_id, person_id, original_id, claimed_by, claimed_at",
        key="user_id",
    ),
    _GuildTable(
        "guild/expressions",
        "Emojis and stickers",
        "expressions",
        "id, kind, user_id, name, animated, description, tags",
    ),
    _GuildTable(
        "guild/webhooks", "Webhooks, without their tokens", "webhooks", "id, type, channel_id, user_id, name, avatar"
    ),
    _GuildTable(
        "guild/command_permissions",
        "Who may use which command of an application",
        "application_command_permissions",
        "command_id, application_id, permissions",
        key="command_id",
    ),
    _GuildTable(
        "guild/application_commands",
        "Commands that applications have in this guild alone",
        "application_commands",
        "id, application_id, type, name, body",
    ),
    _GuildTable(
        "guild/audit_log",
        "The guild's audit log",
        "guild_audit_log",
        "id, action_type, user_id, target_id, reason, options, changes",
    ),
)
"""In the order in which they are read."""
