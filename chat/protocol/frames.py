"""The WebSocket frames that carry a server's payloads: unmasked, whole, no extensions (RFC 6455, section 5.2)."""

from __future__ import annotations

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
