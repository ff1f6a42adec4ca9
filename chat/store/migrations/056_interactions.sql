-- What people do with commands, components and forms, until the token ends (interactions.md, Interactions).
CREATE TABLE interactions (
    id             INTEGER PRIMARY KEY,
    application_id INTEGER NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    user_id        INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    type           INTEGER NOT NULL,
    channel_id     INTEGER NOT NULL,  -- no reference: whoever answers learns that the channel is gone
    guild_id       INTEGER,
    message_id     INTEGER,           -- the message whose component was used
    token_hash     BLOB    NOT NULL,
    session_id     TEXT,              -- the session that hears of it; NULL for all of the account's
    nonce          TEXT,
    name           TEXT,              -- of the command
    created_at     INTEGER NOT NULL,
    due_at         INTEGER,           -- when it counts as not answered; NULL once it is answered, or counts as that
    answered_with  INTEGER,           -- the type of the callback
    answer_id      INTEGER,           -- the message that is the original answer
    opened_by      TEXT,              -- JSON: of a form, what was answered with it, as messages tell it
    form           TEXT               -- JSON: the form that it was answered with
) STRICT;

CREATE INDEX interactions_due ON interactions (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX interactions_by_age ON interactions (created_at);

CREATE UNIQUE INDEX interactions_by_token ON interactions (application_id, token_hash);

CREATE INDEX interactions_of_user ON interactions (user_id);

-- Answers that one person alone sees; they are in no history.
CREATE TABLE ephemeral_messages (
    id             INTEGER PRIMARY KEY,
    interaction_id INTEGER NOT NULL REFERENCES interactions (id) ON DELETE CASCADE,
    body           TEXT    NOT NULL   -- JSON: the message object
) STRICT;

CREATE INDEX ephemeral_messages_of_interaction ON ephemeral_messages (interaction_id);
