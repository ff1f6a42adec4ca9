"""The protocol machine in dialogues: opening, heartbeat, holding, waiting, resuming, ending."""

from __future__ import annotations

from typing import Any

import pytest

from chat.protocol.commands import SessionCommand
from chat.protocol.effects import (
    BeginResume,
    BeginStart,
    CloseSocket,
    ConfirmSequence,
    DetachSession,
    DropHeldIdentify,
    HoldIdentify,
    Process,
    Replay,
    RetainSession,
    SendHeartbeatAck,
    SendHeartbeatRequest,
    SendHello,
    SendInvalidSession,
    SendReconnect,
    SendResumed,
)
from chat.protocol.inputs import (
    CommandBudgetExceeded,
    DeadlineReached,
    Displaced,
    DrainRequested,
    Faulted,
    HeldRetried,
    ProcessEnding,
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
from chat.protocol.transitions import State
from chat.registries.close_codes import (
    ALREADY_AUTHENTICATED,
    COMPRESSION_FAILED,
    DRAIN_REQUESTED,
    HEARTBEAT_TIMEOUT,
    INVALID_API_VERSION,
    INVALID_IDENTIFY_PAYLOAD,
    INVALID_PRESENCE_PAYLOAD,
    INVALID_RESUME_PAYLOAD,
    INVALID_SEQUENCE,
    INVALID_SHARD,
    INVALID_TOKEN,
    NOT_AUTHENTICATED,
    PAYLOAD_TOO_LARGE,
    RATE_LIMITED,
    SESSION_UNAVAILABLE,
    TOO_MANY_CONNECTIONS,
    UNKNOWN_OPCODE,
    Close,
)
from chat.registries.opcodes import SESSION_COMMANDS, Opcode
from tests.protocol.dialogue import Dialogue, a_resume, an_identify, identify_d, resume_d

ATTACHED = (State.REPLAYING, State.READY)
OPEN = (State.UNAUTHENTICATED, State.STARTING, *ATTACHED)


def presence(status: str = "idle") -> Process:
    """The processing of a Presence Update."""
    return Process(SessionCommand(Opcode.PRESENCE_UPDATE, {"status": status}))


# Opening


@pytest.mark.rule("000.states.1")
def test_hello_is_the_first_thing_said() -> None:
    dialogue = Dialogue()
    dialogue.state_is(State.OPENING)
    dialogue.opens()
    dialogue.server_does(SendHello())
    dialogue.state_is(State.UNAUTHENTICATED)


@pytest.mark.parametrize(
    ("version", "capacity", "compression", "close"),
    [
        (False, True, True, INVALID_API_VERSION),
        (False, False, False, INVALID_API_VERSION),
        (True, False, True, TOO_MANY_CONNECTIONS),
        (True, False, False, TOO_MANY_CONNECTIONS),
        (True, True, False, COMPRESSION_FAILED),
    ],
)
def test_the_version_is_judged_first_then_capacity_then_compression(
    version: bool, capacity: bool, compression: bool, close: Close
) -> None:
    dialogue = Dialogue()
    dialogue.opens(version=version, capacity=capacity, compression=compression)
    dialogue.server_closes(close)


def test_before_hello_there_is_no_deadline() -> None:
    dialogue = Dialogue()
    assert dialogue.machine.next_deadline() is None
    dialogue.time_passes(100_000)
    dialogue.opens()
    dialogue.server_does(SendHello())
    dialogue.time_passes(37_124)
    dialogue.server_does()


def test_a_process_that_ends_before_hello_takes_the_socket_with_it() -> None:
    dialogue = Dialogue()
    dialogue.happens(ProcessEnding())
    dialogue.server_does(SendReconnect(), CloseSocket(DRAIN_REQUESTED))


# Heartbeat


@pytest.mark.rule("000.opcodes.1", "000.states.27", "000.heartbeat.1", "000.heartbeat.2")
@pytest.mark.parametrize("d", [None, 0, 7, -1, 1.5, True, "7", [], {}, 10**30])
def test_without_a_session_every_heartbeat_is_acknowledged(d: Any) -> None:
    dialogue = Dialogue.unauthenticated()
    dialogue.client_heartbeats(d)
    dialogue.server_does(SendHeartbeatAck())
    dialogue.state_is(State.UNAUTHENTICATED)


@pytest.mark.rule("000.states.31")
@pytest.mark.parametrize("story", [Dialogue.starting, Dialogue.resuming])
def test_a_heartbeat_while_starting_is_acknowledged_at_once(story: Any) -> None:
    dialogue = story()
    dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})
    dialogue.server_does()
    dialogue.client_heartbeats("whatever")
    dialogue.server_does(SendHeartbeatAck())
    dialogue.state_is(State.STARTING)


