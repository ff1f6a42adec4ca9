"""When a connection wants to be looked at again: exact deadlines, no ticks (gateway.md, Heartbeat). Times are seconds.

Since the last acknowledgement: after 90 per cent of the interval the server asks for a Heartbeat, once; when more than
45,000 ms have passed the socket closes. At 45,000 ms sharp it is still open (gateway.md, Heartbeat), so the deadline
lies one millisecond later. A sequence that waits for its session is given up after 5,000 ms.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from chat.protocol.transitions import Kind
from chat.registries.limits import HEARTBEAT_DEADLINE_MS, SEQUENCE_CONFIRMATION_MS

REQUEST_PART: Final = 0.9
"""The part of the interval after which the server asks (gateway.md, Heartbeat)."""


class Deadlines:
    """The clockwork of one connection, from Hello on."""

    __slots__ = ("_acknowledged_at", "_interval", "_requested", "_unconfirmed")

    def __init__(self, heartbeat_interval_ms: int, now: float) -> None:
        self._interval = heartbeat_interval_ms / 1000
        self._acknowledged_at = now
        self._requested = False
        self._unconfirmed: deque[float] = deque()

    def acknowledge(self, now: float) -> None:
        """A Heartbeat is acknowledged at this moment."""
        self._acknowledged_at = now
        self._requested = False

    def request(self) -> None:
        """The server's Heartbeat is sent."""
        self._requested = True

    @property
    def requested(self) -> bool:
        """Whether the server's Heartbeat waits for an answer."""
        return self._requested

    @property
    def unconfirmed(self) -> int:
        """How many sequences wait for their session's word."""
        return len(self._unconfirmed)

    def await_confirmation(self, now: float) -> None:
        """One sequence more waits."""
        self._unconfirmed.append(now + SEQUENCE_CONFIRMATION_MS / 1000)

    def confirm(self) -> None:
        """The oldest of those is confirmed."""
        self._unconfirmed.popleft()

    def next(self) -> float:
        """The earliest moment at which `due` has something to say."""
        heartbeat = self._overdue_at if self._requested else min(self._requested_at, self._overdue_at)
        return min(heartbeat, self._unconfirmed[0]) if self._unconfirmed else heartbeat

    def due(self, now: float) -> Kind:
        """What has fallen due by now, the gravest first."""
        if now >= self._overdue_at:
            return Kind.HEARTBEAT_OVERDUE
        if self._unconfirmed and now >= self._unconfirmed[0]:
            return Kind.SEQUENCE_REFUSED
        if not self._requested and now >= self._requested_at:
            return Kind.HEARTBEAT_DUE
        return Kind.NO_NEWS

    @property
    def _requested_at(self) -> float:
        return self._acknowledged_at + self._interval * REQUEST_PART

    @property
    def _overdue_at(self) -> float:
        return self._acknowledged_at + (HEARTBEAT_DEADLINE_MS + 1) / 1000
