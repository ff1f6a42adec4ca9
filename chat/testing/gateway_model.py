"""What a session owes its client, as an onlooker knows it: the model beside `GatewayMachine` and the simulation.

The model sees what clients receive and what is posted, and holds the gateway to gateway.md, Sequences: numbers without
gaps outside a replay, nothing replayed at or below the acknowledged sequence, a replayed Dispatch the same as before,
every message that was acknowledged to its author delivered once, in order.
"""

from __future__ import annotations

import enum
import json
from collections import deque

import attrs

from chat.classes import define
from chat.development.answers import ShownSession
from chat.registries.close_codes import INVALID_SEQUENCE, INVALID_TOKEN, Close
from chat.registries.event_rules import EVENTS
from chat.registries.events import EventName
from chat.registries.limits import SESSION_RETENTION_MS
from chat.testing.gateway_client import ServerPayload

RETENTION_SECONDS = SESSION_RETENTION_MS / 1000


class ResumeOutcome(enum.Enum):
    """What may come of a Resume, besides a close."""

    RESUMED = "replay, then Resumed"
    INVALID_SESSION = "Invalid Session false; the socket stays"


@define(eq=False)
class ModelSession:
    """One session. Times are Trio's, in seconds."""

    id: str
    owner: str
    received: dict[int, tuple[str, str]] = attrs.field(factory=dict)
    """By sequence: the event's name and its `d` as text."""
    last: int = 0
    """The sequence of the Dispatch that arrived last, on any socket."""
    acknowledged: int = 0
    owed: deque[str] = attrs.field(factory=deque)
    """Ids of posted messages that have not arrived, oldest first."""
    attached: bool = True
    detached_at: float = 0.0
    ended: bool = False
    replaying_from: int | None = None
    is_whole: bool = True
    """Whether the client has never claimed to know a Dispatch that did not arrive."""

    def detach(self, now: float) -> None:
        if self.attached and not self.ended:
            self.attached = False
            self.detached_at = now
            self.replaying_from = None

    def attach(self, replaying_from: int) -> None:
        """A Resume from this sequence was accepted; naming one that did not arrive waives what is owed."""
        if replaying_from > max(self.received, default=0):
            self.is_whole = False
            self.owed.clear()
        self.attached = True
        self.replaying_from = self.last = replaying_from

    def end(self) -> None:
        self.ended = True
        self.attached = False

    def lives(self, now: float, margin: float = 0.0) -> bool | None:
        """Whether it lives; None when its time ends within `margin` seconds of now."""
        if self.ended or self.attached:
            return not self.ended
        left = self.detached_at + RETENTION_SECONDS - now
        return None if abs(left) <= margin else left > 0

    def judge_resume(self, owner: str, sequence: int, current: int, now: float) -> ResumeOutcome | Close:
        """What a Resume by `owner` brings about while the session's sequence is `current`."""
        if not self.lives(now):
            return ResumeOutcome.INVALID_SESSION
        if owner != self.owner:
            return INVALID_TOKEN
        if not self.acknowledged <= sequence <= current:
            return INVALID_SEQUENCE
        return ResumeOutcome.RESUMED

    # What arrives

    def take(self, payload: ServerPayload) -> None:
        """A Dispatch of this session has arrived. Raises AssertionError when it should not have, so or now."""
        sequence, name = payload.sequence, payload.name
        assert sequence is not None, "a Dispatch carries its sequence"
        assert name is not None, "a Dispatch carries its name"
        if name == EventName.RESUMED:
            self._finish_replay(sequence)
            return
        content = json.dumps(payload.data, sort_keys=True)
        if self.replaying_from is None:
            assert sequence == self.last + 1, f"{name} has sequence {sequence} after {self.last}"
        else:
            self._check_replayed(sequence, name, content)
        known = self.received.get(sequence)
        assert known is None or known == (name, content), f"sequence {sequence} was {known}, now {name} {content}"
        self.last = sequence
        if known is None:
            self.received[sequence] = (name, content)
            if name == EventName.MESSAGE_CREATE:
                self._settle(payload.data["id"])

    def _check_replayed(self, sequence: int, name: str, content: str) -> None:
        assert sequence > self.last, f"replayed {name} has sequence {sequence} after {self.last}"
        assert sequence > self.acknowledged, f"replayed {name} at or below the acknowledged {self.acknowledged}"
        skipped = [
            number
            for number in range(self.last + 1, sequence)
            if number in self.received and EVENTS[EventName(self.received[number][0])].retained
        ]
        assert not skipped, f"the replay skips retained Dispatches {skipped}"

    def _finish_replay(self, sequence: int) -> None:
        assert self.replaying_from is not None, "Resumed without a Resume"
        assert sequence >= self.last, f"Resumed carries {sequence}, below the {self.last} replayed before it"
        missing = [
            number
            for number, (name, _) in self.received.items()
            if self.last < number <= sequence and EVENTS[EventName(name)].retained
        ]
        assert not missing, f"the replay lacks retained Dispatches {missing}"
        self.last = sequence
        self.replaying_from = None
        assert not self.owed, f"messages {list(self.owed)} are missing after the replay"

    def _settle(self, message_id: str) -> None:
        if not self.is_whole and message_id not in self.owed:
            return  # waived once, and replayed all the same
        assert self.owed, f"message {message_id} was not owed to session {self.id}"
        assert self.owed[0] == message_id, f"message {message_id} came before {self.owed[0]}"
        self.owed.popleft()

    def acknowledge(self, sequence: int) -> None:
        """A Heartbeat with this sequence was acknowledged."""
        self.acknowledged = max(self.acknowledged, sequence)

    def retained(self) -> int:
        """How many Dispatches the server should retain, once everything has arrived."""
        return sum(
            EVENTS[EventName(name)].retained
            for sequence, (name, _) in self.received.items()
            if sequence > self.acknowledged
        )

    def check(self, shown: ShownSession) -> None:
        """Compare with an entry of GET /v1/_dev/sessions at a moment at which nothing is on its way."""
        assert shown["attached"] == self.attached, f"{self.id}: attached {shown['attached']}, not {self.attached}"
        assert shown["acknowledged"] == self.acknowledged
        assert shown["acknowledged"] <= shown["sequence"]
        if self.attached:
            assert shown["sequence"] == self.last, f"{self.id}: at {shown['sequence']}, its client at {self.last}"
            assert not self.is_whole or shown["retained_dispatches"] == self.retained()
