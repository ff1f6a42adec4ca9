"""The database: readers, and one writer that commits in groups.

SQLite in WAL mode with `synchronous=FULL`: what was acknowledged is on the disk. A commit costs one `fsync`, so all who
wait at that moment share it, and the first of them waits two turns of the loop for the others. The writer's thread
takes what is queued, runs it as one group (`chat.store.writer`) and hands the whole group back to Trio's loop in one
hop. There every `then` runs first, in commit order: memory changes, events are published. Then the callers go on. So no
event tells of a write that could still be lost, and memory follows the database in the database's own order.

Small reads (a primary key, a covering index) run on the loop's own connection: they cost less than a hop to a thread.
What may scan goes through `read`, to a thread with a connection of its own.

With `inline=True` everything runs on the loop's thread. Tests on a virtual clock need that, because the clock would
jump ahead while a thread works; so does the command line, which shares its commits with no other task.

Beside a busy loop the interpreter's switch interval rules how soon the writer's thread gets its turn: the server calls
`sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)` when it starts.
"""

from __future__ import annotations

import contextlib
import math
import queue
import sqlite3
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import trio

from chat.errors import OperatorError, StorageUnavailable
from chat.observation import CAUSE
from chat.store.connections import connect, to_signed, to_unsigned
from chat.store.guard import UNGUARDED, Guard
from chat.store.migrations import prepare
from chat.store.writer import GroupObserver, Slowness, SlowObserver, Writer, WriteRequest, as_caller_sees, was_locked

__all__ = [
    "GATHERING_TURNS",
    "GROUP_LIMIT",
    "QUEUE_LIMIT",
    "ROOM_DEADLINE_SECONDS",
    "SWITCH_INTERVAL_SECONDS",
    "Database",
    "connect",
    "open_database",
    "to_signed",
    "to_unsigned",
    "was_locked",
]

T = TypeVar("T")

SWITCH_INTERVAL_SECONDS: Final = 0.0005
"""The value for `sys.setswitchinterval`: with it a commit beside a busy loop takes 4.6 ms, with the default 11 ms."""

GROUP_LIMIT: Final = 512
"""Units of one transaction; more wait for the next, so that the first of them need not wait for the last."""

GATHERING_TURNS: Final = 2
"""Turns of the loop for which a unit waits for others before an idle writer gets them. A transaction costs as much
as several units, and requests that come at the same moment are all read within two turns."""

QUEUE_LIMIT: Final = 1_024
"""Units queued or under way; further callers wait for room."""

ROOM_DEADLINE_SECONDS: Final = 10
"""A write that finds no room in the queue within this time raises StorageUnavailable."""


