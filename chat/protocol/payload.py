"""Gateway payloads: what a client's message says, and those of the server that are no Dispatch (gateway.md, Payloads).

Inbound, the faults are judged in the order of gateway.md, Order of inbound checks: size, JSON object in UTF-8, `op`
present and an integer. Whether `d` had to be there depends on the opcode and is the machine's question. The standard
parser has to be told to be strict (gateway.md, Payloads): bytes are decoded here, constants and overflowing floats are
refused, and so are lone surrogates, which could never be sent on.
"""

from __future__ import annotations

import enum
import json
import math
import re
from typing import Any, Final, Literal

from chat.classes import frozen
from chat.protocol.whole_numbers import whole
from chat.registries.close_codes import DECODE_FAILED, INVALID_PAYLOAD, PAYLOAD_TOO_LARGE, Close
from chat.registries.limits import INBOUND_MESSAGE_BYTES, JSON_DEPTH_MAXIMUM
from chat.registries.opcodes import Opcode


@frozen
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
    op = whole(value.get("op"))
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


MAXIMUM: Final = 9_223_372_036_854_775_807
"""Snowflakes fit a signed 64-bit integer (http.md, Snowflakes)."""

_DECIMAL: Final = re.compile(r"[0-9]{1,19}")


def parse_snowflake(value: Any) -> int | None:
    """The id that a member names, or None when it names none."""
    if type(value) is str and _DECIMAL.fullmatch(value):
        value = int(value)
    number = whole(value)
    return number if type(number) is int and 0 < number <= MAXIMUM else None


def parse_snowflakes(value: Any, maximum: int) -> tuple[int, ...] | None:
    """The ids of an array of at most `maximum` entries, each once, in order; None when one of them names none."""
    if type(value) is not list or len(value) > maximum:
        return None
    ids: dict[int, None] = {}
    for entry in value:
        snowflake = parse_snowflake(entry)
        if snowflake is None:
            return None
        ids[snowflake] = None
    return tuple(ids)


class Absent(enum.Enum):
    """The type of ABSENT, which is not None: null means something else."""

    ABSENT = enum.auto()


ABSENT: Final[Literal[Absent.ABSENT]] = Absent.ABSENT
"""Stands for a member that the client left out: what it would change stays as it is."""
