"""What a receiver knows of one stream: losses, jitter, what to ask for again (RFC 3550, 6.4.1 and A.8; RFC 4585)."""

from __future__ import annotations

from typing import Final

import attrs

from chat.classes import define
from chat.voice.protocol.rtcp import ReceptionReport, SenderReport
from chat.voice.protocol.rtp import SEQUENCE_MODULUS
from chat.voice.protocol.sequencing import signed_distance

MISSING_MAXIMUM: Final = 256
"""Packets that are asked for; after a greater gap only a key frame helps."""

ASKED_TIMES: Final = 5
ASKED_EVERY_SECONDS: Final = 0.05


@define
class _Missing:
    times: int = 0
    next_at: float = 0.0


@define(eq=False)
class Reception:
    """Counts one stream's packets. `now` is in seconds of any clock."""

    ssrc: int
    clock_rate: int
    lost_for_good: int = attrs.field(default=0, init=False)
    """Packets that were asked for in vain, or too many to be asked for."""
    _first: int = attrs.field(default=-1, init=False)
    _highest: int = attrs.field(default=0, init=False)
    _received: int = attrs.field(default=0, init=False)
    _jitter: float = attrs.field(default=0.0, init=False)
    _transit: float | None = attrs.field(default=None, init=False)
    _expected_told: int = attrs.field(default=0, init=False)
    _received_told: int = attrs.field(default=0, init=False)
    _report: tuple[int, float] | None = attrs.field(default=None, init=False)
    """The middle of the last sender report's time, and when it came."""
    _missing: dict[int, _Missing] = attrs.field(factory=dict, init=False)

    @property
    def has_begun(self) -> bool:
        """Whether a packet came. A sender would take a report before that for one of its packets."""
        return self._first >= 0

    def packet(self, sequence: int, timestamp: int, now: float) -> None:
        """One came."""
        self._received += 1
        if self._first < 0:
            self._first = self._highest = sequence
        ahead = signed_distance(sequence, self._highest % SEQUENCE_MODULUS)
        index = self._highest + ahead
        if ahead > 0:
            self._gap(self._highest + 1, index)
            self._highest = index
        else:
            self._missing.pop(index, None)
        transit = now * self.clock_rate - timestamp
        if self._transit is not None:
            difference = abs(transit - self._transit)
            if difference < self.clock_rate * 10:  # else the sender's clock jumped
                self._jitter += (difference - self._jitter) / 16
        self._transit = transit

    def _gap(self, begin: int, end: int) -> None:
        if end - begin + len(self._missing) > MISSING_MAXIMUM:
            self.lost_for_good += end - begin + len(self._missing)
            self._missing.clear()
        else:
            self._missing.update((index, _Missing()) for index in range(begin, end))

    def sender_report(self, report: SenderReport, now: float) -> None:
        """The sender said what it sent."""
        self._report = (report.ntp >> 16) & 0xFFFFFFFF, now

    def to_ask_for(self, now: float) -> list[int]:
        """Sequence numbers to ask for now; each a few times, with pauses."""
        wanted = []
        for index, missing in list(self._missing.items()):
            if missing.next_at > now:
                continue
            if missing.times >= ASKED_TIMES:
                del self._missing[index]
                self.lost_for_good += 1
                continue
            missing.times += 1
            missing.next_at = now + ASKED_EVERY_SECONDS
            wanted.append(index % SEQUENCE_MODULUS)
        return wanted

    def report(self, now: float) -> ReceptionReport:
        """What to tell the sender; the fraction counts from the last time that it was told."""
        expected = self._highest - self._first + 1 if self._first >= 0 else 0
        newly_expected, newly_received = expected - self._expected_told, self._received - self._received_told
        self._expected_told, self._received_told = expected, self._received
        lost = newly_expected - newly_received
        fraction = min(255, (lost << 8) // newly_expected) if newly_expected > 0 and lost > 0 else 0
        last, came = self._report or (0, now)
        return ReceptionReport(
            self.ssrc,
            fraction,
            max(-0x800000, min(0x7FFFFF, expected - self._received)),
            self._highest % (1 << 32),
            min(0xFFFFFFFF, int(self._jitter)),
            last,
            min(0xFFFFFFFF, int((now - came) * 65_536)) if self._report else 0,
        )
