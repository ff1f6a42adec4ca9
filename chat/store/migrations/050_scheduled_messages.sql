-- Messages that are sent later (messages.md, Scheduled messages).
CREATE TABLE scheduled_messages (
    id             INTEGER PRIMARY KEY,
    user_id        INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    channel_id     INTEGER NOT NULL,  -- no reference: the author learns of a channel that is gone from the message
    scheduled_at   INTEGER NOT NULL,
    local_at       TEXT    NOT NULL,  -- as the author wrote the moment, in the zone
    timezone       TEXT    NOT NULL,
    body           TEXT    NOT NULL,  -- JSON, without the files
    due_at         INTEGER,           -- when it is tried next; NULL once it is invalid
    status_reason  TEXT,
    invalidated_at INTEGER
) STRICT;

CREATE INDEX scheduled_messages_of_user ON scheduled_messages (user_id, scheduled_at);

CREATE INDEX scheduled_messages_due ON scheduled_messages (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX scheduled_messages_invalid ON scheduled_messages (invalidated_at) WHERE invalidated_at IS NOT NULL;

ALTER TABLE attachments ADD COLUMN scheduled_id INTEGER REFERENCES scheduled_messages (id) ON DELETE CASCADE;

CREATE INDEX attachments_of_scheduled ON attachments (scheduled_id, position) WHERE scheduled_id IS NOT NULL;
