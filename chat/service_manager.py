"""What the service manager is told (sd_notify(3)): that the server serves, what it does, that its loop turns, that it
ends.

systemd names a socket in the environment; what is said are lines in one datagram. Where no socket is named, as in a
terminal, nothing is said. What cannot be said is left out: a server does not end because its manager does not listen.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import attrs
import trio

from chat.classes import define

WATCHDOG_SHARE: Final = 3
"""How many pings fit into the time after which the manager loses patience."""

START_EXTENSION_SECONDS: Final = 60
"""How much longer a start may take, from each time that is said: a migration takes as long as there is much."""

EXTENDED_EVERY_SECONDS: Final = 15.0


@define(eq=False)
class ServiceManager:
    """The manager of this process. `watchdog_seconds` is how long it waits for a sign of life, if it does."""

    _address: str | None = None
    _watchdog_seconds: float | None = None
    _is_ready: bool = attrs.field(default=False, init=False)

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> ServiceManager:
        """The manager that the environment names. An address that is no path and not abstract is another kind of
        socket than ours."""
        address = environment.get("NOTIFY_SOCKET", "")
        if not address.startswith(("/", "@")):
            return cls()
        microseconds = environment.get("WATCHDOG_USEC", "")
        is_for_us = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        if not (is_for_us and microseconds.isdecimal() and int(microseconds)):
            return cls(address)
        return cls(address, int(microseconds) / 1_000_000)

    def ready(self, status: str) -> None:
        """The server can serve."""
        self._is_ready = True
        self._say(READY="1", STATUS=status)

    def status(self, status: str) -> None:
        """One line for `systemctl status`."""
        self._say(STATUS=status)

    def stopping(self, status: str) -> None:
        """The server has begun to end."""
        self._say(STOPPING="1", STATUS=status)

    @asynccontextmanager
    async def kept_informed(self) -> AsyncIterator[None]:
        """While the block lasts, a task tells the service manager that the event loop runs; until `ready` it also asks
        for more time to start."""
        if self._address is None:
            yield
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._extend_start)
            if self._watchdog_seconds is not None:
                nursery.start_soon(self._ping, self._watchdog_seconds / WATCHDOG_SHARE)
            yield
            nursery.cancel_scope.cancel()

    async def _extend_start(self) -> None:
        while not self._is_ready:
            self._say(EXTEND_TIMEOUT_USEC=str(START_EXTENSION_SECONDS * 1_000_000))
            await trio.sleep(EXTENDED_EVERY_SECONDS)

    async def _ping(self, seconds: float) -> None:
        while True:
            self._say(WATCHDOG="1")
            await trio.sleep(seconds)

    def _say(self, **lines: str) -> None:
        if self._address is None:
            return
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        message = "\n".join(f"{name}={value}" for name, value in lines.items()).encode()
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as unnamed:
            unnamed.setblocking(False)  # a manager that does not read stops nothing
            unnamed.sendto(message, address)
