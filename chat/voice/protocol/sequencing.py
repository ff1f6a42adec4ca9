"""The numbers of a forwarded stream: one unbroken run of sequence numbers and time stamps for the receiver, whatever
the sender does (it pauses, begins anew with another SSRC, or is paused by us)."""

from __future__ import annotations

from chat.classes import define
from chat.voice.protocol.rtp import SEQUENCE_MODULUS, TIMESTAMP_MODULUS


def signed_distance(sequence: int, before: int) -> int:
    """How far a sequence number is ahead of another, the shorter way round: -32,768 to 32,767."""
    half = SEQUENCE_MODULUS // 2
    return (sequence - before + half) % SEQUENCE_MODULUS - half


@define(eq=False)
class Sequencer:
    """Numbers for one receiver. A gap that the network made stays a gap, so that the receiver can ask for it.

    Inside, sequence numbers are counted on beyond the wrap.
    """

    clock_rate: int
    _source: int | None = None
    _first: int = 0
    """Where the present run began: what is older belongs to the run before."""
    _highest: int = 0
    _offset: int = 0
    _timestamp_offset: int = 0
    _sent: int = -1
    """The highest number that was given out."""
    _sent_timestamp: int = 0
    _sent_at: float = 0.0

    def interrupt(self) -> None:
        """What comes next follows without a gap on what was sent last."""
        self._source = None

    def numbers(self, ssrc: int, sequence: int, timestamp: int, now: float) -> tuple[int, int] | None:
        """Sequence number and time stamp for the receiver; None for a packet from before the present run."""
        if ssrc != self._source:
            self._begin(ssrc, sequence, timestamp, now)
        index = self._highest + signed_distance(sequence, self._highest % SEQUENCE_MODULUS)
        if index < self._first:
            return None
        self._highest = max(self._highest, index)
        out = index + self._offset
        if out > self._sent:
            self._sent, self._sent_timestamp, self._sent_at = out, self.timestamp(timestamp), now
        return out % SEQUENCE_MODULUS, self.timestamp(timestamp)

    def timestamp(self, timestamp: int) -> int:
        """The source's time stamp as the receiver counts."""
        return (timestamp + self._timestamp_offset) % TIMESTAMP_MODULUS

    def _begin(self, ssrc: int, sequence: int, timestamp: int, now: float) -> None:
        self._source, self._first, self._highest = ssrc, sequence, sequence
        if self._sent >= 0:
            elapsed = max(1, round((now - self._sent_at) * self.clock_rate))
            self._offset = self._sent + 1 - sequence
            self._timestamp_offset = (self._sent_timestamp + elapsed - timestamp) % TIMESTAMP_MODULUS
