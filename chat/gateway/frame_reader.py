"""What a client's bytes mean on a WebSocket (RFC 6455), without I/O.

wsproto's frame decoder takes the bytes apart; messages are put together here, because the gateway has rules of its
own: the type of a frame counts for nothing, text need not be UTF-8 unless asked for, and a message is refused the
moment it grows beyond its limit (gateway.md, Message sizes).
"""

from __future__ import annotations

import codecs
from typing import Final

import attrs
from wsproto.frame_protocol import Frame, FrameDecoder, Opcode, ParseFailed

from chat.protocol.frames import INVALID_DATA, NO_STATUS, PEER_CLOSE_CODES, PROTOCOL_ERROR

FRAGMENTS_MAXIMUM: Final = 4_096
"""Frames of one message; a client that splits 16 KiB into more keeps us busy to no purpose."""


@attrs.frozen
class Message:
    """One whole message; `text` tells the type of its frames, not that the data is UTF-8."""

    data: bytes
    text: bool


@attrs.frozen
class MessageTooLarge:
    """The message in progress exceeds the limit on bytes or on fragments. Nothing of it is kept."""


@attrs.frozen
class Ping:
    """A ping with its payload, at most 125 bytes."""

    payload: bytes


@attrs.frozen
class Pong:
    """A pong: unasked, it says nothing."""


@attrs.frozen
class PeerClose:
    """The peer's close frame; code 1005 when it named none."""

    code: int
    reason: str


@attrs.frozen
class Breach:
    """The bytes break RFC 6455 and cannot be understood further; `code` is what to close with, without a reason."""

    code: int


Incoming = Message | MessageTooLarge | Ping | Pong | PeerClose | Breach


@attrs.define(eq=False, weakref_slot=False)
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
        """From now on only control frames matter."""
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
