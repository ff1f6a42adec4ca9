-- Links in messages are found where they are shown, by the host to which they lead (chat.markdown): not those in code,
-- and not a name with what stands behind it. The entries of all messages that may hold one are made anew, bit by bit.
INSERT INTO message_search_queue (message_id)
SELECT id FROM messages WHERE instr(content, '://') > 0
ON CONFLICT DO NOTHING;