@pytest.mark.rule("000.states.28", "000.states.30")
@pytest.mark.parametrize("state", ATTACHED)
def test_null_is_acknowledged_at_once(state: State) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.client_heartbeats(None)
    dialogue.server_does(SendHeartbeatAck())
    dialogue.state_is(state)


@pytest.mark.rule("000.states.29", "000.states.30", "000.states.32", "000.opcodes.2")
@pytest.mark.parametrize("state", ATTACHED)
def test_a_sequence_is_acknowledged_once_the_session_knows_it(state: State) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.client_heartbeats(5)
    dialogue.server_does(ConfirmSequence(5))
    dialogue.happens(SequenceAccepted())
    dialogue.server_does(SendHeartbeatAck())
    dialogue.state_is(state)


@pytest.mark.parametrize("state", ATTACHED)
def test_a_sequence_that_the_session_refuses_closes_4007(state: State) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.client_heartbeats(5)
    dialogue.server_does(ConfirmSequence(5))
    dialogue.happens(SequenceRefused())
    dialogue.server_closes_and_retains(INVALID_SEQUENCE)


@pytest.mark.rule("000.heartbeat.4")
@pytest.mark.parametrize("state", ATTACHED)
@pytest.mark.parametrize("d", [-1, True, False, 0.0, 7.5, "7", "", [], [7], {}, {"seq": 7}])
def test_what_no_session_could_accept_closes_4007_unasked(state: State, d: Any) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.client_heartbeats(d)
    dialogue.server_closes_and_retains(INVALID_SEQUENCE)


@pytest.mark.rule("000.heartbeat.6")
def test_a_sequence_that_is_not_confirmed_within_5000_ms_closes_4007() -> None:
    dialogue = Dialogue.ready()
    dialogue.client_heartbeats(5)
    dialogue.server_does(ConfirmSequence(5))
    dialogue.time_passes(4_999)
    dialogue.server_does()
    dialogue.time_passes(1)
    dialogue.server_closes_and_retains(INVALID_SEQUENCE)


def test_whoever_knows_sooner_that_a_sequence_cannot_be_confirmed_may_say_so() -> None:
    dialogue = Dialogue.ready()
    dialogue.client_heartbeats(5)
    dialogue.server_does(ConfirmSequence(5))
    dialogue.happens(SequenceUnconfirmed())
    dialogue.server_closes_and_retains(INVALID_SEQUENCE)


def test_sequences_are_confirmed_in_the_order_of_asking_each_with_its_own_deadline() -> None:
    dialogue = Dialogue.ready()
    dialogue.client_heartbeats(5)
    dialogue.server_does(ConfirmSequence(5))
    dialogue.time_passes(3_000)
    dialogue.client_heartbeats(6)
    dialogue.server_does(ConfirmSequence(6))
    dialogue.happens(SequenceAccepted())
    dialogue.server_does(SendHeartbeatAck())
    dialogue.time_passes(4_999)
    dialogue.server_does()
    dialogue.happens(SequenceAccepted())
    dialogue.server_does(SendHeartbeatAck())
    dialogue.time_passes(30_000)
    dialogue.server_does()


def test_the_answer_to_no_question_changes_nothing() -> None:
    for answer in (SequenceAccepted(), SequenceRefused(), SequenceUnconfirmed()):
        dialogue = Dialogue.ready()
        dialogue.happens(answer)
        dialogue.server_does()
        dialogue.state_is(State.READY)


