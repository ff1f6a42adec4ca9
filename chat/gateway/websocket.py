"""A server's WebSocket on a gateway transport: whole messages in, prebuilt frames out (RFC 6455).

One task calls `receive`, one runs the outbox's writer; any task may push to the outbox, flush it and send by it, which
never waits. `close` comes when `receive` is over, however it ended: it ends the connection with a close frame, within
CLOSE_SECONDS, and leaves nothing open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs
import trio

from chat.gateway.frame_reader import (
    FRAGMENTS_MAXIMUM,
    Breach,
    FrameReader,
    Message,
    MessageTooLarge,
    PeerClose,
    Ping,
    Pong,
)
from chat.gateway.outbox import Outbox, OutboxSum
from chat.port.transport import Transport
from chat.protocol.frames import ABNORMAL_CLOSURE, NORMAL_CLOSURE, close_frame, pong_frame

READ_BYTES: Final = 4_096
"""What one read asks for: a few commands, and few enough tiny frames that a flood of them holds the loop for
milliseconds."""

SKIP_BYTES: Final = 65_536
"""What one read asks for while everything but the peer's close frame is skipped."""

OUTBOX_BYTES: Final = 4 * 1_048_576
CLOSE_SECONDS: Final = 2.0
"""How long a closing handshake may take."""


@attrs.frozen
class Closed:
    """Nothing more will be received.

    `code` and `reason` are the peer's: 1005 when its close frame named none, 1006 when the transport ended without
    one. After a breach of RFC 6455 they are the ones we closed with: 1002, or 1007 for text that is not UTF-8.
    """

    code: int
    reason: str


class WebSocket:
    """An open WebSocket, from behind the opening handshake on.

    `maximum_message_bytes` and `maximum_fragments` bound a received message; `validate_text` refuses text that is not
    UTF-8 with 1007. `outbox_limit` (bytes), `on_outbox_full` and `outboxes` are those of `outbox`, where frames wait to
    be sent. `on_control` is called for each ping and pong.
    """

    __slots__ = ("_breached", "_close_sent", "_ended", "_on_control", "_reader", "_transport", "outbox")

    def __init__(
        self,
        transport: Transport,
        *,
        maximum_message_bytes: int,
        maximum_fragments: int = FRAGMENTS_MAXIMUM,
        outbox_limit: int = OUTBOX_BYTES,
        validate_text: bool = False,
        on_outbox_full: Callable[[], None] | None = None,
        outboxes: OutboxSum | None = None,
        on_control: Callable[[], None] | None = None,
    ) -> None:
        self._transport = transport
        self._reader = FrameReader(maximum_message_bytes, maximum_fragments, validate_text=validate_text)
        self.outbox = Outbox(transport, outbox_limit, on_outbox_full, outboxes)
        self._ended: Closed | MessageTooLarge | None = None
        self._on_control = on_control
        self._close_sent = False
        self._breached = False

    def abort(self) -> None:
        """Close the transport at once, without a close frame; a waiting `receive` returns Closed 1006."""
        self._on_control = None  # it refers back, like `Outbox`'s
        self.outbox.abort()

    async def receive(self) -> Message | MessageTooLarge | Closed:
        """The next message, or why there is none; after the latter the same again.

        Pings are answered and the peer's close frame is acknowledged on the way. Call `close` in every case.
        """
        while self._ended is None:
            message = self._next_message()
            if message is not None:
                return message
            if self._ended is None and not await self._read(SKIP_BYTES if self._close_sent else READ_BYTES):
                self._ended = Closed(ABNORMAL_CLOSURE, "")
        return self._ended

    async def close(self, code: int = NORMAL_CLOSURE, reason: str = "") -> None:
        """Send a close frame unless one was sent, wait for the peer's, at most CLOSE_SECONDS in all, and close the
        transport.

        Cancelled, it closes the transport at once. No other task may be in `receive`.
        """
        try:
            with trio.move_on_after(CLOSE_SECONDS):
                self._send_close(code, reason)
                self.outbox.release()
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self.outbox.delivered)
                    await self._await_peer_close()
                if self._breached:
                    # Its frames are no longer understood: let it read ours, then see it leave.
                    await self._transport.aclose_gracefully(CLOSE_SECONDS)
        finally:
            self.abort()

    def _next_message(self) -> Message | None:
        while self._ended is None and (event := self._reader.next_event()) is not None:
            match event:
                case Message():
                    return event
                case Ping() | Pong():
                    if self._on_control is not None:
                        self._on_control()
                    if isinstance(event, Ping):
                        self._answer(event)
                case MessageTooLarge():
                    self._ended = event
                case PeerClose(code, reason):
                    self._ended = Closed(code, reason)
                    self._send_close(code)
                case Breach(code):
                    self._breached = True
                    self._ended = Closed(code, "")
                    self._send_close(code)
        return None

    def _answer(self, ping: Ping) -> None:
        # While the peer does not read only its latest ping matters (RFC 6455, section 5.5.3), so that pings cannot
        # pile up.
        self.outbox.send_latest(pong_frame(ping.payload))

    def _send_close(self, code: int, reason: str = "") -> None:
        if not self._close_sent:
            self._close_sent = True
            self.outbox.seal(close_frame(code, reason))

    async def _read(self, maximum: int) -> bool:
        try:
            data = await self._transport.receive_some(maximum)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return False
        self._reader.feed(data)
        return bool(data)

    async def _await_peer_close(self) -> None:
        if not isinstance(self._ended, Closed):
            self._ended = None
            self._reader.skip_data()
            await self.receive()
