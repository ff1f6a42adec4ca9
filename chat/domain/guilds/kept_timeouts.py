"""A time-out outlives the membership: who comes back within a year is still timed out (guilds.md, Leave guild)."""

from __future__ import annotations

import sqlite3
from typing import Final

from chat.store.guilds import kept_timeouts
from chat.store.guilds.members import Member

KEPT_MS: Final = 365 * 86_400_000
"""How long after leaving a time-out is resumed."""


def keep(connection: sqlite3.Connection, member: Member, now_ms: int) -> None:
    """In a unit of writing: the member goes, and its time-out, if one still runs, waits for it."""
    kept_timeouts.delete_over(connection, member.guild_id, now_ms)
    until = member.communication_disabled_until
    if until is not None and until > now_ms:
        kept_timeouts.put(connection, member.guild_id, member.user_id, until=until, left_at=now_ms)


def resumed(connection: sqlite3.Connection, guild_id: int, user_id: int, now_ms: int) -> int | None:
    """In a unit of writing: until when somebody who joins is timed out (Unix milliseconds); None for who is not."""
    kept = kept_timeouts.take(connection, guild_id, user_id)
    if kept is None:
        return None
    until, left_at = kept
    return until if until > now_ms and now_ms - left_at <= KEPT_MS else None
