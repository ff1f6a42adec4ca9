"""The protocol machine in dialogues: commands, Identify, and what becomes of an Identify that is held.

Area: protocol. Rules: 000.framing, 000.identify, 000.opcodes, 000.payload, 000.states.
"""

from __future__ import annotations

from typing import Any

import pytest

from chat.protocol.commands import SessionCommand
from chat.protocol.machine import (
    CommandBudgetExceeded,
    HeldRetried,
    ResumeUnknown,
    SessionStarted,
    StartDiscarded,
    StartPostponed,
    StartRefused,
)
from chat.protocol.transitions import (
    BeginResume,
    BeginStart,
    CloseSocket,
    DropHeldIdentify,
    HoldIdentify,
    Process,
    SendHeartbeatAck,
    SendInvalidSession,
    State,
)
from chat.registries.close_codes import (
    ALREADY_AUTHENTICATED,
    INVALID_IDENTIFY_PAYLOAD,
    INVALID_SHARD,
    INVALID_TOKEN,
    NOT_AUTHENTICATED,
    RATE_LIMITED,
    UNKNOWN_OPCODE,
)
from chat.registries.opcodes import SESSION_COMMANDS, Opcode
from tests.protocol.dialogue import ATTACHED, OPEN, Dialogue, a_resume, an_identify, identify_d
from tests.spec.ledger import proves

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


@pytest.mark.rule("000.payload.2")
@pytest.mark.parametrize("state", OPEN)
@pytest.mark.parametrize("op", [*Opcode, -1, 17, 99])
def test_a_payload_without_d_closes_in_any_state(state: State, op: int) -> None:
    dialogue = Dialogue.in_state(state)
    dialogue.client_omits_d(op)
    close = ALREADY_AUTHENTICATED if op in (Opcode.IDENTIFY, Opcode.RESUME) else UNKNOWN_OPCODE
    of_one = {Opcode.IDENTIFY: "000.framing.26", Opcode.RESUME: "000.framing.27"}
    with proves(of_one.get(op, "000.framing.25")):
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
