"""WebSocket frames as a server sends them: unmasked, whole, without extensions (RFC 6455, section 5.2)."""

from __future__ import annotations

from typing import Final

from chat.registries.close_codes import Close

TEXT: Final = 0x81
"""First byte of a text message in one frame: FIN and opcode 1."""

BINARY: Final = 0x82
"""First byte of a binary message in one frame: FIN and opcode 2."""

CLOSE: Final = 0x88
"""First byte of a close frame: FIN and opcode 8."""

CONTROL_BYTES: Final = 125
"""The longest payload of a control frame; also the longest whose length fits into the second byte."""

SHORT_BYTES: Final = 0xFFFF
"""The longest payload whose length fits into two further bytes."""


def frame_header(first_byte: int, length: int) -> bytes:
    """The two, four or ten bytes before an unmasked payload of `length` bytes."""
    if length <= CONTROL_BYTES:
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


def close_frame(code: int, reason: str) -> bytes:
    """A close frame with a code and a reason of at most 123 bytes in UTF-8.

    Raises ValueError for a longer reason; ours are all in `chat.registries.close_codes`, and short.
    """
    body = code.to_bytes(2, "big") + reason.encode()
    if len(body) > CONTROL_BYTES:
        raise ValueError("a close reason has at most 123 bytes")
    return frame_header(CLOSE, len(body)) + body


def close_frame_of(close: Close) -> bytes:
    """The close frame of one of the registered closes."""
    return close_frame(close.code, close.reason)
