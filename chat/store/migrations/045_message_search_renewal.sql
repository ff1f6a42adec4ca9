-- The index of messages begins anew, and what there was of it is kept beside, because its entries are of an older form:
-- without terms of author and place (041_authors_in_places.sql), words without groups (042_words_by_author_group.sql). A
-- job brings the messages over bit by bit (chat.store.messages.message_search_entries), from the newest on. It takes
-- nothing out meanwhile, since the index would have to write down of each word of each message that it is gone: an entry
-- counts if it is of a message up to `old_until`, which the job lowers, and all of them are thrown away in the end.
ALTER TABLE message_search RENAME TO message_search_old;

CREATE VIRTUAL TABLE message_search USING fts5 (
    words, filters, tokenize = 'ascii', detail = full, columnsize = 0
);

-- Messages behind `ungrouped_until` have entries of the present form, which no released version has written.
INSERT INTO message_search_queue (message_id)
SELECT id FROM messages WHERE id > (SELECT ungrouped_until FROM message_search_parts)
ON CONFLICT DO NOTHING;

ALTER TABLE message_search_parts DROP COLUMN last_id;

ALTER TABLE message_search_parts RENAME COLUMN ungrouped_until TO old_until;

-- The job, where there is something to do. Its id is a snowflake of now, by a worker that makes no others.
INSERT INTO jobs (
    id, task_type, status, payload, state, progress_current, attempts, cancel_requested, run_at, created_at, changed_at
)
SELECT ((now - 1420070400000) << 22) | (1023 << 12), 'message_search_renewal', 'pending', '{}', '{}', 0, 0, 0, now, now, now
  FROM (SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS now), message_search_parts
 WHERE old_until > 0;
