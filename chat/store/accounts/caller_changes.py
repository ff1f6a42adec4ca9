"""Accounts that changed in a way that callers are judged by: the rows of `caller_changes`, which the schema writes at
every change of an account's own row as well."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection


def newest(connection: sqlite3.Connection) -> int:
    """The number of the last change; 0 before the first."""
    [number] = connection.execute("SELECT coalesce(max(number), 0) FROM caller_changes").fetchone()
    return int(number)


def after(connection: sqlite3.Connection, number: int) -> list[tuple[int, int]]:
    """The changes behind the one with this number, each with its own number and the account's id, in order. One that is
    not the next to `number` says that others between are forgotten."""
    return connection.execute(
        "SELECT number, user_id FROM caller_changes WHERE number > ? ORDER BY number", (number,)
    ).fetchall()


class Follower:
    """Follows the changes on a connection that never writes, for a memory of what accounts are."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        self._reader = reader
        self._read_up_to = -1
        self._version = -1  # of the database when it was looked at last

    def changed(self) -> Collection[int] | None:
        """The accounts that changed since this was asked last; None where any may have, as the first time. In a
        transaction it says what changed up to the state that the transaction sees."""
        # The version is older than the changes that are read after it: what is committed between is read again.
        [version] = self._reader.execute("PRAGMA data_version").fetchone()
        if version == self._version:
            return ()
        changed: list[int] | None = None
        if self._read_up_to < 0:
            self._read_up_to = newest(self._reader)
        else:
            rows = after(self._reader, self._read_up_to)
            if not rows or rows[0][0] == self._read_up_to + 1:
                changed = [user_id for _, user_id in rows]
            if rows:
                self._read_up_to = rows[-1][0]
        self._version = version
        return changed

    def start_anew(self) -> None:
        """Let any account have changed, where the changes themselves were taken back or erased (`/v1/_dev/reset`)."""
        self._read_up_to = self._version = -1
