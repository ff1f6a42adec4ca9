"""The numbers of a session's Dispatches, and what it retains of them for a Resume (gateway.md, Sequences).

Every Dispatch takes the next sequence; the retained ones are kept until the client acknowledges them or the buffer is
full (4,096 Dispatches, 16 MiB). What was evicted raises the replay floor, and a Resume from below it is hopeless.

A server numbers each event once for every receiver, so the buffer is one deque without a record per entry: an entry's
sequence follows from its place. Events that came together stand in it as one entry, the run that all their receivers
share; Dispatches that are not retained as the length of theirs.
"""

from __future__ import annotations

import bisect
import enum
import itertools
from collections import deque
from collections.abc import Iterable

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

    __slots__ = ("_bytes", "_entries", "_gone", "_room", "_trimmed", "acknowledged", "replay_floor", "sequence")

    def __init__(self) -> None:
        self.sequence = 0
        """The sequence of the last Dispatch; 0 before Ready."""
        self.acknowledged = 0
        self.replay_floor = 0
        """The highest sequence that was evicted."""
        self._entries: deque[OutgoingEvent | EventRun | int] = deque()
        self._gone = 0  # if the first entry is a run: how many of its events are no longer retained
        self._trimmed = 0  # the sequence before the first retained one's
        self._room = REPLAY_DISPATCHES  # how many entries the buffer holds at most
        self._bytes = 0

    def number(self, event: OutgoingEvent) -> int:
        """Give the event the next sequence, and retain it if its kind is retained."""
        self.sequence = sequence = self.sequence + 1
        if event.retained:
            entries = self._entries
            entries.append(event)
            self._bytes += event.size
            if len(entries) > self._room or self._bytes > REPLAY_BYTES:
                self._evict()
        else:
            self._skip(1)
        return sequence

    def number_run(self, run: EventRun) -> int:
        """Number all events of the run, like `number` one after the other; returns the first sequence."""
        before = self.sequence
        if run.all_retained:
            entries, count = self._entries, run.count
            entries.append(run)
            self.sequence = before + count
            self._room = room = self._room - count + 1
            self._bytes = size = self._bytes + run.size
            if len(entries) > room or size > REPLAY_BYTES:
                if count >= REPLAY_DISPATCHES:
                    self._evict_all_before(run)
                self._evict()
        else:
            for event in run.events:
                self.number(event)
        return before + 1

    @property
    def retained_count(self) -> int:
        """How many Dispatches wait for a Resume."""
        return REPLAY_DISPATCHES + len(self._entries) - self._room

    @property
    def retained_bytes(self) -> int:
        """How many bytes the retained Dispatches have together."""
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
        return [
            (sequence, event)
            for first, events in self.stretches()
            for sequence, event in enumerate(events, first)
            if sequence > seq
        ]

    def stretches(self) -> list[tuple[int, list[OutgoingEvent]]]:
        """All retained Dispatches, in lists with consecutive sequences; each list comes with its first sequence."""
        stretches: list[tuple[int, list[OutgoingEvent]]] = []
        events: list[OutgoingEvent] = []
        first, gone = self._trimmed + 1, self._gone
        for kind, entries in itertools.groupby(self._entries, type):
            if kind is OutgoingEvent:
                events.extend(entries)  # type: ignore[arg-type]
                continue
            for entry in entries:
                if isinstance(entry, int):
                    if events:
                        stretches.append((first, events))
                    first, events = first + len(events) + entry, []
                elif isinstance(entry, EventRun):
                    events.extend(entry.events[gone:])
                    gone = 0  # only the first entry can have lost some
        return [*stretches, (first, events)] if events else stretches

    def _skip(self, run: int) -> None:
        """Note that the latest `run` sequences belong to Dispatches that are not retained."""
        entries = self._entries
        if not entries:
            self._trimmed = self.sequence
        elif isinstance(last := entries[-1], int):
            entries[-1] = last + run
        else:
            entries.append(run)
            self._room += 1

    def _evict(self) -> None:
        """Drop the oldest Dispatches until the buffer has room; runs of sequences that are not retained need none."""
        entries = self._entries
        while (events := len(entries) - self._room) > 0 or self._bytes > REPLAY_BYTES:
            first = entries[0]
            if isinstance(first, EventRun):
                gone = self._gone
                if events >= first.count and not gone:  # the usual case, in one step: nothing of the run stays
                    entries.popleft()
                    self._room += first.count - 1
                    self._bytes -= first.size
                    self._trimmed = self.replay_floor = self._trimmed + first.count
                    continue
                if self._bytes > REPLAY_BYTES:
                    ends = first.ends
                    least = bisect.bisect_left(ends, ends[gone] + self._bytes - REPLAY_BYTES, gone)
                    events = max(events, least - gone)
                self._drop_of_run(first, min(events, len(first.events) - gone))
                self.replay_floor = self._trimmed
            elif self._drop_first(first):
                self.replay_floor = self._trimmed

    def _evict_all_before(self, run: EventRun) -> None:
        """Keep only the run that is the last entry, and the entries before it that need no room."""
        entries, count = self._entries, run.count
        entries.pop()
        skipped = 0
        if entries and isinstance(last := entries[-1], int):
            skipped = last
            entries.pop()
        self._trimmed = self.replay_floor = self.sequence - count - skipped
        self._gone, self._bytes, self._room = 0, run.size, REPLAY_DISPATCHES - count + 1
        entries.clear()
        if skipped:
            entries.append(skipped)
            self._room += 1
        entries.append(run)

    def _trim(self, sequence: int) -> None:
        while self._entries and self._trimmed < sequence:
            first = self._entries[0]
            if isinstance(first, EventRun):
                self._drop_of_run(first, min(sequence - self._trimmed, len(first.events) - self._gone))
            elif isinstance(first, int) and self._trimmed + first > sequence:
                self._entries[0] = self._trimmed + first - sequence
                self._trimmed = sequence
            else:
                self._drop_first(first)

    def _drop_of_run(self, run: EventRun, count: int) -> None:
        """Forget the first `count` events of the run that is the first entry."""
        gone = self._gone + count
        self._trimmed += count
        self._bytes -= run.ends[gone] - run.ends[self._gone]
        if gone == len(run.events):
            self._entries.popleft()
            self._gone = 0
            self._room += count - 1
        else:
            self._gone = gone
            self._room += count

    def _drop_first(self, entry: OutgoingEvent | int) -> bool:
        """Drop the first entry, which is no run; tells whether it was a retained Dispatch."""
        self._entries.popleft()
        if isinstance(entry, int):
            self._trimmed += entry
            self._room -= 1
            return False
        self._trimmed += 1
        self._bytes -= entry.size
        return True

    @classmethod
    def restored(
        cls,
        sequence: int,
        acknowledged: int,
        replay_floor: int,
        retained: Iterable[tuple[int, OutgoingEvent | EventRun]],
    ) -> Numbering:
        """A numbering with the state of another one. `retained` are its retained Dispatches in order, singly or as
        runs, each with its first sequence."""
        numbering = cls()
        numbering.acknowledged, numbering.replay_floor = acknowledged, replay_floor
        for first, entry in retained:
            numbering._skip_to(first - 1)
            if isinstance(entry, EventRun):
                numbering.number_run(entry)
            else:
                numbering.number(entry)
        numbering._skip_to(sequence)
        return numbering

    def _skip_to(self, sequence: int) -> None:
        run = sequence - self.sequence
        if run > 0:
            self.sequence = sequence
            self._skip(run)
