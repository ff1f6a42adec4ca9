-- Mentions of those who are online.

CREATE TABLE here_mentions (
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    message_id INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX here_mentions_of_message ON here_mentions (message_id);
