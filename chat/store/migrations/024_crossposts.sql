-- Copies of published messages follow them.
--
-- Triggers note every published message that changed or went, whoever did it and by whatever cascade, in the
-- transaction that did it; `chat.domain.crossposting` works the notes off. A later migration that rebuilds `messages`
-- has to create the triggers anew.

-- Whether the webhook has yet to get its copy; without one it gets none for a mere change.
ALTER TABLE crosspost_deliveries ADD COLUMN is_first INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER crosspost_source_changed AFTER UPDATE OF content, extra ON messages WHEN old.flags & 1
BEGIN
    INSERT OR IGNORE INTO crosspost_deliveries (source_id, webhook_id, source_channel_id, due_at)
    SELECT source_id, webhook_id, old.channel_id, 0 FROM crosspost_copies WHERE source_id = old.id;
END;

CREATE TRIGGER crosspost_source_gone AFTER DELETE ON messages WHEN old.flags & 1
BEGIN
    INSERT OR IGNORE INTO crosspost_deliveries (source_id, webhook_id, source_channel_id, due_at)
    SELECT source_id, webhook_id, old.channel_id, 0 FROM crosspost_copies WHERE source_id = old.id;
END;
