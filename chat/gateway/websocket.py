"""A server's WebSocket on a gateway transport: messages in, prebuilt frames out (RFC 6455).

wsproto's frame decoder takes the bytes apart; messages are put together here, so that text need not be UTF-8 (the gateway
judges that itself) and a message is refused the moment it grows too long.

Sending never waits: `push` appends frames, `flush` hands what is pending to the system in one call. What the system does not
take is the outbox; `run_writer` sends it when the peer reads again. The outbox is bounded in bytes and in time: a
peer that does not read is dropped. Any task may push and flush; one task calls `receive`, one runs `run_writer`.
"""

from __future__ import annotations

import codecs
import struct
from collections.abc import Callable
from typing import Final

import attrs
import trio
from wsproto.frame_protocol import Frame, FrameDecoder, Opcode, ParseFailed

from chat.gateway.transport import GatewayTransport

READ_BYTES: Final = 4_096
"""Bytes a read asks for: enough for four commands, few enough that a flood of tiny frames holds the loop for milliseconds."""

BATCH_BYTES: Final = 262_144
"""What one send offers to the system at most; frames are joined up to there."""

OUTBOX_BYTES: Final = 4 * 1_048_576
FRAGMENTS_MAXIMUM: Final = 4_096
"""Frames of one message; a client that splits 16 KiB into more is not sending, it is keeping us busy."""

STALL_SECONDS: Final = 30.0
"""A peer that takes nothing for so long while something waits for it is gone."""

CLOSE_SECONDS: Final = 2.0
"""How long a closing handshake may take."""

NORMAL_CLOSURE: Final = 1000
PROTOCOL_ERROR: Final = 1002
NO_STATUS: Final = 1005
ABNORMAL_CLOSURE: Final = 1006
INVALID_DATA: Final = 1007
CLOSE_CODES: Final = frozenset({1000, 1001, 1002, 1003, *range(1007, 1015), *range(3000, 5000)})
"""What a peer may put into a close frame (RFC 6455, section 7.4, and IANA's registry of close codes)."""

REASON_BYTES: Final = 123


@attrs.frozen
class Message:
    """One whole message; `text` tells the frame type, not that the data is UTF-8."""

    data: bytes
    text: bool


@attrs.frozen
class MessageTooLarge:
    """The message in progress exceeds the limit on bytes or fragments; nothing of it is kept. Only `close` makes sense now."""


@attrs.frozen
class Closed:
    """Nothing more will be received.

    `code` and `reason` are the peer's: 1005 when its close frame named none, 1006 when the transport ended without one. After a
    breach of RFC 6455 they are the ones we closed with: 1002, or 1007 for text that is not UTF-8.
    """

    code: int
    reason: str


Received = Message | MessageTooLarge | Closed


def close_frame(code: int, reason: str = "") -> bytes:
    """A close frame; `code` 1005 stands for none. The reason must fit a control frame: 123 bytes of UTF-8."""
    if code == NO_STATUS:
        return b"\x88\x00"
    encoded = reason.encode()
    if len(encoded) > REASON_BYTES:
        raise ValueError("a close reason has at most 123 bytes")
    return b"\x88%c%b%b" % (2 + len(encoded), struct.pack("!H", code), encoded)


def pong_frame(payload: bytes) -> bytes:
    """The answer to a ping with this payload (at most 125 bytes)."""
    return b"\x8a%c%b" % (len(payload), payload)