@pytest.mark.parametrize("state", ATTACHED)
def test_when_the_session_ends_its_unconfirmed_heartbeats_are_acknowledged(state: State) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.client_heartbeats(5)
    dialogue.server_does(ConfirmSequence(5))
    dialogue.happens(SessionEnded())
    dialogue.server_does(SendInvalidSession(), SendHeartbeatAck())
    dialogue.happens(SequenceRefused())
    dialogue.time_passes(5_000)
    dialogue.server_does()
    dialogue.state_is(State.UNAUTHENTICATED)


@pytest.mark.rule("000.heartbeat.7")
@pytest.mark.parametrize("state", OPEN)
def test_the_server_asks_once_37125_ms_after_the_last_acknowledgement(state: State) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.time_passes(10_000)
    dialogue.client_heartbeats()
    dialogue.server_does(SendHeartbeatAck())
    dialogue.time_passes(37_124)
    dialogue.server_does()
    dialogue.time_passes(1)
    dialogue.server_does(SendHeartbeatRequest())
    dialogue.time_passes(7_800)
    dialogue.server_does()
    dialogue.state_is(state)


@pytest.mark.rule("000.states.33", "000.limits.7")
@pytest.mark.parametrize("state", OPEN)
def test_after_45000_ms_the_socket_is_open_and_after_more_it_is_not(state: State) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.time_passes(45_000)
    dialogue.server_does(SendHeartbeatRequest())
    dialogue.state_is(state)
    dialogue.time_passes(1)
    if state in ATTACHED:
        dialogue.server_closes_and_retains(HEARTBEAT_TIMEOUT)
    else:
        dialogue.server_closes(HEARTBEAT_TIMEOUT)


@pytest.mark.rule("000.heartbeat.10")
def test_the_servers_own_heartbeat_does_not_postpone_the_end() -> None:
    dialogue = Dialogue.ready()
    dialogue.time_passes(37_125)
    dialogue.server_does(SendHeartbeatRequest())
    dialogue.time_passes(7_876)
    dialogue.server_closes_and_retains(HEARTBEAT_TIMEOUT)


@pytest.mark.rule("000.heartbeat.8")
def test_the_answer_to_the_servers_heartbeat_is_acknowledged_and_starts_both_deadlines_anew() -> None:
    dialogue = Dialogue.ready()
    dialogue.time_passes(37_125)
    dialogue.server_does(SendHeartbeatRequest())
    dialogue.client_heartbeats(None)
    dialogue.server_does(SendHeartbeatAck())
    dialogue.time_passes(37_124)
    dialogue.server_does()
    dialogue.time_passes(1)
    dialogue.server_does(SendHeartbeatRequest())
    dialogue.time_passes(7_875)
    dialogue.server_does()
    dialogue.state_is(State.READY)


def test_it_can_be_asked_whether_a_heartbeat_is_awaited() -> None:
    dialogue = Dialogue.ready()
    assert not dialogue.machine.awaits_heartbeat
    dialogue.time_passes(37_125)
    dialogue.server_does(SendHeartbeatRequest())
    assert dialogue.machine.awaits_heartbeat
    dialogue.client_heartbeats()
    dialogue.server_does(SendHeartbeatAck())
    assert not dialogue.machine.awaits_heartbeat
    dialogue.time_passes(45_001)
    dialogue.hear()
    assert not dialogue.machine.awaits_heartbeat


def test_a_heartbeat_that_waits_for_its_session_does_not_count_as_acknowledged() -> None:
    dialogue = Dialogue.ready()
    dialogue.time_passes(44_000)
    dialogue.server_does(SendHeartbeatRequest())
    dialogue.client_heartbeats(5)
    dialogue.server_does(ConfirmSequence(5))
    dialogue.time_passes(1_001)
    dialogue.server_closes_and_retains(HEARTBEAT_TIMEOUT)


def test_commands_do_not_count_as_heartbeats() -> None:
    dialogue = Dialogue.ready()
    for _ in range(5):
        dialogue.time_passes(9_000)
        dialogue.hear()
        dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})
        dialogue.server_does(presence())
    dialogue.time_passes(1)
    dialogue.server_closes_and_retains(HEARTBEAT_TIMEOUT)


def test_a_deadline_announced_too_early_does_nothing() -> None:
    dialogue = Dialogue.ready()
    dialogue.happens(DeadlineReached())
    dialogue.server_does()
    dialogue.time_passes(37_124)
    dialogue.happens(DeadlineReached())
    dialogue.server_does()


