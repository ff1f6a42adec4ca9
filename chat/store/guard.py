"""What has to hold at the moment of writing, and not only when somebody was let in.

Between the two a caller may wait for the writer, and whoever has the say may take their rights away meanwhile. Where a
request is judged, `guarded` is put around what follows; the first unit that is written inside is then preceded by the
judgement, in its own transaction, so that no other unit comes in between.

    with guarded(lambda connection: admit(connection, credential)):
        await handler(request)

Only the first: the unit may itself end the caller's rights, as when administrators end all their own sign-ins, and what
belongs to the same request goes on.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Final, TypeVar

T = TypeVar("T")
Unit = Callable[[sqlite3.Connection], T]


class Guard:
    """A judgement that precedes the first unit; `is_passed` once that was committed."""

    def __init__(self, check: Callable[[sqlite3.Connection], None]) -> None:
        self._check = check
        self.is_passed = False

    def before(self, unit: Unit[T]) -> Unit[T]:
        """The unit, preceded by the judgement, whose exception is the unit's."""

        def judged(connection: sqlite3.Connection) -> T:
            self._check(connection)
            return unit(connection)

        return judged


_guard: Final[ContextVar[Guard | None]] = ContextVar("guard", default=None)


def current_guard() -> Guard | None:
    """The guard of this task, unless it has done its duty."""
    guard = _guard.get()
    return None if guard is None or guard.is_passed else guard


@contextlib.contextmanager
def guarded(check: Callable[[sqlite3.Connection], None]) -> Iterator[None]:
    """Inside, `check` precedes the first unit; it runs in the writer's thread and raises what refuses the unit."""
    token = _guard.set(Guard(check))
    try:
        yield
    finally:
        _guard.reset(token)


@contextlib.contextmanager
def unguarded() -> Iterator[None]:
    """Inside, units are not the request's own, such as notes about earlier requests: they are written in any case."""
    token = _guard.set(None)
    try:
        yield
    finally:
        _guard.reset(token)
