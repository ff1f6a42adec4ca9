"""What a request does in more than one unit of writing, and what has to be done to the end all the same.

Ten thousand messages are deleted in portions, so that no other writer waits for all of them. What is
still to do stands in the store from the first portion on, and goes with the last, each in the portion's own
transaction. The request itself goes through the portions and answers when none is left; where it cannot (the server
ends, by `kill -9` too; its caller goes away; the store fails for a while), the runner goes on from there.

A durable job (`chat.jobs`) is ordered, waits for its turn, and is listed for administrators. An errand is the request's
own, begins at once, and leaves nothing behind.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

import structlog
import trio

from chat.classes import frozen
from chat.errors import StorageUnavailable
from chat.registries.jobs import ErrandKind
from chat.store import errands
from chat.store.database import Database
from chat.store.guard import UNGUARDED, Guard

T = TypeVar("T")
State = Mapping[str, Any]

log: Final = structlog.get_logger("chat.errands")

LOOK_SECONDS: Final = 300.0
"""How often the runner looks by itself: commands beside the server begin errands too."""

RETRY_SECONDS: Final = 10.0
"""How long a store that fails is left alone."""


def _nothing(_: object) -> None:
    """No further effect."""


class Errand:
    """One errand, as its handler sees it: `state` is how far it has come."""

    def __init__(
        self, database: Database, kind: ErrandKind, state: State, errand_id: int | None = None, guard: Guard = UNGUARDED
    ) -> None:
        self._database = database
        self._guard = guard
        self.kind: Final = kind
        self.state = state
        self.id = errand_id
        """None until a first portion was written that left something to do."""
        self.is_over = False
        self.count = 0
        """How much was done of it here, where the request's answer says so."""
        self.when_left: Callable[[], None] | None = None
        """Told of portions that are written after the request has gone."""

    async def step(
        self,
        portion: Callable[[sqlite3.Connection, State], tuple[State | None, T]],
        then: Callable[[T], None] = _nothing,
    ) -> None:
        """Do a portion of the work in one unit, with the word of what is left: the state to go on from, or None when
        that was all. `then` is told what else `portion` came to, after the commit.

        A portion sees the state as it is stored: another process may be at the same errand.
        """

        def unit(connection: sqlite3.Connection) -> _Portion | None:
            state = self._stored(connection)
            if state is None:
                return None
            left, outcome = portion(connection, state)
            return _Portion(left, self._write(connection, state, left), outcome)

        def after(done: _Portion | None) -> None:
            if done is None:  # another process has finished it
                self.is_over = True
                return
            self.id, self.is_over = done.errand_id, done.left is None
            if done.left is not None:
                self.state = done.left
            then(done.outcome)
            if self.when_left is not None:
                self.when_left()

        await self._database.write(unit, after, guard=self._guard)

    def _stored(self, connection: sqlite3.Connection) -> State | None:
        if self.id is None:
            return self.state
        stored = errands.by_id(connection, self.id)
        return None if stored is None else stored.state

    def _write(self, connection: sqlite3.Connection, state: State, left: State | None) -> int | None:
        if self.id is None:
            return None if left is None else errands.insert(connection, self.kind, left)
        if left is None:
            errands.delete(connection, self.id)
        elif left != state:
            errands.put(connection, self.id, left)
        return self.id


@frozen
class _Portion:
    left: State | None
    errand_id: int | None
    outcome: Any


Handler = Callable[[Errand], Awaitable[None]]
"""Goes through the portions until the errand is over."""


class Errands:
    """Has errands done by their handlers: by the request that begins them, or by the runner."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._handlers: dict[ErrandKind, Handler] = {}
        self._under_way: set[Errand] = set()
        self._given_up: set[int] = set()
        self._wake = trio.Event()

    def handle(self, kind: ErrandKind, handler: Handler) -> None:
        """Who does errands of this kind; said once, when the server is put together."""
        self._handlers[kind] = handler

    @property
    def handled(self) -> frozenset[ErrandKind]:
        """The kinds that have a handler."""
        return frozenset(self._handlers)

    async def do(self, kind: ErrandKind, state: State, *, guard: Guard = UNGUARDED) -> Errand:
        """Do an errand from its beginning to its end. What refuses its first portion is raised here, the `guard` of
        the request included, and nothing has happened."""
        errand = Errand(self._database, kind, state, guard=guard)
        await self.finish(errand)
        return errand

    def begin_in(self, connection: sqlite3.Connection, kind: ErrandKind, state: State) -> Errand:
        """In a unit of writing: begin an errand as a part of it; `finish` is to follow its commit, or `look_again`."""
        return Errand(self._database, kind, state, errands.insert(connection, kind, state))

    async def finish(self, errand: Errand) -> None:
        """After the commit of `begin_in`: do it."""
        try:
            await self._carry_out(errand)
        finally:
            if not errand.is_over:  # a portion may be on its way to the disk still
                errand.when_left = self.look_again
                self.look_again()

    def look_again(self) -> None:
        """After a commit: there is something to do."""
        self._wake.set()

    async def run(self) -> None:
        """Go on with errands that are under way nowhere, until cancelled; those of an earlier process first."""
        while True:
            self._wake = trio.Event()
            pause = LOOK_SECONDS
            try:
                for errand_id in errands.ids(self._database.reader):
                    await self._go_on(errand_id)
            except StorageUnavailable:
                log.warning("errands wait for the store")
                pause = RETRY_SECONDS
            with trio.move_on_after(pause):
                await self._wake.wait()

    async def _go_on(self, errand_id: int) -> None:
        if errand_id in self._given_up or any(errand.id == errand_id for errand in self._under_way):
            return
        stored = errands.by_id(self._database.reader, errand_id)
        if stored is None:
            return
        log.info("an errand goes on", kind=stored.kind)
        try:
            await self._carry_out(Errand(self._database, ErrandKind(stored.kind), stored.state, errand_id))
        except StorageUnavailable:
            raise
        except Exception:  # a fault of ours; the next start tries again
            log.exception("an errand could not be done", kind=stored.kind)
            self._given_up.add(errand_id)

    async def _carry_out(self, errand: Errand) -> None:
        self._under_way.add(errand)
        try:
            await self._handlers[errand.kind](errand)
        finally:
            self._under_way.discard(errand)