def test_who_wakes_up_very_late_closes_at_once() -> None:
    dialogue = Dialogue.ready()
    dialogue.machine.handle(DeadlineReached(), dialogue.now + 500)
    dialogue.state_is(State.CLOSED)


def test_a_short_interval_asks_sooner_and_closes_no_sooner() -> None:
    dialogue = Dialogue(heartbeat_interval_ms=1_000)
    dialogue.opens()
    dialogue.server_does(SendHello())
    dialogue.time_passes(899)
    dialogue.server_does()
    dialogue.time_passes(1)
    dialogue.server_does(SendHeartbeatRequest())
    dialogue.time_passes(44_100)
    dialogue.server_does()
    dialogue.time_passes(1)
    dialogue.server_closes(HEARTBEAT_TIMEOUT)


def test_an_interval_longer_than_the_deadline_never_gets_to_ask() -> None:
    dialogue = Dialogue(heartbeat_interval_ms=60_000)
    dialogue.opens()
    dialogue.server_does(SendHello())
    dialogue.time_passes(45_001)
    dialogue.server_closes(HEARTBEAT_TIMEOUT)


# Commands


@pytest.mark.rule("000.states.14")
@pytest.mark.parametrize("opcode", sorted(SESSION_COMMANDS))
def test_no_command_is_processed_without_a_session(opcode: Opcode) -> None:
    dialogue = Dialogue.unauthenticated()
    dialogue.client_sends(opcode, {})
    dialogue.server_closes(NOT_AUTHENTICATED)


@pytest.mark.rule("000.states.21", "000.states.25")
@pytest.mark.parametrize("state", ATTACHED)
@pytest.mark.parametrize("opcode", sorted(SESSION_COMMANDS))
def test_with_a_session_every_command_is_processed(state: State, opcode: Opcode) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.client_sends(opcode, {"x": 1})
    dialogue.server_does(Process(SessionCommand(opcode, {"x": 1})))
    dialogue.state_is(state)


NOT_FOR_CLIENTS = [-1, 0, 5, 7, 9, 10, 11, 12, 17, 27, 29, 99, 10**25]


@pytest.mark.rule("000.states.38", "000.states.40")
@pytest.mark.parametrize("state", ATTACHED)
@pytest.mark.parametrize("op", NOT_FOR_CLIENTS)
def test_with_a_session_an_opcode_that_is_not_for_clients_closes_4001(state: State, op: int) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.client_sends(op, None)
    dialogue.server_closes_and_retains(UNKNOWN_OPCODE)


@pytest.mark.rule("000.states.39", "000.states.41")
@pytest.mark.parametrize("op", NOT_FOR_CLIENTS)
def test_without_a_session_it_closes_4003(op: int) -> None:
    dialogue = Dialogue.unauthenticated()
    dialogue.client_sends(op, None)
    dialogue.server_closes(NOT_AUTHENTICATED)


@pytest.mark.rule("000.framing.25", "000.framing.26", "000.framing.27", "000.payload.2")
@pytest.mark.parametrize("state", OPEN)
@pytest.mark.parametrize("op", [*Opcode, -1, 17, 99])
def test_a_payload_without_d_closes_in_any_state(state: State, op: int) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.client_omits_d(op)
    close = ALREADY_AUTHENTICATED if op in (Opcode.IDENTIFY, Opcode.RESUME) else UNKNOWN_OPCODE
    assert dialogue.hear()[0] == CloseSocket(close)
    dialogue.state_is(State.CLOSED)


@pytest.mark.parametrize("state", OPEN)
def test_the_command_budget_closes_4008_in_any_state(state: State) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.happens(CommandBudgetExceeded())
    assert dialogue.hear()[0] == CloseSocket(RATE_LIMITED)
    dialogue.state_is(State.CLOSED)


# Identify


@pytest.mark.rule("000.opcodes.3", "000.identify.17")
def test_a_malformed_identify_closes_4002() -> None:
    malformed: list[Any] = [None, [], "t", {}, {"token": "t"}]
    for d in malformed:
        dialogue = Dialogue.unauthenticated()
        dialogue.client_sends(Opcode.IDENTIFY, d)
        dialogue.server_closes(INVALID_IDENTIFY_PAYLOAD)