class Database:
    """What the rest of the program holds of the store; made by `open_database`.

    `reader` belongs to the loop's thread and is for point reads. While `failing` is set, every `write` and `read`
    raises StorageUnavailable (`storage_failing` of the development routes).

    `besides`, on a database that is `inline`, is done at the end of every unit as a part of it: the command line leaves
    word there of what it changes beside a running server (`chat.store.outside_changes`).
    """

    def __init__(self, open_connection: Callable[..., sqlite3.Connection], *, inline: bool, readers: int) -> None:
        """`open_connection` takes whether the connection is only for reading, and is told if it is `for_this_thread`
        alone."""
        self.reader = open_connection(True, for_this_thread=True)
        self.failing = False
        self.besides: Callable[[sqlite3.Connection], None] | None = None
        self._inline = inline
        self._closed = False
        self._writer = Writer(lambda: open_connection(False))
        self._queue: queue.SimpleQueue[list[WriteRequest] | None] = queue.SimpleQueue()
        self._gathered: list[WriteRequest] = []  # on the loop's side of the queue
        self._queued = 0
        self._waiting_for_room = trio.lowlevel.ParkingLot()
        self.written_at = -math.inf
        """The moment on Trio's clock when the last group was written."""
        if inline:
            return
        self._idle_readers = deque(open_connection(True) for _ in range(readers))
        self._reader_limit = trio.CapacityLimiter(readers)
        self._token = trio.lowlevel.current_trio_token()
        self._thread = threading.Thread(target=self._write_groups, name="store-writer", daemon=True)
        self._thread.start()

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run `query` on one consistent snapshot in a reader's thread; for anything that may scan.

        What `query` raises is raised here, or StorageUnavailable where the disk or the file is at fault.
        """
        await trio.lowlevel.checkpoint()
        if self._inline:
            return self.read_here(query)
        self._refuse_unless_available()
        return await trio.to_thread.run_sync(self._run_query_on_idle_reader, query, limiter=self._reader_limit)

    def read_here(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run `query` on the loop's own connection, for what is known to be short: a thread would cost more.

        Raises as `read`.
        """
        self._refuse_unless_available()
        return self._run_query(self.reader, query)

    async def write(
        self,
        unit: Callable[[sqlite3.Connection], T],
        then: Callable[[T], None] | None = None,
        *,
        guard: Guard = UNGUARDED,
    ) -> T:
        """Run `unit` in the writer's next transaction and return its result once that is on the disk.

        `unit` runs under a SAVEPOINT of its own, or alone in the transaction: an exception from it undoes only what it
        did itself, and is raised here. After the commit `then(result)` runs on the loop's thread, in commit order,
        before any caller of the same group goes on; it must not raise. Once the unit is queued, cancelling the caller
        stops neither of the two.

        Raises StorageUnavailable when the store is failing or closed, when the queue has no room for
        ROOM_DEADLINE_SECONDS, and when the group could not be committed: nothing was written and no `then` runs.
        With the `guard` of a request also what refuses its caller meanwhile; work in the background names UNGUARDED.
        """
        is_judged = guard.is_due
        request = WriteRequest(guard.before(unit) if is_judged else unit, then, cause=CAUSE.get())
        if self._inline:
            await trio.lowlevel.checkpoint()
            self._refuse_unless_available()
            if self.besides is not None:
                request.unit = partial(_both, request.unit, self.besides)
            self._writer.run((request,))
            if self._writer.failure is None:
                self.written_at = trio.current_time()
            request.announce()
        else:
            await trio.lowlevel.checkpoint_if_cancelled()
            self._refuse_unless_available()
            await self._take_room()
            await self._run_in_thread(request)
        if request.error is not None:
            raise request.error
        if is_judged:
            guard.is_due = False
        result: T = request.result
        return result

    @property
    def write_failure(self) -> Exception | None:
        """Why the last group could not be written; None when it was."""
        return self._writer.failure

    @property
    def queued(self) -> int:
        """Units that wait for the writer or are under way."""
        return self._queued

    def observe_writing(self, observe: GroupObserver) -> None:
        """Have this told of every group, in the writer's thread."""
        self._writer.observe = observe

    def observe_slowness(self, seconds: float, observe: SlowObserver) -> None:
        """Have this told of each unit, commit and query of `read` that takes so long, in the thread that did it."""
        self._writer.slowness = Slowness(seconds, observe)

    @property
    def is_busy(self) -> bool:
        """Whether a thread is at work for someone: a write that is queued or under way, or a read."""
        return not self._inline and (self._queued > 0 or self._reader_limit.borrowed_tokens > 0)

    async def aclose(self) -> None:
        """Commit what is queued, run its `then`s, close the connections. Later writes and reads are refused."""
        if self._closed:
            return
        self._closed = True
        if not self._inline:
            while self._gathered:
                await trio.lowlevel.cancel_shielded_checkpoint()
            self._queue.put(None)
            self._waiting_for_room.unpark_all()  # what they would queue now would never be taken
            with trio.CancelScope(shield=True):  # the queue's limit bounds it; what is queued may not be dropped
                await trio.to_thread.run_sync(self._thread.join)
            while self._idle_readers:
                self._idle_readers.pop().close()
        self._writer.close()
        self.reader.close()

    async def _run_in_thread(self, request: WriteRequest) -> None:
        def abandon(_: object) -> trio.lowlevel.Abort:
            request.waiting = None
            return trio.lowlevel.Abort.SUCCEEDED

        self._gathered.append(request)
        if self._queued == 1:
            for _ in range(GATHERING_TURNS):
                await trio.lowlevel.cancel_shielded_checkpoint()
            self._hand_over()
        elif len(self._gathered) == 1:
            self._hand_over()  # the writer is busy, and takes it with its next group
        request.waiting = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(abandon)

    def _hand_over(self) -> None:
        gathered, self._gathered = self._gathered, []
        for start in range(0, len(gathered), GROUP_LIMIT):
            self._queue.put(gathered[start : start + GROUP_LIMIT])

    def _refuse_unless_available(self) -> None:
        if self.failing or self._closed:
            raise StorageUnavailable

    async def _take_room(self) -> None:
        if self._queued < QUEUE_LIMIT:
            self._queued += 1
            return
        with trio.move_on_after(ROOM_DEADLINE_SECONDS):
            await self._waiting_for_room.park()  # a write that leaves the queue hands its room over
            if not self._closed:
                return
        raise StorageUnavailable

    def _write_groups(self) -> None:
        """The writer's thread, until it took the None that is the last entry of the queue."""
        last = False
        while not last:
            group, last = self._take_group()
            if group:
                self._writer.run(group)
                with contextlib.suppress(trio.RunFinishedError):  # no task is left to hear of it
                    self._token.run_sync_soon(self._finish_group, group)

    def _take_group(self) -> tuple[list[WriteRequest], bool]:
        """Take the queued writes, up to GROUP_LIMIT, waiting for the first; tells whether they are the last."""
        group: list[WriteRequest] = []
        while not group or (len(group) < GROUP_LIMIT and not self._queue.empty()):
            entry = self._queue.get()
            if entry is None:
                return group, True
            group += entry
        return group, False

    def _finish_group(self, group: list[WriteRequest]) -> None:
        if self._writer.failure is None:
            self.written_at = trio.current_time()
        for request in group:
            request.announce()
        for request in group:
            if request.waiting is not None:
                trio.lowlevel.reschedule(request.waiting)
        successors = self._waiting_for_room.unpark(count=len(group))
        self._queued -= len(group) - len(successors)

    def _run_query_on_idle_reader(self, query: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._idle_readers.pop()  # there is one: the limiter admits as many threads as there are
        try:
            return self._run_query(connection, query)
        finally:
            self._idle_readers.append(connection)

    def _run_query(self, connection: sqlite3.Connection, query: Callable[[sqlite3.Connection], T]) -> T:
        began = time.perf_counter()
        try:
            return _run_query(connection, query)
        finally:
            if self._writer.slowness is not None:
                self._writer.slowness.judge(query, "query", began, CAUSE.get())


def _both(
    unit: Callable[[sqlite3.Connection], T],
    besides: Callable[[sqlite3.Connection], None],
    connection: sqlite3.Connection,
) -> T:
    result = unit(connection)
    besides(connection)
    return result


def _run_query(connection: sqlite3.Connection, query: Callable[[sqlite3.Connection], T]) -> T:
    try:
        connection.execute("BEGIN")
        try:
            return query(connection)
        finally:
            if connection.in_transaction:  # some errors end the transaction themselves
                connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise as_caller_sees(error) from error.__cause__


@contextlib.asynccontextmanager
async def open_database(
    path: Path | str,
    *,
    inline: bool = False,
    readers: int = 2,
    durable: bool = True,
    factory: type[sqlite3.Connection] = sqlite3.Connection,
) -> AsyncIterator[Database]:
    """Open the database at `path` for as long as the block runs, creating and migrating it as needed.

    `inline` runs everything on the loop's thread (no group commit, no threads); `readers` is the number of reader
    threads; `durable=False` leaves out the `fsync`. `factory` makes the writer's connection: tests hand in one whose
    n-th statement fails. Raises OperatorError when the file is not a database, or of a newer version of this program.
    """
    prepare(path, durable=durable)

    def open_connection(read_only: bool, *, for_this_thread: bool = False) -> sqlite3.Connection:
        made_by = sqlite3.Connection if read_only else factory
        return connect(path, read_only=read_only, durable=durable, for_this_thread=for_this_thread, factory=made_by)

    try:
        database = Database(open_connection, inline=inline, readers=readers)
    except sqlite3.Error as error:  # a schema that cannot be read
        raise OperatorError(f"cannot use the database {path}: {error}") from error
    try:
        yield database
    finally:
        await database.aclose()
