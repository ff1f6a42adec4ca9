-- Entries of the administrative audit log are found by their words.

-- `rowid` is the entry's id; entries neither change nor go.
CREATE VIRTUAL TABLE admin_audit_search USING fts5 (
    action, target_id, reason, metadata, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);

INSERT INTO admin_audit_search (rowid, action, target_id, reason, metadata)
SELECT id, action, target_id, reason, metadata FROM admin_audit_log;

CREATE TRIGGER admin_audit_search_insert AFTER INSERT ON admin_audit_log
BEGIN
    INSERT INTO admin_audit_search (rowid, action, target_id, reason, metadata)
    VALUES (new.id, new.action, new.target_id, new.reason, new.metadata);
END;