def test_a_malformed_shard_is_judged_at_once() -> None:
    dialogue = Dialogue.unauthenticated()
    dialogue.client_identifies(shard=[2, 2])
    dialogue.server_closes(INVALID_SHARD)


@pytest.mark.rule("000.states.22", "000.states.23")
@pytest.mark.parametrize("state", ATTACHED)
@pytest.mark.parametrize("d", [identify_d(), {}, None, identify_d(shard=[2, 2])])
def test_with_a_session_identify_closes_4005_whatever_it_says(state: State, d: Any) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.client_sends(Opcode.IDENTIFY, d)
    dialogue.server_closes_and_retains(ALREADY_AUTHENTICATED)


def test_a_refused_start_closes_with_its_reason() -> None:
    dialogue = Dialogue.starting()
    dialogue.happens(StartRefused(INVALID_TOKEN))
    dialogue.server_closes(INVALID_TOKEN)


def test_a_held_identify_is_retried_until_it_starts() -> None:
    dialogue = Dialogue.starting()
    for _ in range(3):
        dialogue.happens(StartPostponed())
        dialogue.server_does(HoldIdentify(an_identify()))
        dialogue.state_is(State.UNAUTHENTICATED)
        dialogue.happens(HeldRetried())
        dialogue.server_does(BeginStart(an_identify(), retried=True))
        dialogue.state_is(State.STARTING)
    dialogue.happens(SessionStarted())
    dialogue.server_does()
    dialogue.state_is(State.READY)


def test_a_held_identify_keeps_the_socket_unauthenticated() -> None:
    dialogue = Dialogue.starting()
    dialogue.happens(StartPostponed())
    dialogue.server_does(HoldIdentify(an_identify()))
    dialogue.client_heartbeats("no session")
    dialogue.server_does(SendHeartbeatAck())
    dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})
    dialogue.server_closes(NOT_AUTHENTICATED)
    dialogue.happens(HeldRetried())
    dialogue.server_does()


@pytest.mark.rule("000.states.10")
def test_a_later_identify_replaces_the_held_one() -> None:
    dialogue = Dialogue.unauthenticated()
    for token in ("first", "second"):
        dialogue.client_identifies(token)
        dialogue.server_does(BeginStart(an_identify(token)))
        dialogue.happens(StartPostponed())
        dialogue.server_does(HoldIdentify(an_identify(token)))
    dialogue.happens(HeldRetried())
    dialogue.server_does(BeginStart(an_identify("second"), retried=True))


def test_a_later_identify_that_starts_ends_the_holding() -> None:
    dialogue = Dialogue.starting()
    dialogue.happens(StartPostponed())
    dialogue.server_does(HoldIdentify(an_identify()))
    dialogue.client_identifies("second")
    dialogue.server_does(BeginStart(an_identify("second")))
    dialogue.happens(SessionStarted())
    dialogue.server_does(DropHeldIdentify())
    dialogue.happens(HeldRetried())
    dialogue.server_does()
    dialogue.state_is(State.READY)


def test_a_discarded_identify_leaves_the_held_one_alone() -> None:
    dialogue = Dialogue.starting()
    dialogue.happens(StartPostponed())
    dialogue.server_does(HoldIdentify(an_identify()))
    dialogue.client_identifies("beyond the budget")
    dialogue.server_does(BeginStart(an_identify("beyond the budget")))
    dialogue.happens(StartDiscarded())
    dialogue.server_does()
    dialogue.happens(HeldRetried())
    dialogue.server_does(BeginStart(an_identify(), retried=True))


def test_a_retry_that_falls_due_during_another_start_waits_for_its_outcome() -> None:
    dialogue = Dialogue.starting()
    dialogue.happens(StartPostponed())
    dialogue.server_does(HoldIdentify(an_identify()))
    dialogue.client_identifies("beyond the budget")
    dialogue.server_does(BeginStart(an_identify("beyond the budget")))
    dialogue.happens(HeldRetried())
    dialogue.server_does()
    dialogue.happens(StartDiscarded())
    dialogue.server_does(BeginStart(an_identify(), retried=True))


