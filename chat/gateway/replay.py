"""What a session's Dispatches do while its socket is being sent a replay."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence
from typing import Protocol

from chat.gateway.session import Receiver
from chat.protocol.payload import EventRun, OutgoingEvent
from chat.registries import close_codes
from chat.registries.close_codes import Close
from chat.registries.limits import REPLAY_DISPATCHES


class ReplayingSocket(Receiver, Protocol):
    """The socket that is being sent the replay."""

    def close(self, close: Close) -> None:
        """Close with this code and reason."""
        ...


class ReplayQueue:
    """Stands in for the socket while a replay runs: live Dispatches wait here, in order, until it is through."""

    def __init__(self, connection: ReplayingSocket, retained: Sequence[tuple[int, OutgoingEvent]]) -> None:
        self._connection = connection
        self._retained = retained
        self._waiting: collections.deque[tuple[int, OutgoingEvent]] = collections.deque()

    def entries(self) -> Iterator[tuple[int, OutgoingEvent]]:
        """What is to be sent before Resumed, in order; grows while it is being read."""
        yield from self._retained
        while self._waiting:
            yield self._waiting.popleft()

    def belongs_to(self, connection: ReplayingSocket) -> bool:
        """Whether it stands in for this socket."""
        return self._connection is connection

    def deliver(self, sequence: int, event: OutgoingEvent) -> None:
        self._waiting.append((sequence, event))
        self._bound()

    def deliver_run(self, first: int, run: EventRun) -> None:
        self._waiting.extend(enumerate(run.events, first))
        self._bound()

    def _bound(self) -> None:
        if len(self._waiting) > REPLAY_DISPATCHES:
            # The peer does not keep up; the session stays retained.
            self._connection.close(close_codes.OUTBOX_FULL)

    def send_payload(self, data: bytes) -> None:
        self._connection.send_payload(data)

    def session_ended(self) -> None:
        self._connection.session_ended()

    def failed(self) -> None:
        self._connection.failed()

    def displaced(self) -> None:
        self._connection.displaced()

    async def drained(self, below_bytes: int) -> None:
        await self._connection.drained(below_bytes)
