"""Group commit: several units of work, each under a SAVEPOINT of its own, in one transaction; one alone needs none.

Nothing in here knows of threads or of Trio: `chat.store.database` decides where and when a group runs.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs
import structlog

from chat.classes import define, frozen
from chat.errors import StorageUnavailable
from chat.observation import Observation

logger = structlog.get_logger(__name__)

_UNAVAILABLE: Final = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_NOTADB,
    }
)
"""Primary result codes that speak of the machine or the file, not of the statement."""

_LOCKED: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


@define(eq=False)
class WriteRequest:
    """One unit of work on its way to the writer and back.

    `error` stays None when the unit is committed; then `result` is what it returned. `waiting` is for the sender.
    """

    unit: Callable[[sqlite3.Connection], Any]
    then: Callable[[Any], None] | None
    waiting: Any = None
    cause: Observation | None = None
    """The HTTP request that waits for the write, if requests are observed."""
    result: Any = attrs.field(default=None, init=False)
    error: Exception | None = attrs.field(default=None, init=False)

    def announce(self) -> None:
        """Run `then`, if the unit was committed."""
        if self.error is not None or self.then is None:
            return
        try:
            self.then(self.result)
        except Exception as error:
            logger.exception("what follows a write failed")
            self.error = error


def unavailable_because(cause: Exception) -> StorageUnavailable:
    """The error that a caller gets, with the one that explains it as its cause."""
    error = StorageUnavailable()
    error.__cause__ = cause
    return error


def was_locked(error: StorageUnavailable) -> bool:
    """Whether nothing was written because another process was writing all the while."""
    cause = error.__cause__
    return isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", 0) & 0xFF in _LOCKED


def as_caller_sees(error: Exception) -> Exception:
    """StorageUnavailable in place of SQLite's own error, where the machine or the file is at fault."""
    if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _UNAVAILABLE:
        return unavailable_because(error)
    return error


SlowObserver = Callable[[str, str, float, Observation | None], None]
"""Hears of what took long, in any thread: its name, whether it is a `unit`, a `query` or a `commit`, its seconds, and
the request that waits for it."""


@frozen
class Slowness:
    """Calls a function with each write that took longer than a number of seconds."""

    seconds: float
    observe: SlowObserver

    def judge(self, work: Callable[..., Any] | str, kind: str, began: float, cause: Observation | None) -> None:
        """Tell of what began then, on `time.perf_counter`, if it took long."""
        seconds = time.perf_counter() - began
        if seconds >= self.seconds:
            self.observe(work if isinstance(work, str) else name_of(work), kind, seconds, cause)


def name_of(work: Callable[..., Any]) -> str:
    """The function that a unit or a query is, by its module and name."""
    while (inner := getattr(work, "__wrapped__", None) or getattr(work, "func", None)) is not None:
        work = inner
    name = getattr(work, "__qualname__", type(work).__qualname__)
    return f"{getattr(work, '__module__', '')}.{name}".replace(".<locals>", "")


GroupObserver = Callable[[int, float, bool], None]
"""Hears of every group, in the writer's thread: its units, the seconds it took, whether it was written."""


class Writer:
    """Runs groups of requests on one connection, which it opens when it needs one."""

    def __init__(self, open_connection: Callable[[], sqlite3.Connection]) -> None:
        self._open_connection = open_connection
        self._connection: sqlite3.Connection | None = None
        self.failure: Exception | None = None
        """Why the last group could not be written; None if it was."""
        self.observe: GroupObserver | None = None
        self.slowness: Slowness | None = None

    def run(self, group: Sequence[WriteRequest]) -> None:
        """Settle every request of the group: either its result is on the disk, or it has an error and wrote nothing."""
        if self.observe is None:
            self._settle(group)
            return
        began = time.perf_counter()
        self._settle(group)
        self.observe(len(group), time.perf_counter() - began, self.failure is None)

    def _settle(self, group: Sequence[WriteRequest]) -> None:
        try:
            connection = self._connected()
            began = time.perf_counter()
            connection.execute("BEGIN IMMEDIATE")
            if self.slowness is not None:  # another process may be writing
                self.slowness.judge(f"{len(group)} units", "lock", began, group[0].cause)
            if len(group) != 1:
                for request in group:
                    self._run_unit(connection, request)
            elif not self._run_alone(connection, group[0]):
                self.failure = None
                return
            began = time.perf_counter()
            connection.execute("COMMIT")
            if self.slowness is not None:
                self.slowness.judge(f"{len(group)} units", "commit", began, group[0].cause)
            self.failure = None
        except Exception as failure:  # noqa: BLE001 - after any failure the group must not be reported as written
            self._give_up(group, failure)

    def close(self) -> None:
        """Close the connection; what is not committed is rolled back."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._open_connection()
        return self._connection

    def _run_alone(self, connection: sqlite3.Connection, request: WriteRequest) -> bool:
        """Run the only unit of a transaction, and return whether there is something to commit. Nobody else's work has
        to outlive its error, and a savepoint would keep a copy of every page that it changes."""
        began = time.perf_counter()
        try:
            request.result = request.unit(connection)
        except Exception as error:  # noqa: BLE001 - it is handed to the caller, whose own it is
            request.error = as_caller_sees(error)
            # Where the error ended the transaction this raises as well, and the group is given up.
            connection.execute("ROLLBACK")
        if self.slowness is not None:
            self.slowness.judge(request.unit, "unit", began, request.cause)
        return request.error is None

    def _run_unit(self, connection: sqlite3.Connection, request: WriteRequest) -> None:
        began = time.perf_counter()
        connection.execute("SAVEPOINT unit")
        try:
            request.result = request.unit(connection)
        except Exception as error:  # noqa: BLE001 - it is handed to the caller, whose own it is
            request.error = as_caller_sees(error)
            # Where the error ended the whole transaction this raises as well, and the group is given up.
            connection.execute("ROLLBACK TO unit")
        connection.execute("RELEASE unit")
        if self.slowness is not None:
            self.slowness.judge(request.unit, "unit", began, request.cause)

    def _give_up(self, group: Sequence[WriteRequest], failure: Exception) -> None:
        logger.error("the store cannot be written", units=len(group), exc_info=failure)
        self.failure = failure
        for request in group:
            request.result = None
            if request.error is None:
                request.error = unavailable_because(failure)
        if self._connection is None or not self._connection.in_transaction:
            return
        try:
            self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            self.close()  # which rolls back as well; the next group starts on a fresh connection
