"""The numbers of one session's Dispatches, and what of them waits for a Resume (gateway.md, Sequences).

Every Dispatch takes the next sequence; the retained ones are kept until the client acknowledges them or the buffer is
full (4,096 Dispatches, 16 MiB). What was evicted raises the replay floor, and a Resume from below it is hopeless.

A server numbers each event once for every receiver, so the buffer is one deque without a record per entry: an entry's
sequence follows from its place. Dispatches that are not retained stand in it as the length of their run.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Sequence

from chat.protocol.frames import EventRun, OutgoingEvent
from chat.registries.limits import REPLAY_BYTES, REPLAY_DISPATCHES


class ResumeVerdict(enum.Enum):
    """Whether a session can be resumed from a sequence (gateway.md, Resume)."""

    ACCEPTED = enum.auto()
    OUT_OF_BOUNDS = enum.auto()
    """Above the current sequence or below the acknowledged one: 4007."""
    BELOW_FLOOR = enum.auto()
    """Something after it was evicted: Invalid Session."""


class Numbering:
    """Sequence, acknowledged sequence, replay floor and replay buffer of a session."""

    __slots__ = ("_bytes", "_entries", "_runs", "_trimmed", "acknowledged", "replay_floor", "sequence")

    def __init__(self) -> None:
        self.sequence = 0
        """Of the last Dispatch; 0 before Ready."""
        self.acknowledged = 0
        self.replay_floor = 0
        """The highest sequence that was evicted."""
        self._entries: deque[OutgoingEvent | int] = deque()
        self._trimmed = 0  # the sequence before the first entry's
        self._runs = 0
        self._bytes = 0

    def number(self, event: OutgoingEvent) -> int:
        """Give the event the next sequence, and retain it if its kind is retained."""
        self.sequence = sequence = self.sequence + 1
        if event.retained:
            entries = self._entries
            entries.append(event)
            self._bytes += event.size
            if len(entries) > REPLAY_DISPATCHES or self._bytes > REPLAY_BYTES:
                self._evict()
        else:
            self._skip(1)
        return sequence

    def number_run(self, run: EventRun) -> int:
        """Number all events of the run, like `number` one after the other; returns the first sequence."""
        first = self.sequence + 1
        if run.all_retained:
            entries = self._entries
            entries.extend(run.events)
            self.sequence += len(run.events)
            self._bytes += run.size
            if len(entries) > REPLAY_DISPATCHES or self._bytes > REPLAY_BYTES:
                self._evict()
        else:
            for event in run.events:
                self.number(event)
        return first

    @property
    def retained_count(self) -> int:
        """How many Dispatches wait for a Resume."""
        return len(self._entries) - self._runs

    @property
    def retained_bytes(self) -> int:
        """How large they are together."""
        return self._bytes

    def acknowledge(self, sequence: int) -> bool:
        """Trim every retained Dispatch at or below `sequence`; False when the session does not know it.

        A sequence below the acknowledged one is known and changes nothing (gateway.md, Heartbeat).
        """
        if not 0 <= sequence <= self.sequence:
            return False
        if sequence > self.acknowledged:
            self.acknowledged = sequence
            self._trim(sequence)
        return True

    def judge_resume(self, seq: int) -> ResumeVerdict:
        """Whether a Resume from `seq` is accepted; the bounds are judged before the floor."""
        if not self.acknowledged <= seq <= self.sequence:
            return ResumeVerdict.OUT_OF_BOUNDS
        return ResumeVerdict.BELOW_FLOOR if seq < self.replay_floor else ResumeVerdict.ACCEPTED

    def retained_above(self, seq: int) -> list[tuple[int, OutgoingEvent]]:
        """The retained Dispatches after `seq` with their sequences, in order."""
        retained = []
        sequence = self._trimmed
        for entry in self._entries:
            if isinstance(entry, int):
                sequence += entry
                continue
            sequence += 1
            if sequence > seq:
                retained.append((sequence, entry))
        return retained

    def _skip(self, run: int) -> None:
        """The latest `run` sequences went to Dispatches that are not retained."""
        entries = self._entries
        if not entries:
            self._trimmed = self.sequence
        elif isinstance(last := entries[-1], int):
            entries[-1] = last + run
        else:
            entries.append(run)
            self._runs += 1

    def _evict(self) -> None:
        """Make room; the runs of what is not retained take none."""
        while self.retained_count > REPLAY_DISPATCHES or self._bytes > REPLAY_BYTES:
            if self._drop_first():
                self.replay_floor = self._trimmed

    def _trim(self, sequence: int) -> None:
        while self._entries and self._trimmed < sequence:
            first = self._entries[0]
            if isinstance(first, int) and self._trimmed + first > sequence:
                self._entries[0] = self._trimmed + first - sequence
                self._trimmed = sequence
            else:
                self._drop_first()

    def _drop_first(self) -> bool:
        """Forget the first entry, and say whether it was a retained Dispatch."""
        entry = self._entries.popleft()
        if isinstance(entry, int):
            self._trimmed += entry
            self._runs -= 1
            return False
        self._trimmed += 1
        self._bytes -= entry.size
        return True

    @classmethod
    def restored(
        cls, sequence: int, acknowledged: int, replay_floor: int, retained: Sequence[tuple[int, OutgoingEvent]]
    ) -> Numbering:
        """A numbering that stands where another one stood, with what `retained_above(0)` gave of it."""
        numbering = cls()
        numbering.acknowledged, numbering.replay_floor = acknowledged, replay_floor
        numbering.sequence = numbering._trimmed = retained[0][0] - 1 if retained else sequence
        for position, event in retained:
            numbering._skip_to(position - 1)
            numbering.number(event)
        numbering._skip_to(sequence)
        return numbering

    def _skip_to(self, sequence: int) -> None:
        run = sequence - self.sequence
        if run > 0:
            self.sequence = sequence
            self._skip(run)
