"""Dialogues with the protocol machine: what happens to a connection, and what it wants done, in the order of telling.

    dialogue = Dialogue.unauthenticated()
    dialogue.client_heartbeats(7)
    dialogue.server_does(SendHeartbeatAck())
    dialogue.state_is(State.UNAUTHENTICATED)

Nothing is overheard: a happening that comes while effects of the one before are not yet told fails the test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chat.protocol.commands import Identify, Resume, SessionCommand, parse_identify, parse_resume
from chat.protocol.machine import (
    DeadlineReached,
    Input,
    Machine,
    Opened,
    Received,
    ReplayFinished,
    ResumeAccepted,
    SessionStarted,
)
from chat.protocol.payload import Payload
from chat.protocol.transitions import (
    BeginResume,
    BeginStart,
    CloseSocket,
    Effect,
    Process,
    Replay,
    RetainSession,
    SendHello,
    SendResumed,
    State,
)
from chat.registries.close_codes import Close
from chat.registries.limits import HEARTBEAT_INTERVAL_MS
from chat.registries.opcodes import Opcode

ATTACHED = (State.REPLAYING, State.READY)
OPEN = (State.UNAUTHENTICATED, State.STARTING, *ATTACHED)

TOKEN = "token"
PROPERTIES = {"os": "linux", "browser": "test", "device": "test"}


def identify_d(token: str = TOKEN, **members: Any) -> dict[str, Any]:
    """The `d` of a good Identify, with members to spoil it."""
    return {"token": token, "properties": PROPERTIES, **members}


def resume_d(session_id: str = "s1", seq: int = 3, token: str = TOKEN) -> dict[str, Any]:
    """The `d` of a good Resume."""
    return {"token": token, "session_id": session_id, "seq": seq}


def an_identify(token: str = TOKEN) -> Identify:
    """What the machine makes of `identify_d`."""
    identify = parse_identify(identify_d(token))
    assert isinstance(identify, Identify)
    return identify


def a_resume(session_id: str = "s1", seq: int = 3) -> Resume:
    """What the machine makes of `resume_d`."""
    resume = parse_resume(resume_d(session_id, seq))
    assert isinstance(resume, Resume)
    return resume


def presence(status: str = "idle") -> Process:
    """The processing of a Presence Update."""
    return Process(SessionCommand(Opcode.PRESENCE_UPDATE, {"status": status}))


def told_by(machine: Machine, event: Input, now: float) -> list[Effect]:
    """What an event comes to, with the commands that it lets go on."""
    effects = machine.handle(event, now)
    while waited := machine.handle_waiting(now):
        effects += waited
    return effects


class Dialogue:
    """One connection; its time starts at some odd moment and stands still unless `time_passes`."""

    def __init__(self, heartbeat_interval_ms: int = HEARTBEAT_INTERVAL_MS) -> None:
        self._now_ms = 1_234_567
        self.machine = Machine(heartbeat_interval_ms, self.now)
        self._untold: list[Effect] = []

    @property
    def now(self) -> float:
        """The moment, in seconds."""
        return self._now_ms / 1000

    # How it gets there

    @classmethod
    def unauthenticated(cls) -> Dialogue:
        """A connection that has read Hello."""
        dialogue = cls()
        dialogue.opens()
        dialogue.server_does(SendHello())
        return dialogue

    @classmethod
    def starting(cls) -> Dialogue:
        """A connection whose Identify is on its way."""
        dialogue = cls.unauthenticated()
        dialogue.client_identifies()
        dialogue.server_does(BeginStart(an_identify()))
        return dialogue

    @classmethod
    def resuming(cls) -> Dialogue:
        """A connection whose Resume is on its way."""
        dialogue = cls.unauthenticated()
        dialogue.client_resumes()
        dialogue.server_does(BeginResume(a_resume()))
        return dialogue

    @classmethod
    def replaying(cls) -> Dialogue:
        """A connection that a Resume attached to its session."""
        dialogue = cls.resuming()
        dialogue.happens(ResumeAccepted())
        dialogue.server_does(Replay())
        return dialogue

    @classmethod
    def ready(cls) -> Dialogue:
        """A connection whose session Identify made."""
        dialogue = cls.starting()
        dialogue.happens(SessionStarted())
        dialogue.server_does()
        return dialogue

    @classmethod
    def resumed(cls) -> Dialogue:
        """A connection that is Ready after a Resume."""
        dialogue = cls.replaying()
        dialogue.happens(ReplayFinished())
        dialogue.server_does(SendResumed())
        return dialogue

    @classmethod
    def closed(cls) -> Dialogue:
        """A connection that is over."""
        dialogue = cls.unauthenticated()
        dialogue.client_sends(Opcode.PRESENCE_UPDATE, {})
        dialogue.hear()
        return dialogue

    @classmethod
    def in_state(cls, state: State) -> Dialogue:
        """A connection in that state."""
        stories: dict[State, Callable[[], Dialogue]] = {
            State.OPENING: cls,
            State.UNAUTHENTICATED: cls.unauthenticated,
            State.STARTING: cls.starting,
            State.REPLAYING: cls.replaying,
            State.READY: cls.ready,
            State.CLOSED: cls.closed,
        }
        dialogue = stories[state]()
        dialogue.state_is(state)
        return dialogue

    # What happens

    def happens(self, *events: Input) -> None:
        """The runtime tells the machine, once for each event."""
        for event in events:
            assert not self._untold, f"nobody told about {self._untold} before {event}"
            self._untold = told_by(self.machine, event, self.now)

    def opens(self, *, version: bool = True, capacity: bool = True, compression: bool = True) -> None:
        """The WebSocket is accepted."""
        self.happens(Opened(version, capacity, compression))

    def client_sends(self, op: int, d: Any) -> None:
        """A payload with `d` arrives."""
        self.happens(Received(Payload(op, True, d)))

    def client_omits_d(self, op: int) -> None:
        """A payload without `d` arrives."""
        self.happens(Received(Payload(op, False, None)))

    def client_heartbeats(self, d: Any = None) -> None:
        """Opcode 1."""
        self.client_sends(Opcode.HEARTBEAT, d)

    def client_identifies(self, token: str = TOKEN, **members: Any) -> None:
        """Opcode 2."""
        self.client_sends(Opcode.IDENTIFY, identify_d(token, **members))

    def client_resumes(self, session_id: str = "s1", seq: int = 3) -> None:
        """Opcode 6."""
        self.client_sends(Opcode.RESUME, resume_d(session_id, seq))

    def time_passes(self, milliseconds: int) -> None:
        """The machine is woken at each of its deadlines on the way; what it does then must be told."""
        target = self._now_ms + milliseconds
        while (deadline := self.machine.next_deadline()) is not None and deadline <= target / 1000 + 1e-9:
            self._now_ms = max(self._now_ms, round(deadline * 1000))
            self._untold += told_by(self.machine, DeadlineReached(), max(deadline, self.now))
            assert self.machine.next_deadline() != deadline, "a deadline that is handled must be over"
        self._now_ms = target

    # What it wants done

    def hear(self) -> list[Effect]:
        """The effects not yet told."""
        effects, self._untold = self._untold, []
        return effects

    def server_does(self, *effects: Effect) -> None:
        """Exactly this follows, in this order."""
        assert self.hear() == list(effects)

    def server_closes(self, close: Close) -> None:
        """The socket closes; nobody had a session."""
        self.server_does(CloseSocket(close))
        self.state_is(State.CLOSED)

    def server_closes_and_retains(self, close: Close) -> None:
        """The socket closes and its session waits for a Resume."""
        self.server_does(CloseSocket(close), RetainSession())
        self.state_is(State.CLOSED)

    def state_is(self, state: State) -> None:
        """Where the connection stands now."""
        assert self.machine.state is state
