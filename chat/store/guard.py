"""What has to hold at the moment of writing, and not only when somebody was let in.

Between the two a caller may wait for the writer, for an image that is looked at, for a password that is hashed; and
whoever has the say may take their rights away meanwhile. Where a request is judged, `guarded` is put around what
follows, and what it is granted on the way is noted with `claim`. A unit that is written inside is then preceded by the
judgement, in its own transaction, so that no other unit comes in between.

    with guarded(lambda connection: admit(connection, credential), is_due=True):
        await handler(request)

Only the first unit: it may itself end the caller's rights, as when administrators end all their own sign-ins, and what
belongs to the same request goes on. Without `is_due` only the first one after a slow step, which says so with
`judge_again`: where nothing takes time, what was judged a moment ago holds.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Final, TypeVar

T = TypeVar("T")
Unit = Callable[[sqlite3.Connection], T]
Claims = Callable[[sqlite3.Connection, list[Any]], None]
"""Judges what it granted once more, and raises what refuses it now."""


class Guard:
    """A judgement that precedes a unit; `is_due` until that is committed."""

    __slots__ = ("_check", "_claims", "is_due")

    def __init__(self, check: Callable[[sqlite3.Connection], None], *, is_due: bool) -> None:
        self._check = check
        self._claims: dict[Claims, list[Any]] = {}
        self.is_due = is_due

    def before(self, unit: Unit[T]) -> Unit[T]:
        """The unit, preceded by the judgement, whose exception is the unit's."""

        def judged(connection: sqlite3.Connection) -> T:
            self._check(connection)
            for claims, granted in self._claims.items():
                claims(connection, granted)
            return unit(connection)

        return judged

    def add(self, claims: Claims, granted: Any) -> None:
        """Something else was granted."""
        self._claims.setdefault(claims, []).append(granted)


_guard: Final[ContextVar[Guard | None]] = ContextVar("guard", default=None)


def current_guard() -> Guard | None:
    """The guard of this task, if it has a duty now."""
    guard = _guard.get()
    return None if guard is None or not guard.is_due else guard


def claim(claims: Claims, granted: Any) -> None:
    """Note that something was granted, for `claims` to judge once more."""
    guard = _guard.get()
    if guard is not None:
        guard.add(claims, granted)


def judge_again() -> None:
    """A slow step is taken: what was judged before it is judged once more in the next unit."""
    guard = _guard.get()
    if guard is not None:
        guard.is_due = True


@contextlib.contextmanager
def guarded(check: Callable[[sqlite3.Connection], None], *, is_due: bool) -> Iterator[None]:
    """Inside, `check` and what was claimed precede the first unit that is due; they run in the writer's thread and
    raise what refuses the unit."""
    token = _guard.set(Guard(check, is_due=is_due))
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
