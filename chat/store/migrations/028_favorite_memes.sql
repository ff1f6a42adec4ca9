-- What accounts keep at hand.

-- The file is an attachment in the account's conversation with itself, in no message there.
CREATE TABLE favorite_memes (
    id       INTEGER PRIMARY KEY REFERENCES attachments (id) ON DELETE CASCADE,
    user_id  INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name     TEXT    NOT NULL,
    alt_text TEXT,
    tags     TEXT    NOT NULL  -- a JSON list
) STRICT;

CREATE INDEX favorite_memes_of_user ON favorite_memes (user_id, id);

CREATE TRIGGER favorite_meme_gone AFTER DELETE ON favorite_memes
BEGIN
    DELETE FROM attachments WHERE id = old.id;
END;
