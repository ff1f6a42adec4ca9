"""Servers that end right after the commit of a unit, before anybody hears of it, and what a store holds.

What `kill -9` leaves is what was committed: so a server that does nothing any more from some commit on leaves the same,
within a test's own run and virtual time.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable
from typing import Any, Final

import pytest
import trio

from chat.store.database import Database
from chat.testing.server import ChatServer
from tests.administration.erasure.erasure_world import columns

LARGEST_SMALL: Final = 10**11
"""Larger numbers are ids and moments: those from before the end are compared by value, new ones only by being there."""

SMALLEST_ID: Final = 10**15
"""Between the two lie moments."""

LEFT_OUT: Final = frozenset(
    {"jobs", "instance", "outside_changes", "retained_events", "message_search_queue", "caller_changes", "figures"}
)
"""Tables that tell what a server was doing and when: `figures`, for one, how long the requests of a minute took."""

LOGS: Final = {
    "admin_audit_log": "action, target_id, admin_user_id",
    "guild_audit_log": "action_type, user_id, target_id",
    "mails": "recipient, kind",
    "blocklists": "list, value",
    "attachments": "id, user_id, message_id",
}
"""What is compared of tables whose other columns tell of moments in words."""


USES: Final = {
    "auth_sessions": ("last_used_at", "address", "user_agent", "client_os", "client_platform"),
    "users": ("last_active_at", "last_active_ip"),
}


class Killer:
    """Sees to every write of every server. `holds`: no job begins. `kills`: the first step of a job is the last thing
    that the server does. `units_left`: how many units may still change something before the server ends."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.holds = self.kills = False
        self.units_left: int | None = None
        self.killed = trio.Event()
        write = Database.write
        killer = self

        async def seen(
            database: Database,
            unit: Callable[[sqlite3.Connection], Any],
            then: Callable[[Any], None] | None = None,
            **named: Any,
        ) -> Any:
            if not (killer.holds or killer.kills or killer.units_left is not None):
                return await write(database, unit, then, **named)
            try:
                return await write(database, killer.watched(unit), lambda result: killer.after(then, result), **named)
            except _Held:
                await trio.sleep_forever()
            finally:
                if killer.killed.is_set():
                    await trio.sleep_forever()

        patch.setattr(Database, "write", seen)

    def watched(self, unit: Callable[[sqlite3.Connection], Any]) -> Callable[[sqlite3.Connection], Any]:
        @functools.wraps(unit)
        def whole(connection: sqlite3.Connection) -> Any:
            if self.killed.is_set():
                raise _Held
            if self.units_left is not None:
                return self.counted(unit, connection)
            before, statements = dict(connection.execute("SELECT id, status FROM jobs")), list[str]()
            connection.set_trace_callback(statements.append)
            try:
                result = unit(connection)
            finally:
                connection.set_trace_callback(None)
            if any(statement.startswith("UPDATE jobs") for statement in statements):
                if self.holds:
                    raise _Held
                after = dict(connection.execute("SELECT id, status FROM jobs"))
                changed = {status for job_id, status in after.items() if status != before[job_id]}
                if not changed & {"pending", "running"}:  # neither taken up nor taken up again
                    self.killed.set()
            return result

        return whole

    def counted(self, unit: Callable[[sqlite3.Connection], Any], connection: sqlite3.Connection) -> Any:
        before = connection.total_changes
        result = unit(connection)
        if connection.total_changes != before and self.units_left is not None:
            self.units_left -= 1
            if not self.units_left:
                self.killed.set()
        return result

    def after(self, then: Callable[[Any], None] | None, result: Any) -> None:
        if then is not None and not self.killed.is_set():
            then(result)


class _Held(Exception):
    """The server does nothing any more."""


def picture(server: ChatServer, known: set[int]) -> dict[str, list[tuple[Any, ...]]]:
    """What the store holds, in an order of its own, without what depends on when it was written."""
    return picture_of(server.database.reader, known)


def picture_of(
    reader: sqlite3.Connection, known: set[int], *, uses_count: bool = True
) -> dict[str, list[tuple[Any, ...]]]:
    """As `picture`, on a connection; `uses_count` False without when and whence accounts were used last, which is
    written down once a minute."""

    def plain(value: Any) -> Any:
        return "*" if isinstance(value, int) and value > LARGEST_SMALL and value not in known else value

    found: dict[str, list[tuple[Any, ...]]] = {}
    for table, names in columns(reader).items():
        if table not in LEFT_OUT:
            counted = names if uses_count else [name for name in names if name not in USES.get(table, ())]
            rows = reader.execute(f"SELECT {LOGS.get(table, ', '.join(counted))} FROM {table}")  # noqa: S608 - our own names
            found[table] = sorted((tuple(map(plain, row)) for row in rows), key=repr)
    return found


def numbers(reader: sqlite3.Connection) -> set[int]:
    """Every number that the store holds and that is no moment: those are compared as being there."""
    return {
        value
        for table, names in columns(reader).items()
        for row in reader.execute(f"SELECT {', '.join(names)} FROM {table}")  # noqa: S608 - our own names
        for value in row
        if isinstance(value, int) and not LARGEST_SMALL < value < SMALLEST_ID
    }


async def next_server(server: ChatServer, killer: Killer, *, kills: bool = False) -> None:
    """End, and start on what is there; later than any server before, or new ids would be like those there are."""
    await server.stop()
    await trio.sleep(10)
    killer.holds, killer.kills, killer.killed = False, kills, trio.Event()
    killer.units_left = None
    await server.start()