def test_a_retry_that_fell_due_is_not_meant_for_the_identify_that_is_held_now() -> None:
    dialogue = Dialogue.starting()
    dialogue.happens(StartPostponed())
    dialogue.server_does(HoldIdentify(an_identify()))
    dialogue.client_identifies("second")
    dialogue.server_does(BeginStart(an_identify("second")))
    dialogue.happens(HeldRetried())
    dialogue.server_does()
    dialogue.happens(StartPostponed())
    dialogue.server_does(HoldIdentify(an_identify("second")))
    dialogue.state_is(State.UNAUTHENTICATED)


def test_a_discarded_identify_gets_no_reply() -> None:
    dialogue = Dialogue.starting()
    dialogue.happens(StartDiscarded())
    dialogue.server_does()
    dialogue.state_is(State.UNAUTHENTICATED)
    dialogue.happens(HeldRetried())
    dialogue.server_does()


@pytest.mark.rule("000.states.11")
def test_a_resume_cancels_the_held_identify() -> None:
    dialogue = Dialogue.starting()
    dialogue.happens(StartPostponed())
    dialogue.server_does(HoldIdentify(an_identify()))
    dialogue.client_resumes()
    dialogue.server_does(DropHeldIdentify(), BeginResume(a_resume()))
    dialogue.happens(ResumeUnknown())
    dialogue.server_does(SendInvalidSession())
    dialogue.happens(HeldRetried())
    dialogue.server_does()
    dialogue.state_is(State.UNAUTHENTICATED)


# Waiting while a session starts


@pytest.mark.rule("000.states.34")
def test_commands_that_waited_are_processed_in_order_when_the_session_is_there() -> None:
    dialogue = Dialogue.starting()
    for status in ("idle", "dnd", "online"):
        dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": status})
        dialogue.server_does()
    dialogue.happens(SessionStarted())
    dialogue.server_does(presence("idle"), presence("dnd"), presence("online"))


def test_commands_that_waited_for_a_resume_are_processed_during_the_replay() -> None:
    dialogue = Dialogue.resuming()
    dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})
    dialogue.server_does()
    dialogue.happens(ResumeAccepted())
    dialogue.server_does(Replay(), presence())
    dialogue.state_is(State.REPLAYING)


@pytest.mark.rule("000.states.34")
def test_a_command_that_waited_closes_4003_when_the_start_is_held() -> None:
    dialogue = Dialogue.starting()
    dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})
    dialogue.server_does()
    dialogue.happens(StartPostponed())
    dialogue.server_does(HoldIdentify(an_identify()), CloseSocket(NOT_AUTHENTICATED))
    dialogue.state_is(State.CLOSED)


def test_a_command_that_waited_closes_4003_when_the_session_is_unknown() -> None:
    dialogue = Dialogue.resuming()
    dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})
    dialogue.server_does()
    dialogue.happens(ResumeUnknown())
    dialogue.server_does(SendInvalidSession(), CloseSocket(NOT_AUTHENTICATED))


def test_a_second_identify_that_waited_closes_4005_and_the_session_is_retained() -> None:
    dialogue = Dialogue.starting()
    dialogue.client_identifies("second")
    dialogue.server_does()
    dialogue.happens(SessionStarted())
    dialogue.server_closes_and_retains(ALREADY_AUTHENTICATED)


def test_an_identify_that_waited_is_tried_when_the_resume_fails() -> None:
    dialogue = Dialogue.resuming()
    dialogue.client_identifies()
    dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})
    dialogue.server_does()
    dialogue.happens(ResumeUnknown())
    dialogue.server_does(SendInvalidSession(), BeginStart(an_identify()))
    dialogue.state_is(State.STARTING)
    dialogue.happens(SessionStarted())
    dialogue.server_does(presence())


@pytest.mark.rule("000.resume.24")
def test_a_resume_that_waited_takes_the_place_of_the_session_that_started() -> None:
    dialogue = Dialogue.starting()
    dialogue.client_resumes()
    dialogue.server_does()
    dialogue.happens(SessionStarted())
    dialogue.server_does(DetachSession(), BeginResume(a_resume()))
    dialogue.state_is(State.STARTING)


