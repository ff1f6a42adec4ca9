-- Exports of communities that people bring along in the browser: how far each is. The file lies in `imports/`.
CREATE TABLE brought_exports (
    id         INTEGER PRIMARY KEY,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    filename   TEXT    NOT NULL,
    size       INTEGER NOT NULL,
    state      TEXT    NOT NULL,  -- chat.registries.imports.BroughtState
    trouble    TEXT,              -- chat.registries.imports.BroughtTrouble
    preview    TEXT,              -- json: what the dry run found
    wish       TEXT,              -- json: what of it is to come
    guild_id   INTEGER,
    import_id  INTEGER,
    attempts   INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT;

CREATE INDEX brought_exports_of_user ON brought_exports (user_id, id);
CREATE INDEX brought_exports_in_state ON brought_exports (state, id);
