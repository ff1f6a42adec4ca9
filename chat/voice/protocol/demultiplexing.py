"""Which protocol a datagram belongs to (RFC 7983; RTP and RTCP apart: RFC 5761)."""

from __future__ import annotations

import enum


class Kind(enum.Enum):
    STUN = enum.auto()
    DTLS = enum.auto()
    RTP = enum.auto()
    RTCP = enum.auto()


def kind_of(datagram: bytes) -> Kind | None:
    """By the first two bytes; None for what nobody here understands."""
    if len(datagram) < 2:
        return None
    first = datagram[0]
    if 128 <= first <= 191:
        return Kind.RTCP if 192 <= datagram[1] <= 223 else Kind.RTP
    if first <= 3:
        return Kind.STUN
    return Kind.DTLS if 20 <= first <= 63 else None
