-- Who is whose friend, who has blocked whom.

CREATE TABLE relationships (
    user_id              INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    target_id            INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    type                 INTEGER NOT NULL,  -- 1 friend, 2 blocked, 3 incoming, 4 outgoing request
    since                INTEGER,
    nickname             TEXT,
    share_voice_activity INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (user_id, target_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX relationships_with_target ON relationships (target_id);