def test_malformed_commands_wait_like_the_others() -> None:
    for op, close in (
        (Opcode.RESUME, INVALID_RESUME_PAYLOAD),
        (Opcode.IDENTIFY, ALREADY_AUTHENTICATED),
        (99, UNKNOWN_OPCODE),
    ):
        dialogue = Dialogue.starting()
        dialogue.client_sends(op, {})
        dialogue.server_does()
        dialogue.happens(SessionStarted())
        dialogue.server_closes_and_retains(close)


@pytest.mark.rule("000.states.35")
def test_sixty_four_commands_may_wait_and_one_more_closes_4008() -> None:
    dialogue = Dialogue.starting()
    for _ in range(64):
        dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})
    dialogue.client_heartbeats()
    dialogue.server_does(SendHeartbeatAck())
    dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})
    dialogue.server_closes(RATE_LIMITED)


def test_the_sixty_four_are_all_processed() -> None:
    dialogue = Dialogue.starting()
    for _ in range(64):
        dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})
    dialogue.happens(SessionStarted())
    dialogue.server_does(*[presence()] * 64)


def test_a_fault_does_not_wait() -> None:
    dialogue = Dialogue.starting()
    dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})
    dialogue.happens(Faulted(PAYLOAD_TOO_LARGE))
    dialogue.server_closes(PAYLOAD_TOO_LARGE)


def test_what_waits_after_the_command_that_closes_is_not_looked_at() -> None:
    dialogue = Dialogue.starting()
    dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})
    dialogue.client_sends(99, {})
    dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "dnd"})
    dialogue.happens(SessionStarted())
    dialogue.server_does(presence(), CloseSocket(UNKNOWN_OPCODE), RetainSession())


# Resume


@pytest.mark.rule("000.states.20")
def test_a_resume_replays_then_says_resumed() -> None:
    dialogue = Dialogue.replaying()
    dialogue.happens(ReplayFinished())
    dialogue.server_does(SendResumed())
    dialogue.state_is(State.READY)


@pytest.mark.rule("000.states.24")
@pytest.mark.parametrize("state", ATTACHED)
def test_a_resume_on_a_socket_with_a_session_detaches_that_one_first(state: State) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.client_resumes("s2", 9)
    dialogue.server_does(DetachSession(), BeginResume(a_resume("s2", 9)))
    dialogue.state_is(State.STARTING)
    dialogue.happens(ResumeAccepted())
    dialogue.server_does(Replay())
    dialogue.happens(ReplayFinished())
    dialogue.server_does(SendResumed())
    dialogue.state_is(State.READY)


def test_a_resume_that_fails_on_a_socket_with_a_session_leaves_it_unauthenticated() -> None:
    dialogue = Dialogue.ready()
    dialogue.client_resumes("unknown")
    dialogue.server_does(DetachSession(), BeginResume(a_resume("unknown")))
    dialogue.happens(ResumeUnknown())
    dialogue.server_does(SendInvalidSession())
    dialogue.state_is(State.UNAUTHENTICATED)
    dialogue.happens(TransportEnded())
    dialogue.server_does()  # the session was detached, and is retained already


def test_heartbeats_that_the_detached_session_owes_are_acknowledged() -> None:
    dialogue = Dialogue.ready()
    dialogue.client_heartbeats(5)
    dialogue.server_does(ConfirmSequence(5))
    dialogue.client_heartbeats(6)
    dialogue.server_does(ConfirmSequence(6))
    dialogue.client_resumes()
    dialogue.server_does(SendHeartbeatAck(), SendHeartbeatAck(), DetachSession(), BeginResume(a_resume()))


@pytest.mark.parametrize("d", [None, [], {}, {**resume_d(), "seq": "3"}, {**resume_d(), "seq": True}])
def test_a_malformed_resume_closes_4002_and_retains_what_there_is(d: Any) -> None:
    dialogue = Dialogue.unauthenticated()
    dialogue.client_sends(Opcode.RESUME, d)
    dialogue.server_closes(INVALID_RESUME_PAYLOAD)
    dialogue = Dialogue.ready()
    dialogue.client_sends(Opcode.RESUME, d)
    dialogue.server_closes_and_retains(INVALID_RESUME_PAYLOAD)


