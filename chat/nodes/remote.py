"""At a node: what its sockets use in place of a server's own starts and commands. It asks the core for everything."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Final

import attrs
import orjson
import trio

from chat.auth.tokens import TokenDigest
from chat.classes import define, frozen
from chat.gateway.admission import NodeState
from chat.gateway.numbering import Numbering
from chat.gateway.parts import Elsewhere, ResumeFailure, StartFailure, judged
from chat.gateway.session import BeginSession, GatewaySession, MakeSession
from chat.gateway.session_table import RETENTION_SECONDS, SessionTable
from chat.nodes.messages import (
    WITHHELD,
    AskIdentify,
    AskResume,
    Attached,
    Command,
    Detached,
    Gone,
    NodeMessage,
    Refused,
    ResumeDone,
)
from chat.nodes.relay import HeldNumbering
from chat.protocol import machine
from chat.protocol.commands import Identify, Resume, SessionCommand
from chat.protocol.presence import parse_presence_update
from chat.registries import close_codes
from chat.registries.close_codes import UNKNOWN_OPCODE, Close
from chat.registries.opcodes import Opcode

START_SECONDS: Final = 15.0
"""How long an Identify waits for the core's answer; then it is held, as if the core were away."""

RESUME_SECONDS: Final = 10.0
"""How long a Resume waits: longer than it takes to notice that a node has died."""

PASSED_ON: Final = frozenset(
    {
        Opcode.PRESENCE_UPDATE,
        Opcode.VOICE_STATE_UPDATE,
        Opcode.VOICE_SIGNAL,
        Opcode.REQUEST_GUILD_MEMBERS,
        Opcode.LAZY_REQUEST,
        Opcode.REQUEST_GUILD_COUNTS,
        Opcode.REQUEST_CHANNEL_MEMBER_COUNTS,
        Opcode.REQUEST_FORUM_UNREADS,
    }
)
"""Opcodes that the core carries out."""

UNAVAILABLE: Final = machine.ResumeRefused(close_codes.SESSION_UNAVAILABLE)

Outcome = GatewaySession | machine.Input


class ReportingTable(SessionTable):
    """The sessions of a node, also by slot. The core keeps their deadlines, so this table reports to it when a socket
    takes or loses a session."""

    def __init__(self, say: Callable[[NodeMessage], object]) -> None:
        super().__init__()
        self._say = say
        self._slots: dict[GatewaySession, int] = {}
        self.by_slot: dict[int, GatewaySession] = {}
        self.on_end.append(_tell_socket)

    def seat(self, session: GatewaySession, slot: int) -> None:
        """Add a session that lives here from now on."""
        self._slots[session], self.by_slot[slot] = slot, session
        self.add(session)

    def slot_of(self, session: GatewaySession) -> int | None:
        """The session's slot; None if it no longer lives here."""
        return self._slots.get(session)

    def end(self, session: GatewaySession) -> None:
        slot = self._slots.pop(session, None)
        if slot is not None:  # of no use here: its client does not know it
            del self.by_slot[slot]
            self._say(Gone(slot))
        super().end(session)

    def release(self, slot: int) -> GatewaySession | None:
        """The session moves away, or has ended: remove it, and tell its socket that it is over."""
        session = self.by_slot.pop(slot, None)
        if session is not None:
            del self._slots[session]
            self.end(session)
        return session

    def detach(self, session: GatewaySession, retention_seconds: float = RETENTION_SECONDS) -> None:
        session.receiver = None
        slot = self._slots.get(session)
        if slot is None:
            return
        self.resting.add(session)
        self._say(Detached(slot))

    def attach(self, session: GatewaySession) -> None:
        self.resting.remove(session)
        slot = self._slots.get(session)
        if slot is not None:
            self._say(Attached(slot, session.address))


def _tell_socket(session: GatewaySession) -> None:
    if session.receiver is not None:
        session.receiver.session_ended()


