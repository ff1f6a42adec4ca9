"""Numbering against a model that does the same with a plain list and no cleverness."""

from __future__ import annotations

from typing import Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from chat.gateway.numbering import Numbering, ResumeVerdict
from chat.protocol.frames import EventRun, OutgoingEvent
from chat.registries.events import EventName
from chat.registries.limits import REPLAY_BYTES, REPLAY_DISPATCHES

EVENTS: Final = {
    "small": OutgoingEvent(EventName.MESSAGE_CREATE, b'{"content":"hi"}'),
    "half a mebibyte": OutgoingEvent(EventName.MESSAGE_CREATE, b"1" * 524_288),
    "nearly two mebibytes": OutgoingEvent(EventName.GUILD_CREATE, b"1" * 2_097_000),
    "above two mebibytes": OutgoingEvent(EventName.GUILD_CREATE, b"1" * 2_097_152),
    "not retained": OutgoingEvent(EventName.GUILD_SYNC, b"{}", retained=False),
}


class NumberingMachine(RuleBasedStateMachine):
    """The buffer as the document describes it, beside the one that is fast."""

    def __init__(self) -> None:
        super().__init__()
        self.numbering = Numbering()
        self.sequence = self.acknowledged = self.floor = 0
        self.retained: list[tuple[int, OutgoingEvent]] = []

    @rule(kind=st.sampled_from(sorted(EVENTS)), times=st.sampled_from([1, 1, 1, 2, 5, 40]))
    def events_are_numbered(self, kind: str, times: int) -> None:
        self._number(EVENTS[kind], times)

    @rule(times=st.sampled_from([1_000, REPLAY_DISPATCHES - 1, REPLAY_DISPATCHES, REPLAY_DISPATCHES + 1]))
    def a_burst_is_numbered(self, times: int) -> None:
        self._number(EVENTS["small"], times)

    @rule(kinds=st.lists(st.sampled_from(sorted(EVENTS)), min_size=1, max_size=8))
    def a_run_is_numbered(self, kinds: list[str]) -> None:
        self._number_run(EventRun([EVENTS[kind] for kind in kinds]))

    @rule(times=st.sampled_from([1_000, REPLAY_DISPATCHES - 1, REPLAY_DISPATCHES, REPLAY_DISPATCHES + 1]))
    def a_run_takes_the_place_of_others(self, times: int) -> None:
        self._number_run(EventRun([EVENTS["small"]] * times))

    def _number_run(self, run: EventRun) -> None:
        assert self.numbering.number_run(run) == self.sequence + 1
        for event in run.events:
            self._note(event)
        self._evict()

    def _number(self, event: OutgoingEvent, times: int) -> None:
        for _ in range(times):
            self._note(event)
            assert self.numbering.number(event) == self.sequence
        self._evict()

    def _note(self, event: OutgoingEvent) -> None:
        self.sequence += 1
        if event.retained:
            self.retained.append((self.sequence, event))

    def _evict(self) -> None:
        while len(self.retained) > REPLAY_DISPATCHES or sum(kept.size for _, kept in self.retained) > REPLAY_BYTES:
            self.floor, _ = self.retained.pop(0)

    @rule(data=st.data())
    def a_sequence_is_acknowledged(self, data: st.DataObject) -> None:
        sequence = data.draw(st.integers(-1, self.sequence + 1) | st.just(self.sequence))
        known = 0 <= sequence <= self.sequence
        assert self.numbering.acknowledge(sequence) is known
        if known and sequence > self.acknowledged:
            self.acknowledged = sequence
            self.retained = [entry for entry in self.retained if entry[0] > sequence]

    @rule(data=st.data())
    def a_resume_is_judged(self, data: st.DataObject) -> None:
        edges = [self.floor - 1, self.floor, self.acknowledged - 1, self.acknowledged, self.sequence, self.sequence + 1]
        seq = data.draw(st.sampled_from(edges) | st.integers(-1, self.sequence + 1))
        if seq < self.acknowledged or seq > self.sequence:
            assert self.numbering.judge_resume(seq) is ResumeVerdict.OUT_OF_BOUNDS
        elif seq < self.floor:
            assert self.numbering.judge_resume(seq) is ResumeVerdict.BELOW_FLOOR
        else:
            assert self.numbering.judge_resume(seq) is ResumeVerdict.ACCEPTED
            assert self.numbering.retained_above(seq) == [entry for entry in self.retained if entry[0] > seq]

    @rule()
    def the_server_restarts(self) -> None:
        self.numbering = Numbering.restored(
            self.numbering.sequence,
            self.numbering.acknowledged,
            self.numbering.replay_floor,
            self.numbering.retained_above(0),
        )
        restored = self.numbering.retained_above(0)
        assert [(sequence, event.name, event.data) for sequence, event in restored] == [
            (sequence, event.name, event.data) for sequence, event in self.retained
        ]
        self.retained = restored

    @invariant()
    def both_agree(self) -> None:
        assert self.numbering.sequence == self.sequence
        assert self.numbering.acknowledged == self.acknowledged
        assert self.numbering.replay_floor == self.floor
        assert self.numbering.retained_count == len(self.retained) <= REPLAY_DISPATCHES
        assert self.numbering.retained_bytes == sum(event.size for _, event in self.retained) <= REPLAY_BYTES

    @invariant()
    def nothing_acknowledged_is_retained(self) -> None:
        assert all(sequence > self.acknowledged for sequence, _ in self.numbering.retained_above(0)[:1])


NumberingMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestNumbering = NumberingMachine.TestCase
