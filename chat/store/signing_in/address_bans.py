"""Banned networks: the rows of `address_bans`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

import attrs

from chat.classes import frozen


@frozen
class AddressBan:
    """One row of `address_bans`: an IPv4 address or an IPv6 network of 64 bits. Times are Unix milliseconds."""

    network: str
    reason: str
    created_at: int
    expires_at: int


_COLUMNS: Final = "network, reason, created_at, expires_at"


def every(connection: sqlite3.Connection, now: int) -> list[AddressBan]:
    """The bans that stand at this moment, the oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM address_bans WHERE expires_at > ? ORDER BY created_at, network",  # noqa: S608
        (now,),
    )
    return [AddressBan(*row) for row in rows]


def insert(connection: sqlite3.Connection, bans: Iterable[AddressBan]) -> None:
    """Add bans, each in place of one of the same network."""
    connection.executemany(
        f"INSERT OR REPLACE INTO address_bans ({_COLUMNS}) VALUES (?, ?, ?, ?)",  # noqa: S608
        [attrs.astuple(ban) for ban in bans],
    )


def delete(connection: sqlite3.Connection, network: str) -> bool:
    """Lift the ban of a network; whether there was one."""
    return connection.execute("DELETE FROM address_bans WHERE network = ?", (network,)).rowcount > 0


def delete_expired(connection: sqlite3.Connection, now: int) -> None:
    """Delete the bans that had expired at this moment."""
    connection.execute("DELETE FROM address_bans WHERE expires_at <= ?", (now,))
