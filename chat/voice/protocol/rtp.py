"""RTP packets: their heads, header extensions, and the same packet for somebody else (RFC 3550, RFC 8285)."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final

from chat.classes import frozen

FIXED_BYTES: Final = 12
ONE_BYTE_PROFILE: Final = 0xBEDE
TWO_BYTE_PROFILE: Final = 0x1000
SEQUENCE_MODULUS: Final = 1 << 16
TIMESTAMP_MODULUS: Final = 1 << 32


@frozen
class RtpPacket:
    """`payload` is without padding; `extensions` are the values by their ids."""

    marker: bool
    payload_type: int
    sequence: int
    timestamp: int
    ssrc: int
    extensions: Mapping[int, bytes]
    payload: bytes


def parse(data: bytes) -> RtpPacket | None:
    """The packet, or None where these bytes are not one."""
    if len(data) < FIXED_BYTES or data[0] >> 6 != 2:
        return None
    flags, second, sequence, timestamp, ssrc = struct.unpack_from("!BBHII", data)
    at = FIXED_BYTES + 4 * (flags & 0x0F)
    extensions: Mapping[int, bytes] = {}
    if flags & 0x10:
        if at + 4 > len(data):
            return None
        profile, words = struct.unpack_from("!HH", data, at)
        at += 4 + 4 * words
        extensions = _extensions(profile, data[at - 4 * words : at])
    end = len(data)
    if flags & 0x20:
        padding = data[-1]
        end -= padding
        if not padding:
            return None
    if at > end:
        return None
    return RtpPacket(bool(second & 0x80), second & 0x7F, sequence, timestamp, ssrc, extensions, data[at:end])


def _extensions(profile: int, data: bytes) -> Mapping[int, bytes]:
    """What can be read of the header extensions; the rest of a block that is cut short counts for nothing."""
    one_byte = profile == ONE_BYTE_PROFILE
    if not one_byte and profile & 0xFFF0 != TWO_BYTE_PROFILE:
        return {}
    found: dict[int, bytes] = {}
    at = 0
    while at < len(data):
        if not data[at]:
            at += 1  # padding between elements
            continue
        if one_byte:
            name, size, start = data[at] >> 4, (data[at] & 0x0F) + 1, at + 1
            if name == 15:
                break
        elif at + 1 < len(data):
            name, size, start = data[at], data[at + 1], at + 2
        else:
            break
        if start + size > len(data):
            break
        found[name] = data[start : start + size]
        at = start + size
    return found


def build(packet: RtpPacket) -> bytes:
    """The packet's bytes; elements of up to 16 bytes with ids up to 14 in the one-byte form, else in the other."""
    head = struct.pack(
        "!BBHII",
        0x90 if packet.extensions else 0x80,
        (packet.marker << 7) | packet.payload_type,
        packet.sequence,
        packet.timestamp,
        packet.ssrc,
    )
    return head + _extension_block(packet.extensions) + packet.payload if packet.extensions else head + packet.payload


def _extension_block(extensions: Mapping[int, bytes]) -> bytes:
    if all(name < 15 and 1 <= len(value) <= 16 for name, value in extensions.items()):
        profile = ONE_BYTE_PROFILE
        block = b"".join(bytes(((name << 4) | (len(value) - 1),)) + value for name, value in extensions.items())
    else:
        profile = TWO_BYTE_PROFILE
        block = b"".join(bytes((name, len(value))) + value for name, value in extensions.items())
    block += bytes(-len(block) % 4)
    return struct.pack("!HH", profile, len(block) // 4) + block


def rewritten(
    packet: RtpPacket, *, payload_type: int, ssrc: int, sequence: int, timestamp: int, extensions: Mapping[int, bytes]
) -> bytes:
    """The bytes of the same packet under other names."""
    return build(RtpPacket(packet.marker, payload_type, sequence, timestamp, ssrc, extensions, packet.payload))


def is_newer(sequence: int, before: int) -> bool:
    """Whether a sequence number comes behind another, across the wrap."""
    return 0 < (sequence - before) % SEQUENCE_MODULUS < SEQUENCE_MODULUS // 2


def audio_level(value: bytes) -> tuple[int, bool]:
    """The level in dBov below the loudest (0 to 127, 127 is silence) and whether it is a voice (RFC 6464)."""
    return value[0] & 0x7F, bool(value[0] & 0x80)
