-- Reactions, mentions, read states, saved messages.
--
-- `messages.has_reactions` tells whether there are rows in `message_reactions`.

-- One emoji under one message. `emoji` tells emojis apart: Unicode text, or the id of a guild's emoji in digits.
CREATE TABLE message_reactions (
    id               INTEGER PRIMARY KEY,
    message_id       INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    emoji            TEXT    NOT NULL,
    emoji_id         INTEGER,
    emoji_name       TEXT    NOT NULL,
    animated         INTEGER NOT NULL DEFAULT 0,
    first_reacted_at INTEGER NOT NULL,
    user_count       INTEGER NOT NULL,
    UNIQUE (message_id, emoji)
) STRICT;

-- Who reacted so. No reference to accounts: like messages, reactions outlive them.
CREATE TABLE message_reaction_users (
    reaction_id INTEGER NOT NULL REFERENCES message_reactions (id) ON DELETE CASCADE,
    user_id     INTEGER NOT NULL,
    PRIMARY KEY (reaction_id, user_id)
) STRICT, WITHOUT ROWID;

-- A message that names a role (`role_id`) or, with 0, everyone in its guild; the latest of each only.
CREATE TABLE mass_mentions (
    guild_id   INTEGER NOT NULL,
    role_id    INTEGER NOT NULL,
    message_id INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    channel_id INTEGER NOT NULL,
    author_id  INTEGER NOT NULL,
    PRIMARY KEY (guild_id, role_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX mass_mentions_of_message ON mass_mentions (message_id);

-- Whether it went into a count of mentions: nobody is notified of what an edit names.
ALTER TABLE message_mentions ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;

UPDATE message_mentions SET counted = 1;

CREATE INDEX message_mentions_of_user ON message_mentions (user_id, message_id);

-- Mentions that an account took off its list one by one, and up to which message it took all of them off.
CREATE TABLE dismissed_mentions (
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    message_id INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX dismissed_mentions_of_message ON dismissed_mentions (message_id);

CREATE TABLE mentions_read (
    user_id    INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    message_id INTEGER NOT NULL
) STRICT;

-- Grows with each acknowledgement; and the message after which mentions of roles and everyone still count.
ALTER TABLE read_states ADD COLUMN version INTEGER NOT NULL DEFAULT 0;

ALTER TABLE read_states ADD COLUMN counted_id INTEGER NOT NULL DEFAULT 0;

UPDATE read_states SET counted_id = coalesce(last_message_id, 0);

CREATE TABLE saved_messages (
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    message_id INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    id         INTEGER NOT NULL,
    channel_id INTEGER NOT NULL,
    PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX saved_messages_by_age ON saved_messages (user_id, id);

CREATE INDEX saved_messages_of_message ON saved_messages (message_id);
