"""Tracks in a worker: what comes in of one, and each place where it goes."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Final

import attrs

from chat.classes import define
from chat.voice.engine.commands import ReceiveTrack, Stream
from chat.voice.protocol import rtp
from chat.voice.protocol.rtcp import SenderReport
from chat.voice.protocol.rtp import RtpPacket
from chat.voice.protocol.sdp import AUDIO_LEVEL, MID
from chat.voice.protocol.sequencing import Sequencer

KEPT_PACKETS: Final = 512
"""Sent packets of one forward that can be sent again: a second of pictures."""

KEY_FRAME_SECONDS: Final = 0.5
"""Key frames are asked for no more often."""

LOUD_DBOV: Final = 40
"""Sound below this many decibels under the loudest counts as silence."""

BURST_SECONDS: Final = 2.0
"""How much of its bit rate a track may have saved up."""

OVERHEAD: Final = 1.25
"""Headers and the swings of a variable bit rate, on top of what was agreed."""

Send = Callable[[bytes], bytes | None]
"""Encrypts a packet and sends it; returns what was sent, or None where the transport is not up."""


@define(eq=False)
class Outgoing:
    """A track on its way to one subscriber."""

    ssrc: int
    stream: Stream
    send: Send
    send_report: Callable[[SenderReport], None]
    sequencer: Sequencer
    packets: int = 0
    octets: int = 0
    _sent: collections.OrderedDict[int, bytes] = attrs.field(factory=collections.OrderedDict, init=False)

    def forward(self, packet: RtpPacket, extensions: dict[str, bytes], now: float) -> None:
        """Send the packet on, under the subscriber's names."""
        numbers = self.sequencer.numbers(packet.ssrc, packet.sequence, packet.timestamp, now)
        if numbers is None:
            return
        ids = self.stream.extensions
        data = rtp.rewritten(
            packet,
            payload_type=self.stream.payload_type,
            ssrc=self.ssrc,
            sequence=numbers[0],
            timestamp=numbers[1],
            extensions={ids[address]: value for address, value in extensions.items() if address in ids},
        )
        sent = self.send(data)
        if sent is None:
            return
        self.packets += 1
        self.octets += len(packet.payload)
        if self.stream.asks_again:
            self._sent[numbers[0]] = sent
            if len(self._sent) > KEPT_PACKETS:
                self._sent.popitem(last=False)

    def sent_before(self, sequence: int) -> bytes | None:
        """A packet as it was sent, for one that did not get it."""
        return self._sent.get(sequence)

    def report(self, report: SenderReport) -> SenderReport:
        """The publisher's report, in the subscriber's numbers."""
        return SenderReport(
            self.ssrc,
            report.ntp,
            self.sequencer.timestamp(report.timestamp),
            self.packets % (1 << 32),
            self.octets % (1 << 32),
        )


@define(eq=False)
class Incoming:
    """A track as its publisher sends it."""

    order: ReceiveTrack
    silenced: bool = False
    outgoing: dict[str, Outgoing] = attrs.field(factory=dict, init=False)
    """By the subscriber's transport."""
    loudness: float = attrs.field(default=0.0, init=False)
    last_asked: float = attrs.field(default=-KEY_FRAME_SECONDS, init=False)
    wants_key_frame: bool = attrs.field(default=False, init=False)
    _by_id: dict[int, str] = attrs.field(init=False)
    _saved: float = attrs.field(default=0.0, init=False)
    _counted_at: float | None = attrs.field(default=None, init=False)
    _levels: list[int] = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self._by_id = {number: address for address, number in self.order.stream.extensions.items()}

    def silence(self, silenced: bool) -> None:
        """Pass nothing on, or again."""
        self.silenced = silenced
        self._levels.clear()
        for outgoing in self.outgoing.values():
            outgoing.sequencer.interrupt()

    def packet(self, packet: RtpPacket, now: float) -> None:
        """Pass one on to everybody who gets the track."""
        if self.silenced or not self._is_within_rate(len(packet.payload), now):
            return
        extensions = {
            self._by_id[number]: value for number, value in packet.extensions.items() if number in self._by_id
        }
        extensions.pop(MID, None)  # the publisher's name for its section
        level = extensions.get(AUDIO_LEVEL)
        if level is not None:
            self._levels.append(rtp.audio_level(level)[0])
        for outgoing in self.outgoing.values():
            outgoing.forward(packet, extensions, now)

    def _is_within_rate(self, octets: int, now: float) -> bool:
        rate = self.order.bits_per_second
        if rate is None:
            return True
        if self._counted_at is None:
            self._saved = rate * BURST_SECONDS
        else:
            self._saved = min(rate * BURST_SECONDS, self._saved + (now - self._counted_at) * rate * OVERHEAD)
        self._counted_at = now
        if self._saved < octets * 8:
            return False
        self._saved -= octets * 8
        return True

    def level(self) -> float:
        """How loud it was since this was asked last, smoothed: 0.0 to 1.0, in steps of an eighth."""
        levels, self._levels = self._levels, []
        loud = [level for level in levels if level < LOUD_DBOV]
        now = 0.0 if 3 * len(loud) < len(levels) or not loud else 10 ** (-(sum(loud) / len(loud)) / 20)
        self.loudness = now if not levels else self.loudness * 0.3 + now * 0.7
        return round(min(1.0, self.loudness * 4) * 8) / 8 if self.loudness > 0.005 else 0.0

    def may_ask(self, now: float) -> bool:
        """Whether a key frame is wanted, and may be asked for by now."""
        if not self.wants_key_frame or now < self.last_asked + KEY_FRAME_SECONDS:
            return False
        self.wants_key_frame, self.last_asked = False, now
        return True
