"""STUN Binding, as an ICE-lite agent needs it (RFC 8489, RFC 8445)."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import struct
import zlib
from collections.abc import Mapping
from typing import Final

import attrs

from chat.classes import frozen

MAGIC_COOKIE: Final = 0x2112A442
HEADER_BYTES: Final = 20
MESSAGE_BYTES_MAXIMUM: Final = 1_280
"""What fits into the smallest packet that IPv6 carries; no Binding request comes near it."""

BINDING_REQUEST: Final = 0x0001
BINDING_SUCCESS: Final = 0x0101

USERNAME: Final = 0x0006
MESSAGE_INTEGRITY: Final = 0x0008
XOR_MAPPED_ADDRESS: Final = 0x0020
USE_CANDIDATE: Final = 0x0025
FINGERPRINT: Final = 0x8028

INTEGRITY_BYTES: Final = 20
FINGERPRINT_XOR: Final = 0x5354554E


@frozen
class StunMessage:
    """`signed` are the bytes that MESSAGE-INTEGRITY covers, with the length that it was computed for; None without."""

    kind: int
    transaction: bytes
    attributes: Mapping[int, bytes]
    signed: bytes | None = attrs.field(default=None, repr=False)

    @property
    def local_name(self) -> str | None:
        """The part of USERNAME that names the agent that is asked."""
        name, colon, _ = self.attributes.get(USERNAME, b"").partition(b":")
        return name.decode("ascii", "replace") if colon else None

    def is_signed_with(self, password: str) -> bool:
        """Whether MESSAGE-INTEGRITY was made with this password."""
        code = self.attributes.get(MESSAGE_INTEGRITY)
        if code is None or self.signed is None:
            return False
        return hmac.compare_digest(code, _integrity(self.signed, password))


def parse(data: bytes) -> StunMessage | None:
    """The message, or None where these bytes are not one: other framing, a wrong FINGERPRINT, attributes cut short.

    Methods above 0xFF do not exist beside media: their first byte is another protocol's (RFC 7983, section 7).

    Attributes behind MESSAGE-INTEGRITY count for nothing, except FINGERPRINT (RFC 8489, section 14.5).
    """
    if not HEADER_BYTES <= len(data) <= MESSAGE_BYTES_MAXIMUM:
        return None
    kind, length, cookie = struct.unpack_from("!HHI", data)
    if kind & 0xFC00 or cookie != MAGIC_COOKIE or length % 4 or length != len(data) - HEADER_BYTES:
        return None
    attributes: dict[int, bytes] = {}
    signed: bytes | None = None
    at = HEADER_BYTES
    while at + 4 <= len(data):
        name, size = struct.unpack_from("!HH", data, at)
        value = data[at + 4 : at + 4 + size]
        if len(value) != size:
            return None
        if name == FINGERPRINT:
            return _finished(data, at, value, StunMessage(kind, data[8:20], attributes, signed))
        if signed is None:
            if name == MESSAGE_INTEGRITY:
                signed = _with_length(data[:at], at + 4 + INTEGRITY_BYTES)
            attributes.setdefault(name, value)
        at += 4 + size + -size % 4
    return StunMessage(kind, data[8:20], attributes, signed) if at == len(data) else None


def _finished(data: bytes, at: int, value: bytes, message: StunMessage) -> StunMessage | None:
    is_last = at + 8 == len(data)
    return message if is_last and value == _fingerprint(data[:at]) else None


def build(kind: int, transaction: bytes, attributes: Mapping[int, bytes], password: str) -> bytes:
    """A message with MESSAGE-INTEGRITY and FINGERPRINT behind the attributes."""
    body = b"".join(_attribute(name, value) for name, value in attributes.items())
    head = struct.pack("!HHI", kind, 0, MAGIC_COOKIE) + transaction + body
    head = _with_length(head, len(head) + 4 + INTEGRITY_BYTES)
    head += _attribute(MESSAGE_INTEGRITY, _integrity(head, password))
    head = _with_length(head, len(head) + 8)
    return head + _attribute(FINGERPRINT, _fingerprint(head))


def success(request: StunMessage, address: str, port: int, password: str) -> bytes:
    """The answer to a Binding request that came from this address."""
    mapped = xor_address(address, port, request.transaction)
    return build(BINDING_SUCCESS, request.transaction, {XOR_MAPPED_ADDRESS: mapped}, password)


def xor_address(address: str, port: int, transaction: bytes) -> bytes:
    """The value of XOR-MAPPED-ADDRESS. Raises ValueError for what is no address."""
    packed = ipaddress.ip_address(address).packed
    mask = struct.pack("!I", MAGIC_COOKIE) + transaction
    masked = bytes(a ^ b for a, b in zip(packed, mask, strict=False))
    return struct.pack("!HH", 1 if len(packed) == 4 else 2, port ^ (MAGIC_COOKIE >> 16)) + masked


def _attribute(name: int, value: bytes) -> bytes:
    return struct.pack("!HH", name, len(value)) + value + bytes(-len(value) % 4)


def _with_length(head: bytes, total: int) -> bytes:
    return head[:2] + struct.pack("!H", total - HEADER_BYTES) + head[4:]


def _integrity(signed: bytes, password: str) -> bytes:
    return hmac.new(password.encode(), signed, hashlib.sha1).digest()


def _fingerprint(before: bytes) -> bytes:
    return struct.pack("!I", zlib.crc32(before) ^ FINGERPRINT_XOR)
