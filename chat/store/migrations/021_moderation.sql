-- What nobody may use; what people report.

-- What nobody may use: one row per entry of a list (administration.md, Blocklists).
CREATE TABLE blocklists (
    list     TEXT NOT NULL,     -- chat.registries.blocklists.Blocklist
    value    TEXT NOT NULL,     -- in the form under which it is compared
    reason   TEXT,
    added_by INTEGER,
    added_at INTEGER NOT NULL,
    PRIMARY KEY (list, value)
) STRICT, WITHOUT ROWID;

-- What people report (instance.md, Reports).
CREATE TABLE reports (
    id               INTEGER PRIMARY KEY,
    kind             TEXT NOT NULL,     -- user, message, guild
    reporter_id      INTEGER NOT NULL,
    reported_user_id INTEGER,
    guild_id         INTEGER,
    channel_id       INTEGER,
    message_id       INTEGER,
    category         TEXT NOT NULL,
    additional_info  TEXT,
    snapshot         TEXT,              -- JSON: the message as it was when it was reported
    status           TEXT NOT NULL,     -- pending, resolved
    public_comment   TEXT,
    resolved_by      INTEGER,
    resolved_at      INTEGER
) STRICT;

CREATE INDEX reports_by_status ON reports (status, id);

CREATE INDEX reports_of_user ON reports (reported_user_id, status, id) WHERE reported_user_id IS NOT NULL;

CREATE INDEX reports_by_reporter ON reports (reporter_id, id);
