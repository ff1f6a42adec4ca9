"""The WebSocket frames that a server sends: unmasked, whole, no extensions (RFC 6455, section 5.2). Text and binary
frames carry payloads; close and pong frames come with the close codes of the standard.

All that differs between two receivers of one event is the sequence. An `OutgoingEvent` is written down once; each
receiver costs one splice.
"""

from __future__ import annotations

import functools
import struct
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, Final, Self

import orjson

from chat.registries.limits import RETAINED_EVENT_BYTES
from chat.registries.opcodes import Opcode

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


@functools.cache
def encode_event_prefix(name: str) -> bytes:
    """A Dispatch up to the place of its sequence; `name` is one of the registered events."""
    return b'{"op":%d,"t":%b,"s":' % (Opcode.DISPATCH, orjson.dumps(name))


class OutgoingEvent:
    """A Dispatch, written down once for all its receivers.

    `data` is the encoded JSON of `d`. `retained` says whether it waits for a Resume, which an event over 2 MiB never
    does (gateway.md, Payloads). `size` is in bytes and leaves the sequence out. `forms` is a place for what a mount
    makes of it, by its own keys; None until then.
    """

    __slots__ = ("_heads", "_parts", "_suffix", "forms", "name", "prefix", "retained", "size")

    _parts: tuple[bytes, ...]
    """What is to be joined to the suffix of an event that has none."""

    def __init__(self, name: str, data: bytes, *, retained: bool = True) -> None:
        self.name = name
        self.prefix = encode_event_prefix(name)
        self._suffix: bytes | None = b',"d":%b}' % data
        self.size = len(self.prefix) + len(self._suffix)
        self.retained = retained and self.size <= RETAINED_EVENT_BYTES
        self.forms: dict[int, Any] | None = None
        self._heads: dict[int, bytes] = {}

    @classmethod
    def in_parts(cls, name: str, data: Iterable[bytes], *, retained: bool = True) -> Self:
        """An event with its data in parts, most of which other events have too: it keeps them as they are, and joins
        them each time that it is written down."""
        event = cls(name, b"", retained=retained)
        event._parts = (b',"d":', *data, b"}")
        event._suffix = None
        event.size = len(event.prefix) + sum(map(len, event._parts))
        event.retained = retained and event.size <= RETAINED_EVENT_BYTES
        return event

    @property
    def suffix(self) -> bytes:
        """What follows the sequence."""
        return b"".join(self._parts) if self._suffix is None else self._suffix

    @property
    def data(self) -> bytes:
        """The encoded JSON of `d`."""
        return b"".join(self._parts[1:-1]) if self._suffix is None else self._suffix[5:-1]

    def payload(self, sequence: int) -> bytes:
        """The payload for a receiver to whom this is Dispatch number `sequence`."""
        return self.prefix + b"%d" % sequence + self.suffix

    def frame(self, sequence: int) -> bytes:
        """The same as a whole text frame, ready for the socket."""
        digits = b"%d" % sequence
        try:
            return self._heads[len(digits)] + digits + self._suffix  # type: ignore[operator]  # with a head there is one
        except KeyError:
            head = frame_header(TEXT, self.size + len(digits)) + self.prefix
            if self._suffix is None:
                return b"".join((head, digits, *self._parts))
            self._heads[len(digits)] = head
            return head + digits + self._suffix


class EventRun:
    """Events that go to the same receivers one right after the other, so that each receiver takes them in one step
    and retains them as one thing that all of them share. `forms` is the place that an `OutgoingEvent` has as well."""

    __slots__ = ("_forms", "_latest", "all_retained", "count", "ends", "events", "forms", "size")

    def __init__(self, events: Sequence[OutgoingEvent]) -> None:
        self.events = tuple(events)
        self.count = len(events)
        self.ends = array("Q", accumulate((event.size for event in events), initial=0))
        """How large the first n events are together, for each n from 0 on."""
        self.size = self.ends[-1]
        self.all_retained = all(event.retained for event in events)
        self.forms: dict[int, Any] | None = None
        self._forms: dict[int, tuple[bytes, ...]] = {}
        # What the latest receiver got, with the first sequences from which all have as many digits.
        self._latest: tuple[int, int, tuple[bytes, ...]] = (1, 0, ())

    def frames(self, first: int) -> bytes:
        """The text frames of all events, for a receiver to whom the first is Dispatch number `first`."""
        least, most, form = self._latest
        if not least <= first <= most:
            digits = len(b"%d" % first)
            if first + self.count > 10**digits:
                return b"".join([event.frame(sequence) for sequence, event in enumerate(self.events, first)])
            if digits not in self._forms:
                self._forms[digits] = self._form(digits)
            form = self._forms[digits]
            self._latest = 10 ** (digits - 1), 10**digits - self.count, form
        if self.count == 2:
            before, between, behind = form
            return b"".join((before, b"%d" % first, between, b"%d" % (first + 1), behind))
        return form[0] % tuple(range(first, first + self.count))

    def _form(self, digits: int) -> tuple[bytes, ...]:
        """The frames without their sequences, which have `digits` digits. For two events these are the pieces around
        the sequences, because joining takes half as long as formatting. Otherwise it is one text with a `%d` for
        each."""
        heads = [frame_header(TEXT, event.size + digits) + event.prefix for event in self.events]
        if self.count == 2:
            first, second = self.events
            return heads[0], first.suffix + heads[1], second.suffix
        filled_in = [
            b"%b%%d%b" % (head.replace(b"%", b"%%"), event.suffix.replace(b"%", b"%%"))
            for head, event in zip(heads, self.events, strict=True)
        ]
        return (b"".join(filled_in),)
