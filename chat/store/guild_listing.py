"""Guilds as administrators look for them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs


@attrs.frozen
class ListedName:
    """By what a guild is found and ordered."""

    id: int
    name: str
    vanity_url_code: str | None
    member_count: int


ORDERS: Final[Mapping[str, Callable[[ListedName], Any]]] = {
    "created_at": lambda guild: guild.id,
    "name": lambda guild: (guild.name.casefold(), guild.id),
    "member_count": lambda guild: (guild.member_count, guild.id),
}
"""By what a list of guilds can be ordered."""


def found(connection: sqlite3.Connection, text: str, order: str, *, descending: bool) -> list[int]:
    """The guilds whose name holds the text, in any letter case, or whose custom invite code is the text; a blank text
    finds every guild. `order` is one of ORDERS. Looks at every guild."""
    wanted = text.strip().casefold()
    rows = connection.execute("SELECT id, name, vanity_url_code, member_count FROM guilds")
    guilds = [
        guild
        for guild in (ListedName(*row) for row in rows)
        if not wanted or wanted in guild.name.casefold() or wanted == guild.vanity_url_code
    ]
    guilds.sort(key=ORDERS[order], reverse=descending)
    return [guild.id for guild in guilds]
