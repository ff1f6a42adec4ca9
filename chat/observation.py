"""What is seen of a request from outside, for the access log and the metrics; it costs nothing where neither is on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Final

import trio

SEEN: Final = "chat.seen"
"""Where an observed request's ASGI scope holds its Observation."""

METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
OTHER: Final = "OTHER"
"""What stands for every other method: any word may be one."""

UNKNOWN: Final = "unknown"
"""The route of what is found nowhere: what was asked for is not told, so that there are not endlessly many."""


class Observation:
    """One request, filled in on its way."""

    __slots__ = (
        "account_id",
        "answered_after",
        "began",
        "bytes_sent",
        "limit",
        "method",
        "request_id",
        "route",
        "seconds",
        "status",
    )

    def __init__(self, method: str) -> None:
        self.began: Final = trio.current_time()
        self.method: Final = method if method in METHODS else OTHER
        self.route = UNKNOWN
        """The path as it is declared, with the names of its members."""
        self.status = 0
        """0 until an answer begins."""
        self.answered_after = 0.0
        """Seconds from its head to the beginning of the answer."""
        self.bytes_sent = 0
        """Of the answer's body."""
        self.account_id: int | None = None
        self.request_id = ""
        self.limit: str | None = None
        """The scope of the rate limit that refused it."""
        self.seconds = 0.0
        """How long it took; 0 until it is over."""


CAUSE: Final[ContextVar[Observation | None]] = ContextVar("chat.cause", default=None)
"""The observed request for which a task works."""

Observer = Callable[[Observation], None]


def told(observers: Sequence[Observer], seen: Observation) -> None:
    """Tell all of them that the request is over."""
    seen.seconds = trio.current_time() - seen.began
    for observe in observers:
        observe(seen)


def watching(seen: Observation, send: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """ASGI's `send`, with what goes through it noted."""

    async def watched(event: Any) -> None:
        if event["type"] == "http.response.start":
            seen.status = event["status"]
            seen.answered_after = trio.current_time() - seen.began
        elif event["type"] == "http.response.body":
            seen.bytes_sent += len(event.get("body", b""))
        await send(event)

    return watched
