-- Threads and their members.

CREATE TABLE threads (
    id                    INTEGER PRIMARY KEY REFERENCES channels (id) ON DELETE CASCADE,
    archived              INTEGER NOT NULL DEFAULT 0,
    auto_archive_duration INTEGER NOT NULL,            -- minutes
    archive_timestamp     INTEGER NOT NULL,            -- when `archived` changed last
    locked                INTEGER NOT NULL DEFAULT 0,
    invitable             INTEGER,                     -- of private threads only
    message_count         INTEGER NOT NULL DEFAULT 0,  -- present now
    total_message_sent    INTEGER NOT NULL DEFAULT 0,  -- ever
    member_count          INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE thread_members (
    thread_id INTEGER NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    user_id   INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    joined_at INTEGER NOT NULL,
    flags     INTEGER NOT NULL DEFAULT 0,
    muted     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (thread_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX threads_of_member ON thread_members (user_id);
