-- Webhooks; attachments and other uploaded files.
--
-- The bytes lie in files (`chat.media.storage`). Whatever makes a row go away, a cascade included, leaves the key of
-- its file in `media_garbage`, and a sweep deletes the files named there.

CREATE TABLE media_garbage (
    key TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- From the promise of an upload (`capability_hash`, not yet stored) over the stored file that waits for a message
-- (`expires_at`) to the attachment of a message.
CREATE TABLE attachments (
    id              INTEGER PRIMARY KEY,
    channel_id      INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    message_id      INTEGER REFERENCES messages (id) ON DELETE CASCADE,
    user_id         INTEGER NOT NULL,  -- whose quota it counts against
    position        INTEGER NOT NULL DEFAULT 0,
    filename        TEXT    NOT NULL,
    title           TEXT,
    description     TEXT,
    content_type    TEXT    NOT NULL,
    content_hash    TEXT,              -- SHA-256 in hexadecimal
    size            INTEGER NOT NULL,  -- what was announced, until it is stored
    width           INTEGER,
    height          INTEGER,
    flags           INTEGER NOT NULL DEFAULT 0,
    stored          INTEGER NOT NULL,
    capability_hash BLOB    UNIQUE,    -- SHA-256 of what the upload's address holds
    expires_at      INTEGER            -- null once a message has it
) STRICT;

CREATE INDEX attachments_of_message ON attachments (message_id, position);

CREATE INDEX attachments_of_channel ON attachments (channel_id);

CREATE INDEX attachments_of_user ON attachments (user_id, expires_at, size);

CREATE INDEX attachments_by_expiry ON attachments (expires_at) WHERE expires_at IS NOT NULL;

CREATE TRIGGER attachment_gone AFTER DELETE ON attachments
BEGIN
    INSERT OR IGNORE INTO media_garbage (key) VALUES ('attachments/' || old.id);
END;

-- Avatars, icons and their like; also what a webhook's message shows as avatar from an outside address.
CREATE TABLE assets (
    kind         TEXT    NOT NULL,
    owner_id     INTEGER NOT NULL,
    hash         TEXT    NOT NULL,
    id           INTEGER NOT NULL,  -- names the file
    content_type TEXT    NOT NULL,
    size         INTEGER NOT NULL,
    width        INTEGER,
    height       INTEGER,
    source_url   TEXT,              -- where it lies outside; then there is no file
    PRIMARY KEY (kind, owner_id, hash)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX assets_by_id ON assets (id);

CREATE TRIGGER asset_gone AFTER DELETE ON assets WHEN old.source_url IS NULL
BEGIN
    INSERT OR IGNORE INTO media_garbage (key) VALUES ('assets/' || old.id);
END;

CREATE TABLE webhooks (
    id           INTEGER PRIMARY KEY,
    type         INTEGER NOT NULL,
    guild_id     INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    channel_id   INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    user_id      INTEGER NOT NULL,  -- who made it
    name         TEXT    NOT NULL,
    avatar       TEXT,
    sealed_token BLOB    NOT NULL   -- shown again to those who manage webhooks
) STRICT;

CREATE INDEX webhooks_of_channel ON webhooks (channel_id);

CREATE INDEX webhooks_of_guild ON webhooks (guild_id);

CREATE TRIGGER webhook_gone AFTER DELETE ON webhooks
BEGIN
    DELETE FROM assets WHERE kind = 'avatars' AND owner_id = old.id;
END;
