"""Sequence numbers, acknowledgement, replay and its floor: the tables of the fixtures, the limits, a restart.

Area: protocol. Rules: 000.heartbeat, 000.resume, 000.sequencing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from chat.gateway.numbering import Numbering, ResumeVerdict
from chat.protocol.frames import OutgoingEvent
from chat.registries.event_rules import EVENTS, NEVER_RETAINED
from chat.registries.events import EventName
from chat.registries.limits import REPLAY_BYTES, REPLAY_DISPATCHES, RETAINED_EVENT_BYTES
from tests.spec.ledger import proves

FIXTURES: Final = Path(__file__).parents[2] / "spec_fixtures" / "gateway"
HEARTBEAT_CASES: Final = [
    case
    for case in json.loads((FIXTURES / "heartbeat_cases.json").read_text(encoding="utf-8"))
    if case["attached"] and type(case["d"]) is int
]
RESUME_CASES: Final = json.loads((FIXTURES / "resume_cases.json").read_text(encoding="utf-8"))["position"]

VERDICTS: Final = {
    "resumed": ResumeVerdict.ACCEPTED,
    "invalid_session": ResumeVerdict.BELOW_FLOOR,
    (4007, "Invalid sequence"): ResumeVerdict.OUT_OF_BOUNDS,
}

MESSAGE = OutgoingEvent(EventName.MESSAGE_CREATE, b'{"content":"hi"}')
SYNC = OutgoingEvent(EventName.GUILD_SYNC, b"{}", retained=False)
READY = OutgoingEvent(EventName.READY, b"{}", retained=False)


def sequences(numbering: Numbering, above: int = 0) -> list[int]:
    return [sequence for sequence, _ in numbering.retained_above(above)]


def a_numbering(
    current: int, acknowledged: int = 0, replay_floor: int = 0, retained: list[int] | None = None
) -> Numbering:
    """A numbering at a certain point of a session's life."""
    return Numbering.restored(current, acknowledged, replay_floor, [(sequence, MESSAGE) for sequence in retained or []])


def after_a_restart(numbering: Numbering) -> Numbering:
    return Numbering.restored(
        numbering.sequence, numbering.acknowledged, numbering.replay_floor, numbering.retained_above(0)
    )


@pytest.mark.rule("000.sequencing.1", "000.sequencing.2")
def test_ready_is_number_one_and_each_dispatch_adds_one() -> None:
    numbering = Numbering()
    assert numbering.sequence == 0
    assert [numbering.number(event) for event in (READY, MESSAGE, SYNC, MESSAGE, MESSAGE)] == [1, 2, 3, 4, 5]
    assert numbering.sequence == 5


@pytest.mark.rule("000.sequencing.3", "000.sequencing.4", "000.resume.13")
def test_a_replayed_run_keeps_its_numbers_and_its_gaps() -> None:
    numbering = Numbering()
    for event in (READY, MESSAGE, SYNC, SYNC, MESSAGE, SYNC, MESSAGE):
        numbering.number(event)
    assert sequences(numbering) == [2, 5, 7]
    assert sequences(numbering, above=2) == [5, 7]
    assert sequences(numbering, above=6) == [7]
    assert sequences(numbering, above=7) == []


@pytest.mark.rule("000.sequencing.7")
def test_two_sessions_number_the_same_event_independently() -> None:
    first, second = Numbering(), Numbering()
    first.number(READY)
    assert first.number(MESSAGE) == 2
    assert second.number(MESSAGE) == 1
    assert first.retained_above(0)[0][1] is second.retained_above(0)[0][1]


@pytest.mark.parametrize("case", HEARTBEAT_CASES, ids=[case["name"] for case in HEARTBEAT_CASES])
def test_an_acknowledgement_of_the_table(case: dict[str, Any]) -> None:
    numbering = a_numbering(case["current"], case["acknowledged"], retained=list(range(case["acknowledged"] + 1, 11)))
    with proves("000.heartbeat.3", "000.heartbeat.14"):
        assert numbering.acknowledge(case["d"]) is (case["verdict"] == "ack")
    with proves("000.heartbeat.12"):
        assert numbering.acknowledged == case["acknowledged_after"]
    with proves("000.heartbeat.11"):
        assert sequences(numbering) == list(range(case["acknowledged_after"] + 1, case["current"] + 1))


RESUME_RULES: Final[dict[str, tuple[str, ...]]] = {
    "nothing missed": ("000.resume.1",),
    "as high as acknowledged": ("000.resume.2",),
    "all acknowledged": ("000.resume.2",),
    "one below acknowledged": ("000.heartbeat.13",),
    "far below acknowledged": ("000.heartbeat.13",),
    "one above current": ("000.resume.3",),
    "far above current": ("000.resume.3",),
    "minus one": ("000.resume.4",),
    "at the replay floor": ("000.resume.11",),
    "one below the replay floor": ("000.resume.10",),
    "everything evicted, seq one lower": ("000.resume.10",),
}
"""The rules that rows of the table prove."""


