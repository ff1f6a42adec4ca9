-- Time-outs of those who left; memberships that end with their account's sessions.

CREATE TABLE kept_timeouts (
    guild_id INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    user_id  INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    until    INTEGER NOT NULL,  -- when the time-out of who left ends
    left_at  INTEGER NOT NULL,
    PRIMARY KEY (guild_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX kept_timeouts_of_user ON kept_timeouts (user_id);

CREATE TABLE temporary_members (
    user_id  INTEGER NOT NULL,
    guild_id INTEGER NOT NULL,
    PRIMARY KEY (user_id, guild_id),
    FOREIGN KEY (guild_id, user_id) REFERENCES members (guild_id, user_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX temporary_members_of_guild ON temporary_members (guild_id, user_id);
