-- Guilds apply for public discovery.

CREATE TABLE discovery_applications (
    guild_id      INTEGER PRIMARY KEY REFERENCES guilds (id) ON DELETE CASCADE,
    category      INTEGER NOT NULL,  -- chat.registries.guild_values.DiscoveryCategory
    description   TEXT NOT NULL,
    status        TEXT NOT NULL,     -- chat.registries.guild_values.DiscoveryStatus
    applied_by    INTEGER NOT NULL,
    applied_at    INTEGER NOT NULL,
    reviewed_by   INTEGER,
    reviewed_at   INTEGER,
    review_reason TEXT
) STRICT;

CREATE INDEX discovery_applications_by_status ON discovery_applications (status, applied_at, guild_id);
