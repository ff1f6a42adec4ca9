-- Who is kept out of guilds; messages are found by author.

CREATE TABLE bans (
    guild_id     INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    user_id      INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    moderator_id INTEGER NOT NULL,
    reason       TEXT,
    banned_at    INTEGER NOT NULL,
    expires_at   INTEGER,
    network      TEXT,  -- whence the account came last: nobody from there joins either
    PRIMARY KEY (guild_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX bans_of_user ON bans (user_id);

CREATE INDEX messages_of_author ON messages (author_id, id);
