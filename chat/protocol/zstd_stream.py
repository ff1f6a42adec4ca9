"""zstd-stream: each direction of a compressed connection is one continuous zstd stream (gateway.md, Compression).

Decompression is bounded in output, not only in input: the library's push API is not (gateway.md, Compression), so the
bytes go through a writer into a sink that refuses to grow past the limit. The window that a client may ask for is
bounded as well. Compression uses level 1 with a small window and hash, for memory's sake (gateway.md, Compression).

The library is loaded when the first compressed connection needs it; where it cannot be loaded, `zstd_available` says so
and such a connection closes 4002 `Compression failed: zstd-stream`.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

from chat.registries.close_codes import DECODE_FAILED, DECOMPRESSION_FAILED, PAYLOAD_TOO_LARGE, Close
from chat.registries.limits import (
    INBOUND_MESSAGE_BYTES,
    ZSTD_COMPRESSION_LEVEL,
    ZSTD_COMPRESSION_WINDOW_BYTES,
    ZSTD_WINDOW_BYTES,
)

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

WINDOW_LOG: Final = ZSTD_COMPRESSION_WINDOW_BYTES.bit_length() - 1
"""A window of 128 KiB compresses a stream of chat messages by a tenth better, and costs 100 KiB more a connection."""

HASH_LOG: Final = 10
"""1,024 places for earlier matches, 4 KiB: plenty for the window."""

MINIMUM_MATCH: Final = 5
"""JSON repeats itself in long pieces; looking for shorter ones makes the output larger at this level."""


def zstd_available() -> bool:
    """Whether the zstd implementation can be loaded."""
    try:
        import zstandard  # noqa: F401
    except ImportError:
        return False
    return True


class _Overflow(Exception):
    """The output passed the limit."""


class _Sink(io.BytesIO):
    """Collects a message's output and refuses to grow past the limit."""

    def write(self, data: Buffer, /) -> int:
        if self.tell() + memoryview(data).nbytes > INBOUND_MESSAGE_BYTES:
            raise _Overflow
        return super().write(data)

    def take(self) -> bytes:
        """What was collected since the last time."""
        content = self.getvalue()
        self.seek(0)
        self.truncate()
        return content


class Decompressor:
    """The client's stream. A message that fails ends it: every later one gives the same Close."""

    __slots__ = ("_failure", "_implementation_error", "_sink", "_writer")

    def __init__(self) -> None:
        import zstandard

        self._failure: Close | None = None
        self._implementation_error = zstandard.ZstdError
        self._sink = _Sink()
        decompressor = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES)
        self._writer = decompressor.stream_writer(self._sink, write_size=INBOUND_MESSAGE_BYTES + 1)

    def decompress(self, data: bytes) -> bytes | Close:
        """One message's payload, at most 16,384 bytes, or the Close that the message deserves."""
        if self._failure is None:
            outcome = self._decompress(data)
            if isinstance(outcome, bytes):
                return outcome
            self._failure = outcome
        return self._failure

    def _decompress(self, data: bytes) -> bytes | Close:
        if len(data) > INBOUND_MESSAGE_BYTES:
            return PAYLOAD_TOO_LARGE
        try:
            self._writer.write(data)
        except _Overflow:
            return PAYLOAD_TOO_LARGE
        except self._implementation_error:
            return DECOMPRESSION_FAILED
        return self._sink.take() or DECODE_FAILED


class Compressor:
    """The server's stream."""

    __slots__ = ("_flush_block", "_stream")

    def __init__(self) -> None:
        import zstandard

        parameters = zstandard.ZstdCompressionParameters.from_level(
            ZSTD_COMPRESSION_LEVEL, window_log=WINDOW_LOG, hash_log=HASH_LOG, min_match=MINIMUM_MATCH
        )
        self._stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
        self._flush_block = zstandard.COMPRESSOBJ_FLUSH_BLOCK

    def compress(self, payload: bytes) -> bytes:
        """The next piece of the stream: all of this payload, so that the client can read it at once."""
        return self._stream.compress(payload) + self._stream.flush(self._flush_block)
