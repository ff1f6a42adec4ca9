"""A server's WebSocket on a gateway transport: whole messages in, prebuilt frames out (RFC 6455).

wsproto's frame decoder takes the bytes apart, without I/O; `FrameReader` puts messages together, because the gateway
has rules of its own: the type of a frame counts for nothing, text need not be UTF-8 unless asked for, and a message is
refused the moment it grows beyond its limit (gateway.md, Message sizes).

One task calls `receive`, one runs the outbox's writer; any task may push to the outbox, flush it and send by it, which
never waits. `close` comes when `receive` is over, however it ended: it ends the connection with a close frame, within
CLOSE_SECONDS, and leaves nothing open.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Final

import attrs
import trio
from wsproto.frame_protocol import Frame, FrameDecoder, Opcode, ParseFailed

from chat.classes import define, frozen
from chat.gateway.outbox import Outbox, OutboxSum
from chat.port.transport import Transport
from chat.protocol.frames import (
    ABNORMAL_CLOSURE,
    INVALID_DATA,
    NO_STATUS,
    NORMAL_CLOSURE,
    PEER_CLOSE_CODES,
    PROTOCOL_ERROR,
    close_frame,
    pong_frame,
)
from chat.registries.close_codes import Close

FRAGMENTS_MAXIMUM: Final = 4_096
"""Frames of one message; a client that splits 16 KiB into more keeps us busy to no purpose."""


@frozen
class Message:
    """One whole message; `text` tells the type of its frames, not that the data is UTF-8."""

    data: bytes
    text: bool


@frozen
class MessageTooLarge:
    """The message in progress exceeds the limit on bytes or on fragments. Nothing of it is kept."""


@frozen
class Ping:
    """A ping with its payload, at most 125 bytes."""

    payload: bytes


@frozen
class Pong:
    """A pong: unasked, it says nothing."""


@frozen
class PeerClose:
    """The peer's close frame; code 1005 when it named none."""

    code: int
    reason: str


@frozen
class Breach:
    """The bytes break RFC 6455 and cannot be understood further; `code` is what to close with, without a reason."""

    code: int


Incoming = Message | MessageTooLarge | Ping | Pong | PeerClose | Breach


