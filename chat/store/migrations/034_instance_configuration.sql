-- Settings chosen while the server runs, and whether the instance is set up.
--
-- The instance counts as set up from the moment that any account holds an ACL, whoever gave it, and for good: the
-- marker is written where ACLs are, so that no way of granting them can leave it out.

CREATE TABLE chosen_settings (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO instance (key, value) SELECT 'setup_configured', '1' FROM users WHERE acls <> '[]' LIMIT 1;

CREATE TRIGGER users_setup_insert AFTER INSERT ON users WHEN new.acls <> '[]'
BEGIN
    INSERT OR IGNORE INTO instance (key, value) VALUES ('setup_configured', '1');
END;

CREATE TRIGGER users_setup_update AFTER UPDATE OF acls ON users WHEN new.acls <> '[]'
BEGIN
    INSERT OR IGNORE INTO instance (key, value) VALUES ('setup_configured', '1');
END;
