-- Metadata goes out of what was stored before it was taken out of what arrives (media.md, Metadata). A file without
-- it gets a new key; what an image is called stays, though its content changed.

ALTER TABLE assets ADD COLUMN content_hash TEXT;  -- SHA-256 in hexadecimal, where it is not what `hash` says

CREATE TRIGGER asset_counted_anew AFTER UPDATE OF size ON assets WHEN old.size <> new.size
BEGIN
    UPDATE media_usage SET bytes = bytes + new.size - old.size WHERE user_id IN (-1);
END;

-- The job, where there is something to do. Its id is a snowflake of now, by a worker that makes no others; another
-- migration may have ordered one in the same moment.
INSERT INTO jobs (
    id, task_type, status, payload, state, progress_current, attempts, cancel_requested, run_at, created_at, changed_at
)
SELECT ((now - 1420070400000) << 22) | (1023 << 12) | 1, 'metadata_removal', 'pending', '{}', '{}', 0, 0, 0, 0,
       now, now
  FROM (SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS now)
 WHERE EXISTS (SELECT 1 FROM attachments WHERE stored) OR EXISTS (SELECT 1 FROM assets WHERE source_url IS NULL);
