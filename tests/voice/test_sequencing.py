"""The numbers that a receiver sees, and what a receiver knows of losses, for any sender and any network."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from chat.voice.protocol.reception import ASKED_TIMES, MISSING_MAXIMUM, Reception
from chat.voice.protocol.rtcp import SenderReport
from chat.voice.protocol.sequencing import Sequencer, signed_distance

u16, u32 = st.integers(0, 65_535), st.integers(0, (1 << 32) - 1)

runs = st.lists(
    st.tuples(u16, u32, st.integers(1, 30), st.booleans()),
    min_size=1,
    max_size=8,
)
"""Runs of a sender: first sequence number and time stamp, packets, and whether it took another SSRC."""


@given(one=u16, distance=st.integers(-32_768, 32_767))
def test_the_shorter_way_round(one: int, distance: int) -> None:
    assert signed_distance((one + distance) % 65_536, one) == distance


@given(runs=runs)
def test_a_receiver_sees_one_run_whatever_the_sender_does(runs: list[tuple[int, int, int, bool]]) -> None:
    sequencer, now, ssrc = Sequencer(48_000), 100.0, 1
    seen: list[tuple[int, int]] = []
    for first, timestamp, packets, anew in runs:
        if anew:
            ssrc += 1
        else:
            sequencer.interrupt()
        for index in range(packets):
            now += 0.02
            numbers = sequencer.numbers(ssrc, (first + index) % 65_536, (timestamp + 960 * index) % (1 << 32), now)
            assert numbers is not None
            seen.append(numbers)
    for before, after in itertools.pairwise(seen):
        assert (after[0] - before[0]) % 65_536 == 1
        assert (after[1] - before[1]) % (1 << 32) == 960


@given(first=u16, order=st.permutations(range(12)), lost=st.sets(st.integers(0, 11), max_size=6))
def test_the_networks_gaps_stay_where_they_are(first: int, order: list[int], lost: set[int]) -> None:
    sequencer = Sequencer(90_000)
    arrived = [index for index in order if index not in lost]
    given_out = {}
    for index in arrived:
        numbers = sequencer.numbers(7, (first + index) % 65_536, 3_000 * index, 1.0)
        if index < arrived[0]:
            assert numbers is None  # from before the first that was seen
        else:
            assert numbers is not None
            given_out[index] = numbers[0]
    base = given_out[arrived[0]]
    assert given_out == {index: (base + index - arrived[0]) % 65_536 for index in given_out}


def test_what_belongs_to_the_run_before_is_dropped() -> None:
    sequencer = Sequencer(90_000)
    assert sequencer.numbers(1, 10, 0, 1.0) == (10, 0)
    sequencer.interrupt()
    assert sequencer.numbers(1, 20, 900, 1.5) is not None
    assert sequencer.numbers(1, 19, 890, 1.5) is None


@given(first=u16, sent=st.integers(2, 200), lost=st.sets(st.integers(1, 198)))
def test_losses_are_counted_and_asked_for(first: int, sent: int, lost: set[int]) -> None:
    lost = {index for index in lost if index < sent - 1}
    reception, asked = Reception(1, 48_000), list[int]()
    for index in range(sent):
        if index not in lost:
            reception.packet((first + index) % 65_536, 960 * index, index / 50)
            asked += reception.to_ask_for(index / 50)
    assert {(first + index) % 65_536 for index in lost} == set(asked)
    report = reception.report(sent / 50)
    assert report.lost == len(lost)
    assert report.highest_sequence % 65_536 == (first + sent - 1) % 65_536
    assert report.fraction_lost == (len(lost) << 8) // sent
    assert report.jitter == 0  # they came as evenly as they were sent
    assert reception.report(sent / 50).fraction_lost == 0  # nothing since


def test_nothing_is_asked_for_for_ever() -> None:
    reception = Reception(1, 90_000)
    reception.packet(1, 0, 0.0)
    reception.packet(3, 0, 0.0)
    asked = [reception.to_ask_for(second / 10) for second in range(20)]
    assert sum(map(len, asked)) == ASKED_TIMES
    assert reception.lost_for_good == 1


def test_too_large_a_gap_is_not_asked_for() -> None:
    reception = Reception(1, 90_000)
    reception.packet(0, 0, 0.0)
    reception.packet(MISSING_MAXIMUM + 5, 0, 0.0)
    assert reception.to_ask_for(1.0) == []
    assert reception.lost_for_good == MISSING_MAXIMUM + 4


def test_a_report_names_the_senders_last_one() -> None:
    reception = Reception(1, 48_000)
    reception.packet(0, 0, 1.0)
    assert (reception.report(1.0).last_report, reception.report(1.0).delay) == (0, 0)
    reception.sender_report(SenderReport(1, 0x0123_4567_89AB_CDEF, 0, 1, 1), 2.0)
    report = reception.report(2.5)
    assert (report.last_report, report.delay) == (0x4567_89AB, 32_768)
