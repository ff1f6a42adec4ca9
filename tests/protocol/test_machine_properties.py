"""What always holds of the protocol machine, whatever happens to it in whatever order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chat.protocol.machine import (
    CommandBudgetExceeded,
    DeadlineReached,
    Displaced,
    DrainRequested,
    Faulted,
    HeldRetried,
    Input,
    Machine,
    Opened,
    ProcessEnding,
    Received,
    ReplayFinished,
    ResumeAccepted,
    ResumeRefused,
    ResumeUnknown,
    SequenceAccepted,
    SequenceRefused,
    SequenceUnconfirmed,
    SessionEnded,
    SessionStarted,
    StartDiscarded,
    StartPostponed,
    StartRefused,
    TransportEnded,
)
from chat.protocol.payload import Payload
from chat.protocol.transitions import (
    BeginResume,
    BeginStart,
    CloseSocket,
    ConfirmSequence,
    DetachSession,
    Effect,
    Process,
    RetainSession,
    SendHeartbeatAck,
    SendHello,
    SendReconnect,
    State,
)
from chat.registries.close_codes import CLOSES, DECODE_FAILED, INVALID_SEQUENCE, INVALID_TOKEN
from chat.registries.limits import HEARTBEAT_INTERVAL_MS
from chat.registries.opcodes import Opcode
from tests.protocol.dialogue import ATTACHED, identify_d, resume_d, told_by

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=5,
)
D = JSON | st.just(identify_d()) | st.just(resume_d()) | st.integers(0, 20)
OPCODES = st.sampled_from(Opcode) | st.integers()
PAYLOADS = st.builds(Payload, OPCODES, st.just(True), D) | st.builds(Payload, OPCODES, st.just(False), st.none())

ANSWERS: Sequence[Input] = (
    *(SessionStarted(), StartRefused(INVALID_TOKEN), StartPostponed(), StartDiscarded(), HeldRetried()),
    *(ResumeAccepted(), ResumeRefused(INVALID_SEQUENCE), ResumeUnknown(), ReplayFinished()),
    *(SequenceAccepted(), SequenceRefused(), SequenceUnconfirmed(), DeadlineReached()),
)
ENDINGS: Sequence[Input] = (
    *(SessionEnded(), Displaced(), DrainRequested(), ProcessEnding(), TransportEnded()),
    *(CommandBudgetExceeded(), Faulted(DECODE_FAILED)),
)
OPENINGS = st.just(Opened(True, True, True)) | st.builds(Opened, st.booleans(), st.booleans(), st.booleans())
COMMANDS: Sequence[Input] = (
    Received(Payload(Opcode.IDENTIFY, True, identify_d())),
    Received(Payload(Opcode.RESUME, True, resume_d())),
    Received(Payload(Opcode.HEARTBEAT, True, 3)),
    Received(Payload(Opcode.PRESENCE_UPDATE, True, {})),
)
EVENTS = st.one_of(
    *(st.sampled_from(COMMANDS),) * 4,
    *(st.sampled_from(ANSWERS),) * 4,
    st.builds(Received, PAYLOADS),
    OPENINGS,
    st.sampled_from(ENDINGS),
)
PAUSES = st.sampled_from([0.0, 0.0, 0.001, 1.0, 5.0, 37.125, 45.0, 45.001, 1e6])
STORIES = st.lists(st.tuples(EVENTS, PAUSES), max_size=40)


class Run:
    """A machine, and what it did so far."""

    def __init__(self) -> None:
        self.now = 10.0
        self.machine = Machine(HEARTBEAT_INTERVAL_MS, self.now)
        self.effects: list[Effect] = []

    def tell(self, event: Input, pause: float) -> list[Effect]:
        self.now += pause
        effects = told_by(self.machine, event, self.now)
        self.effects += effects
        return effects


def opened() -> Run:
    run = Run()
    run.tell(Opened(True, True, True), 0)
    return run


@given(STORIES)
def test_nothing_raises_and_closed_is_the_end(story: list[tuple[Input, float]]) -> None:
    run = Run()
    for event, pause in story:
        was_closed = run.machine.state is State.CLOSED
        effects = run.tell(event, pause)
        if was_closed:
            assert run.machine.state is State.CLOSED
            assert all(isinstance(effect, RetainSession) for effect in effects)


@given(STORIES)
def test_an_open_socket_always_has_a_deadline_within_45_seconds(story: list[tuple[Input, float]]) -> None:
    run = opened()
    for event, pause in story:
        run.tell(event, pause)
        deadline = run.machine.next_deadline()
        assert (deadline is None) is (run.machine.state is State.CLOSED)
        while deadline is not None and deadline <= run.now:
            run.tell(DeadlineReached(), 0)
            following = run.machine.next_deadline()
            assert following is None or following > deadline
            deadline = following
        assert deadline is None or deadline <= run.now + 45.001


@given(STORIES)
def test_left_alone_every_open_socket_closes(story: list[tuple[Input, float]]) -> None:
    run = opened()
    for event, _ in story:
        run.tell(event, 0)
    woken = 0
    while (deadline := run.machine.next_deadline()) is not None:
        run.tell(DeadlineReached(), max(0, deadline - run.now))
        woken += 1
    assert run.machine.state is State.CLOSED
    assert woken <= 2 + len(story)


@given(STORIES)
def test_a_socket_closes_once_with_a_registered_reason_and_says_nothing_after(
    story: list[tuple[Input, float]],
) -> None:
    run = Run()
    for event, pause in story:
        run.tell(event, pause)
    closes = [effect for effect in run.effects if isinstance(effect, CloseSocket)]
    assert len(closes) <= 1
    for close in closes:
        assert close.close in CLOSES
        after = run.effects[run.effects.index(close) + 1 :]
        assert all(isinstance(effect, RetainSession) for effect in after)


@given(STORIES)
def test_hello_comes_first_and_once(story: list[tuple[Input, float]]) -> None:
    run = Run()
    for event, pause in story:
        run.tell(event, pause)
    said = [effect for effect in run.effects if not isinstance(effect, RetainSession)]
    assert SendHello() not in said[1:]
    if said and said[0] != SendHello():
        assert said in ([SendReconnect(), said[-1]], said[:1])
        assert isinstance(said[-1], CloseSocket)


@given(STORIES)
def test_commands_are_processed_and_sequences_asked_about_only_with_a_session(
    story: list[tuple[Input, float]],
) -> None:
    run = opened()
    for event, pause in story:
        before = run.machine.state
        for effect in run.tell(event, pause):
            if isinstance(effect, ConfirmSequence):
                assert before in ATTACHED
            if isinstance(effect, Process):
                assert before in ATTACHED or isinstance(event, SessionStarted | ResumeAccepted)


@given(STORIES)
def test_a_start_or_a_resume_is_the_last_thing_asked_for(story: list[tuple[Input, float]]) -> None:
    run = opened()
    for event, pause in story:
        effects = run.tell(event, pause)
        beginnings = [effect for effect in effects if isinstance(effect, BeginStart | BeginResume)]
        assert beginnings == effects[-1:] if beginnings else True
        assert not beginnings or run.machine.state is State.STARTING


class Sessions:
    """Who holds the session, as a runtime would see it that does what the effects say."""

    def __init__(self) -> None:
        self.attached = False
        self.lost = 0

    def hear(self, event: Input, effects: list[Effect]) -> None:
        if isinstance(event, SessionStarted | ResumeAccepted):
            assert not self.attached
            self.attached = True
        if isinstance(event, Displaced | SessionEnded):
            self.attached = False
        for effect in effects:
            if isinstance(effect, RetainSession | DetachSession):
                assert self.attached, f"{effect} without a session, on {event}"
                self.attached = False


def _possible(event: Input, machine: Machine, waiting_for: Effect | None) -> bool:
    """Whether a correct runtime could say this now."""
    match event:
        case SessionStarted() | StartRefused() | StartPostponed() | StartDiscarded():
            return isinstance(waiting_for, BeginStart)
        case ResumeAccepted() | ResumeRefused() | ResumeUnknown():
            return isinstance(waiting_for, BeginResume)
        case SessionEnded() | Displaced():
            return machine.state in ATTACHED
        case _:
            return True


@given(STORIES)
def test_no_session_is_lost_and_none_is_kept_twice(story: list[tuple[Input, float]]) -> None:
    run, sessions = opened(), Sessions()
    waiting_for: Effect | None = None
    for event, pause in story:
        if not _possible(event, run.machine, waiting_for):
            continue
        effects = run.tell(event, pause)
        sessions.hear(event, effects)
        assert sessions.attached is (run.machine.state in ATTACHED)
        if effects and isinstance(effects[-1], BeginStart | BeginResume):
            waiting_for = effects[-1]
        elif run.machine.state is not State.STARTING:
            waiting_for = None


@given(st.lists(st.integers(0, 9) | st.none(), min_size=1, max_size=10), st.data())
def test_every_heartbeat_is_answered_once(heartbeats: list[int | None], data: Any) -> None:
    run = opened()
    run.tell(Received(Payload(Opcode.IDENTIFY, True, identify_d())), 0)
    run.tell(SessionStarted(), 0)
    unanswered = 0
    for d in heartbeats:
        unanswered += len(run.tell(Received(Payload(Opcode.HEARTBEAT, True, d)), 0.1))
        unanswered -= SendHeartbeatAck() in run.effects[-1:]
        while unanswered and data.draw(st.booleans()):
            assert run.tell(SequenceAccepted(), 0.1) == [SendHeartbeatAck()]
            unanswered -= 1
    for _ in range(unanswered):
        run.tell(SequenceAccepted(), 0.1)
    assert run.effects.count(SendHeartbeatAck()) == len(heartbeats)
    assert run.tell(SequenceAccepted(), 0.1) == []
