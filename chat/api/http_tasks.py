"""Where an application runs for a request, and what it receives there.

Hypercorn passes a request's events through a memory channel, at a turn of the loop each, and an application that
answers without reading a long body leaves that channel full and its connection stuck. `RequestEvents` costs no turn,
joins what has not been read yet, and lets go when the answer is complete.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

import trio
from hypercorn.config import Config
from hypercorn.trio.task_group import TaskGroup, _handle
from hypercorn.typing import AppWrapper, ASGIReceiveEvent, ASGISendEvent, Scope

UNREAD_BYTES: Final = 262_144
"""Bytes of a body that may wait for the application; until it reads some, no more is read from the client."""


class RequestEvents:
    """The events of one request, in order: pieces of the body, then `http.disconnect`."""

    def __init__(self) -> None:
        self._events: deque[Any] = deque()
        self._parked = trio.lowlevel.ParkingLot()
        self._unread = 0

    async def put(self, event: Any) -> None:
        """Hand an event to the application; waits while UNREAD_BYTES are unread."""
        if event["type"] != "http.request":
            self._unread = 0  # nobody needs the rest; whoever waits to add to it may go
            self._events.append(event)
        elif self._events:
            self._events[-1]["body"] += event["body"]
            self._events[-1]["more_body"] = event["more_body"]
            self._unread += len(event["body"])
        else:
            self._events.append(event)
            self._unread += len(event["body"])
        self._parked.unpark_all()
        while self._unread > UNREAD_BYTES:
            await self._parked.park()

    async def receive(self) -> Any:
        """ASGI's `receive`."""
        while not self._events:
            await self._parked.park()
        event = self._events.popleft()
        self._unread = 0
        self._parked.unpark_all()
        return event


class RequestTasks(TaskGroup):
    """The applications at work for one connection."""

    async def spawn_app(
        self,
        app: AppWrapper,
        config: Config,
        scope: Scope,
        send: Callable[[ASGISendEvent | None], Awaitable[None]],
    ) -> Callable[[ASGIReceiveEvent], Awaitable[None]]:
        """Run the application for a request; what is returned hands it the request's events."""
        events = RequestEvents()
        self.spawn(_handle, app, config, scope, events.receive, send, trio.to_thread.run_sync, trio.from_thread.run)
        return events.put
