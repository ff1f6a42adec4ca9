-- Polls (messages.md, Polls). What a poll asks stands in `messages.extra`, with the message.
CREATE TABLE polls (
    message_id INTEGER PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    ends_at    INTEGER NOT NULL,
    ended_at   INTEGER             -- when its result was told; NULL until then
) STRICT;

CREATE INDEX polls_due ON polls (ends_at) WHERE ended_at IS NULL;

CREATE TABLE poll_answers (
    message_id INTEGER NOT NULL REFERENCES polls (message_id) ON DELETE CASCADE,
    answer_id  INTEGER NOT NULL,
    votes      INTEGER NOT NULL DEFAULT 0,  -- how many rows `poll_votes` has for it
    PRIMARY KEY (message_id, answer_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE poll_votes (
    message_id INTEGER NOT NULL,
    answer_id  INTEGER NOT NULL,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    voted_at   INTEGER NOT NULL,
    PRIMARY KEY (message_id, answer_id, user_id),
    FOREIGN KEY (message_id, answer_id) REFERENCES poll_answers (message_id, answer_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX poll_votes_of_user ON poll_votes (user_id, message_id);

-- Whatever takes a vote away, the erasure of its account included, counts it no longer.
CREATE TRIGGER poll_vote_given AFTER INSERT ON poll_votes BEGIN
    UPDATE poll_answers SET votes = votes + 1 WHERE message_id = new.message_id AND answer_id = new.answer_id;
END;

CREATE TRIGGER poll_vote_gone AFTER DELETE ON poll_votes BEGIN
    UPDATE poll_answers SET votes = votes - 1 WHERE message_id = old.message_id AND answer_id = old.answer_id;
END;
