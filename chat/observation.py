"""What is seen of a request from outside, for the access log and the metrics; it costs nothing where neither is on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Final

import attrs
import trio

from chat.classes import define

SEEN: Final = "chat.seen"
"""Where an observed request's ASGI scope holds its Observation."""

METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
OTHER: Final = "OTHER"
"""Stands for every method that is not listed, since a client may send any word as its method."""

UNKNOWN: Final = "unknown"
"""The route of every request that leads to no operation. Its path is not kept: the number of routes stays bounded."""


@define(eq=False)
class Observation:
    """One request, filled in on its way."""

    method: str
    """The HTTP method. When the request is over, OTHER stands here for an unusual method."""
    _now: Callable[[], float] = attrs.field(default=time.monotonic, kw_only=True)
    """Real time: what a test's clock was moved by is nobody's work."""
    began: float = attrs.field(factory=trio.current_time, init=False)
    _head_at: float = attrs.field(init=False)
    route: str = attrs.field(default=UNKNOWN, init=False)
    """The path as it is declared, with the names of its members."""
    status: int = attrs.field(default=0, init=False)
    """0 until an answer begins."""
    answered_after: float = attrs.field(default=0.0, init=False)
    """Seconds of real time from its head to the beginning of the answer."""
    bytes_sent: int = attrs.field(default=0, init=False)
    """Of the answer's body."""
    account_id: int | None = attrs.field(default=None, init=False)
    request_id: str = attrs.field(default="", init=False)
    limit: str | None = attrs.field(default=None, init=False)
    """The scope of the rate limit that refused it."""

    @_head_at.default
    def _arrived_now(self) -> float:
        return self._now()

    def note_answer(self, status: int) -> None:
        """The answer begins now."""
        self.status, self.answered_after = status, self._now() - self._head_at

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return trio.current_time() - self.began


CAUSE: Final[ContextVar[Observation | None]] = ContextVar("chat.cause", default=None)
"""The observed request for which a task works."""

Observer = Callable[[Observation], None]


def told(observers: Sequence[Observer], seen: Observation) -> None:
    """Tell all of them that the request is over."""
    if seen.method not in METHODS:
        seen.method = OTHER
    for observe in observers:
        observe(seen)


def watching(seen: Observation, send: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """ASGI's `send`, with what goes through it noted."""

    async def watched(event: Any) -> None:
        if event["type"] == "http.response.start":
            seen.note_answer(event["status"])
        elif event["type"] == "http.response.body":
            seen.bytes_sent += len(event.get("body", b""))
        await send(event)

    return watched
