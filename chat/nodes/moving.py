"""At the core: a session moves to where its client resumes it, from a node that lives, from one that is dead, or from
or to the core's own gateway.

Its events go to the new place from one place of the log on; its numbering follows. In between they wait where they
arrive. One move of a session at a time.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Final

import attrs
import structlog
import trio

from chat.classes import define
from chat.gateway.gateway import Gateway
from chat.gateway.numbering import Numbering, ResumeVerdict
from chat.gateway.parts import Elsewhere, ResumeFailure, judged, verdict_on
from chat.gateway.session import GatewaySession
from chat.nodes.broker import Broker, BrokerUnavailable
from chat.nodes.messages import (
    Arrive,
    ArriveFromDead,
    Export,
    Judge,
    Judged,
    Position,
    ResumeHere,
    Seat,
    SessionFacts,
)
from chat.nodes.recovery import Lost, Remains, arrived, encode_state
from chat.nodes.relay import Line, NodeGone, Relay, RemotePlace
from chat.protocol import machine
from chat.registries import close_codes

ANSWER_SECONDS: Final = 5.0
"""How long a client waits for a node that does not answer and is not dead yet."""

MOVES_SECONDS: Final = 3.0
"""How long a core that ends waits for sessions that are moving."""

logger = structlog.get_logger(__name__)

UNAVAILABLE: Final = machine.ResumeRefused(close_codes.SESSION_UNAVAILABLE)


@define(eq=False)
class Moving:
    """Moves sessions to the process at which their clients resume them."""

    _gateway: Gateway
    _relay: Relay
    _broker: Broker
    _begin: Callable[..., None]
    """Starts a task that outlasts the socket that asked for it."""
    _turns: dict[GatewaySession, trio.Lock] = attrs.field(factory=dict, init=False)
    epoch: int = attrs.field(default=0, init=False)
    _none_moves: trio.Event = attrs.field(factory=trio.Event, init=False)
    _is_over: bool = attrs.field(default=False, init=False)
    _remains: dict[str, Remains] = attrs.field(factory=dict, init=False)
    _keys: Iterator[int] = attrs.field(factory=lambda: itertools.count(1), init=False)

    def elsewhere(self, session: GatewaySession, seq: int) -> Elsewhere | None:
        """How the core's own gateway fetches a session that lives at a node or is moving; None for a session that is
        here."""
        if session.place is None and session not in self._turns:
            return None
        return Elsewhere(functools.partial(self._home, session, seq))

    def let_go(self, session: GatewaySession) -> None:
        """The session has lost its socket, at whichever process that was."""
        if session.receiver is not None:
            self._gateway.commands.socket_closed(session)
            self._gateway.table.detach(session)

    async def to_node(self, session: GatewaySession, seq: int, line: Line, request: int) -> ResumeFailure | None:
        """Have a node answer the Resume of this session; returns the reason if it is refused at once."""
        async with self._turns.setdefault(session, trio.Lock()):
            try:
                return await self._move(session, seq, line, request)
            finally:
                self._leave_turn(session)

    async def _home(self, session: GatewaySession, seq: int) -> GatewaySession | ResumeFailure:
        sending, receiving = trio.open_memory_channel[ResumeFailure | None](1)
        self._begin(self._bring_home, session, seq, sending)
        try:
            failure = await receiving.receive()
        except trio.EndOfChannel:
            return UNAVAILABLE
        if failure is not None:
            return failure
        if session.ended:
            return machine.ResumeUnknown()
        # Another Resume can have had its turn meanwhile: this one is as good as displaced.
        return UNAVAILABLE if session.place is not None else judged(session, seq)

    async def _bring_home(
        self, session: GatewaySession, seq: int, answer: trio.MemorySendChannel[ResumeFailure | None]
    ) -> None:
        with answer:
            async with self._turns.setdefault(session, trio.Lock()):
                try:
                    answer.send_nowait(await self._move(session, seq, None, 0))
                finally:
                    self._leave_turn(session)

    def _leave_turn(self, session: GatewaySession) -> None:
        lock = self._turns.get(session)
        if lock is not None and not lock.statistics().tasks_waiting:
            del self._turns[session]
            if not self._turns:
                self._none_moves.set()

    async def finish(self) -> None:
        """Begin no more moves, and wait up to MOVES_SECONDS for those under way. A session that does not arrive in time
        ends."""
        self._is_over = True
        with trio.move_on_after(MOVES_SECONDS):
            while self._turns:
                self._none_moves = trio.Event()
                await self._none_moves.wait()
        for session in list(self._turns):
            self._gateway.table.end(session)

    async def _move(self, session: GatewaySession, seq: int, line: Line | None, request: int) -> ResumeFailure | None:
        if session.ended:
            return machine.ResumeUnknown()
        if self._is_over or (line is not None and line.is_dead):
            return UNAVAILABLE
        place = session.place
        if not isinstance(place, RemotePlace):
            return None if line is None else await self._from_home(session, seq, line, request)
        if place.line is line:
            line.send(ResumeHere(request, place.slot))
            return None
        if not place.line.is_dead:
            try:
                failure = await self._judged_by(place, seq)
            except NodeGone:
                failure = None
            if failure is not None:
                return failure
        if session.ended:
            return machine.ResumeUnknown()
        if session.place is not place or (line is not None and line.is_dead):
            return UNAVAILABLE
        return await self._from_node(session, seq, place, line, request)

    async def _judged_by(self, place: RemotePlace, seq: int) -> ResumeFailure | None:
        with trio.move_on_after(ANSWER_SECONDS):
            answer = await place.line.ask(lambda number: Judge(number, place.slot, seq))
            if isinstance(answer, Judged) and answer.verdict in ResumeVerdict.__members__:
                return verdict_on(ResumeVerdict[answer.verdict])
            return machine.ResumeUnknown()
        return UNAVAILABLE

    # From the core's own gateway

    async def _from_home(self, session: GatewaySession, seq: int, line: Line, request: int) -> ResumeFailure | None:
        found = judged(session, seq)
        if not isinstance(found, GatewaySession):
            return found
        if not line.has_room:
            return UNAVAILABLE
        if session.receiver is not None:
            session.receiver.displaced()
            self.let_go(session)
        self._gateway.table.resting.remove(session)
        key, state = self._new_key(), encode_state(Position(0, 0), {0: session.numbering})
        slot = self._seated(session, line, request)
        line.link.put(key, state)
        line.send(Arrive(slot, key))
        return None

    # From a node

    async def _from_node(
        self, session: GatewaySession, seq: int, place: RemotePlace, line: Line | None, request: int
    ) -> ResumeFailure | None:
        """Send the session's events to the new place from now on, and ask the node for its numbering."""
        if line is not None and not line.has_room:
            return UNAVAILABLE
        old, key = place.line, self._new_key()
        self.let_go(session)
        until = Position(old.link.epoch, old.link.number)
        held = self._relay.bring_home(session) if line is None else None
        slot = None if line is None else self._seated(session, line, request)
        is_there = False
        try:
            await self._exported_by(place, key)
            is_there = True
        except NodeGone:
            pass  # then from what it left
        finally:
            old.leave(place.slot)
        if line is not None and slot is not None:
            if line.at(slot) is not session:
                return None  # it has ended, and its slot may be another one's
            line.send(Arrive(slot, key) if is_there else ArriveFromDead(slot, old.id, place.slot, until, seq))
            return None
        try:
            numbering = await self._numbering(session, key if is_there else None, place, until, seq)
        except (Lost, BrokerUnavailable) as error:
            logger.info("a session cannot be taken over", reason=str(error))
            self._gateway.table.end(session)
            return machine.ResumeUnknown()
        if held is not None:
            held.give_to(session, numbering)
        return None

    async def _exported_by(self, place: RemotePlace, key: str) -> None:
        """Have the node put the numbering at the key. The call ends when the node answers or dies. Raises NodeGone."""
        await place.line.ask(lambda number: Export(number, place.slot, key))

    async def _numbering(
        self, session: GatewaySession, key: str | None, place: RemotePlace, until: Position, seq: int
    ) -> Numbering:
        if key is not None:
            return await arrived(self._broker, key)
        remains = self._remains.setdefault(place.line.id, Remains(self._broker, place.line.id))
        return await remains.numbering(place.slot, SessionFacts.of(session), until, seq)

    def forget(self, node: str) -> None:
        """Forget a node of which nothing is left."""
        self._remains.pop(node, None)

    def _seated(self, session: GatewaySession, line: Line, request: int) -> int:
        slot = line.seat(session)
        line.send(Seat(request, slot, SessionFacts.of(session)))
        self._relay.place(session, line, slot)
        return slot

    def _new_key(self) -> str:
        return f"session:{self.epoch}:{next(self._keys)}"
