-- The first schema.

CREATE TABLE users (
    id                               INTEGER PRIMARY KEY,
    username                         TEXT    NOT NULL,
    username_key                     TEXT    NOT NULL,  -- case-folded
    discriminator                    INTEGER NOT NULL,
    global_name                      TEXT,
    email                            TEXT,
    email_key                        TEXT    UNIQUE,    -- normalised
    email_verified                   INTEGER NOT NULL DEFAULT 0,
    email_bounced                    INTEGER NOT NULL DEFAULT 0,
    password_hash                    TEXT,
    bot                              INTEGER NOT NULL DEFAULT 0,
    system                           INTEGER NOT NULL DEFAULT 0,
    flags                            INTEGER NOT NULL DEFAULT 0,
    avatar                           TEXT,
    avatar_color                     INTEGER,
    banner                           TEXT,
    banner_color                     INTEGER,
    accent_color                     INTEGER,
    bio                              TEXT,
    pronouns                         TEXT,
    date_of_birth                    TEXT,
    acls                             TEXT    NOT NULL DEFAULT '[]',  -- json
    traits                           TEXT    NOT NULL DEFAULT '[]',  -- json
    premium_type                     INTEGER,
    premium_since                    INTEGER,
    premium_until                    INTEGER,
    passkey_second_factor            INTEGER NOT NULL DEFAULT 0,
    totp_secret                      TEXT,
    created_at                       INTEGER NOT NULL,
    last_active_at                   INTEGER,
    last_active_ip                   TEXT,
    temp_banned_until                INTEGER,
    password_last_changed_at         INTEGER,
    terms_agreed_at                  INTEGER,
    privacy_agreed_at                INTEGER,
    pending_bulk_message_deletion_at INTEGER,
    UNIQUE (username_key, discriminator)
) STRICT;

CREATE TABLE user_settings (
    user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    body    TEXT    NOT NULL  -- json
) STRICT;

CREATE TABLE user_guild_settings (
    user_id  INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    guild_id INTEGER NOT NULL,  -- 0 stands for direct messages
    body     TEXT    NOT NULL,  -- json
    PRIMARY KEY (user_id, guild_id)
) STRICT;

