-- Conversations outside of guilds.

CREATE TABLE private_channel_recipients (
    channel_id INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    is_shown   INTEGER NOT NULL,  -- whether it stands in the account's list: from its first message on, or opened
    PRIMARY KEY (channel_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX private_channels_of_user ON private_channel_recipients (user_id, is_shown);

-- Two accounts have one conversation with each other, whoever opens it.
CREATE TABLE direct_messages (
    lower_user_id  INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    higher_user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    channel_id     INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    PRIMARY KEY (lower_user_id, higher_user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX direct_messages_of_higher_user ON direct_messages (higher_user_id);

CREATE INDEX direct_messages_of_channel ON direct_messages (channel_id);
