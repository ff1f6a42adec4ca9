"""The full-text index of accounts for administrators; conventions as in `chat.store.schema`.

Triggers keep it: it is never behind, and accounts change seldom. A later migration that rebuilds `users` has to create
the triggers anew.
"""

from __future__ import annotations

from typing import Final

ACCOUNT_SEARCH: Final = (
    # `rowid` is the account's id.
    """
    CREATE VIRTUAL TABLE account_search USING fts5 (
        tag, global_name, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
    )
    """,
    """
    INSERT INTO account_search (rowid, tag, global_name)
    SELECT id, username || ' ' || printf('%04d', discriminator), global_name FROM users
    """,
    """
    CREATE TRIGGER account_search_insert AFTER INSERT ON users
    BEGIN
        INSERT INTO account_search (rowid, tag, global_name)
        VALUES (new.id, new.username || ' ' || printf('%04d', new.discriminator), new.global_name);
    END
    """,
    """
    CREATE TRIGGER account_search_update AFTER UPDATE ON users
    WHEN old.username IS NOT new.username
      OR old.discriminator IS NOT new.discriminator
      OR old.global_name IS NOT new.global_name
    BEGIN
        DELETE FROM account_search WHERE rowid = old.id;
        INSERT INTO account_search (rowid, tag, global_name)
        VALUES (new.id, new.username || ' ' || printf('%04d', new.discriminator), new.global_name);
    END
    """,
    """
    CREATE TRIGGER account_search_delete AFTER DELETE ON users
    BEGIN
        DELETE FROM account_search WHERE rowid = old.id;
    END
    """,
)

ADMIN_AUDIT_SEARCH: Final = (
    # `rowid` is the entry's id; entries neither change nor go.
    """
    CREATE VIRTUAL TABLE admin_audit_search USING fts5 (
        action, target_id, reason, metadata, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
    )
    """,
    """
    INSERT INTO admin_audit_search (rowid, action, target_id, reason, metadata)
    SELECT id, action, target_id, reason, metadata FROM admin_audit_log
    """,
    """
    CREATE TRIGGER admin_audit_search_insert AFTER INSERT ON admin_audit_log
    BEGIN
        INSERT INTO admin_audit_search (rowid, action, target_id, reason, metadata)
        VALUES (new.id, new.action, new.target_id, new.reason, new.metadata);
    END
    """,
)
