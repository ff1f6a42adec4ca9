-- The words of a message are found together with the group of its author (chat.store.messages.search_terms), so that a
-- search for what one account wrote walks a part of each word's list. This holds for messages behind `ungrouped_until`:
-- entries of before stay as they are (041_authors_in_places.sql tells why).
ALTER TABLE message_search_parts ADD COLUMN ungrouped_until INTEGER NOT NULL DEFAULT 0;

UPDATE message_search_parts SET ungrouped_until = (SELECT coalesce(max(id), 0) FROM messages);
