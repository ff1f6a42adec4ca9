"""The protocol machine in dialogues: commands that come while a session starts.

Area: protocol. Rules: 000.resume, 000.states.
"""

from __future__ import annotations

import pytest

from chat.protocol.machine import (
    Faulted,
    ResumeAccepted,
    ResumeUnknown,
    SessionStarted,
    StartPostponed,
)
from chat.protocol.transitions import (
    BeginResume,
    BeginStart,
    CloseSocket,
    DetachSession,
    HoldIdentify,
    Replay,
    RetainSession,
    SendHeartbeatAck,
    SendInvalidSession,
    State,
)
from chat.registries.close_codes import (
    ALREADY_AUTHENTICATED,
    INVALID_RESUME_PAYLOAD,
    NOT_AUTHENTICATED,
    PAYLOAD_TOO_LARGE,
    RATE_LIMITED,
    UNKNOWN_OPCODE,
)
from chat.registries.opcodes import Opcode
from tests.protocol.dialogue import Dialogue, a_resume, an_identify, presence


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
