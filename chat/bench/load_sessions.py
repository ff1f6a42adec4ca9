"""Gateway clients as lean as they can be: a socket, a count of what was delivered, a look inside for a sample.

Most sessions only count: uncompressed, how often the marker of the measured messages occurs in what was read;
compressed, how many frames begin in it. Every tenth session reads each payload, checks that the sequence rises by one,
and takes the time since the message was sent.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Mapping
from typing import ClassVar, Final

import attrs
import orjson

from chat.classes import define
from chat.compat.discord.intents import ALL_INTENTS
from chat.protocol.frames import TINY_BYTES
from chat.registries.opcodes import IdentifyFlag, Opcode

MARKER: Final = b"measured:"
"""Comes before the time of sending in each message; begins nothing else that a server says."""

TIME_DIGITS: Final = 20
_TIME: Final = re.compile(MARKER + rb"(\d{%d})" % TIME_DIGITS)
_SEQUENCE: Final = re.compile(rb'"s":(\d+)')
_HEARTBEAT_WANTED: Final = re.compile(rb'\{"op":1,')
_OP: Final = re.compile(rb'\{"op":(\d+)')

CLIENTS_PER_ADDRESS: Final = 250
BIND_WITHOUT_PORT: Final = getattr(socket, "IP_BIND_ADDRESS_NO_PORT", 24)
"""Linux: a bound source address takes no port until it connects, so 127.0.1.1 can be used again and again."""

READ_BYTES: Final = 16_384


def connect(port: int, number: int) -> socket.socket:
    """A connection from the source address of the client with this number: 250 each from 127.0.1.1 on."""
    third, fourth = divmod(number // CLIENTS_PER_ADDRESS, 254)
    connected = socket.socket()
    connected.setsockopt(socket.IPPROTO_IP, BIND_WITHOUT_PORT, 1)
    connected.bind((f"127.0.{1 + third}.{1 + fourth}", 0))
    connected.connect(("127.0.0.1", port))
    connected.setblocking(False)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connected


def client_frame(payload: bytes, *, first_byte: int = 0x81) -> bytes:
    """A masked frame whose mask is zero, which costs neither side anything."""
    length = len(payload)
    if length <= TINY_BYTES:
        return bytes((first_byte, 0x80 | length)) + b"\0\0\0\0" + payload
    return bytes((first_byte, 0xFE)) + length.to_bytes(2, "big") + b"\0\0\0\0" + payload


@define(eq=False)
class Watch:
    """What all sessions of a generator report to."""

    ready: int = 0
    closed: int = 0
    sequence_gaps: int = 0
    acknowledged: int = 0
    """Heartbeats that were answered, as far as sampled sessions saw it."""
    latencies: list[float] = attrs.field(factory=list)
    """Milliseconds from sending a message to reading it, of sampled sessions."""


class Session:
    """An uncompressed session. `take` gets what was read, and returns how many measured messages that completes."""

    __slots__ = ("_carry", "_latest", "_received", "_sampled", "_sequence", "_token", "_watch", "is_ready", "socket")

    query = "v=1&encoding=json"
    identifies_with: ClassVar[Mapping[str, object]] = {}
    """Beside token and properties."""

    def __init__(self, connected: socket.socket, token: str, watch: Watch, *, sampled: bool) -> None:
        self.socket = connected
        self.is_ready = False
        self._token = token
        self._watch = watch
        self._sampled = sampled
        self._sequence = 0
        self._received = bytearray()
        self._carry = b""
        self._latest = b""

    def open(self, port: int) -> None:
        """Ask for the WebSocket."""
        self.socket.send(
            b"GET /gateway?%b HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: bWVhc3VyZWQgY2xpZW50IQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
            % (self.query.encode(), port)
        )

    def take(self, data: bytes) -> int:
        """Work off what was read; empty means that the server is gone."""
        if not data:
            self._watch.closed += 1
            self.is_ready = False
            return 0
        if self._sampled or not self.is_ready:
            return self._take_frames(data)
        return self._count(data)

    def heartbeat(self) -> None:
        """Send one, with the latest sequence that is known."""
        sequences = _SEQUENCE.findall(self._latest)
        sequence = int(sequences[-1]) if sequences else self._sequence or None
        self._send(orjson.dumps({"op": Opcode.HEARTBEAT.value, "d": sequence}))

    def _send(self, payload: bytes) -> None:
        self.socket.send(client_frame(payload))

    def _count(self, data: bytes) -> int:
        text = self._carry + data if self._carry else data
        found = text.count(MARKER)
        # A payload ends with a brace, the marker holds none: only what ends otherwise can hide half a marker.
        self._carry = b"" if data.endswith(b"}") else text[1 - len(MARKER) :]
        if found:
            self._latest = data
        elif _HEARTBEAT_WANTED.search(data):
            self.heartbeat()
        return found

    def _take_frames(self, data: bytes) -> int:
        self._received += data
        found = 0
        if not self._sequence and self._received.startswith(b"HTTP/"):
            head, end, rest = self._received.partition(b"\r\n\r\n")
            if not end:
                return 0
            if not head.startswith(b"HTTP/1.1 101"):
                raise ConnectionError(head.decode("latin-1"))
            self._received = rest
        while (payload := self._next_payload()) is not None:
            found += self._take_payload(self._decoded(payload))
        return found

    def _next_payload(self) -> bytes | None:
        received = self._received
        if len(received) < 2:
            return None
        start, length = frame_extent(received, 0)
        if not start or len(received) < start + length:
            return None
        first, payload = received[0], bytes(received[start : start + length])
        del received[: start + length]
        if first & 15 == 8:
            raise ConnectionError(f"closed by the server: {payload!r}")
        return payload

    def _decoded(self, payload: bytes) -> bytes:
        return payload

    def _take_payload(self, payload: bytes) -> int:
        match = _OP.match(payload)
        op = int(match[1]) if match else -1
        if op == Opcode.DISPATCH:
            return self._take_dispatch(payload)
        if op == Opcode.HELLO:
            properties = {"os": "linux", "browser": "bench", "device": "bench"}
            identify = {"token": self._token, "properties": properties, **self.identifies_with}
            self._send(orjson.dumps({"op": Opcode.IDENTIFY.value, "d": identify}))
        elif op == Opcode.HEARTBEAT:
            self.heartbeat()
        elif op == Opcode.HEARTBEAT_ACK:
            self._watch.acknowledged += 1
        elif op != -1:
            raise ConnectionError(f"an unexpected payload: {payload[:200]!r}")
        return 0

    def _take_dispatch(self, payload: bytes) -> int:
        match = _SEQUENCE.search(payload)
        sequence = int(match[1]) if match else 0
        self._watch.sequence_gaps += sequence != self._sequence + 1
        self._sequence = sequence
        if not self.is_ready:
            self.is_ready = True
            self._watch.ready += 1
            self._become_ready()
        sent = _TIME.search(payload)
        if sent is None:
            return 0
        self._watch.latencies.append((time.monotonic_ns() - int(sent[1])) / 1e6)
        return 1

    def _become_ready(self) -> None:
        """Ready has come."""


class ThreadsSession(Session):
    """A session that knows threads, as those of the web client do."""

    __slots__ = ()

    identifies_with: ClassVar[Mapping[str, object]] = {"flags": IdentifyFlag.CHANNEL_THREADS.value}


class MountedSession(Session):
    """A session at the mount for client libraries of another service (compat.md, Gateway of the mount)."""

    __slots__ = ()

    query = "v=10&encoding=json"
    identifies_with: ClassVar[Mapping[str, object]] = {"intents": ALL_INTENTS}


class CompressedSession(Session):
    """A zstd-stream session; one that is not sampled stops decompressing once it is ready."""

    __slots__ = ("_acknowledgements_due", "_compressor", "_decompressor", "_flush", "_missing")

    query = "v=1&encoding=json&compress=zstd-stream&stream=true"

    def __init__(self, connected: socket.socket, token: str, watch: Watch, *, sampled: bool) -> None:
        import zstandard

        super().__init__(connected, token, watch, sampled=sampled)
        parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=10, hash_log=8)
        self._compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
        self._decompressor = zstandard.ZstdDecompressor().decompressobj()
        self._flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK
        self._acknowledgements_due = 0
        self._missing = 0

    def heartbeat(self) -> None:
        if not self._sampled:
            self._acknowledgements_due += 1
        super().heartbeat()

    def _send(self, payload: bytes) -> None:
        compressed = self._compressor.compress(payload) + self._compressor.flush(self._flush)
        self.socket.send(client_frame(compressed, first_byte=0x82))

    def _decoded(self, payload: bytes) -> bytes:
        return self._decompressor.decompress(payload)

    def _count(self, data: bytes) -> int:
        # `_missing` bytes still belong to the latest frame, whose header was read before.
        data = bytes(self._received) + data
        position, frames = self._missing, 0
        while position + 2 <= len(data):
            start, length = frame_extent(data, position)
            if not start:
                break
            frames += 1
            position = start + length
        self._received = bytearray(data[position:])
        self._missing = max(0, position - len(data))
        acknowledged = min(frames, self._acknowledgements_due)
        self._acknowledgements_due -= acknowledged
        self._sequence += frames - acknowledged
        return frames - acknowledged


def frame_extent(data: bytes | bytearray, position: int) -> tuple[int, int]:
    """Where the payload of an unmasked frame begins and how long it is; (0, 0) when the header is not all there."""
    length = data[position + 1]
    if length <= TINY_BYTES:
        return position + 2, length
    wide = 2 if length == TINY_BYTES + 1 else 8
    start = position + 2 + wide
    if len(data) < start:
        return 0, 0
    return start, int.from_bytes(data[position + 2 : start], "big")


def read(descriptor: int, maximum: int = READ_BYTES) -> bytes:
    """What has arrived, at most `maximum` bytes; empty when the connection is over. Raises BlockingIOError when nothing
    has."""
    try:
        return os.read(descriptor, maximum)
    except ConnectionError:
        return b""
