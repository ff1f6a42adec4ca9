"""The protocol machine in dialogues: Resume, and every way in which a session or a socket ends.

Area: protocol. Rules: 000.reconnect, 000.states.
"""

from __future__ import annotations

from typing import Any

import pytest

from chat.protocol.machine import (
    Displaced,
    DrainRequested,
    Faulted,
    ProcessEnding,
    ReplayFinished,
    ResumeAccepted,
    ResumeRefused,
    ResumeUnknown,
    SessionEnded,
    SessionStarted,
    TransportEnded,
)
from chat.protocol.transitions import (
    BeginResume,
    BeginStart,
    CloseSocket,
    ConfirmSequence,
    DetachSession,
    Replay,
    RetainSession,
    SendHeartbeatAck,
    SendInvalidSession,
    SendReconnect,
    SendResumed,
    State,
)
from chat.registries.close_codes import (
    DRAIN_REQUESTED,
    INVALID_PRESENCE_PAYLOAD,
    INVALID_RESUME_PAYLOAD,
    INVALID_SEQUENCE,
    INVALID_TOKEN,
    SESSION_UNAVAILABLE,
    Close,
)
from chat.registries.opcodes import Opcode
from tests.protocol.dialogue import ATTACHED, OPEN, Dialogue, a_resume, an_identify, presence, resume_d

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
