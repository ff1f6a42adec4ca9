-- What one account wrote in a place is found by one term, for messages behind `last_id`: those that are there keep their
-- entries in the index of messages (chat.store.messages.message_search_entries), because to write millions of them anew
-- would take an hour. A search looks into both parts. One row.
CREATE TABLE message_search_parts (
    last_id INTEGER NOT NULL
) STRICT;

INSERT INTO message_search_parts (last_id) SELECT coalesce(max(id), 0) FROM messages;
