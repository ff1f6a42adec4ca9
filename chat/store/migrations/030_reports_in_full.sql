-- Reports of people without an account, and reports found by their words.

-- A table of which a column may be null from now on is made anew.
DROP INDEX reports_by_status;

DROP INDEX reports_of_user;

DROP INDEX reports_by_reporter;

ALTER TABLE reports RENAME TO reports_before;

CREATE TABLE reports (
    id               INTEGER PRIMARY KEY,
    kind             TEXT NOT NULL,     -- user, message, guild
    reporter_id      INTEGER,           -- null: somebody without an account, of whom the next three tell
    reporter_email   TEXT,
    reporter_name    TEXT,
    reporter_country TEXT,              -- ISO 3166-1, two letters
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

INSERT INTO reports (id, kind, reporter_id, reported_user_id, guild_id, channel_id, message_id, category,
                     additional_info, snapshot, status, public_comment, resolved_by, resolved_at)
SELECT id, kind, reporter_id, reported_user_id, guild_id, channel_id, message_id, category,
       additional_info, snapshot, status, public_comment, resolved_by, resolved_at
  FROM reports_before;

DROP TABLE reports_before;

CREATE INDEX reports_by_status ON reports (status, id);

CREATE INDEX reports_of_user ON reports (reported_user_id, status, id) WHERE reported_user_id IS NOT NULL;

CREATE INDEX reports_by_reporter ON reports (reporter_id, id) WHERE reporter_id IS NOT NULL;

CREATE INDEX reports_of_guild ON reports (guild_id, id) WHERE guild_id IS NOT NULL;

-- `rowid` is the report's id. What is indexed of a report never changes.
CREATE VIRTUAL TABLE report_search USING fts5 (
    additional_info, content, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);

INSERT INTO report_search (rowid, additional_info, content)
SELECT id, additional_info, json_extract(snapshot, '$.content') FROM reports;

CREATE TRIGGER report_search_insert AFTER INSERT ON reports
BEGIN
    INSERT INTO report_search (rowid, additional_info, content)
    VALUES (new.id, new.additional_info, json_extract(new.snapshot, '$.content'));
END;

CREATE TRIGGER report_search_delete AFTER DELETE ON reports
BEGIN
    DELETE FROM report_search WHERE rowid = old.id;
END;
