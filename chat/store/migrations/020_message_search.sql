-- Messages are found by their words; those that there are get into the index bit by bit afterwards.
--
-- The index follows the messages by itself: triggers note every message that was written, changed or deleted, whoever
-- did it and by whatever cascade, in the transaction that did it. `chat.store.message_search` works the notes off a
-- little later, many at once: a note costs two microseconds, an entry of its own fifty, one among many nine. Since a
-- note goes away in the transaction that writes its entry, nothing is lost when the process ends in between.
--
-- A later migration that rebuilds `messages` has to create the triggers anew.

-- Messages whose entry in the index is not what it should be. Those from before there was an index are noted too.
CREATE TABLE message_search_queue (
    message_id INTEGER PRIMARY KEY
) STRICT;

INSERT INTO message_search_queue (message_id) SELECT id FROM messages;

CREATE TRIGGER message_search_insert AFTER INSERT ON messages
BEGIN
    INSERT INTO message_search_queue (message_id) VALUES (new.id) ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER message_search_update
AFTER UPDATE OF type, flags, content, mention_everyone, pinned_at, extra ON messages
BEGIN
    INSERT INTO message_search_queue (message_id) VALUES (new.id) ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER message_search_delete AFTER DELETE ON messages
BEGIN
    INSERT INTO message_search_queue (message_id) VALUES (old.id) ON CONFLICT DO NOTHING;
END;

-- `rowid` is the message's id, so entries come in order of time. Both columns hold terms with spaces between them
-- (`chat.store.search_terms`), which the plainest tokenizer leaves as they are. The index keeps them, because an entry
-- can only be taken out by what was put in.
CREATE VIRTUAL TABLE message_search USING fts5 (
    words, filters, tokenize = 'ascii', detail = full, columnsize = 0
);
