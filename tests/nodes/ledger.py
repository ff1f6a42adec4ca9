"""What all sockets of a simulated cluster were sent, and what went over its broker.

The ledger looks at every payload as it arrives, also at sockets that their client has given up. It knows of a session
what no single socket knows: that a number means the same Dispatch everywhere, that a socket which lost the session
hears no more of it, and that a session which was revoked hears nothing that came later.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final

import attrs

from chat.nodes import messages as said
from chat.nodes.codec import decode
from chat.nodes.entries import StreamEntry, decode_entry
from chat.nodes.leases import CORE_STREAM
from chat.nodes.memory_broker import Engine
from chat.registries.events import EventName
from chat.registries.opcodes import Opcode
from chat.testing.conversation import FROM_SERVER, Conversation
from chat.testing.gateway_client import GatewayClient
from tests.simulation.history import History

MESSAGE: Final = "message "
"""How the content of a simulated message begins; the turn at which it was posted follows."""


@attrs.define(eq=False)
class Holder:
    """The socket on which a Resume was answered with Resumed last, and the sequence that it was told."""

    ear: Ear
    sequence: int


class Ledger:
    """Of all sessions. `history` notes what arrives; what must not be raises AssertionError where it arrives."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.revoked: dict[str, int] = {}
        """The turn after which a session that was revoked must hear of no message."""
        self.problems: list[str] = []
        self._said: dict[tuple[str, int], tuple[str, int]] = {}
        self._holders: dict[str, Holder] = {}
        self._turn = 0

    def heard(self, ear: Ear, payload: Mapping[str, Any]) -> None:
        """A Dispatch has arrived."""
        name, sequence, data = payload["t"], payload["s"], payload["d"]
        session = data["session_id"] if name == EventName.READY else ear.session_id
        content = zlib.crc32(json.dumps(data, sort_keys=True).encode())
        self.history.note(ear.who, f"{session[:4]} {sequence} {name} {content:08x}")
        if name in {EventName.READY, EventName.RESUMED}:
            ear.turn = self.next_turn()
        if name == EventName.RESUMED:
            self._holders[session] = Holder(ear, sequence)
            return
        known = self._said.setdefault((session, sequence), (name, content))
        if known != (name, content):
            self.wrong(f"{session} {sequence} was {known}, at {ear.who} it is {(name, content)}")
        holder = self._holders.get(session)
        if holder is not None and 0 < ear.turn < holder.ear.turn and sequence > holder.sequence:
            self.wrong(f"{session} {sequence} {name} at {ear.who}, resumed at {holder.ear.who} from {holder.sequence}")
        if name == EventName.MESSAGE_CREATE and session in self.revoked and data["content"].startswith(MESSAGE):
            turn = int(data["content"].removeprefix(MESSAGE))
            if turn > self.revoked[session]:
                self.wrong(f"{session} hears of {data['content']} after it was revoked")

    def next_turn(self) -> int:
        """Orders what arrives."""
        self._turn += 1
        return self._turn

    def wrong(self, problem: str) -> None:
        """Something happened that must not; `check` raises."""
        self.history.note("ledger", problem)
        self.problems.append(problem)

    def check(self) -> None:
        """Raises AssertionError for what arrived and must not have."""
        assert not self.problems, self.problems


class Ear(Conversation):
    """Hears one socket. `turn` orders those that were answered with Ready or Resumed; 0 for one that was not."""

    def __init__(self, ledger: Ledger, who: str) -> None:
        super().__init__()
        self.who = who
        self.client: GatewayClient | None = None
        self.turn = 0
        self.refused_at = 0
        """The turn at which its session was called invalid."""
        self._ledger = ledger

    @property
    def session_id(self) -> str:
        """The session that the client asked for."""
        assert self.client is not None
        assert self.client.session_id is not None
        return self.client.session_id

    def note(self, who: str, direction: str, *what: Any) -> None:
        payload = what[0]
        if direction != FROM_SERVER:
            return
        if isinstance(payload, str):
            self._ledger.history.note(self.who, payload)
        elif payload["op"] == Opcode.DISPATCH:
            self._ledger.heard(self, payload)
        elif payload["op"] not in {Opcode.HEARTBEAT, Opcode.HEARTBEAT_ACK}:
            if payload["op"] == Opcode.INVALID_SESSION:
                self.refused_at = self._ledger.next_turn()
            self._ledger.history.note(self.who, f"opcode {payload['op']}")


class TappedEngine(Engine):
    """A broker that is listened to: everything goes into a digest, and the history learns what was rare."""

    def __init__(self, chance: Random, history: History) -> None:
        super().__init__(chance, 0.0)
        self.given = hashlib.blake2b(digest_size=16)
        self.doom: dict[str, Callable[[str], None]] = {}
        """Called once when a message of this kind is said to a node, with the node's id."""
        self._history = history
        self._furthest: dict[tuple[str, str, int], int] = {}
        self._exports: dict[tuple[str, int], int] = {}

    def append(self, name: str, entries: Sequence[bytes], keep_seconds: float) -> None:
        self.given.update(name.encode())
        for data in entries:
            self.given.update(data)
        if name == CORE_STREAM or name.startswith("to:"):
            for data in entries:
                self._listen(name, decode_entry(data), "lost" if self.drop_appends else "")
        super().append(name, entries, keep_seconds)

    def put(self, values: Mapping[str, bytes], seconds: float) -> None:
        for name, value in values.items():
            self.given.update(name.encode() + value)
        super().put(values, seconds)

    def _listen(self, stream: str, entry: StreamEntry, fate: str) -> None:
        if entry.gap:
            self._history.reach("a gap is complained of")
        key = stream, entry.sender, entry.epoch
        furthest = self._furthest.get(key, 0)
        if entry.messages and entry.first <= furthest:
            self._history.reach("said again")
        self._furthest[key] = max(furthest, entry.first + len(entry.messages) - 1)
        kinds = list(self._kinds(stream.removeprefix("to:"), entry))
        if kinds or fate:
            way = f"{entry.sender[:4]}>" if stream == CORE_STREAM else f">{stream[3:7]}"
            self._history.note(way, f"{entry.first} {' '.join(kinds)} {fate}".rstrip())

    def _kinds(self, node: str, entry: StreamEntry) -> Iterator[str]:
        for written in entry.messages:
            kind = said.KINDS[written[0]]
            if kind in {said.Deliver, said.Figures, said.Payload}:
                continue
            message = decode(written)
            if kind.__name__ in self.doom:
                self.doom.pop(kind.__name__)(node)
            match message:
                case said.Judged(_, verdict) if verdict != "ACCEPTED":
                    self._history.reach("Judge refused")
                case said.Welcome(kept=kept) if kept:
                    self._history.reach("epoch change with kept sessions")
                case said.Export(question, slot):
                    self._exports[node, slot] = question
                case said.Exported(question):
                    for place in [place for place, asked in self._exports.items() if asked == question]:
                        if place[0] == entry.sender:
                            del self._exports[place]
                case said.ArriveFromDead(dead=dead, dead_slot=slot) if self._exports.pop((dead, slot), None):
                    self._history.reach("Export answered by a death")
                case _:
                    pass
            yield f"{kind.__name__}{_slot(message)}"


def _slot(message: said.NodeMessage | None) -> str:
    slot = getattr(message, "slot", None)
    return "" if slot is None else f"({slot})"
