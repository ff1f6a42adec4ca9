"""The protocol machine in dialogues: Hello, Heartbeat in both directions, deadlines.

Area: protocol. Rules: 000.heartbeat, 000.limits, 000.opcodes, 000.states.
"""

from __future__ import annotations

from typing import Any

import pytest

from chat.protocol.machine import (
    DeadlineReached,
    ProcessEnding,
    SequenceAccepted,
    SequenceRefused,
    SequenceUnconfirmed,
    SessionEnded,
)
from chat.protocol.transitions import (
    CloseSocket,
    ConfirmSequence,
    SendHeartbeatAck,
    SendHeartbeatRequest,
    SendHello,
    SendInvalidSession,
    SendReconnect,
    State,
)
from chat.registries.close_codes import (
    COMPRESSION_FAILED,
    DRAIN_REQUESTED,
    HEARTBEAT_TIMEOUT,
    INVALID_API_VERSION,
    INVALID_SEQUENCE,
    TOO_MANY_CONNECTIONS,
    Close,
)
from chat.registries.opcodes import Opcode
from tests.protocol.dialogue import ATTACHED, OPEN, Dialogue, presence
from tests.spec.ledger import proves

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


@pytest.mark.rule("000.opcodes.1", "000.heartbeat.2")
@pytest.mark.parametrize("d", [None, 0, 7, -1, 1.5, True, "7", [], {}, 10**30])
def test_without_a_session_every_heartbeat_is_acknowledged(d: Any) -> None:
    dialogue = Dialogue.unauthenticated()
    dialogue.client_heartbeats(d)
    with proves("000.states.27", "000.heartbeat.1"):
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


@pytest.mark.parametrize("state", ATTACHED)
def test_a_sequence_is_acknowledged_once_the_session_knows_it(state: State) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.client_heartbeats(5)
    with proves("000.opcodes.2"):
        dialogue.server_does(ConfirmSequence(5))
    dialogue.happens(SequenceAccepted())
    with proves("000.states.29", "000.states.32"):
        dialogue.server_does(SendHeartbeatAck())
    with proves("000.states.30"):
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