@pytest.mark.parametrize("close", [INVALID_SEQUENCE, INVALID_TOKEN, SESSION_UNAVAILABLE])
def test_a_refused_resume_closes_with_its_reason(close: Close) -> None:
    dialogue = Dialogue.resuming()
    dialogue.happens(ResumeRefused(close))
    dialogue.server_closes(close)


@pytest.mark.rule("000.reconnect.5")
def test_after_invalid_session_an_identify_succeeds() -> None:
    dialogue = Dialogue.resuming()
    dialogue.happens(ResumeUnknown())
    dialogue.server_does(SendInvalidSession())
    dialogue.state_is(State.UNAUTHENTICATED)
    dialogue.client_identifies()
    dialogue.server_does(BeginStart(an_identify()))
    dialogue.happens(SessionStarted())
    dialogue.state_is(State.READY)


# Endings


@pytest.mark.rule("000.states.26")
@pytest.mark.parametrize("state", [State.STARTING, *ATTACHED])
def test_the_end_of_the_session_leaves_the_socket_unauthenticated(state: State) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.happens(SessionEnded())
    dialogue.server_does(SendInvalidSession())
    dialogue.state_is(State.UNAUTHENTICATED)
    dialogue.happens(TransportEnded())
    dialogue.server_does()


@pytest.mark.parametrize("state", ATTACHED)
def test_a_displaced_socket_reconnects_and_keeps_no_session(state: State) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.happens(Displaced())
    dialogue.server_does(SendReconnect(), CloseSocket(DRAIN_REQUESTED))


@pytest.mark.rule("000.reconnect.3")
@pytest.mark.parametrize("state", [State.STARTING, *ATTACHED])
@pytest.mark.parametrize("event", [DrainRequested(), ProcessEnding()])
def test_drain_sends_reconnect_and_closes_4000(state: State, event: DrainRequested | ProcessEnding) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.happens(event)
    retained = [RetainSession()] if state in ATTACHED else []
    dialogue.server_does(SendReconnect(), CloseSocket(DRAIN_REQUESTED), *retained)


def test_an_unauthenticated_socket_stays_until_the_process_ends() -> None:
    dialogue = Dialogue.unauthenticated()
    dialogue.happens(DrainRequested())
    dialogue.server_does()
    dialogue.state_is(State.UNAUTHENTICATED)
    dialogue.happens(ProcessEnding())
    dialogue.server_does(SendReconnect(), CloseSocket(DRAIN_REQUESTED))


@pytest.mark.parametrize("state", OPEN)
def test_a_transport_that_ends_leaves_its_session_to_retention(state: State) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.happens(TransportEnded())
    dialogue.server_does(*([RetainSession()] if state in ATTACHED else []))
    dialogue.state_is(State.CLOSED)


@pytest.mark.parametrize("event", [SessionStarted(), ResumeAccepted()])
def test_a_session_that_comes_after_the_socket_has_gone_is_retained(event: SessionStarted | ResumeAccepted) -> None:
    dialogue = Dialogue.starting()
    dialogue.happens(TransportEnded())
    dialogue.server_does()
    dialogue.happens(event)
    dialogue.server_does(RetainSession())


@pytest.mark.parametrize("event", [SessionStarted(), ResumeAccepted()])
def test_a_session_that_nobody_waits_for_is_retained(event: SessionStarted | ResumeAccepted) -> None:
    dialogue = Dialogue.starting()
    dialogue.happens(SessionEnded())
    dialogue.server_does(SendInvalidSession())
    dialogue.happens(event)
    dialogue.server_does(DetachSession())
    dialogue.state_is(State.UNAUTHENTICATED)


def test_a_refused_command_closes_with_its_reason() -> None:
    dialogue = Dialogue.ready()
    dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "asleep"})
    dialogue.server_does(presence("asleep"))
    dialogue.happens(Faulted(INVALID_PRESENCE_PAYLOAD))
    dialogue.server_closes_and_retains(INVALID_PRESENCE_PAYLOAD)


def test_the_tokens_of_clients_do_not_show_in_what_is_printed() -> None:
    assert "secret" not in repr(an_identify("secret"))
    dialogue = Dialogue.unauthenticated()
    dialogue.client_sends(Opcode.RESUME, resume_d(token="secret"))
    assert "secret" not in repr(dialogue.hear())
