"""What has to hold at the moment of writing, and not only when a request was let in.

Between the two a request may wait for the writer, for an image that is looked at, for a password that is hashed, and
its rights may be taken away meanwhile. The kernel of the API makes a `Guard` for a request and hands it on with what
the handler gets (`Principal.guard`, `Request.guard`). Whatever grants the request something on the way claims it there.
A unit that names the guard is preceded by its judgement, in the same transaction, so that no other unit comes between.

    await database.write(unit, then, guard=principal.guard)

Only the first unit is judged: it may itself end the caller's rights, as when administrators end all their own sign-ins,
and what belongs to the same request goes on. A guard that is not due from the start becomes due with the first slow
step, which says so with `judge_again`: where nothing takes time, what was judged a moment ago holds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Final, TypeVar

import attrs

from chat.classes import define

T = TypeVar("T")
Unit = Callable[[sqlite3.Connection], T]
Claims = Callable[[sqlite3.Connection, list[Any]], None]
"""Judges what it granted once more, and raises what refuses it now."""


@define(eq=False)
class Guard:
    """The judgement of one request. `check` judges the caller, in the writer's thread, and raises what refuses it."""

    _check: Callable[[sqlite3.Connection], None]
    is_due: bool = attrs.field(kw_only=True)
    """Whether the next unit is judged."""
    _claims: dict[Claims, list[Any]] = attrs.field(factory=dict, init=False)

    def claim(self, claims: Claims, granted: Any) -> None:
        """Note a right that was granted; `claims` are judged again before the write."""
        self._claims.setdefault(claims, []).append(granted)

    def judge_again(self) -> None:
        """A slow step is taken: what was judged before it is judged once more in the next unit."""
        self.is_due = True

    def before(self, unit: Unit[T]) -> Unit[T]:
        """The unit, preceded by the judgement of this moment's claims, whose exception is the unit's. The unit may
        outlast the request: once it is queued, it is written even if its caller goes away."""
        claimed = [(claims, list(granted)) for claims, granted in self._claims.items()]

        def judged(connection: sqlite3.Connection) -> T:
            self._check(connection)
            for claims, granted in claimed:
                claims(connection, granted)
            return unit(connection)

        judged.__wrapped__ = unit  # type: ignore[attr-defined]  # which is what a slow unit is called by
        return judged

    def release(self) -> None:
        """The request is over: forget what was claimed, which names the caller, who holds the guard."""
        self._claims.clear()


class Unguarded(Guard):
    """In place of a guard for what no request has to answer for: work in the background, and reading."""

    __slots__ = ()

    def claim(self, claims: Claims, granted: Any) -> None:
        """Does nothing."""

    def judge_again(self) -> None:
        """Does nothing."""


UNGUARDED: Final = Unguarded(lambda connection: None, is_due=False)
