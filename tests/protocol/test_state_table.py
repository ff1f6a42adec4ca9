"""Every row of the documents' state table, and the rulings beside it, told to the machine (states.json).

Area: protocol. Rules: 000.close-codes, 000.framing, 000.states.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from chat.protocol.commands import parse_connection_query
from chat.protocol.machine import (
    CommandBudgetExceeded,
    Displaced,
    DrainRequested,
    Faulted,
    ProcessEnding,
    ReplayFinished,
    ResumeAccepted,
    ResumeRefused,
    ResumeUnknown,
    SequenceAccepted,
    SequenceRefused,
    SessionEnded,
    SessionStarted,
    StartDiscarded,
    StartPostponed,
    StartRefused,
    TransportEnded,
)
from chat.protocol.payload import decode_payload
from chat.protocol.presence import parse_presence_update
from chat.protocol.transitions import (
    TRANSITIONS,
    BeginResume,
    BeginStart,
    CloseSocket,
    ConfirmSequence,
    DetachSession,
    DropHeldIdentify,
    Effect,
    HoldIdentify,
    Kind,
    Process,
    Replay,
    RetainSession,
    SendHeartbeatAck,
    SendHello,
    SendInvalidSession,
    SendReconnect,
    SendResumed,
    State,
)
from chat.registries import close_codes
from chat.registries.close_codes import Close
from chat.registries.opcodes import Opcode
from tests.protocol.dialogue import ATTACHED, Dialogue, an_identify
from tests.spec.ledger import proves

ROWS: Final = json.loads(
    (Path(__file__).parents[2] / "spec_fixtures" / "gateway" / "states.json").read_text(encoding="utf-8")
)

Story = Callable[[Dialogue], None]


def _opens(query: str, *, capacity: bool = True) -> Story:
    def tell(dialogue: Dialogue) -> None:
        dialogue.opens(version=parse_connection_query(query).version_accepted, capacity=capacity)

    return tell


def _sends(op: int, d: Any) -> Story:
    return lambda dialogue: dialogue.client_sends(op, d)


def _omits_d(op: int) -> Story:
    return lambda dialogue: dialogue.client_omits_d(op)


def _refused_start(close: Close) -> Story:
    return lambda dialogue: dialogue.happens(StartRefused(close))


def _faulted(close: Close) -> Story:
    return lambda dialogue: dialogue.happens(Faulted(close))


def _receives(data: bytes) -> Story:
    def tell(dialogue: Dialogue) -> None:
        refusal = decode_payload(data)
        assert isinstance(refusal, Close)
        dialogue.happens(Faulted(refusal))

    return tell


def _identify_is_held(dialogue: Dialogue) -> None:
    dialogue.client_identifies()
    dialogue.server_does(BeginStart(an_identify()))
    dialogue.happens(StartPostponed())


def _identify_is_discarded(dialogue: Dialogue) -> None:
    dialogue.client_identifies()
    dialogue.server_does(BeginStart(an_identify()))
    dialogue.happens(StartDiscarded())


def _identify_replaces_held(dialogue: Dialogue) -> None:
    dialogue.client_identifies("first")
    dialogue.server_does(BeginStart(an_identify("first")))
    dialogue.happens(StartPostponed())
    dialogue.server_does(HoldIdentify(an_identify("first")))
    _identify_is_held(dialogue)


def _resume_cancels_held(dialogue: Dialogue) -> None:
    _identify_is_held(dialogue)
    dialogue.server_does(HoldIdentify(an_identify()))
    dialogue.client_resumes()


def _sequence(answer: SequenceAccepted | SequenceRefused) -> Story:
    def tell(dialogue: Dialogue) -> None:
        dialogue.client_heartbeats(5)
        dialogue.server_does(ConfirmSequence(5))
        dialogue.happens(answer)

    return tell


def _sequence_unconfirmed(dialogue: Dialogue) -> None:
    dialogue.client_heartbeats(5)
    dialogue.server_does(ConfirmSequence(5))
    dialogue.time_passes(4_999)
    dialogue.server_does()
    dialogue.time_passes(1)


def _silence(dialogue: Dialogue) -> None:
    dialogue.time_passes(45_000)
    dialogue.hear()
    dialogue.time_passes(1)


def _sixty_five_commands(dialogue: Dialogue) -> None:
    for _ in range(64):
        dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})
        dialogue.server_does()
    dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "idle"})


def _malformed_presence(dialogue: Dialogue) -> None:
    dialogue.client_sends(Opcode.PRESENCE_UPDATE, {"status": "asleep"})
    [process] = dialogue.hear()
    assert isinstance(process, Process)
    refusal = parse_presence_update(process.command.d)
    assert isinstance(refusal, Close)
    dialogue.happens(Faulted(refusal))


STORIES: Final[dict[str, Story]] = {
    "websocket_accepted": _opens("v=1"),
    "version_absent": _opens("encoding=json"),
    "version_other": _opens("v=2"),
    "address_holds_256_connections": _opens("v=1", capacity=False),
    "identify": lambda dialogue: dialogue.client_identifies(),
    "identify_while_draining": _identify_is_held,
    "identify_while_at_capacity": _identify_is_held,
    "identify_while_starts_paused": _identify_is_held,
    "identify_while_outside_rollout": _identify_is_held,
    "identify_while_one_is_held": _identify_replaces_held,
    "identify_beyond_budget": _identify_is_discarded,
    "identify_malformed": _sends(Opcode.IDENTIFY, {}),
    "identify_without_d": _omits_d(Opcode.IDENTIFY),
    "resume": lambda dialogue: dialogue.client_resumes(),
    "resume_while_identify_is_held": _resume_cancels_held,
    "resume_malformed": _sends(Opcode.RESUME, {"token": "t", "session_id": "s", "seq": "3"}),
    "resume_without_d": _omits_d(Opcode.RESUME),
    "other_command": _sends(Opcode.LAZY_REQUEST, {}),
    "session_command": _sends(Opcode.PRESENCE_UPDATE, {"status": "idle"}),
    "command_without_d": _omits_d(Opcode.PRESENCE_UPDATE),
    "command_65_waiting": _sixty_five_commands,
    "command_beyond_budget": lambda dialogue: dialogue.happens(CommandBudgetExceeded()),
    "undefined_opcode": _sends(99, {}),
    "server_opcode": _sends(Opcode.HELLO, {}),
    "presence_malformed": _malformed_presence,
    "session_created": lambda dialogue: dialogue.happens(SessionStarted()),
    "creation_failed_invalid_token": _refused_start(close_codes.INVALID_TOKEN),
    "creation_failed_invalid_shard": _refused_start(close_codes.INVALID_SHARD),
    "creation_failed_sharding_required": _refused_start(close_codes.SHARDING_REQUIRED),
    "creation_failed_too_many_sessions": _refused_start(close_codes.TOO_MANY_SESSIONS),
    "creation_failed_unclassified": _refused_start(close_codes.FAILED_TO_START_SESSION),
    "creation_postponed_draining": lambda dialogue: dialogue.happens(StartPostponed()),
    "creation_postponed_at_capacity": lambda dialogue: dialogue.happens(StartPostponed()),
    "creation_postponed_rpc_failure": lambda dialogue: dialogue.happens(StartPostponed()),
    "creation_postponed_timeout": lambda dialogue: dialogue.happens(StartPostponed()),
    "creation_postponed_outside_rollout": lambda dialogue: dialogue.happens(StartPostponed()),
    "resume_accepted": lambda dialogue: dialogue.happens(ResumeAccepted()),
    "resume_unknown_session": lambda dialogue: dialogue.happens(ResumeUnknown()),
    "resume_expired_session": lambda dialogue: dialogue.happens(ResumeUnknown()),
    "resume_below_replay_floor": lambda dialogue: dialogue.happens(ResumeUnknown()),
    "resume_outside_bounds": lambda dialogue: dialogue.happens(ResumeRefused(close_codes.INVALID_SEQUENCE)),
    "resume_token_of_another": lambda dialogue: dialogue.happens(ResumeRefused(close_codes.INVALID_TOKEN)),
    "resume_session_unreachable": lambda dialogue: dialogue.happens(ResumeRefused(close_codes.SESSION_UNAVAILABLE)),
    "replay_finished": lambda dialogue: dialogue.happens(ReplayFinished()),
    "session_ended": lambda dialogue: dialogue.happens(SessionEnded()),
    "credential_revoked": lambda dialogue: dialogue.happens(SessionEnded()),
    "node_drains": lambda dialogue: dialogue.happens(DrainRequested()),
    "session_transferred": lambda dialogue: dialogue.happens(DrainRequested()),
    "session_resumed_elsewhere": lambda dialogue: dialogue.happens(Displaced()),
    "process_ends": lambda dialogue: dialogue.happens(ProcessEnding()),
    "heartbeat_without_session": lambda dialogue: dialogue.client_heartbeats("anything"),
    "heartbeat_null": lambda dialogue: dialogue.client_heartbeats(None),
    "heartbeat_accepted_sequence": _sequence(SequenceAccepted()),
    "heartbeat_refused_sequence": _sequence(SequenceRefused()),
    "heartbeat_unconfirmed_after_5000_ms": _sequence_unconfirmed,
    "more_than_45000_ms_since_acknowledgement": _silence,
    "frame_too_large": _receives(b" " * 16_385),
    "frame_not_decompressible": _faulted(close_codes.DECOMPRESSION_FAILED),
    "frame_not_decodable": _receives(b"[]"),
    "frame_without_op": _receives(b"{}"),
    "outbox_full": _faulted(close_codes.OUTBOX_FULL),
    "transport_ended": lambda dialogue: dialogue.happens(TransportEnded()),
}

EFFECTS: Final[dict[str, list[type[Effect]]]] = {
    "send_hello": [SendHello],
    "create_session": [BeginStart],
    "hold_identify": [HoldIdentify],
    "replace_held_identify": [HoldIdentify],
    "discard": [],
    "nothing": [],
    "wait_for_start": [],
    "send_ready": [],  # the runtime numbers and sends it, then says SessionStarted
    "find_session": [BeginResume],
    "replay": [Replay],
    "send_resumed": [SendResumed],
    "send_invalid_session": [SendInvalidSession],
    "send_reconnect": [SendReconnect, CloseSocket],
    "send_heartbeat_ack": [SendHeartbeatAck],
    "process": [Process],
    "close": [CloseSocket],
    "close_retaining_session": [CloseSocket],
    "retain_session": [],
}
"""What an action of the fixture is made of; whether the session is retained follows from the state."""


def _expected(row: dict[str, Any], state: State, next_state: State) -> list[type[Effect]]:
    expected = list(EFFECTS[row["action"]])
    if row["action"] == "find_session" and state in ATTACHED:
        expected.insert(0, DetachSession)
    if row["event"] == "resume_while_identify_is_held":
        expected.insert(0, DropHeldIdentify)
    if state in ATTACHED and next_state is State.CLOSED and row["event"] != "session_resumed_elsewhere":
        expected.append(RetainSession)
    return expected


RULES: Final = {
    "version_absent": "000.states.2",
    "version_other": "000.states.3",
    "other_command": "000.states.14",
    "creation_failed_invalid_token": "000.states.16",
    "creation_failed_unclassified": "000.states.17",
    "command_65_waiting": "000.states.35",
    "command_without_d": "000.framing.25",
    "identify_without_d": "000.framing.26",
    "resume_without_d": "000.framing.27",
}
"""The rules that rows of an event prove, whatever the state."""

RULES_IN_A_STATE: Final = {
    ("Replaying", "identify"): "000.states.22",
    ("Ready", "identify"): "000.states.23",
    ("Replaying", "heartbeat_null"): "000.states.32",
    ("Replaying", "heartbeat_accepted_sequence"): "000.states.32",
    ("Replaying", "undefined_opcode"): "000.states.38",
    ("Ready", "undefined_opcode"): "000.states.38",
    ("Unauthenticated", "undefined_opcode"): "000.states.39",
    ("Replaying", "server_opcode"): "000.states.40",
    ("Ready", "server_opcode"): "000.states.40",
    ("Unauthenticated", "server_opcode"): "000.states.41",
}


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_row_of_the_state_table(row: dict[str, Any]) -> None:
    state, next_state = State(row["state"]), State(row["next"])
    dialogue = Dialogue.in_state(state)
    STORIES[row["event"]](dialogue)
    effects = dialogue.hear()
    rules = {RULES.get(row["event"]), RULES_IN_A_STATE.get((row["state"], row["event"]))}
    closes = [effect.close for effect in effects if isinstance(effect, CloseSocket)]
    with proves(*(rule for rule in rules if rule)):
        dialogue.state_is(next_state)
        assert [type(effect) for effect in effects] == _expected(row, state, next_state)
    with proves("000.close-codes.1", *(rule for rule in rules if rule)):
        assert [[close.code, close.reason] for close in closes] == ([row["close"]] if row["close"] else [])


def test_every_story_is_told() -> None:
    assert {row["event"] for row in ROWS} == set(STORIES)
    assert {row["action"] for row in ROWS} == set(EFFECTS)


def test_the_table_is_total() -> None:
    assert set(TRANSITIONS) == {(state, kind) for state in State for kind in Kind}


def test_closed_is_terminal() -> None:
    assert {rule.next_state for (state, _), rule in TRANSITIONS.items() if state is State.CLOSED} == {State.CLOSED}


@pytest.mark.rule("000.states.36")
def test_each_way_out_of_an_attached_state_but_displacement_says_what_becomes_of_the_session() -> None:
    for (state, kind), rule in TRANSITIONS.items():
        if state in ATTACHED and rule.next_state not in ATTACHED:
            steps = [type(step) for step in rule.steps]
            kept = RetainSession in steps or DetachSession in steps
            assert kept is (kind not in (Kind.DISPLACED, Kind.SESSION_ENDED)), (state, kind)


def test_after_reconnect_the_socket_closes_with_the_drain_reason() -> None:
    for rule in TRANSITIONS.values():
        if SendReconnect() in rule.steps:
            following = rule.steps[rule.steps.index(SendReconnect()) + 1]
            assert following == CloseSocket(close_codes.DRAIN_REQUESTED)
            assert rule.next_state is State.CLOSED
