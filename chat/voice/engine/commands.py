"""What the engine orders from a media worker, and what a worker reports: plain records, which can cross processes."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from chat.classes import frozen


@frozen
class OpenTransport:
    """Answer ICE under this name and password, then DTLS as the server. The name is the transport's."""

    transport: str
    password: str = attrs.field(repr=False)


@frozen
class TrustPeer:
    """The certificate that the peer's description promised: name of the hash, hexadecimal bytes with colons."""

    transport: str
    algorithm: str
    fingerprint: str


@frozen
class CloseTransport:
    transport: str


@frozen
class Stream:
    """How a track's packets look in one transport. `extensions` are ids by their addresses."""

    payload_type: int
    clock_rate: int
    extensions: Mapping[str, int]
    asks_again: bool
    """Whether lost packets may be asked for (NACK)."""
    has_pictures: bool


@frozen
class ReceiveTrack:
    """Take a publisher's packets: those with these SSRCs, or with this mid. More than `bits_per_second` are dropped;
    None sets no bound."""

    transport: str
    track: str
    mid: str
    ssrcs: tuple[int, ...]
    stream: Stream
    bits_per_second: int | None


@frozen
class StopTrack:
    """Take no more of it; its forwards are gone with it."""

    track: str


@frozen
class SilenceTrack:
    """Drop what comes, or no longer: a moderator took the voice away, or gave it back."""

    track: str
    silenced: bool


@frozen
class Forward:
    """Send a track to a subscriber's transport, under this SSRC."""

    track: str
    transport: str
    ssrc: int
    stream: Stream


@frozen
class StopForward:
    track: str
    transport: str


Command = OpenTransport | TrustPeer | CloseTransport | ReceiveTrack | StopTrack | SilenceTrack | Forward | StopForward


@frozen
class TransportUp:
    """Encrypted media can flow."""

    transport: str


@frozen
class TransportLost:
    """The peer said goodbye, is not heard of, or is not who its description said."""

    transport: str
    reason: str


@frozen
class Heard:
    """How loud tracks of sound were in the last moment: 0.0 to 1.0, smoothed; silent ones are left out."""

    levels: Mapping[str, float]


WorkerEvent = TransportUp | TransportLost | Heard
