"""What is on its way to a peer: frames pushed, sent at once when possible, kept in order when not.

Sending never waits, so it can happen wherever an event is published. `push` appends frames, `flush` hands what is
pending to the system in one call; what the system does not take waits, and `run_writer` sends it when the peer reads
again. The wait is bounded in bytes (`limit`) and in time (STALL_SECONDS): a peer that does not read is dropped. What
waits for all peers together is bounded too (`OutboxSum`).
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Final

import attrs
import structlog
import trio

from chat.classes import define
from chat.port.transport import Transport

BATCH_BYTES: Final = 262_144
"""Frames are joined up to about this size for one send: more than a socket takes at once, little enough to copy
again."""

LARGE_BYTES: Final = 65_536
"""A single frame of more, as the Ready of many guilds is, goes out in few steps."""

STALL_SECONDS: Final = 30.0
"""A peer counts as gone when it takes nothing for this long while frames wait for it."""

logger = structlog.get_logger(__name__)

_waiting_bytes = operator.attrgetter("pending_bytes")


@define(eq=False, weakref_slot=False)
class OutboxSum:
    """Adds up what waits in all outboxes. Beyond `limit` bytes the largest outbox counts as full. It counts only bytes
    that the system did not take at once, so the outbox of a peer that reads costs nothing here."""

    limit: int
    bytes: int = attrs.field(default=0, init=False)
    _waiting: set[Outbox] = attrs.field(factory=set, init=False)

    def change(self, outbox: Outbox, before: int, now: int) -> None:
        """Replace what an outbox counted before by what waits in it now."""
        self.bytes += now - before
        if now and not before:
            self._waiting.add(outbox)
        elif before and not now:
            self._waiting.discard(outbox)
        while now > before and self.bytes > self.limit:
            largest = max((each for each in self._waiting if each.is_open), key=_waiting_bytes, default=None)
            if largest is None:
                return
            logger.warning("the largest outbox is dropped", bytes=largest.pending_bytes, all_bytes=self.bytes)
            largest.overflow()


@define(eq=False, weakref_slot=False)
class Outbox:
    """Frames on their way to the peer. Any task may push and flush; one task runs `run_writer`. It either runs from the
    beginning, or `begin_writer` starts it: the outbox calls that once, when a frame has to wait for the first time.

    A frame pushed while more than `limit` bytes wait is not taken: everything waiting is discarded but for a frame
    already under way, later frames are ignored, and `on_full` is called once. It should bring about the closing of
    the socket; without it the transport is closed at once. `together` counts what waits here beside the others.
    """

    _transport: Transport
    _limit: int
    _on_full: Callable[[], None] | None = None
    _together: OutboxSum | None = None
    _counted: int = attrs.field(default=0, init=False)
    _frames: list[bytes] = attrs.field(factory=list, init=False)
    _latest: bytes | None = attrs.field(default=None, init=False)
    _offset: int = attrs.field(default=0, init=False)
    _blocked: bool = attrs.field(default=False, init=False)
    _held: bool = attrs.field(default=False, init=False)
    _sealed: bool = attrs.field(default=False, init=False)
    _writing: bool = attrs.field(default=False, init=False)
    begin_writer: Callable[[], None] | None = attrs.field(default=None, init=False)
    _writer: trio.lowlevel.Task | None = attrs.field(default=None, init=False)
    _progress: trio.Event | None = attrs.field(default=None, init=False)
    pending_bytes: int = attrs.field(default=0, init=False)
    full: bool = attrs.field(default=False, init=False)
    gone: bool = attrs.field(default=False, init=False)

    @property
    def is_open(self) -> bool:
        """Whether frames pushed now are taken."""
        return not self._sealed

    def push(self, frame: bytes) -> None:
        """Append a whole frame; ignored after `seal`, an overflow or `abort`."""
        if self._sealed:
            return
        if self._blocked:
            if self.pending_bytes > self._limit:
                self.overflow()
                return
            self._frames.append(frame)
            self.pending_bytes += len(frame)
            self._count()
            return
        self._frames.append(frame)
        self.pending_bytes += len(frame)

    def flush(self) -> None:
        """Send what is pending, as far as the system takes it now; the writer sends what waited before."""
        if self._frames and not self._blocked:
            self._write()

    def send(self, frame: bytes) -> None:
        """`push` and `flush` in one, and cheaper than these where nothing is pending."""
        if self.pending_bytes or self._blocked or self._sealed or self._latest is not None:
            self.push(frame)
            self.flush()
            return
        try:
            sent = self._transport.try_send(frame)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.abort()
            return
        if sent != len(frame):
            self._frames.append(frame)
            self._offset, self.pending_bytes = sent, len(frame) - sent
            self._block()

    def send_latest(self, frame: bytes) -> None:
        """Send a frame as soon as nothing else waits; until then a later call replaces it."""
        if not self._sealed:
            self._latest = frame
            if not self._blocked:
                self._write()

    def seal(self, last_frame: bytes) -> None:
        """Append the very last frame, beyond any limit, and flush."""
        if self.gone:
            return
        self._sealed = True
        self._latest = None
        self._frames.append(last_frame)
        self.pending_bytes += len(last_frame)
        if self._blocked:
            self._count()
        self.flush()

    def abort(self) -> None:
        """Close the transport at once; what is pending is lost."""
        self.gone = self._sealed = True
        self._blocked = False
        # They refer back to the owner: without them nothing waits for the cycle collector.
        self._on_full = self.begin_writer = None
        self._frames.clear()
        self._latest = None
        self._offset = self.pending_bytes = 0
        self._count()
        self._transport.close()
        self._wake_writer()
        self._note_progress()

    def hold(self) -> None:
        """Keep all frames back until `release`."""
        self._held = self._blocked = True
        self._count()

    def release(self) -> None:
        """End a `hold`."""
        self._held = False
        self._wake_writer()

    async def run_writer(self) -> None:
        """Send what waits whenever the peer takes it.

        Returns when the transport is gone; closes it when the peer took nothing for STALL_SECONDS.
        """
        while not self.gone:
            if self._blocked and not self._held:
                with trio.move_on_after(STALL_SECONDS) as stall:
                    await self._wait_and_write()
                if stall.cancelled_caught:
                    self.abort()
            else:
                await self._work_to_do()

    async def delivered(self) -> None:
        """Return when nothing waits any more; sends the rest itself if no writer does."""
        while self._blocked:
            await self._wait_and_write()

    async def drained(self, below: int) -> None:
        """Flush, then return when fewer than `below` bytes (at least 1) are pending, or when nothing more is taken
        anyway."""
        self.flush()
        while self.pending_bytes >= below and not self._sealed:
            await self._progressed()

    async def _wait_and_write(self) -> None:
        """Wait until the system takes bytes, and hand it some; or return when another task here has done so."""
        if self._writing:
            await self._progressed()
            return
        self._writing = True
        try:
            await self._transport.wait_writable()
            while not self._write() and self._blocked:
                await self._transport.wait_writable()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.abort()
        finally:
            self._writing = False
            self._note_progress()  # so that tasks that relied on this one look again

    async def _progressed(self) -> None:
        if self._progress is None:
            self._progress = trio.Event()
        await self._progress.wait()

    def _write(self) -> bool:
        """Hand frames to the system until none is left or it takes no more; tells whether it took any byte."""
        frames, wrote = self._frames, False
        try:
            while frames or (self._latest is not None and self._take_latest()):
                batch = frames[0] if len(frames) == 1 and not self._offset else self._next_batch()
                if len(frames[0]) > LARGE_BYTES:
                    with self._transport.much_unsent():
                        sent = self._transport.try_send(batch)
                else:
                    sent = self._transport.try_send(batch)
                if sent == self.pending_bytes:
                    frames.clear()
                    self._offset = self.pending_bytes = 0
                else:
                    self._forget(sent)
                if self._progress is not None:
                    self._note_progress()
                wrote = wrote or sent > 0
                if sent < len(batch):
                    self._block()
                    return wrote
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.abort()
        self._blocked = False
        if self._counted:
            self._count()
        return wrote

    def _take_latest(self) -> bool:
        if self._latest is None:
            return False
        self._frames.append(self._latest)
        self.pending_bytes += len(self._latest)
        self._latest = None
        return True

    def _next_batch(self) -> bytes | memoryview:
        frames = self._frames
        first = memoryview(frames[0])[self._offset :] if self._offset else frames[0]
        if len(frames) == 1:
            return first
        batch: list[bytes | memoryview] = [first]
        size = len(first)
        for frame in itertools.islice(frames, 1, None):
            if size >= BATCH_BYTES:
                break
            batch.append(frame)
            size += len(frame)
        return b"".join(batch)

    def _forget(self, sent: int) -> None:
        self.pending_bytes -= sent
        sent += self._offset
        whole = 0
        for frame in self._frames:
            if sent < len(frame):
                break
            sent -= len(frame)
            whole += 1
        del self._frames[:whole]
        self._offset = sent

    def overflow(self) -> None:
        """Too much waits: discard it, but for a frame that is under way, and have the socket closed."""
        del self._frames[1 if self._offset else 0 :]
        self.pending_bytes = sum(map(len, self._frames)) - self._offset
        self.full = self._sealed = True
        self._count()
        self._note_progress()
        if self._on_full is None:
            self.abort()
        else:
            self._on_full()

    def _block(self) -> None:
        self._blocked = True
        self._count()
        self._wake_writer()

    def _count(self) -> None:
        """Report to the sum of all outboxes how much waits here."""
        before, self._counted = self._counted, self.pending_bytes if self._blocked else 0
        if self._together is not None and before != self._counted:
            self._together.change(self, before, self._counted)

    async def _work_to_do(self) -> None:
        def forget_writer(_: trio.lowlevel.RaiseCancelT) -> trio.lowlevel.Abort:
            self._writer = None
            return trio.lowlevel.Abort.SUCCEEDED

        self._writer = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(forget_writer)

    def _wake_writer(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            trio.lowlevel.reschedule(writer)
        elif self._blocked and self.begin_writer is not None:
            begin, self.begin_writer = self.begin_writer, None
            begin()

    def _note_progress(self) -> None:
        if self._progress is not None:
            self._progress.set()
            self._progress = None
