-- How long messages are kept, in days: 0 for ever; NULL as the guild chose, and where it did not, as the instance did.
ALTER TABLE guilds ADD COLUMN message_retention_days INTEGER CHECK (message_retention_days >= 0);
ALTER TABLE channels ADD COLUMN message_retention_days INTEGER CHECK (message_retention_days >= 0);

-- Whether anybody chose is asked once an hour.
CREATE INDEX guilds_with_retention ON guilds (id) WHERE message_retention_days IS NOT NULL;
CREATE INDEX channels_with_retention ON channels (id) WHERE message_retention_days IS NOT NULL;
