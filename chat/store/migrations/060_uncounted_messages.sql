-- Messages of conversations that did not count for somebody who had silenced their author when they were written: no
-- acknowledgement counts them later, and no deletion takes them back.
CREATE TABLE uncounted_messages (
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    message_id INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX uncounted_messages_of_message ON uncounted_messages (message_id);
