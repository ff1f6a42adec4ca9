-- What uploads take of the disk; placeholders of pictures; what links lead to.

-- What stands for a picture until it is there: a ThumbHash in base64.
ALTER TABLE attachments ADD COLUMN placeholder TEXT;

CREATE TABLE media_usage (
    user_id INTEGER PRIMARY KEY,  -- whose files; -1 for everybody's together
    bytes   INTEGER NOT NULL
) STRICT;

INSERT INTO media_usage (user_id, bytes) SELECT user_id, sum(size) FROM attachments GROUP BY user_id;

INSERT INTO media_usage (user_id, bytes)
SELECT -1, (SELECT coalesce(sum(size), 0) FROM attachments) + (SELECT coalesce(sum(size), 0) FROM assets);

CREATE TRIGGER attachment_counted AFTER INSERT ON attachments
BEGIN
    INSERT OR IGNORE INTO media_usage (user_id, bytes) VALUES (-1, 0), (new.user_id, 0);
    UPDATE media_usage SET bytes = bytes + new.size WHERE user_id IN (-1, new.user_id);
END;

CREATE TRIGGER attachment_discounted AFTER DELETE ON attachments
BEGIN
    INSERT OR IGNORE INTO media_usage (user_id, bytes) VALUES (-1, 0), (old.user_id, 0);
    UPDATE media_usage SET bytes = bytes - old.size WHERE user_id IN (-1, old.user_id);
END;

CREATE TRIGGER attachment_counted_anew AFTER UPDATE OF size ON attachments WHEN old.size <> new.size
BEGIN
    UPDATE media_usage SET bytes = bytes + new.size - old.size WHERE user_id IN (-1, new.user_id);
END;

CREATE TRIGGER asset_counted AFTER INSERT ON assets
BEGIN
    INSERT OR IGNORE INTO media_usage (user_id, bytes) VALUES (-1, 0);
    UPDATE media_usage SET bytes = bytes + new.size WHERE user_id IN (-1);
END;

CREATE TRIGGER asset_discounted AFTER DELETE ON assets
BEGIN
    INSERT OR IGNORE INTO media_usage (user_id, bytes) VALUES (-1, 0);
    UPDATE media_usage SET bytes = bytes - old.size WHERE user_id IN (-1);
END;

-- What links in messages lead to, until it may have changed. A null body: nothing is shown of it.
CREATE TABLE unfurled (
    url_hash   BLOB    PRIMARY KEY,  -- SHA-256
    embed      TEXT,                 -- JSON
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX unfurled_by_expiry ON unfurled (expires_at);
