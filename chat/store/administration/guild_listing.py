"""Guilds as administrators look for them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

ORDERS: Final[Mapping[str, str]] = {
    "created_at": "id",
    "name": "name COLLATE NOCASE {direction}, id",
    "member_count": "member_count {direction}, id",
}
"""By what a list of guilds can be ordered; the id decides among equals."""


def found(connection: sqlite3.Connection, text: str, order: str, *, descending: bool) -> list[int]:
    """The guilds whose name holds the text, in any letter case, or whose custom invite code is the text; a blank text
    finds every guild. `order` is one of ORDERS. Looks at every guild."""
    direction = "DESC" if descending else "ASC"
    ordered = f"{ORDERS[order].format(direction=direction)} {direction}"
    wanted = text.strip().casefold()
    if not wanted:
        return [guild_id for (guild_id,) in connection.execute(f"SELECT id FROM guilds ORDER BY {ordered}")]  # noqa: S608
    # SQLite knows letter case only of ASCII.
    rows = connection.execute(f"SELECT id, name, vanity_url_code FROM guilds ORDER BY {ordered}")  # noqa: S608
    return [guild_id for guild_id, name, code in rows if wanted in name.casefold() or wanted == code]
