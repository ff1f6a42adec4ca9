"""What uploads take of the disk, counted as it changes; conventions as in `chat.store.schema`."""

from __future__ import annotations

from typing import Final

INSTANCE: Final = -1
"""In the place of an account: everybody's files, images that belong to somebody included."""


def _counting(name: str, event: str, row: str, sign: str, *, of_account: bool) -> str:
    """A trigger; not with ON CONFLICT, which the statement that fires it would have its own way with."""
    whose, rows = str(INSTANCE), f"({INSTANCE}, 0)"
    if of_account:
        whose, rows = f"{INSTANCE}, {row}.user_id", f"({INSTANCE}, 0), ({row}.user_id, 0)"
    first = f"INSERT OR IGNORE INTO media_usage (user_id, bytes) VALUES {rows};"  # noqa: S608 - our own names
    update = f"UPDATE media_usage SET bytes = bytes {sign} {row}.size WHERE user_id IN ({whose});"  # noqa: S608 - ours
    return f"CREATE TRIGGER {name} AFTER {event} BEGIN {first} {update} END"


UPLOADS: Final = (
    # What stands for a picture until it is there: a ThumbHash in base64.
    "ALTER TABLE attachments ADD COLUMN placeholder TEXT",
    """
    CREATE TABLE media_usage (
        user_id INTEGER PRIMARY KEY,  -- whose files; -1 for everybody's together
        bytes   INTEGER NOT NULL
    ) STRICT
    """,
    "INSERT INTO media_usage (user_id, bytes) SELECT user_id, sum(size) FROM attachments GROUP BY user_id",
    f"""
    INSERT INTO media_usage (user_id, bytes)
    SELECT {INSTANCE}, (SELECT coalesce(sum(size), 0) FROM attachments) + (SELECT coalesce(sum(size), 0) FROM assets)
    """,  # noqa: S608 - our own number
    _counting("attachment_counted", "INSERT ON attachments", "new", "+", of_account=True),
    _counting("attachment_discounted", "DELETE ON attachments", "old", "-", of_account=True),
    f"""
    CREATE TRIGGER attachment_counted_anew AFTER UPDATE OF size ON attachments WHEN old.size <> new.size
    BEGIN
        UPDATE media_usage SET bytes = bytes + new.size - old.size WHERE user_id IN ({INSTANCE}, new.user_id);
    END
    """,  # noqa: S608 - our own number
    _counting("asset_counted", "INSERT ON assets", "new", "+", of_account=False),
    _counting("asset_discounted", "DELETE ON assets", "old", "-", of_account=False),
    # What links in messages lead to, until it may have changed. A null body: nothing is shown of it.
    """
    CREATE TABLE unfurled (
        url_hash   BLOB    PRIMARY KEY,  -- SHA-256
        embed      TEXT,                 -- JSON
        expires_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX unfurled_by_expiry ON unfurled (expires_at)",
)
