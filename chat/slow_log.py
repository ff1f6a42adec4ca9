"""Slow requests and slow work of the store, in the log with the operation that waited for it (settings
`slow_request_ms` and `slow_statement_ms`; instance.md, Slow requests)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import structlog

from chat.observation import Observation

LINES_MAXIMUM: Final = 30
"""Lines in SPAN_SECONDS: where everything is slow, the log does not make it slower."""

SPAN_SECONDS: Final = 10.0

SWITCHED: Final = 101

log: Final = structlog.get_logger("chat.slow")


class SlowLog:
    """Says what took long, a bounded number of lines at a time; from any thread."""

    def __init__(self, request_ms: int, now: Callable[[], float] = time.monotonic) -> None:
        self._request_seconds: Final = request_ms / 1_000
        self._now = now
        self._began = now()
        self._lines = self._left_out = 0

    def request(self, seen: Observation) -> None:
        """An observer of requests. What counts is the time until the answer begins: how fast it is read is up to the
        client."""
        if seen.answered_after < self._request_seconds or seen.status == SWITCHED:
            return
        self._say(
            "slow request",
            operation=f"{seen.method} {seen.route}",
            status=seen.status,
            ms=round(seen.answered_after * 1_000, 1),
            request_id=seen.request_id,
            account_id=None if seen.account_id is None else str(seen.account_id),
        )

    def statement(self, work: str, kind: str, seconds: float, cause: Observation | None) -> None:
        """An observer of the store: a unit of writing, a query, or a commit; `cause` is the request that it was for."""
        self._say(
            "slow statement",
            kind=kind,
            work=work,
            ms=round(seconds * 1_000, 1),
            operation=None if cause is None else f"{cause.method} {cause.route}",
            request_id=None if cause is None else cause.request_id or None,
        )

    def _say(self, event: str, **fields: object) -> None:
        now = self._now()
        if now - self._began >= SPAN_SECONDS:
            if self._left_out:
                log.warning("slow work was left out of the log", count=self._left_out)
            self._began, self._lines, self._left_out = now, 0, 0
        self._lines += 1
        if self._lines > LINES_MAXIMUM:
            self._left_out += 1
            return
        log.warning(event, **fields)
