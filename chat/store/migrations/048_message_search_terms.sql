-- Entries of the index hold other terms from now on: syllables of Korean each by itself, letters without their strokes,
-- words without the marks of Markdown in them, numbers with points without letters at them. What was written before is
-- looked at again bit by bit, from the newest message on (chat.store.messages.message_search_entries), and written anew
-- where it differs; up to `terms_until` it may differ still.
ALTER TABLE message_search_parts ADD COLUMN terms_until INTEGER NOT NULL DEFAULT 0;

UPDATE message_search_parts SET terms_until = (SELECT coalesce(max(id), 0) FROM message_search_content);

-- The job, where there is something to do and 045_message_search_renewal.sql has not ordered it yet.
INSERT INTO jobs (
    id, task_type, status, payload, state, progress_current, attempts, cancel_requested, run_at, created_at, changed_at
)
SELECT ((now - 1420070400000) << 22) | (1023 << 12), 'message_search_renewal', 'pending', '{}', '{}', 0, 0, 0, now, now, now
  FROM (SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS now), message_search_parts
 WHERE terms_until > 0
   AND NOT EXISTS (
       SELECT 1 FROM jobs WHERE task_type = 'message_search_renewal' AND status IN ('pending', 'running')
   );
