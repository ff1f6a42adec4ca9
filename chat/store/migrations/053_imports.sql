-- Communities that were brought along from elsewhere: what was asked for and how far it is, what it brought, and the
-- people of the old place who have no account here.

CREATE TABLE imports (
    id               INTEGER PRIMARY KEY,
    guild_id         INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    source           TEXT    NOT NULL,  -- chat.registries.imports.ImportSource
    place            TEXT    NOT NULL,  -- the path of the export
    wish             TEXT    NOT NULL,  -- json: what of it was asked for
    state            TEXT    NOT NULL,  -- chat.registries.imports.ImportState
    report           TEXT    NOT NULL,  -- json: what came, what was there, what was refused
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    created_at       INTEGER NOT NULL,
    changed_at       INTEGER NOT NULL,
    completed_at     INTEGER
) STRICT;

CREATE INDEX imports_of_guild ON imports (guild_id, id);

-- Rows outlive their messages: what was deleted here does not come back with the next export. No references, since five
-- million messages would pay for them.
CREATE TABLE imported_messages (
    message_id INTEGER PRIMARY KEY,
    import_id  INTEGER NOT NULL,
    person_id  INTEGER NOT NULL  -- who wrote it there: a placeholder, or a webhook
) STRICT;

CREATE TABLE imported_things (
    kind      TEXT    NOT NULL,  -- guild, role, channel, person, expression
    thing_id  INTEGER NOT NULL,
    import_id INTEGER NOT NULL,
    PRIMARY KEY (kind, thing_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE placeholders (
    guild_id    INTEGER NOT NULL REFERENCES guilds (id) ON DELETE CASCADE,
    user_id     INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    person_id   INTEGER NOT NULL,  -- the id in the export, which may be taken here
    original_id TEXT,
    claimed_by  INTEGER,
    claimed_at  INTEGER,
    PRIMARY KEY (guild_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX placeholders_of_user ON placeholders (user_id);
