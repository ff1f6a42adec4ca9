"""Gateway payloads: what a client's message says, and what the server's messages say (gateway.md, Payloads).

Inbound, the faults are judged in the order of gateway.md, Order of inbound checks: size, JSON object in UTF-8, `op`
present and an integer. Whether `d` had to be there depends on the opcode and is the machine's question. The standard
parser has to be told to be strict (gateway.md, Payloads): bytes are decoded here, constants and overflowing floats are
refused, and so are lone surrogates, which could never be sent on.

Outbound, all that differs between two receivers of one event is the sequence. An `OutgoingEvent` is written down once;
each receiver costs one splice.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Sequence
from typing import Any, Final

import attrs
import orjson

from chat.protocol.frames import TEXT, frame_header
from chat.registries.close_codes import DECODE_FAILED, INVALID_PAYLOAD, PAYLOAD_TOO_LARGE, Close
from chat.registries.limits import INBOUND_MESSAGE_BYTES, JSON_DEPTH_MAXIMUM, RETAINED_EVENT_BYTES
from chat.registries.opcodes import Opcode


@attrs.frozen
class Payload:
    """One decoded client payload; `d` is None both for null and for absence, which `has_d` tells apart."""

    op: int
    has_d: bool
    d: Any


def decode_payload(data: bytes) -> Payload | Close:
    """Read one uncompressed client message, or say how it closes the socket."""
    if len(data) > INBOUND_MESSAGE_BYTES:
        return PAYLOAD_TOO_LARGE
    try:
        value = _decode_json(data)
    except (ValueError, RecursionError):  # RecursionError is how the parser reports thousands of open brackets
        return DECODE_FAILED
    if type(value) is not dict:
        return DECODE_FAILED
    op = value.get("op")
    if type(op) is not int:  # also when there is none; and True is an int to isinstance
        return INVALID_PAYLOAD
    return Payload(op, "d" in value, value.get("d"))


def _decode_json(data: bytes) -> Any:
    text = data.decode()
    value = _DECODER.decode(text)
    if text.count("[") + text.count("{") > JSON_DEPTH_MAXIMUM:
        _refuse_depth(value)
    if _SURROGATE_ESCAPE.search(text):
        json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate has no UTF-8: UnicodeEncodeError
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number beyond all bounds")
    return number


def _refuse_depth(value: Any) -> None:
    level = [value]
    for _ in range(JSON_DEPTH_MAXIMUM):
        level = [
            member
            for container in level
            for member in (container.values() if type(container) is dict else container)
            if type(member) in (dict, list)
        ]
        if not level:
            return
    raise ValueError("nested too deep")


_DECODER: Final = json.JSONDecoder(parse_float=_finite_float, parse_constant=_refuse_constant)
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89abAB]|\\u[dD][c-fC-F]")

HEARTBEAT_REQUEST: Final = b'{"op":1,"d":null}'
"""The server's own Heartbeat."""

RECONNECT: Final = b'{"op":7}'
"""This socket is about to close; has no `d`."""

INVALID_SESSION: Final = b'{"op":9,"d":false}'
"""There is no session here any more."""

HEARTBEAT_ACK: Final = b'{"op":11}'
"""A client's Heartbeat was accepted; has no `d`."""


def hello(heartbeat_interval_ms: int) -> bytes:
    """The first payload of a connection."""
    return b'{"op":%d,"d":{"heartbeat_interval":%d}}' % (Opcode.HELLO, heartbeat_interval_ms)


@functools.cache
def encode_event_prefix(name: str) -> bytes:
    """A Dispatch up to the place of its sequence; `name` is one of the registered events."""
    return b'{"op":%d,"t":%b,"s":' % (Opcode.DISPATCH, orjson.dumps(name))


class OutgoingEvent:
    """A Dispatch, written down once for all its receivers.

    `data` is the encoded JSON of `d`. `retained` says whether it waits for a Resume, which an event over 2 MiB never
    does (gateway.md, Payloads). `size` is in bytes and leaves the sequence out.
    """

    __slots__ = ("_heads", "name", "prefix", "retained", "size", "suffix")

    def __init__(self, name: str, data: bytes, *, retained: bool = True) -> None:
        self.name = name
        self.prefix = encode_event_prefix(name)
        self.suffix = b',"d":%b}' % data
        self.size = len(self.prefix) + len(self.suffix)
        self.retained = retained and self.size <= RETAINED_EVENT_BYTES
        self._heads: dict[int, bytes] = {}

    @property
    def data(self) -> bytes:
        """The encoded JSON of `d`."""
        return self.suffix[5:-1]

    def payload(self, sequence: int) -> bytes:
        """The payload for a receiver to whom this is Dispatch number `sequence`."""
        return self.prefix + b"%d" % sequence + self.suffix

    def frame(self, sequence: int) -> bytes:
        """The same as a whole text frame, ready for the socket."""
        digits = b"%d" % sequence
        try:
            return self._heads[len(digits)] + digits + self.suffix
        except KeyError:
            head = frame_header(TEXT, self.size + len(digits)) + self.prefix
            self._heads[len(digits)] = head
            return head + digits + self.suffix


class EventRun:
    """Events that go to the same receivers one right after the other, so that each receiver takes them in one step."""

    __slots__ = ("_frames", "all_retained", "events", "size")

    def __init__(self, events: Sequence[OutgoingEvent]) -> None:
        self.events = tuple(events)
        self.size = sum(event.size for event in events)
        self.all_retained = all(event.retained for event in events)
        self._frames: dict[int, bytes] = {}

    def frames(self, first: int) -> bytes:
        """The text frames of all events, for a receiver to whom the first is Dispatch number `first`."""
        sequences = tuple(range(first, first + len(self.events)))
        digits = len(b"%d" % first)
        if len(b"%d" % sequences[-1]) != digits:
            return b"".join([event.frame(sequence) for sequence, event in zip(sequences, self.events, strict=True)])
        frames = self._frames.get(digits)
        if frames is None:
            frames = self._frames[digits] = b"".join([_frame_form(event, digits) for event in self.events])
        return frames % sequences


def _frame_form(event: OutgoingEvent, digits: int) -> bytes:
    """The event's frame with `%d` in place of a sequence of so many digits."""
    head = frame_header(TEXT, event.size + digits) + event.prefix
    return head.replace(b"%", b"%%") + b"%d" + event.suffix.replace(b"%", b"%%")
