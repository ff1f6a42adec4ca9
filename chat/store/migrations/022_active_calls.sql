-- Calls that are going on.

-- Who is in a call is known to the process alone. A row that a process left behind tells the next one which messages
-- speak of a call that nobody ended.
CREATE TABLE active_calls (
    channel_id INTEGER PRIMARY KEY REFERENCES channels (id) ON DELETE CASCADE,
    message_id INTEGER NOT NULL
) STRICT;
