"""Tables of migration `instance_configuration`: settings chosen at run time, and whether the instance is set up.

The instance counts as set up from the moment that any account holds an ACL, whoever gave it, and for good: the marker
is written where ACLs are, so that no way of granting them can leave it out.
"""

from __future__ import annotations

from typing import Final

CONFIGURED: Final = "setup_configured"
"""The instance's value that says so."""

_MARK: Final = f"INSERT OR IGNORE INTO instance (key, value) VALUES ('{CONFIGURED}', '1')"  # noqa: S608 - our own name

INSTANCE_CONFIGURATION: Final = (
    """
    CREATE TABLE chosen_settings (
        name  TEXT NOT NULL PRIMARY KEY,
        value TEXT NOT NULL CHECK (json_valid(value))
    ) STRICT, WITHOUT ROWID
    """,
    f"INSERT OR IGNORE INTO instance (key, value) SELECT '{CONFIGURED}', '1' FROM users WHERE acls <> '[]' LIMIT 1",  # noqa: S608
    f"CREATE TRIGGER users_setup_insert AFTER INSERT ON users WHEN new.acls <> '[]' BEGIN {_MARK}; END",
    f"CREATE TRIGGER users_setup_update AFTER UPDATE OF acls ON users WHEN new.acls <> '[]' BEGIN {_MARK}; END",
)
