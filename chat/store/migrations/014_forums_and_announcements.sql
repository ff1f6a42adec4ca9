-- Tags, defaults and archiving of threads; channels that follow others.

ALTER TABLE channels ADD COLUMN flags INTEGER NOT NULL DEFAULT 0;

-- minutes
ALTER TABLE channels ADD COLUMN default_auto_archive_duration INTEGER;

-- seconds
ALTER TABLE channels ADD COLUMN default_thread_rate_limit_per_user INTEGER NOT NULL DEFAULT 0;

-- json; of forums and media channels only
ALTER TABLE channels ADD COLUMN forum TEXT;

-- Where a thread stands is in its channel's row; here again, so that indexes can tell threads of a place apart.
ALTER TABLE threads ADD COLUMN guild_id INTEGER;

ALTER TABLE threads ADD COLUMN parent_id INTEGER;

ALTER TABLE threads ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;

-- when it archives itself; moved on by messages
ALTER TABLE threads ADD COLUMN archive_at INTEGER;

-- json
ALTER TABLE threads ADD COLUMN applied_tags TEXT NOT NULL DEFAULT '[]';

-- json
ALTER TABLE thread_members ADD COLUMN mute_config TEXT;

UPDATE threads
   SET guild_id = (SELECT guild_id FROM channels WHERE channels.id = threads.id),
       parent_id = (SELECT parent_id FROM channels WHERE channels.id = threads.id),
       created_at = (threads.id >> 22) + 1420070400000,
       archive_at = iif(archived, NULL, archive_timestamp + auto_archive_duration * 60000);

CREATE INDEX threads_active ON threads (guild_id, parent_id) WHERE archived = 0;

CREATE INDEX threads_archived ON threads (parent_id, archive_timestamp) WHERE archived = 1;

CREATE INDEX threads_due ON threads (archive_at) WHERE archive_at IS NOT NULL;

CREATE TRIGGER thread_moved AFTER UPDATE OF guild_id, parent_id ON channels WHEN old.type IN (10, 11, 12)
BEGIN
    UPDATE threads
       SET guild_id = new.guild_id,
           parent_id = new.parent_id,
           archive_at = iif(new.guild_id IS NULL, NULL, archive_at)
     WHERE id = new.id;
END;

-- A webhook of type 2 and the announcement channel whose messages it brings.
CREATE TABLE channel_follows (
    webhook_id        INTEGER PRIMARY KEY REFERENCES webhooks (id) ON DELETE CASCADE,
    source_guild_id   INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    source_channel_id INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE
) STRICT;

CREATE INDEX follows_of_channel ON channel_follows (source_channel_id);

CREATE INDEX follows_of_guild ON channel_follows (source_guild_id);

-- The copies of published messages. They outlast their source, and the webhook that brought them.
CREATE TABLE crosspost_copies (
    source_id  INTEGER NOT NULL,
    webhook_id INTEGER NOT NULL,
    message_id INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    PRIMARY KEY (source_id, webhook_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX crosspost_copies_by_message ON crosspost_copies (message_id);

-- What is to be done: bring the copy that a webhook has of a message to what the message is now.
CREATE TABLE crosspost_deliveries (
    source_id         INTEGER NOT NULL,
    webhook_id        INTEGER NOT NULL,
    source_channel_id INTEGER NOT NULL,
    due_at            INTEGER NOT NULL,
    attempts          INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (source_id, webhook_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX crosspost_deliveries_due ON crosspost_deliveries (due_at);
