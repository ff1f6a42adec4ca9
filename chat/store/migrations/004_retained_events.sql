-- The Dispatches of sessions at rest, which many sessions share.

CREATE TABLE retained_events (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    data BLOB NOT NULL  -- the encoded d
) STRICT;
