"""The highest snowflake in the database: what is made next must be above it, whatever the clock says."""

from __future__ import annotations

import sqlite3
from typing import Final

TABLES: Final = (
    "admin_api_keys",
    "admin_audit_log",
    "applications",
    "archives",
    "assets",
    "attachments",
    "channels",
    "expressions",
    "favorite_memes",
    "guild_audit_log",
    "guilds",
    "jobs",
    "messages",
    "oauth2_grants",
    "reports",
    "roles",
    "store_purchases",
    "users",
    "webhooks",
)
"""Tables whose `id` is a snowflake. Each has it as its key or in an index: asking for the highest reads one page."""

_QUERY: Final = f"SELECT max(id) FROM ({' UNION ALL '.join(f'SELECT max(id) AS id FROM {table}' for table in TABLES)})"  # noqa: S608 - our own names


def last_id(connection: sqlite3.Connection) -> int:
    """The highest id of all; 0 in an empty database."""
    highest: int | None = connection.execute(_QUERY).fetchone()[0]
    return highest or 0