@pytest.mark.parametrize("case", RESUME_CASES, ids=[case["name"] for case in RESUME_CASES])
def test_a_resume_of_the_table(case: dict[str, Any]) -> None:
    numbering = a_numbering(case["current"], case["acknowledged"], case["replay_floor"], case["retained"])
    with proves(*RESUME_RULES.get(case["name"], ())):
        verdict = case["verdict"] if isinstance(case["verdict"], str) else tuple(case["verdict"])
        assert numbering.judge_resume(case["seq"]) is VERDICTS[verdict]
    if case["replayed"] is not None:
        with proves("000.resume.19"):
            assert sequences(numbering, above=case["seq"]) == case["replayed"]


@pytest.mark.rule("000.resume.12")
def test_the_buffer_holds_4096_dispatches_and_the_oldest_raises_the_floor() -> None:
    numbering = Numbering()
    numbering.number(READY)
    for _ in range(REPLAY_DISPATCHES):
        numbering.number(MESSAGE)
    assert numbering.retained_count == REPLAY_DISPATCHES
    assert numbering.replay_floor == 0
    numbering.number(MESSAGE)
    assert numbering.retained_count == REPLAY_DISPATCHES
    assert numbering.replay_floor == 2
    assert sequences(numbering)[0] == 3
    assert numbering.judge_resume(2) is ResumeVerdict.ACCEPTED
    assert numbering.judge_resume(1) is ResumeVerdict.BELOW_FLOOR


@pytest.mark.rule("000.resume.12")
def test_the_buffer_holds_16_mib() -> None:
    bare = OutgoingEvent(EventName.MESSAGE_CREATE, b"").size
    event = OutgoingEvent(EventName.MESSAGE_CREATE, b"1" * (RETAINED_EVENT_BYTES - bare))
    numbering = Numbering()
    for _ in range(8):
        numbering.number(event)
    assert numbering.retained_bytes == REPLAY_BYTES
    assert numbering.replay_floor == 0
    numbering.number(MESSAGE)
    assert sequences(numbering) == list(range(2, 10))
    assert numbering.replay_floor == 1


@pytest.mark.rule("000.resume.13")
def test_an_event_over_2_mib_is_numbered_and_not_retained() -> None:
    numbering = Numbering()
    assert numbering.number(OutgoingEvent(EventName.MESSAGE_CREATE, b"1" * RETAINED_EVENT_BYTES)) == 1
    assert numbering.retained_count == 0
    assert numbering.judge_resume(0) is ResumeVerdict.ACCEPTED


def test_what_is_not_retained_takes_no_place() -> None:
    numbering = Numbering()
    for _ in range(REPLAY_DISPATCHES):
        numbering.number(MESSAGE)
        numbering.number(SYNC)
    assert numbering.retained_count == REPLAY_DISPATCHES
    assert numbering.replay_floor == 0
    numbering.number(MESSAGE)
    assert numbering.replay_floor == 1
    assert numbering.sequence == 2 * REPLAY_DISPATCHES + 1


def test_a_session_of_millions_of_chunks_keeps_its_size() -> None:
    numbering = Numbering()
    numbering.number(MESSAGE)
    for _ in range(100_000):
        numbering.number(SYNC)
    numbering.number(MESSAGE)
    assert sequences(numbering) == [1, 100_002]
    assert len(numbering.retained_above(0)) == 2
    assert numbering.acknowledge(50_000)
    assert sequences(numbering) == [100_002]


def test_acknowledging_does_not_raise_the_floor() -> None:
    numbering = Numbering()
    for _ in range(10):
        numbering.number(MESSAGE)
    assert numbering.acknowledge(7)
    assert numbering.replay_floor == 0
    assert numbering.judge_resume(7) is ResumeVerdict.ACCEPTED


def test_after_a_restart_the_replay_is_byte_for_byte_the_same() -> None:
    numbering = Numbering()
    numbering.number(READY)
    for index in range(5):
        numbering.number(OutgoingEvent(EventName.MESSAGE_CREATE, b'{"line":"\\n","n":%d.0}' % index))
        numbering.number(SYNC)
    numbering.acknowledge(3)
    restored = after_a_restart(numbering)
    assert [event.frame(sequence) for sequence, event in restored.retained_above(0)] == [
        event.frame(sequence) for sequence, event in numbering.retained_above(0)
    ]
    assert (restored.sequence, restored.acknowledged, restored.replay_floor) == (11, 3, 0)
    assert restored.retained_bytes == numbering.retained_bytes
    assert restored.number(MESSAGE) == numbering.number(MESSAGE) == 12


def test_a_full_buffer_survives_a_restart_without_loss() -> None:
    numbering = Numbering()
    for _ in range(REPLAY_DISPATCHES + 10):
        numbering.number(MESSAGE)
    restored = after_a_restart(numbering)
    assert sequences(restored) == sequences(numbering)
    assert restored.replay_floor == numbering.replay_floor == 10


def test_the_registry_names_what_is_never_retained() -> None:
    for name, rule in EVENTS.items():
        numbering = Numbering()
        numbering.number(OutgoingEvent(name, b"{}", retained=rule.retained))
        assert numbering.retained_count == (0 if name in NEVER_RETAINED else 1)
