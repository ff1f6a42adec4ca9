"""A gateway socket with zstd-stream in both directions (gateway.md, Compression)."""

from __future__ import annotations

from typing import Protocol

import attrs

from chat.classes import define
from chat.gateway.connection import Connection
from chat.protocol import payload
from chat.protocol.frames import EventRun, OutgoingEvent, binary_frame
from chat.protocol.payload import Payload
from chat.protocol.zstd_stream import Compressor, Decompressor, zstd_available
from chat.registries.close_codes import Close


class StreamCompressor(Protocol):
    """Compresses all frames of one socket as one stream."""

    def compress(self, payload: bytes, /) -> bytes:
        """The next piece of the stream, flushed, so that the client can read the whole payload at once."""
        ...


@define(eq=False, weakref_slot=False)
class CompressedConnection(Connection):
    """A zstd-stream socket: one compressor for all that the server says, one decompressor for what the client says."""

    _compressor: StreamCompressor | None = attrs.field(
        factory=lambda: Compressor() if zstd_available() else None, init=False
    )

    def _push(self, data: bytes) -> None:
        # Without a compressor the only thing ever sent is the close frame (gateway.md, Compression).
        if self._compressor is not None:
            self._outbox.push(binary_frame(self._compressor.compress(data)))

    def deliver(self, sequence: int, event: OutgoingEvent) -> None:
        """Compress and frame a numbered Dispatch; it is sent with the present batch."""
        if self._tap is not None:
            self._tap.dispatched(self.session, sequence, event)
        if self._compressor is not None:
            self._leave(binary_frame(self._compressor.compress(event.payload(sequence))))

    def deliver_run(self, first: int, run: EventRun) -> None:
        """Compress and frame several numbered Dispatches, each as a message of its own."""
        if self._tap is not None:
            for sequence, event in enumerate(run.events, first):
                self._tap.dispatched(self.session, sequence, event)
        if self._compressor is not None:
            compress = self._compressor.compress
            payloads = [event.payload(sequence) for sequence, event in enumerate(run.events, first)]
            self._leave(b"".join([binary_frame(compress(payload)) for payload in payloads]))

    def send_payload(self, data: bytes) -> None:
        if self._tap is not None:
            self._tap.sent(self.session, data)
        self._push(data)
        self.flush()

    def _decode(self, data: bytes) -> Payload | Close:
        if self._decompressor is None:
            self._decompressor = Decompressor()
        decompressed = self._decompressor.decompress(data)
        return decompressed if isinstance(decompressed, Close) else payload.decode_payload(decompressed)
