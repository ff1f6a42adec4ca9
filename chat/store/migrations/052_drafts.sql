-- What accounts have typed and not sent, for their other devices (messages.md, Drafts).
CREATE TABLE drafts (
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    channel_id INTEGER NOT NULL,  -- no reference: a draft may outlive its channel, until others take its place
    content    TEXT    NOT NULL,  -- empty once it was sent or deleted, so that an older text does not come back
    edited_at  INTEGER NOT NULL,
    PRIMARY KEY (user_id, channel_id)
) STRICT, WITHOUT ROWID;