class WebSocket:
    """An open WebSocket, from behind the opening handshake on.

    `maximum_message_bytes` bounds what is received, `outbox_limit` (bytes) what waits to be sent: a frame pushed while more than
    that waits is not taken. Then the outbox is discarded but for a frame already under way, later frames are ignored, and
    `on_outbox_full` is called, once; it should bring about a `close`. Without it the transport is closed at once.
    `validate_text` refuses text messages that are not UTF-8 with 1007.
    """

    __slots__ = (
        "_blocked",
        "_close_sent",
        "_decoder",
        "_ended",
        "_fragments",
        "_held",
        "_latest_pong",
        "_maximum_fragments",
        "_maximum_message_bytes",
        "_message",
        "_message_is_text",
        "_offset",
        "_on_outbox_full",
        "_outbox_full",
        "_outbox_limit",
        "_pending",
        "_pending_bytes",
        "_progress",
        "_sealed",
        "_transport",
        "_utf8",
        "_validate_text",
        "_writer",
    )

    def __init__(
        self,
        transport: GatewayTransport,
        *,
        maximum_message_bytes: int,
        maximum_fragments: int = FRAGMENTS_MAXIMUM,
        outbox_limit: int = OUTBOX_BYTES,
        validate_text: bool = False,
        on_outbox_full: Callable[[], None] | None = None,
    ) -> None:
        self._transport = transport
        self._maximum_message_bytes = maximum_message_bytes
        self._maximum_fragments = maximum_fragments
        self._outbox_limit = outbox_limit
        self._validate_text = validate_text
        self._on_outbox_full = on_outbox_full

        self._decoder = FrameDecoder(client=False)
        self._message: bytearray | None = None
        self._message_is_text = False
        self._utf8: codecs.IncrementalDecoder | None = None
        self._fragments = 0
        self._ended: Closed | MessageTooLarge | None = None

        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._offset = 0
        self._blocked = False
        self._held = False
        self._sealed = False
        self._close_sent = False
        self._outbox_full = False
        self._latest_pong: bytes | None = None
        self._writer: trio.lowlevel.Task | None = None
        self._progress: trio.Event | None = None

    @property
    def address(self) -> str:
        """The transport's peer address."""
        return self._transport.address

    @property
    def is_open(self) -> bool:
        """Whether frames pushed now are taken."""
        return not self._sealed

    @property
    def outbox_full(self) -> bool:
        """Whether the outbox overflowed."""
        return self._outbox_full

    @property
    def pending_bytes(self) -> int:
        """Bytes pushed and not yet taken by the system."""
        return self._pending_bytes

    # Sending

    def send(self, frame: bytes) -> None:
        """`push` and `flush` in one."""
        self.push(frame)
        self.flush()

    def push(self, frame: bytes) -> None:
        """Append a whole frame to what is pending; ignored once the socket is closing."""
        if self._sealed:
            return
        if self._blocked and self._pending_bytes > self._outbox_limit:
            self._overflow()
            return
        self._pending.append(frame)
        self._pending_bytes += len(frame)

    def flush(self) -> None:
        """Send what is pending as far as the system takes it now; while an outbox waits, that is the writer's business."""
        if self._pending and not self._blocked:
            self._write()

    async def run_writer(self) -> None:
        """Send the outbox whenever there is one; return when the transport is gone or took nothing for STALL_SECONDS."""
        while not self._gone:
            if self._blocked and not self._held:
                await self._write_when_possible()
            else:
                await self._outbox_filled()

    async def drained(self, below: int) -> None:
        """Flush, then return when fewer than `below` bytes (at least 1) are pending, or when the socket is closing."""
        self.flush()
        while self._pending_bytes >= below and not self._sealed:
            if self._progress is None:
                self._progress = trio.Event()
            await self._progress.wait()

    def hold(self) -> None:
        """Let no frame leave until `release` (the `stall` fault of the development routes)."""
        self._held = self._blocked = True

    def release(self) -> None:
        """End a `hold`."""
        self._held = False
        self._wake_writer()

    def abort(self) -> None:
        """Close the transport at once, without a close frame; what is pending is lost."""
        self._gone = self._sealed = True
        self._blocked = False
        self._pending.clear()
        self._pending_bytes = self._offset = 0
        self._transport.close()
        self._wake_writer()
        self._note_progress()

    def _write(self) -> bool:
        """Hand over pending frames until none is left or the system takes no more; tell whether any byte went."""
        wrote = False
        try:
            while self._pending or self._latest_pong is not None:
                batch = self._next_batch()
                sent = self._transport.try_send(batch)
                wrote = wrote or sent > 0
                self._forget(sent)
                if sent < len(batch):
                    self._blocked = True
                    self._wake_writer()
                    return wrote
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.abort()
        self._blocked = False
        return wrote

    def _next_batch(self) -> bytes | memoryview:
        pending = self._pending
        if self._latest_pong is not None and not self._offset:
            pending.insert(0, self._latest_pong)
            self._pending_bytes += len(self._latest_pong)
            self._latest_pong = None
        first = memoryview(pending[0])[self._offset :] if self._offset else pending[0]
        if len(pending) == 1:
            return first
        batch: list[bytes | memoryview] = [first]
        size = len(first)
        for frame in pending[1:]:
            if size >= BATCH_BYTES:
                break
            batch.append(frame)
            size += len(frame)
        return b"".join(batch)

    def _forget(self, sent: int) -> None:
        self._pending_bytes -= sent
        sent += self._offset
        whole = 0
        for frame in self._pending:
            if sent < len(frame):
                break
            sent -= len(frame)
            whole += 1
        del self._pending[:whole]
        self._offset = sent
        self._note_progress()

    def _overflow(self) -> None:
        del self._pending[1 if self._offset else 0 :]
        self._pending_bytes = sum(map(len, self._pending)) - self._offset
        self._outbox_full = self._sealed = True
        self._note_progress()
        if self._on_outbox_full is None:
            self.abort()
        else:
            self._on_outbox_full()

    async def _write_when_possible(self) -> None:
        with trio.move_on_after(STALL_SECONDS):
            await self._room()
            return
        self.abort()

    async def _room(self) -> None:
        """Wait until the system takes something, and give it that."""
        try:
            await self._transport.wait_writable()
            while not self._write() and self._blocked:
                await self._transport.wait_writable()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self.abort()

    async def _outbox_filled(self) -> None:
        def forget_writer(_: trio.lowlevel.RaiseCancelT) -> trio.lowlevel.Abort:
            self._writer = None
            return trio.lowlevel.Abort.SUCCEEDED

        self._writer = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(forget_writer)

    def _wake_writer(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            trio.lowlevel.reschedule(writer)

    def _note_progress(self) -> None:
        if self._progress is not None:
            self._progress.set()
            self._progress = None

    # Receiving

    async def receive(self) -> Received:
        """The next message, or why there is none; after the latter, always the same again.

        Pings are answered and a peer's close frame is acknowledged on the way. Call `close` in every case.
        """
        while self._ended is None:
            message = self._next_message()
            if message is not None:
                return message
            if self._ended is None:
                await self._read(READ_BYTES)
        return self._ended

    async def _read(self, maximum: int) -> None:
        try:
            data = await self._transport.receive_some(maximum)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            data = b""
        if data:
            self._decoder.receive_bytes(data)
        else:
            self._peer_finished = True
            self._ended = self._ended or Closed(ABNORMAL_CLOSURE, "")

    def _next_message(self) -> Message | None:
        """Work through the frames that are complete; return at the first whole message."""
        try:
            while self._ended is None and (frame := self._decoder.process_buffer()) is not None:
                message = self._take_frame(frame)
                if message is not None:
                    return message
        except ParseFailed:
            self._refuse(PROTOCOL_ERROR)
        return None

    def _take_frame(self, frame: Frame) -> Message | None:
        payload = frame.payload
        assert isinstance(payload, bytes)  # noqa: S101 -- the decoder makes nothing else; the wider type is its text layer's
        if frame.opcode is Opcode.PING:
            self._answer_ping(payload)
        elif frame.opcode is Opcode.CLOSE:
            self._take_close(payload)
        elif frame.opcode is not Opcode.PONG:
            return self._take_data(frame, payload)
        return None

    def _take_data(self, frame: Frame, payload: bytes) -> Message | None:
        # What follows the first piece of a frame comes from the decoder as CONTINUATION, as further frames do.
        if (frame.opcode is Opcode.CONTINUATION) is (self._message is None):
            self._refuse(PROTOCOL_ERROR)
            return None
        if self._message is None:
            self._begin_message(frame.opcode is Opcode.TEXT)
        ...
