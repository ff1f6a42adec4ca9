-- Groups, notes, guild profiles, settings that change by themselves.

ALTER TABLE users ADD COLUMN mention_flags INTEGER NOT NULL DEFAULT 0;

-- When the account last said of all its friends at once whether they hear where it speaks.
ALTER TABLE users ADD COLUMN voice_sharing_changed_at INTEGER;

-- What `pending_bulk_message_deletion_at` meant when it was asked for.
ALTER TABLE users ADD COLUMN bulk_deletion_channels INTEGER NOT NULL DEFAULT 0;

ALTER TABLE users ADD COLUMN bulk_deletion_messages INTEGER NOT NULL DEFAULT 0;

CREATE INDEX users_by_bulk_deletion ON users (pending_bulk_message_deletion_at)
 WHERE pending_bulk_message_deletion_at IS NOT NULL;

-- What the account is called in a group, when it came there, and where it stands among those it pinned.
ALTER TABLE private_channel_recipients ADD COLUMN nick TEXT;

ALTER TABLE private_channel_recipients ADD COLUMN joined_at INTEGER NOT NULL DEFAULT 0;

ALTER TABLE private_channel_recipients ADD COLUMN is_group INTEGER NOT NULL DEFAULT 0;

ALTER TABLE private_channel_recipients ADD COLUMN pin_position INTEGER;

CREATE INDEX groups_of_user ON private_channel_recipients (user_id, channel_id) WHERE is_group = 1;

CREATE INDEX pinned_private_channels ON private_channel_recipients (user_id, pin_position)
 WHERE pin_position IS NOT NULL;

-- Everybody has a conversation with nobody else: its id is the account's.
INSERT INTO channels (id, type) SELECT id, 999 FROM users WHERE bot = 0 AND system = 0;

CREATE TRIGGER personal_notes AFTER INSERT ON users WHEN new.bot = 0 AND new.system = 0
BEGIN
    INSERT INTO channels (id, type) VALUES (new.id, 999);
END;

-- Guilds leave channels behind whose messages go bit by bit (`chat.store.loose_channels`); most channels in no guild
-- are none of these.
CREATE INDEX channels_loose ON channels (id) WHERE guild_id IS NULL AND type NOT IN (1, 3, 999);

CREATE TRIGGER group_icon_gone AFTER UPDATE OF icon ON channels WHEN old.icon IS NOT new.icon
BEGIN
    DELETE FROM assets WHERE kind = 'icons' AND owner_id = old.id AND hash = old.icon;
END;

CREATE TABLE user_notes (
    user_id   INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    target_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    note      TEXT    NOT NULL,
    PRIMARY KEY (user_id, target_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX user_notes_about_target ON user_notes (target_id);

-- Settings that change by themselves at a moment.
CREATE TABLE settings_due (
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    setting TEXT    NOT NULL,  -- status, custom_status
    due_at  INTEGER NOT NULL,
    PRIMARY KEY (user_id, setting)
) STRICT, WITHOUT ROWID;

CREATE INDEX settings_due_by_moment ON settings_due (due_at);

ALTER TABLE members ADD COLUMN bio TEXT;

ALTER TABLE members ADD COLUMN pronouns TEXT;

-- A member's images are assets of the account whose kind names the guild.
CREATE TRIGGER member_avatar_gone AFTER UPDATE OF avatar ON members WHEN old.avatar IS NOT new.avatar
BEGIN
    DELETE FROM assets
     WHERE kind = 'avatars of guild ' || old.guild_id AND owner_id = old.user_id AND hash = old.avatar;
END;

CREATE TRIGGER member_banner_gone AFTER UPDATE OF banner ON members WHEN old.banner IS NOT new.banner
BEGIN
    DELETE FROM assets
     WHERE kind = 'banners of guild ' || old.guild_id AND owner_id = old.user_id AND hash = old.banner;
END;

CREATE TRIGGER member_images_gone AFTER DELETE ON members
WHEN old.avatar IS NOT NULL OR old.banner IS NOT NULL
BEGIN
    DELETE FROM assets
     WHERE kind IN ('avatars of guild ' || old.guild_id, 'banners of guild ' || old.guild_id)
       AND owner_id = old.user_id;
END;
