-- What requests have begun and not finished.

CREATE TABLE errands (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    kind  TEXT NOT NULL,  -- chat.registries.jobs.ErrandKind
    state TEXT NOT NULL   -- JSON: what was asked for, and how far it has come
) STRICT;

-- Accounts whose turn is still to come.
CREATE TABLE errand_accounts (
    errand_id INTEGER NOT NULL REFERENCES errands (id) ON DELETE CASCADE,
    user_id   INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (errand_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX errand_accounts_of_user ON errand_accounts (user_id);

CREATE INDEX user_guild_settings_of_guild ON user_guild_settings (guild_id);
