-- The administrative audit log, change log, ended sign-ins; what accounts lacked for the Admin user object.

-- What administrators have done and read. An entry's snowflake tells when.
CREATE TABLE admin_audit_log (
    id            INTEGER PRIMARY KEY,
    admin_user_id INTEGER NOT NULL,
    action        TEXT NOT NULL,
    target_type   TEXT NOT NULL,
    target_id     TEXT NOT NULL,
    reason        TEXT,
    metadata      TEXT NOT NULL  -- JSON object of text
) STRICT;

CREATE INDEX admin_audit_log_by_target ON admin_audit_log (target_type, target_id, id);

CREATE INDEX admin_audit_log_by_admin ON admin_audit_log (admin_user_id, id);

-- What addresses and tags accounts have had (administration.md, Change log).
CREATE TABLE account_changes (
    id            INTEGER PRIMARY KEY,
    user_id       INTEGER NOT NULL,
    field         TEXT NOT NULL,  -- email, service_tag
    old_value     TEXT,
    new_value     TEXT,
    reason        TEXT,
    actor_user_id INTEGER,        -- null: the holder
    changed_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX account_changes_by_user ON account_changes (user_id, id);

-- Sign-ins that have ended stay listed for administrators (administration.md, Ways into an account).
CREATE TABLE ended_auth_sessions (
    token_hash      BLOB PRIMARY KEY,
    user_id         INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at      INTEGER NOT NULL,
    last_used_at    INTEGER NOT NULL,
    address         TEXT,
    user_agent      TEXT,
    client_os       TEXT,
    client_platform TEXT,
    ended_at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX ended_auth_sessions_by_user ON ended_auth_sessions (user_id, created_at);

-- unsigned 32-bit
ALTER TABLE users ADD COLUMN premium_flags INTEGER NOT NULL DEFAULT 0;

ALTER TABLE users ADD COLUMN premium_grace_ends_at INTEGER;

ALTER TABLE users ADD COLUMN premium_lifetime_sequence INTEGER;

-- Once an erasure has begun, nobody takes it back.
ALTER TABLE account_deletions ADD COLUMN erasure_started_at INTEGER;

CREATE INDEX users_by_last_active_ip ON users (last_active_ip, id) WHERE last_active_ip IS NOT NULL;
