-- Members who say that a person of an old place is them, invites for one, and from whom a claim has taken what it moved.

-- One request of a member in a guild: another one takes its place.
CREATE TABLE claim_requests (
    guild_id     INTEGER NOT NULL,
    user_id      INTEGER NOT NULL,  -- the placeholder
    claimant_id  INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    requested_at INTEGER NOT NULL,
    PRIMARY KEY (guild_id, claimant_id),
    FOREIGN KEY (guild_id, user_id) REFERENCES placeholders (guild_id, user_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX claim_requests_of_placeholder ON claim_requests (guild_id, user_id);

CREATE INDEX claim_requests_of_claimant ON claim_requests (claimant_id);

CREATE INDEX placeholders_of_claimant ON placeholders (claimed_by) WHERE claimed_by IS NOT NULL;

ALTER TABLE invites ADD COLUMN placeholder_id INTEGER;  -- whom the newcomer becomes

-- The placeholder whose row it was, so that it can be given back. Of messages `imported_messages` tells who wrote them.
ALTER TABLE message_mentions ADD COLUMN claimed_from INTEGER;

ALTER TABLE message_reaction_users ADD COLUMN claimed_from INTEGER;