CREATE TABLE auth_sessions (
    token_hash      BLOB    PRIMARY KEY,  -- SHA-256 of the token
    user_id         INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at      INTEGER NOT NULL,
    last_used_at    INTEGER NOT NULL,
    address         TEXT,
    user_agent      TEXT,
    client_os       TEXT,
    client_platform TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX auth_sessions_of_user ON auth_sessions (user_id);

CREATE TABLE applications (
    id                       INTEGER PRIMARY KEY,
    owner_id                 INTEGER NOT NULL REFERENCES users (id),
    name                     TEXT    NOT NULL,
    icon                     TEXT,
    description              TEXT,
    bot_user_id              INTEGER UNIQUE REFERENCES users (id),
    bot_public               INTEGER NOT NULL DEFAULT 1,
    bot_require_code_grant   INTEGER NOT NULL DEFAULT 0,
    redirect_uris            TEXT    NOT NULL DEFAULT '[]',  -- json
    client_secret_hash       BLOB,
    client_secret_created_at INTEGER,
    bot_token_hash           BLOB,  -- SHA-256 of the token
    bot_token_preview        TEXT,
    bot_token_created_at     INTEGER,
    verify_key               TEXT    NOT NULL,
    created_at               INTEGER NOT NULL
) STRICT;

CREATE INDEX applications_of_owner ON applications (owner_id);

CREATE TABLE mails (
    id         INTEGER PRIMARY KEY,
    recipient  TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    text       TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    token      TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE email_tokens (
    token_hash BLOB    PRIMARY KEY,  -- SHA-256 of the token
    kind       TEXT    NOT NULL,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    email      TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX email_tokens_of_user ON email_tokens (user_id);

CREATE TABLE guilds (
    id                            INTEGER PRIMARY KEY,
    owner_id                      INTEGER NOT NULL REFERENCES users (id),
    name                          TEXT    NOT NULL,
    icon                          TEXT,
    banner                        TEXT,
    banner_width                  INTEGER,
    banner_height                 INTEGER,
    splash                        TEXT,
    splash_width                  INTEGER,
    splash_height                 INTEGER,
    splash_card_alignment         INTEGER NOT NULL DEFAULT 0,
    embed_splash                  TEXT,
    embed_splash_width            INTEGER,
    embed_splash_height           INTEGER,
    vanity_url_code               TEXT    UNIQUE,
    system_channel_id             INTEGER,
    system_channel_flags          INTEGER NOT NULL DEFAULT 0,
    rules_channel_id              INTEGER,
    afk_channel_id                INTEGER,
    afk_timeout                   INTEGER NOT NULL DEFAULT 0,
    features                      TEXT    NOT NULL DEFAULT '[]',  -- json
    verification_level            INTEGER NOT NULL DEFAULT 0,
    mfa_level                     INTEGER NOT NULL DEFAULT 0,
    nsfw                          INTEGER NOT NULL DEFAULT 0,
    content_warning_level         INTEGER NOT NULL DEFAULT 0,
    content_warning_text          TEXT,
    explicit_content_filter       INTEGER NOT NULL DEFAULT 0,
    default_message_notifications INTEGER NOT NULL DEFAULT 0,
    disabled_operations           INTEGER NOT NULL DEFAULT 0,
    message_history_cutoff        INTEGER,
    member_count                  INTEGER NOT NULL DEFAULT 0,
    created_at                    INTEGER NOT NULL
) STRICT;

CREATE INDEX guilds_of_owner ON guilds (owner_id);

CREATE TABLE roles (
    id             INTEGER PRIMARY KEY,
    guild_id       INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    name           TEXT    NOT NULL,
    color          INTEGER NOT NULL DEFAULT 0,
    position       INTEGER NOT NULL,
    hoist_position INTEGER,
    permissions    INTEGER NOT NULL,
    hoist          INTEGER NOT NULL DEFAULT 0,
    mentionable    INTEGER NOT NULL DEFAULT 0,
    unicode_emoji  TEXT
) STRICT;

CREATE UNIQUE INDEX roles_of_guild ON roles (guild_id, id);

CREATE TABLE channels (
    id                     INTEGER PRIMARY KEY,
    guild_id               INTEGER REFERENCES guilds (id) ON DELETE CASCADE,
    type                   INTEGER NOT NULL,
    name                   TEXT,
    topic                  TEXT,
    position               INTEGER NOT NULL DEFAULT 0,
    parent_id              INTEGER REFERENCES channels (id) ON DELETE SET NULL,
    nsfw                   INTEGER NOT NULL DEFAULT 0,
    nsfw_override          INTEGER,
    content_warning_level  INTEGER NOT NULL DEFAULT 0,
    content_warning_text   TEXT,
    rate_limit_per_user    INTEGER NOT NULL DEFAULT 0,
    bitrate                INTEGER,
    user_limit             INTEGER,
    voice_connection_limit INTEGER,
    rtc_region             TEXT,
    url                    TEXT,
    owner_id               INTEGER,
    icon                   TEXT,
    last_message_id        INTEGER,
    last_pin_timestamp     INTEGER
) STRICT;

CREATE INDEX channels_of_guild ON channels (guild_id);

CREATE INDEX channels_of_parent ON channels (parent_id);

CREATE TABLE permission_overwrites (
    channel_id INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    target_id  INTEGER NOT NULL,
    type       INTEGER NOT NULL,  -- 0 role, 1 member
    allow      INTEGER NOT NULL,
    deny       INTEGER NOT NULL,
    PRIMARY KEY (channel_id, target_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
    guild_id                     INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    user_id                      INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    nick                         TEXT,
    avatar                       TEXT,
    banner                       TEXT,
    accent_color                 INTEGER,
    joined_at                    INTEGER NOT NULL,
    mute                         INTEGER NOT NULL DEFAULT 0,
    deaf                         INTEGER NOT NULL DEFAULT 0,
    communication_disabled_until INTEGER,
    profile_flags                INTEGER NOT NULL DEFAULT 0,
    mention_flags                INTEGER NOT NULL DEFAULT 0,
    join_source                  INTEGER,
    inviter_id                   INTEGER,
    PRIMARY KEY (guild_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX members_of_user ON members (user_id, guild_id);

CREATE TABLE member_roles (
    guild_id INTEGER NOT NULL,
    user_id  INTEGER NOT NULL,
    role_id  INTEGER NOT NULL,
    PRIMARY KEY (guild_id, user_id, role_id),
    FOREIGN KEY (guild_id, user_id) REFERENCES members (guild_id, user_id) ON DELETE CASCADE,
    FOREIGN KEY (guild_id, role_id) REFERENCES roles (guild_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX member_roles_of_role ON member_roles (guild_id, role_id);

CREATE TABLE invites (
    code       TEXT    PRIMARY KEY,
    type       INTEGER NOT NULL,
    guild_id   INTEGER REFERENCES guilds (id) ON DELETE CASCADE,
    channel_id INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    inviter_id INTEGER,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    max_age    INTEGER NOT NULL,  -- seconds
    max_uses   INTEGER NOT NULL,
    uses       INTEGER NOT NULL DEFAULT 0,
    temporary  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX invites_of_guild ON invites (guild_id);

CREATE INDEX invites_of_channel ON invites (channel_id);

CREATE TABLE messages (
    id               INTEGER PRIMARY KEY,
    channel_id       INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    author_id        INTEGER NOT NULL,
    webhook_id       INTEGER,
    type             INTEGER NOT NULL,
    flags            INTEGER NOT NULL DEFAULT 0,
    content          TEXT    NOT NULL,
    edited_at        INTEGER,
    pinned           INTEGER NOT NULL DEFAULT 0,
    mention_everyone INTEGER NOT NULL DEFAULT 0,
    tts              INTEGER NOT NULL DEFAULT 0,
    nonce            TEXT,
    reference        TEXT,  -- json
    extra            TEXT   -- json
) STRICT;

CREATE INDEX messages_of_channel ON messages (channel_id, id);

CREATE TABLE message_mentions (
    message_id INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    user_id    INTEGER NOT NULL,
    PRIMARY KEY (message_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE message_role_mentions (
    message_id INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    role_id    INTEGER NOT NULL,
    PRIMARY KEY (message_id, role_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE read_states (
    user_id            INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    channel_id         INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    last_message_id    INTEGER,
    mention_count      INTEGER NOT NULL DEFAULT 0,
    last_pin_timestamp INTEGER,
    PRIMARY KEY (user_id, channel_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX read_states_of_channel ON read_states (channel_id);

CREATE TABLE retained_sessions (
    session_id TEXT    PRIMARY KEY,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    body       BLOB    NOT NULL,
    stored_at  INTEGER NOT NULL
) STRICT;

CREATE INDEX retained_sessions_of_user ON retained_sessions (user_id);

CREATE TABLE outside_changes (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT    NOT NULL,
    body       TEXT    NOT NULL,  -- json
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE instance (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
