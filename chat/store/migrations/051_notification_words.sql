-- Words of which an account wants to hear as of a mention (accounts.md, Notification words).
CREATE TABLE notification_words (
    user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    words   TEXT    NOT NULL  -- a JSON list
) STRICT;
