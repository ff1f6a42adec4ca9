"""Numbered messages in both directions between a core and a node, over a broker that may forget.

Each side appends to the stream that the other one reads. What the other side has not confirmed is kept here and
appended again: after the broker was away, when the other side misses something, and when it confirms nothing for a
while. A number that was heard already is passed over. So a broker that restarts empty loses nothing.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable
from typing import Final

import attrs
import structlog
import trio

from chat.classes import define
from chat.nodes.broker import Broker, BrokerUnavailable
from chat.nodes.entries import StreamEntry, encode_entry
from chat.registries.limits import NODE_UNCONFIRMED_BYTES

KEEP_SECONDS: Final = 120.0
"""How long the broker keeps messages: longer than the 60 s for which a session is retained."""

ENTRY_BYTES: Final = 262_144
"""About how many bytes of messages are appended together."""

ENTRIES_AT_ONCE: Final = 16

GATHERING_SECONDS: Final = 0.002
"""The pause between two appends, so that messages which follow each other are appended together. The first is not
delayed."""

CONFIRM_SECONDS: Final = 0.1
CONFIRM_MESSAGES: Final = 128
"""A side confirms what it received after this many messages, or after a time, whichever comes first."""

AGAIN_SECONDS: Final = 2.0
"""A message that the other side has not confirmed for this long is appended again."""

GAP_SECONDS: Final = 0.1
"""How often a side reports a gap, and acts on a reported one, at most."""

RETRY_SECONDS: Final = 0.1
RETRY_MAXIMUM_SECONDS: Final = 0.25
"""The longest pause between two attempts to reach the broker."""

logger = structlog.get_logger(__name__)


@define(eq=False)
class Link:
    """One side of a link. `run` appends messages; `accept` takes entries that were read from the other side's
    stream."""

    _broker: Broker
    _stream: str
    sender: str
    epoch: int
    on_full: Callable[[], None] = lambda: None
    """Called once when more than NODE_UNCONFIRMED_BYTES are unconfirmed."""
    _causes: Callable[[], int] = lambda: 0
    """How many requests are under way that are going to send messages."""
    is_unheard: bool = attrs.field(default=False, init=False)
    """Whether the other side is dead: appended messages count as confirmed, for they are meant for those who take its
    place."""
    is_full: bool = attrs.field(default=False, init=False)
    """Whether more than NODE_UNCONFIRMED_BYTES are unconfirmed now, or were once."""
    heard: int = attrs.field(default=0, init=False)
    """The number of the last message that was received from the other side."""
    unconfirmed_bytes: int = attrs.field(default=0, init=False)
    _unconfirmed: collections.deque[bytes] = attrs.field(factory=collections.deque, init=False)
    _first: int = attrs.field(default=1, init=False)
    """Number of the first unconfirmed message."""
    _next: int = attrs.field(default=1, init=False)
    """Number of the next message to append."""
    _puts: dict[str, bytes] = attrs.field(factory=dict, init=False)
    _told: int = attrs.field(default=0, init=False)
    _has_gap: bool = attrs.field(default=False, init=False)
    _gap_at: float = attrs.field(default=float("-inf"), init=False)
    _heeded_at: float = attrs.field(default=float("-inf"), init=False)
    _progress_at: float = attrs.field(default=0.0, init=False)
    _confirm_at: float = attrs.field(default=float("inf"), init=False)
    _wake: trio.Event = attrs.field(factory=trio.Event, init=False)
    _has_appended: trio.Event = attrs.field(factory=trio.Event, init=False)
    _caught_up: trio.Event | None = attrs.field(default=None, init=False)

    @property
    def number(self) -> int:
        """The number of the last message that was sent."""
        return self._first + len(self._unconfirmed) - 1

    @property
    def unconfirmed(self) -> int:
        """How many messages are unconfirmed."""
        return len(self._unconfirmed)

    def send(self, message: bytes) -> int:
        """Append soon; returns the message's number. Never waits."""
        if not self._unconfirmed:
            self._progress_at = trio.current_time()
        self._unconfirmed.append(message)
        self.unconfirmed_bytes += len(message)
        self._wake.set()
        if self.unconfirmed_bytes > NODE_UNCONFIRMED_BYTES and not self.is_full:
            self.is_full = True
            self.on_full()
        return self.number

    def put(self, key: str, value: bytes) -> None:
        """Set a key of the broker before the next message is appended."""
        self._puts[key] = value

    def unsent(self) -> list[bytes]:
        """The messages that the other side has not confirmed, in order."""
        return list(self._unconfirmed)

    def accept(self, entry: StreamEntry) -> tuple[bytes, ...]:
        """Take an entry of the other side; returns those of its messages that are new, in order."""
        if entry.epoch != self.epoch:
            return ()
        self.heed(entry)
        now = trio.current_time()
        if entry.first > self.heard + 1:
            if now - self._gap_at >= GAP_SECONDS:
                self._gap_at, self._has_gap = now, True
                self._wake.set()
            return ()
        fresh = tuple(entry.messages[self.heard + 1 - entry.first :])
        if entry.messages:  # a number that was heard already: its confirmation was lost
            self.heard += len(fresh)
            self._confirm_soon(now)
        return fresh

    def heed(self, entry: StreamEntry) -> None:
        """Take only the confirmations of an entry from this epoch, and ignore its messages."""
        self._confirmed(entry.confirmed)
        now = trio.current_time()
        if entry.gap and now - self._heeded_at >= GAP_SECONDS:
            self._heeded_at = now
            self._from_the_first()

    def _confirm_soon(self, now: float) -> None:
        if self.heard - self._told >= CONFIRM_MESSAGES:
            self._confirm_at = now
            self._wake.set()
        elif self._confirm_at == float("inf"):
            self._confirm_at = now + CONFIRM_SECONDS
            self._wake.set()

    def _confirmed(self, number: int) -> None:
        if number < self._first:
            return
        for _ in range(min(number, self.number) - self._first + 1):
            self.unconfirmed_bytes -= len(self._unconfirmed.popleft())
            self._first += 1
        self._next = max(self._next, self._first)
        self._progress_at = trio.current_time()
        if not self._unconfirmed and self._caught_up is not None:
            self._caught_up.set()
            self._caught_up = None

    async def confirmed(self) -> None:
        """Return once the other side has confirmed everything."""
        while self._unconfirmed:
            if self._caught_up is None:
                self._caught_up = trio.Event()
            await self._caught_up.wait()

    def bury(self) -> None:
        """Note that the other side is dead."""
        self.is_unheard = True
        self.is_full = self.unconfirmed_bytes > NODE_UNCONFIRMED_BYTES  # where the broker is away it fills all the same
        self._from_the_first()

    async def appended(self) -> None:
        """Return once the broker has everything that was sent."""
        while self._next <= self.number:
            await self._has_appended.wait()

    def _from_the_first(self) -> None:
        if self._next != self._first:
            self._next = self._first
            self._wake.set()

    async def run(self) -> None:
        """Append the messages that are sent, until cancelled."""
        pause, appended_at = RETRY_SECONDS, float("-inf")
        while True:
            await self._something_to_do()
            await self._gather(appended_at)
            try:
                await self._append()
            except BrokerUnavailable:
                self._from_the_first()
                await trio.sleep(pause)
                pause = min(2 * pause, RETRY_MAXIMUM_SECONDS)
            else:
                pause, appended_at = RETRY_SECONDS, trio.current_time()

    async def _something_to_do(self) -> None:
        while True:
            now = trio.current_time()
            if self._unconfirmed and self._next > self._first and now >= self._progress_at + AGAIN_SECONDS:
                self._progress_at = now
                self._from_the_first()
            if self._next <= self.number or self._has_gap or now >= self._confirm_at:
                return
            again_at = self._progress_at + AGAIN_SECONDS if self._unconfirmed else float("inf")
            self._wake = trio.Event()
            with trio.move_on_at(min(self._confirm_at, again_at)):
                await self._wake.wait()

    async def _gather(self, appended_at: float) -> None:
        """Wait a moment, so that messages which follow soon, and those of requests that are under way, are appended
        together."""
        now = trio.current_time()
        if now < appended_at + GATHERING_SECONDS:
            await trio.sleep_until(appended_at + GATHERING_SECONDS)
            return
        with trio.move_on_at(now + GATHERING_SECONDS):
            await trio.lowlevel.checkpoint()  # a request whose message is here still counts until its task had a turn
            while self._causes():
                self._wake = trio.Event()
                await self._wake.wait()
                await trio.lowlevel.checkpoint()

    async def _append(self) -> None:
        entries, puts, before = self._entries(), self._puts, self._next
        self._next = after = before + sum(len(entry.messages) for entry in entries)
        if puts:
            # What is sent meanwhile has values of its own, and waits for the next time.
            self._puts = {}
            try:
                await self._broker.put(puts, seconds=KEEP_SECONDS)
            except BaseException:
                self._puts = {**puts, **self._puts}
                raise
        gap, self._has_gap = self._has_gap, False
        heard, self._confirm_at = self.heard, float("inf")
        if not entries or gap:
            entries.insert(0, StreamEntry(self.sender, self.epoch, before, heard, gap=gap))
        try:
            written = [encode_entry(entry) for entry in entries]
            await self._broker.append(self._stream, written, keep_seconds=KEEP_SECONDS)
        except BaseException:
            self._has_gap, self._confirm_at = self._has_gap or gap, trio.current_time()  # neither was said
            raise
        self._told = heard
        self._has_appended.set()
        self._has_appended = trio.Event()
        if self.is_unheard:
            self._confirmed(after - 1)

    def _entries(self) -> list[StreamEntry]:
        entries: list[StreamEntry] = []
        first = self._next
        while len(entries) < ENTRIES_AT_ONCE and (entry := self._entry(first)).messages:
            entries.append(entry)
            first += len(entry.messages)
        return entries

    def _entry(self, first: int) -> StreamEntry:
        messages, size = [], 0
        for message in itertools.islice(self._unconfirmed, first - self._first, None):
            messages.append(message)
            size += len(message)
            if size >= ENTRY_BYTES:
                break
        return StreamEntry(self.sender, self.epoch, first, self.heard, messages)
