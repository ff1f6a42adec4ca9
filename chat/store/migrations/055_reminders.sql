-- Messages of which accounts want to be reminded (messages.md, Reminders).
CREATE TABLE reminders (
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    message_id INTEGER NOT NULL,  -- no reference: the account learns of a message that is gone from the reminder
    channel_id INTEGER NOT NULL,
    remind_at  INTEGER NOT NULL,
    told_at    INTEGER,           -- when it fell due; NULL until then
    PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX reminders_due ON reminders (remind_at) WHERE told_at IS NULL;
