-- Keys with which programs use the administrative API.

CREATE TABLE admin_api_keys (
    id           INTEGER PRIMARY KEY,
    owner_id     INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name         TEXT    NOT NULL,
    key_hash     BLOB    NOT NULL,  -- SHA-256 of the key
    acls         TEXT    NOT NULL,  -- json
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER
) STRICT;

CREATE INDEX admin_api_keys_of_owner ON admin_api_keys (owner_id);