@define(eq=False)
class _Waiting:
    """A socket that waits for the core's answer."""

    begin: BeginSession | None = None
    """Called at once with a new session: sessions are numbered in the order of the log."""
    answer: trio.Event = attrs.field(factory=trio.Event)
    outcome: Outcome | None = None
    error: Exception | None = None
    """What `begin` raised; the socket's own task raises it again."""

    def give(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.answer.set()
        if self.begin is not None and isinstance(outcome, GatewaySession):
            try:
                self.begin(outcome)
            except Exception as error:  # noqa: BLE001 - raised again to those who wait for the outcome
                self.error = error


@define(eq=False)
class RemoteStarts:
    """Asks the core for sessions. `is_up` is whether it can be asked, `sends_digests` whether it knows tokens by their
    digests."""

    _say: Callable[[NodeMessage], object]
    _table: ReportingTable
    _node: NodeState
    is_up: bool = attrs.field(default=False, init=False)
    sends_digests: bool = attrs.field(default=True, init=False)
    _waiting: dict[int, _Waiting] = attrs.field(factory=dict, init=False)
    _requests: Iterator[int] = attrs.field(factory=lambda: itertools.count(1), init=False)

    # What sockets ask

    async def start(
        self,
        identify: Identify,
        address: str,
        make: MakeSession,
        begin: BeginSession,
        *,
        retried: bool,
        mount: str = "",
        host: str | None = None,
    ) -> StartFailure | None:
        """Have the core create the session that an Identify asks for; `host` is what the upgrade named."""
        if not self.is_up or self._node.holds_every_identify:
            return machine.StartPostponed()
        request = next(self._requests)
        d, credential = identify.d, None
        if self.sends_digests:
            d, credential = {**d, "token": WITHHELD}, TokenDigest.of(identify.token)
        ask = AskIdentify(request, address, retried, (orjson.dumps(d),), mount, host, credential)
        outcome = await self._asked(request, ask, START_SECONDS, begin)
        if isinstance(outcome, GatewaySession):
            return None
        refusals = machine.StartRefused | machine.StartDiscarded
        return outcome if isinstance(outcome, refusals) else machine.StartPostponed()

    def find(self, resume: Resume, address: str, mount: str) -> Elsewhere:
        """The session that a Resume names, to be fetched from wherever it is."""

        async def fetch() -> GatewaySession | ResumeFailure:
            if not self.is_up or self._node.draining:
                return UNAVAILABLE
            request = next(self._requests)
            token, credential = resume.token, None
            if self.sends_digests:
                token, credential = "", TokenDigest.of(resume.token)
            ask = AskResume(request, address, token, resume.session_id, resume.seq, mount, credential)
            outcome = await self._asked(request, ask, RESUME_SECONDS)
            if isinstance(outcome, GatewaySession):
                # Its numbers can have gone on since it was judged elsewhere.
                return machine.ResumeUnknown() if outcome.ended else judged(outcome, resume.seq)
            return outcome if isinstance(outcome, machine.ResumeRefused | machine.ResumeUnknown) else UNAVAILABLE

        return Elsewhere(fetch)

    async def introduce_guilds(self, session: GatewaySession) -> None:
        """Does nothing: the core does it."""

    async def _asked(
        self, request: int, ask: NodeMessage, seconds: float, begin: BeginSession | None = None
    ) -> Outcome | None:
        waiting = self._waiting[request] = _Waiting(begin)
        try:
            self._say(ask)
            with trio.move_on_after(seconds):
                await waiting.answer.wait()
            if waiting.error is not None:
                raise waiting.error
            return waiting.outcome
        finally:
            del self._waiting[request]

    # What the core answers

    def awaits(self, request: int) -> bool:
        """Whether a socket still waits for this answer."""
        return request in self._waiting

    def answered(self, request: int, session: GatewaySession) -> None:
        """Hand the session to the socket that waits for it."""
        waiting = self._waiting.get(request)
        if waiting is not None:
            waiting.give(session)

    def refused(self, refused: Refused) -> None:
        """Tell the socket that waits that there is no session."""
        waiting = self._waiting.get(refused.request)
        if waiting is not None:
            waiting.give(outcome_of(refused))

    def fail(self) -> None:
        """The core cannot be asked any more: hold Identifies, and fail Resumes for now."""
        self.is_up = False
        for waiting in self._waiting.values():
            waiting.give(machine.StartPostponed())


OUTCOMES: Final[dict[str, type[machine.Input]]] = {
    kind.__name__: kind
    for kind in (
        machine.StartPostponed,
        machine.StartDiscarded,
        machine.StartRefused,
        machine.ResumeUnknown,
        machine.ResumeRefused,
    )
}


def refusal(request: int, outcome: machine.Input) -> Refused:
    """The message by which a node is told why there is no session."""
    close = getattr(outcome, "close", None)
    if isinstance(close, Close):
        return Refused(request, type(outcome).__name__, close.code, close.reason)
    return Refused(request, type(outcome).__name__)


def outcome_of(refused: Refused) -> machine.Input:
    """What the machine is told of that message."""
    kind = OUTCOMES.get(refused.outcome, machine.StartPostponed)
    if issubclass(kind, machine.StartRefused | machine.ResumeRefused):
        return kind(Close(refused.code, refused.reason))
    return kind()


@define(eq=False)
class RemoteCommands:
    """Passes commands on to the core. Whatever closes the socket is judged here, in the order of the client's
    payloads."""

    _say: Callable[[NodeMessage], object]
    _table: ReportingTable

    def handle(self, session: GatewaySession, command: SessionCommand) -> Close | None:
        """Pass a command on; returns how it closes the socket."""
        if command.opcode not in PASSED_ON:
            return UNKNOWN_OPCODE
        if command.opcode is Opcode.PRESENCE_UPDATE:
            update = parse_presence_update(command.d)
            if isinstance(update, Close):
                return update
        if command.opcode is Opcode.REQUEST_FORUM_UNREADS and (not session.threads or type(command.d) is not dict):
            return UNKNOWN_OPCODE
        slot = self._table.slot_of(session)
        if slot is not None:
            self._say(Command(slot, command.opcode, (orjson.dumps(command.d),)))
        return None

    def socket_closed(self, session: GatewaySession) -> None:
        """Does nothing: the session table tells the core."""

    def session_resumed(self, session: GatewaySession) -> None:
        """A socket took the session up again."""
        slot = self._table.slot_of(session)
        if slot is not None:
            self._say(ResumeDone(slot))


@frozen(eq=False)
class _ArrivingSeat:
    held: HeldNumbering
    request: int
    settled: trio.Event = attrs.field(factory=trio.Event)


@define(eq=False)
class Seats:
    """Sessions whose numbering is on its way to this node, with the Resume for which each moves."""

    _say: Callable[[NodeMessage], object]
    _table: ReportingTable
    _starts: RemoteStarts
    _held: dict[GatewaySession, _ArrivingSeat] = attrs.field(factory=dict, init=False)

    def take(self, session: GatewaySession, slot: int, request: int) -> None:
        """Add a session whose events come from now on, and wait for its numbering."""
        seat = self._held[session] = _ArrivingSeat(HeldNumbering(), request)
        session.starting = None
        session.replace_numbering(seat.held)
        self._table.seat(session, slot)

    def forget(self, session: GatewaySession) -> None:
        """Drop a session that ended before its numbering arrived."""
        seat = self._held.pop(session, None)
        if seat is not None:
            seat.settled.set()
            self._starts.refused(Refused(seat.request, machine.ResumeUnknown.__name__))

    def arrived(self, session: GatewaySession, numbering: Numbering) -> None:
        """Give a session the numbering that has arrived."""
        seat = self._held.pop(session, None)
        if seat is None:
            return
        seat.held.give_to(session, numbering)
        self._table.resting.add(session)
        seat.settled.set()
        self._starts.answered(seat.request, session)

    async def settled(self, session: GatewaySession | None) -> GatewaySession | None:
        """Wait until the session has its numbering; None if it has ended by then."""
        seat = None if session is None else self._held.get(session)
        if seat is not None:
            await seat.settled.wait()
        gone = session is None or session.starting is not None or self._table.slot_of(session) is None
        return None if gone else session

    def lost(self, session: GatewaySession) -> None:
        """Drop a session whose numbering is lost."""
        slot = self._table.slot_of(session)
        self.forget(session)
        if slot is not None:
            self._say(Gone(slot))
            self._table.release(slot)
