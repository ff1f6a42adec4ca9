"""Where somebody who looks on sees the frames of a socket: under `chat dev`, the history (development.md, History).

A socket has no tap in production, and asks no more of it than whether there is one. What a tap is handed it may keep,
and must not change: bytes that are sent to others as well, values that a command is carried out on.
"""

from __future__ import annotations

from typing import Protocol

from chat.gateway.session import GatewaySession
from chat.protocol.frames import OutgoingEvent
from chat.protocol.payload import Payload
from chat.registries.close_codes import Close


class SocketTap(Protocol):
    """Sees one socket. Calls say which session the socket holds at that moment; it must neither wait nor raise."""

    def dispatched(self, session: GatewaySession | None, sequence: int, event: OutgoingEvent) -> None:
        """A Dispatch is sent."""
        ...

    def sent(self, session: GatewaySession | None, data: bytes) -> None:
        """A payload that is no Dispatch is sent, before any compression."""
        ...

    def received(self, session: GatewaySession | None, data: bytes, decoded: Payload | Close) -> None:
        """A message has come, as it was on the wire, with what it says or how it closes the socket."""
        ...

    def ended(self, close: Close, *, by_client: bool) -> None:
        """The socket ended with this close; code 1006 if there was no close frame."""
        ...