@define(eq=False, weakref_slot=False)
class FrameReader:
    """Bytes in, events out. After MessageTooLarge data is skipped; after PeerClose or Breach nothing more comes.

    `maximum_bytes` and `maximum_fragments` bound a message; `validate_text` makes text that is not UTF-8 a breach
    (1007).
    """

    _maximum_bytes: int
    _maximum_fragments: int
    _validate_text: bool = attrs.field(kw_only=True)
    _decoder: FrameDecoder = attrs.field(factory=lambda: FrameDecoder(client=False), init=False)
    _message: bytearray | None = attrs.field(default=None, init=False)
    _text: bool = attrs.field(default=False, init=False)
    _utf8: codecs.IncrementalDecoder | None = attrs.field(default=None, init=False)
    _fragments: int = attrs.field(default=0, init=False)
    _skipping: bool = attrs.field(default=False, init=False)
    _ended: bool = attrs.field(default=False, init=False)

    def feed(self, data: bytes) -> None:
        """Take bytes that the peer sent."""
        self._decoder.receive_bytes(data)

    def skip_data(self) -> None:
        """From now on pass over data and read control frames only."""
        self._skipping = True
        self._message = None

    def next_event(self) -> Incoming | None:
        """The next event, or None when more bytes are needed or nothing more can come."""
        try:
            while not self._ended and (frame := self._decoder.process_buffer()) is not None:
                event = self._take(frame)
                if event is not None:
                    return event
        except ParseFailed:
            return self._breach(PROTOCOL_ERROR)
        return None

    def _take(self, frame: Frame) -> Incoming | None:
        payload = frame.payload
        assert isinstance(payload, bytes)  # noqa: S101 -- only wsproto's other layers make str and tuples of it
        if frame.opcode is Opcode.PING:
            return Ping(payload)
        if frame.opcode is Opcode.PONG:
            return Pong()
        if frame.opcode is Opcode.CLOSE:
            return self._take_close(payload)
        return None if self._skipping else self._take_data(frame, payload)

    def _take_data(self, frame: Frame, payload: bytes) -> Incoming | None:
        # The decoder hands on what it has of a frame; pieces after the first come as CONTINUATION, like further frames.
        if (frame.opcode is Opcode.CONTINUATION) is (self._message is None):
            return self._breach(PROTOCOL_ERROR)
        if self._message is None:
            self._begin(frame.opcode is Opcode.TEXT)
        return self._grow(payload, frame.frame_finished, frame.frame_finished and frame.message_finished)

    def _begin(self, text: bool) -> None:
        self._message = bytearray()
        self._text = text
        self._fragments = 0
        self._utf8 = codecs.getincrementaldecoder("utf-8")() if text and self._validate_text else None

    def _grow(self, payload: bytes, frame_finished: bool, message_finished: bool) -> Incoming | None:
        message = self._message
        assert message is not None  # noqa: S101 -- _begin made it
        self._fragments += frame_finished
        if len(message) + len(payload) > self._maximum_bytes or self._fragments > self._maximum_fragments:
            self.skip_data()
            return MessageTooLarge()
        if self._utf8 is not None:
            try:
                self._utf8.decode(payload, message_finished)
            except UnicodeDecodeError:
                return self._breach(INVALID_DATA)
        if not message_finished:
            message += payload
            return None
        self._message = None
        return Message(bytes(message) + payload if message else payload, self._text)

    def _take_close(self, payload: bytes) -> PeerClose | Breach:
        self._ended = True
        if not payload:
            return PeerClose(NO_STATUS, "")
        code = int.from_bytes(payload[:2], "big")
        if len(payload) == 1 or code not in PEER_CLOSE_CODES:
            return self._breach(PROTOCOL_ERROR)
        try:
            return PeerClose(code, payload[2:].decode())
        except UnicodeDecodeError:
            return self._breach(INVALID_DATA if self._validate_text else PROTOCOL_ERROR)

    def _breach(self, code: int) -> Breach:
        self._ended = True
        self._message = None
        return Breach(code)


READ_BYTES: Final = 4_096
"""What one read asks for: a few commands, and few enough tiny frames that a flood of them holds the loop for
milliseconds."""

SKIP_BYTES: Final = 65_536
"""What one read asks for while everything but the peer's close frame is skipped."""

OUTBOX_BYTES: Final = 4 * 1_048_576
CLOSE_SECONDS: Final = 2.0
"""How long a closing handshake may take."""


@frozen
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

    @property
    def peer_close(self) -> Close:
        """How the peer closed the connection, as far as it did; code 1006 if it sent no close frame."""
        ended = self._ended
        return Close(ended.code, ended.reason) if isinstance(ended, Closed) else Close(ABNORMAL_CLOSURE, "")

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

    def begin_closing(self, code: int = NORMAL_CLOSURE, reason: str = "") -> None:
        """Send a close frame, the last that is sent, unless one was sent. `close` is still to be called."""
        if not self._close_sent:
            self._close_sent = True
            self.outbox.seal(close_frame(code, reason))

    async def close(self, code: int = NORMAL_CLOSURE, reason: str = "") -> None:
        """Send a close frame unless one was sent, wait for the peer's, at most CLOSE_SECONDS in all, and close the
        transport.

        Cancelled, it closes the transport at once. No other task may be in `receive`.
        """
        try:
            with trio.move_on_after(CLOSE_SECONDS):
                self.begin_closing(code, reason)
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
                    self.begin_closing(code)
                case Breach(code):
                    self._breached = True
                    self._ended = Closed(code, "")
                    self.begin_closing(code)
        return None

    def _answer(self, ping: Ping) -> None:
        # While the peer does not read only its latest ping matters (RFC 6455, section 5.5.3), so that pings cannot
        # pile up.
        self.outbox.send_latest(pong_frame(ping.payload))

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
