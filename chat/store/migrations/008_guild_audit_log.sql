-- The audit logs of guilds.

CREATE TABLE guild_audit_log (
    id          INTEGER PRIMARY KEY,
    guild_id    INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    action_type INTEGER NOT NULL,
    user_id     INTEGER NOT NULL,
    target_id   TEXT,
    reason      TEXT,
    options     TEXT,  -- json
    changes     TEXT   -- json
) STRICT;

CREATE INDEX guild_audit_log_of_guild ON guild_audit_log (guild_id, id);
