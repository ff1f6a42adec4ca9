-- Browsers that take push messages.

-- A subscription belongs to a browser in which somebody is signed in: it ends with that sign-in, and a browser in
-- which somebody else signs in is that one's from then on.
CREATE TABLE push_subscriptions (
    id         TEXT    PRIMARY KEY,         -- 32 hexadecimal digits
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    token_hash BLOB    NOT NULL REFERENCES auth_sessions (token_hash) ON DELETE CASCADE,
    endpoint   TEXT    NOT NULL UNIQUE,
    public_key BLOB    NOT NULL,            -- of the browser, an uncompressed point
    auth       BLOB    NOT NULL,            -- what the browser shares with us
    user_agent TEXT,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX push_subscriptions_of_user ON push_subscriptions (user_id, created_at);

CREATE INDEX push_subscriptions_of_sign_in ON push_subscriptions (token_hash);
