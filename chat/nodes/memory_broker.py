"""The broker's twin in memory, on Trio's clock: core and nodes in one run, on virtual time, from a seed.

A `MemoryBroker` is one connection to an engine; `client()` makes another. What can go wrong with a real one can be
done to it: to the engine (`down`, `stalled`, `lose_everything`, `drop_appends`) and to a connection (`cut_off`,
`answers_lost`). Calls take a chosen time each, from a seeded source of randomness.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TypeVar

import attrs
import trio

from chat.classes import define, frozen
from chat.nodes.broker import BEGINNING, COMMAND_SECONDS, READ_BYTES, BrokerUnavailable, id_order

Answer = TypeVar("Answer")


@frozen
class _StoredEntry:
    id: str
    order: tuple[int, int]
    appended: float
    data: bytes


@define
class _Stream:
    entries: deque[_StoredEntry] = attrs.field(factory=deque)
    vanishes: float = math.inf


@define
class _Key:
    value: bytes
    vanishes: float


class Engine:
    """The data that all connections share, and faults of the engine. Times are Trio's, in seconds. Each call takes up
    to `delay_seconds` on its way there and again on its way back; `chance` draws both."""

    def __init__(self, chance: Random, delay_seconds: float) -> None:
        self.chance = chance
        self.delay_seconds = delay_seconds
        self.drop_appends = 0
        self._streams: dict[str, _Stream] = {}
        self._keys: dict[str, _Key] = {}
        self._newest = (0, 0)
        self._awaited: dict[str, trio.Event] = {}
        self._down = False
        self._stalled = False
        self._late: list[Callable[[], object]] = []

    @property
    def down(self) -> bool:
        """Whether the engine is gone: it refuses every call at once, waiting reads as well. It keeps its data."""
        return self._down

    @down.setter
    def down(self, down: bool) -> None:
        self._down = down
        self._late.clear()
        self.wake()

    @property
    def stalled(self) -> bool:
        """Whether the engine is stopped, like a process by SIGSTOP: calls run into their time limit, and the engine
        carries them out once it goes on, even if nobody waits for them."""
        return self._stalled

    @stalled.setter
    def stalled(self, stalled: bool) -> None:
        self._stalled = stalled
        if not stalled:
            for work in self._late:
                work()
            self._late.clear()
        self.wake()

    def carry_out_late(self, work: Callable[[], object]) -> None:
        """Queue a call whose caller gave up while the engine was stopped."""
        self._late.append(work)

    def wake(self) -> None:
        """Wake up all waiting calls, so that they look again."""
        awaited, self._awaited = self._awaited, {}
        for event in awaited.values():
            event.set()

    async def changes(self, stream: str = "") -> None:
        """Wait until the stream may have something new, or a fault of the engine or of a connection changed."""
        await self._awaited.setdefault(stream, trio.Event()).wait()

    def lose_everything(self) -> None:
        """Lose all streams and keys, like a restart without persistence."""
        self._streams.clear()
        self._keys.clear()

    def append(self, name: str, entries: Sequence[bytes], keep_seconds: float) -> None:
        if self.drop_appends:
            self.drop_appends -= 1
            return
        now = trio.current_time()
        stream = self._stream(name) or self._streams.setdefault(name, _Stream())
        for data in entries:
            # One counter for all streams: ids grow, whatever was lost in between.
            self._newest = max((int(now * 1000), 0), (self._newest[0], self._newest[1] + 1))
            stream.entries.append(_StoredEntry("{}-{}".format(*self._newest), self._newest, now, bytes(data)))
        while stream.entries and stream.entries[0].appended < now - keep_seconds:
            stream.entries.popleft()
        stream.vanishes = now + 2 * keep_seconds
        if name in self._awaited:
            self._awaited.pop(name).set()

    def after(self, name: str, order: tuple[int, int], most: int) -> list[tuple[str, bytes]]:
        found: list[tuple[str, bytes]] = []
        stream, room = self._stream(name), READ_BYTES
        for entry in stream.entries if stream else ():
            if entry.order <= order:
                continue
            room -= len(entry.data)
            if found and (room < 0 or len(found) == most):
                break
            found.append((entry.id, entry.data))
        return found

    def newest(self, name: str) -> str:
        stream = self._stream(name)
        return stream.entries[-1].id if stream and stream.entries else BEGINNING

    def forget(self, names: Sequence[str]) -> None:
        for name in names:
            self._streams.pop(name, None)
            self._keys.pop(name, None)

    def put(self, values: Mapping[str, bytes], seconds: float) -> None:
        for name, value in values.items():
            self._keys[name] = _Key(bytes(value), trio.current_time() + seconds)

    def get(self, name: str) -> bytes | None:
        key = self._keys.get(name)
        if key is not None and key.vanishes <= trio.current_time():
            del self._keys[name]
            return None
        return key.value if key else None

    def claim(self, name: str, value: bytes, seconds: float) -> bool:
        if self.get(name) not in {None, value}:
            return False
        self.put({name: value}, seconds)
        return True

    def _stream(self, name: str) -> _Stream | None:
        stream = self._streams.get(name)
        if stream is not None and stream.vanishes <= trio.current_time():
            del self._streams[name]
            return None
        return stream


class MemoryBroker:
    """A connection to an engine in memory (`chat.nodes.broker.Broker`), and its faults."""

    def __init__(
        self, *, chance: Random | None = None, delay_seconds: float = 0.0, engine: Engine | None = None
    ) -> None:
        self.engine = engine or Engine(chance or Random(0), delay_seconds)  # noqa: S311 - a source of faults
        self.answers_lost = False
        """Whether calls are carried out while their answers get lost, so that each runs into its time limit."""
        self._cut_off = False

    def client(self) -> MemoryBroker:
        """Another connection to the same engine, with faults of its own."""
        return MemoryBroker(engine=self.engine)

    @property
    def cut_off(self) -> bool:
        """Whether this connection reaches nothing: its calls run into their time limit and are not carried out."""
        return self._cut_off

    @cut_off.setter
    def cut_off(self, cut_off: bool) -> None:
        self._cut_off = cut_off
        self.engine.wake()

    @property
    def down(self) -> bool:
        """As `Engine.down`, for the whole engine."""
        return self.engine.down

    @down.setter
    def down(self, down: bool) -> None:
        self.engine.down = down

    def lose_everything(self) -> None:
        """As `Engine.lose_everything`."""
        self.engine.lose_everything()

    async def append(self, stream: str, entries: Sequence[bytes], *, keep_seconds: float) -> None:
        await self._call(lambda: self.engine.append(stream, entries, keep_seconds))

    async def read(self, stream: str, after: str, *, wait_seconds: float, most: int = 256) -> list[tuple[str, bytes]]:
        order = id_order(after)
        found = await self._call(lambda: self.engine.after(stream, order, most))
        deadline = trio.current_time() + wait_seconds
        while not found and trio.current_time() < deadline:
            with trio.move_on_at(deadline):
                await self.engine.changes(stream)
            found = await self._call(lambda: self.engine.after(stream, order, most), delays=False)
        return found

    async def newest(self, stream: str) -> str:
        return await self._call(lambda: self.engine.newest(stream))

    async def forget(self, *names: str) -> None:
        await self._call(lambda: self.engine.forget(names))

    async def put(self, values: Mapping[str, bytes], *, seconds: float) -> None:
        await self._call(lambda: self.engine.put(values, seconds))

    async def get(self, *keys: str) -> list[bytes | None]:
        return await self._call(lambda: [self.engine.get(key) for key in keys])

    async def claim(self, key: str, value: bytes, *, seconds: float) -> bool:
        return await self._call(lambda: self.engine.claim(key, value, seconds))

    async def seize(self, key: str, value: bytes, *, seconds: float) -> None:
        await self._call(lambda: self.engine.put({key: value}, seconds))

    async def _call(self, work: Callable[[], Answer], *, delays: bool = True) -> Answer:
        """Make one call: the way there, the work, the way back, each within the call's time limit."""
        await trio.lowlevel.checkpoint()
        try:
            await self._passes(delays=delays)
        except (BrokerUnavailable, trio.Cancelled):
            if self.engine.stalled and not self.engine.down and not self.cut_off:
                self.engine.carry_out_late(work)
            raise
        answer = work()
        if self.answers_lost:
            await trio.sleep(COMMAND_SECONDS)
            raise BrokerUnavailable("the broker did not answer in time")
        await self._passes(delays=delays)
        return answer

    async def _passes(self, *, delays: bool) -> None:
        if delays and self.engine.delay_seconds:
            await trio.sleep(self.engine.chance.uniform(0, self.engine.delay_seconds))
        if not (self.engine.down or self.engine.stalled or self.cut_off):
            return
        with trio.move_on_after(COMMAND_SECONDS):
            while not self.engine.down:
                if not self.engine.stalled and not self.cut_off:
                    return
                await self.engine.changes()
        raise BrokerUnavailable("the broker is not there" if self.engine.down else "the broker did not answer in time")
