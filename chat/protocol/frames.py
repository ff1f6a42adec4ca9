"""The WebSocket frames that a server sends: unmasked, whole, no extensions (RFC 6455, section 5.2). Text and binary
frames carry payloads; close and pong frames come with the close codes of the standard."""

from __future__ import annotations

import struct
from typing import Final

TEXT: Final = 0x81
"""First byte of a text message in one frame: FIN and opcode 1."""

BINARY: Final = 0x82
"""First byte of a binary message in one frame: FIN and opcode 2."""

TINY_BYTES: Final = 125
"""The longest payload whose length fits into the second byte."""

SHORT_BYTES: Final = 0xFFFF
"""The longest payload whose length fits into two further bytes."""


def frame_header(first_byte: int, length: int) -> bytes:
    """The two, four or ten bytes before an unmasked payload of `length` bytes."""
    if length <= TINY_BYTES:
        return bytes((first_byte, length))
    if length <= SHORT_BYTES:
        return bytes((first_byte, 126)) + length.to_bytes(2, "big")
    return bytes((first_byte, 127)) + length.to_bytes(8, "big")


def text_frame(payload: bytes) -> bytes:
    """A text message; `payload` is UTF-8."""
    return frame_header(TEXT, len(payload)) + payload


def binary_frame(payload: bytes) -> bytes:
    """A binary message."""
    return frame_header(BINARY, len(payload)) + payload


NORMAL_CLOSURE: Final = 1000
PROTOCOL_ERROR: Final = 1002
NO_STATUS: Final = 1005
"""Stands for a close frame without a code; never sent."""

ABNORMAL_CLOSURE: Final = 1006
"""Stands for an end without a close frame; never sent."""

INVALID_DATA: Final = 1007
PEER_CLOSE_CODES: Final = frozenset({1000, 1001, 1002, 1003, *range(1007, 1015), *range(3000, 5000)})
"""What a peer may put into a close frame (RFC 6455, section 7.4, with IANA's registry of close codes)."""

REASON_BYTES: Final = 123
"""A control frame holds 125 bytes; the code takes two."""


def close_frame(code: int, reason: str = "") -> bytes:
    """A close frame; code 1005 stands for none. Raises ValueError when the reason has more than 123 bytes of UTF-8."""
    if code == NO_STATUS:
        return b"\x88\x00"
    encoded = reason.encode()
    if len(encoded) > REASON_BYTES:
        raise ValueError(f"a close reason has at most {REASON_BYTES} bytes")
    return b"\x88%c%b%b" % (2 + len(encoded), struct.pack("!H", code), encoded)


def pong_frame(payload: bytes) -> bytes:
    """The answer to a ping with this payload (at most 125 bytes)."""
    return b"\x8a%c%b" % (len(payload), payload)
