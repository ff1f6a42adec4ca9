-- Pins, forwarded files, what marks messages that other tables say more of.

-- Whether `message_reactions` or the like holds anything for the message, so that nobody asks for nothing.
ALTER TABLE messages ADD COLUMN has_reactions INTEGER NOT NULL DEFAULT 0;

-- When it was pinned, in Unix milliseconds; null while it is not.
ALTER TABLE messages ADD COLUMN pinned_at INTEGER;

ALTER TABLE messages DROP COLUMN pinned;

CREATE INDEX messages_pinned ON messages (channel_id, pinned_at, id) WHERE pinned_at IS NOT NULL;

-- A forwarded file is a row of its own whose bytes are those of another row, which may go before it.
ALTER TABLE attachments ADD COLUMN file_id INTEGER;

CREATE INDEX attachments_by_file ON attachments (file_id) WHERE file_id IS NOT NULL;

-- What a client says of a recording: seconds, and its loudness in base64.
ALTER TABLE attachments ADD COLUMN duration INTEGER;

ALTER TABLE attachments ADD COLUMN waveform TEXT;

DROP TRIGGER attachment_gone;

CREATE TRIGGER attachment_gone AFTER DELETE ON attachments
WHEN NOT EXISTS (SELECT 1 FROM attachments WHERE id = coalesce(old.file_id, old.id))
 AND NOT EXISTS (SELECT 1 FROM attachments WHERE file_id = coalesce(old.file_id, old.id))
BEGIN
    INSERT OR IGNORE INTO media_garbage (key) VALUES ('attachments/' || coalesce(old.file_id, old.id));
END;
