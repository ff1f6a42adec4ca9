"""Networks that an account has signed in from, and may again without a mailed link: the rows of
`authorized_addresses`.

A row whose network is empty says that the account once had authorised networks and forgot them, which is not the same
as never having had any.
"""

from __future__ import annotations

import sqlite3
from typing import Final

NOWHERE: Final = ""
"""The network of the row that outlives `forget`."""


def of_user(connection: sqlite3.Connection, user_id: int) -> list[str]:
    """The account's networks, NOWHERE among them where they were once forgotten."""
    rows = connection.execute(
        "SELECT network FROM authorized_addresses WHERE user_id = ? ORDER BY authorized_at, network", (user_id,)
    )
    return [row[0] for row in rows]


def is_one(connection: sqlite3.Connection, user_id: int, network: str) -> bool:
    """Whether it is one of the account's networks."""
    row = connection.execute(
        "SELECT 1 FROM authorized_addresses WHERE user_id = ? AND network = ?", (user_id, network)
    ).fetchone()
    return row is not None


def add(connection: sqlite3.Connection, user_id: int, network: str, now: int, most: int) -> None:
    """Authorise a network. Beyond `most` the longest authorised ones are forgotten."""
    connection.execute(
        """
        INSERT INTO authorized_addresses (user_id, network, authorized_at) VALUES (?, ?, ?)
            ON CONFLICT (user_id, network) DO UPDATE SET authorized_at = excluded.authorized_at
        """,
        (user_id, network, now),
    )
    connection.execute(
        """
        DELETE FROM authorized_addresses
         WHERE user_id = ?
           AND network <> ?
           AND network NOT IN (SELECT network FROM authorized_addresses
                                WHERE user_id = ?
                                ORDER BY authorized_at DESC, network
                                LIMIT ?)
        """,
        (user_id, NOWHERE, user_id, most),
    )


def forget(connection: sqlite3.Connection, user_id: int, now: int) -> None:
    """Forget every network of the account, and remember that it had some."""
    connection.execute("DELETE FROM authorized_addresses WHERE user_id = ?", (user_id,))
    connection.execute(
        "INSERT INTO authorized_addresses (user_id, network, authorized_at) VALUES (?, ?, ?)", (user_id, NOWHERE, now)
    )
