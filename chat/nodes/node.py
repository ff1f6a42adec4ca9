"""A gateway node: sockets, sessions' numbers, replay and fan-out, around what the core says.

It runs the sockets and the fan-out of every server. What it reads from the core it takes in order, so the numbers of
its sessions are a fold of the log: another node can go on where this one stops (`chat.nodes.recovery`).
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

import attrs
import structlog
import trio

from chat import __version__
from chat.classes import define
from chat.gateway.admission import Admission, NodeState
from chat.gateway.connection import Connection
from chat.gateway.fanout import Fanout
from chat.gateway.numbering import Numbering
from chat.gateway.outbox import OutboxSum
from chat.gateway.parts import GatewayParts
from chat.gateway.session import GatewaySession
from chat.nodes import messages as said
from chat.nodes.answers import Answers
from chat.nodes.broker import Broker, BrokerUnavailable
from chat.nodes.codec import Malformed, decode, encode
from chat.nodes.entries import decode_entry
from chat.nodes.leases import CORE_LEASE, CORE_STREAM, LEASE_SECONDS, core_of, lease_of
from chat.nodes.link import KEEP_SECONDS, Link
from chat.nodes.messages import DIGESTS, PROTOCOL, NodeMessage, Position, SessionFacts
from chat.nodes.progress import Progress, has_numbers
from chat.nodes.recovery import (
    Lost,
    Remains,
    arrived,
    encode_state,
    rest_of,
    session_of,
    slot_numbers,
    to_node,
    waiting_events,
)
from chat.nodes.remote import RemoteCommands, RemoteStarts, ReportingTable, Seats
from chat.nodes.sockets import socket_of
from chat.port.transport import Transport
from chat.port.upgrade import UpgradeRequest
from chat.process_memory import resident_bytes
from chat.protocol import machine
from chat.protocol.frames import OutgoingEvent
from chat.registries.events import EventName
from chat.registries.limits import HEARTBEAT_INTERVAL_MS, OUTBOXES_BYTES
from chat.supervision import guarded, lasting

RENEW_SECONDS: Final = 0.75
FRESH_SECONDS: Final = 1.5
"""A node whose lease was last renewed longer ago than this renews it before it acts on anything that it has read."""

READ_SECONDS: Final = 1.0
RETRY_SECONDS: Final = 0.2
FIGURES_SECONDS: Final = 2.0
DRAIN_SECONDS: Final = 10.0
LEAVE_SECONDS: Final = 5.0
BEGUN_PER_TURN: Final = 16
"""Sessions that get their Ready before other tasks get a turn."""

AUDIENCES: Final = 64
"""For how many lists of slots the sessions are remembered."""

CONNECTIONS_PER_ADDRESS: Final = 200
"""The limit that applies until the core says another."""

T = TypeVar("T")

logger = structlog.get_logger(__name__)


class Fenced(Exception):
    """The core took this node for dead and took its lease away, or no longer receives its messages."""


@define(eq=False)
class Node:
    """One life of a node, under one name. `run` returns when it has drained, and raises Fenced."""

    _broker: Broker
    id: str
    _name: str
    _randint: Callable[[int, int], int]
    measure: Callable[[], tuple[float, int]] = lambda: (time.process_time(), resident_bytes() or 0)
    """CPU seconds and resident bytes of the process."""
    connections: dict[Connection, None] = attrs.field(factory=dict, init=False)
    state: NodeState = attrs.field(factory=NodeState, init=False)
    table: ReportingTable = attrs.field(init=False)
    outboxes: OutboxSum = attrs.field(factory=lambda: OutboxSum(OUTBOXES_BYTES), init=False)
    fanout: Fanout = attrs.field(init=False)
    starts: RemoteStarts = attrs.field(init=False)
    mounts: tuple[str, ...] = attrs.field(default=(), init=False)
    """The mounts that the core's gateway has."""
    on_welcome: Callable[[said.Welcome], bool] = attrs.field(default=lambda _: True, init=False)
    """Decides from a core's Welcome whether this node may serve that core."""
    _commands: RemoteCommands = attrs.field(init=False)
    _seats: Seats = attrs.field(init=False)
    _answers: Answers = attrs.field(init=False)
    _parts: GatewayParts | None = attrs.field(default=None, init=False)
    _link: Link | None = attrs.field(default=None, init=False)
    _heard_before: Position = attrs.field(default=Position(0, 0), init=False)  # in the core's last life
    _link_scope: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _nursery: trio.Nursery = attrs.field(init=False)
    _reading: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _read: trio.Event = attrs.field(factory=trio.Event, init=False)
    drain_asked: trio.Event = attrs.field(factory=trio.Event, init=False)
    _last_socket_gone: trio.Event = attrs.field(factory=trio.Event, init=False)
    _renewed_at: float = attrs.field(default=float("-inf"), init=False)
    _welcomed: bool = attrs.field(default=False, init=False)
    _progress: Progress = attrs.field(init=False)
    _audiences: dict[bytes, tuple[GatewaySession, ...]] = attrs.field(factory=dict, init=False)
    _remains: dict[str, Remains] = attrs.field(factory=dict, init=False)
    _handlers: dict[type[NodeMessage], Callable[[Any], None]] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.table = ReportingTable(self.say)
        self.fanout = Fanout(lambda: 0, self.table.resting)
        self._progress = Progress(self._broker, self.id, self.table, self.fanout)
        self.starts = RemoteStarts(self.say, self.table, self.state)
        self._commands = RemoteCommands(self.say, self.table)
        self._seats = Seats(self.say, self.table, self.starts)
        self._answers = Answers(self.say, self.table, self._seats, self._progress, self.connections)
        self._handlers = {
            said.Follows: self._follows,
            said.Welcome: self._welcome,
            said.Refused: self.starts.refused,
            said.Ended: self._end,
            said.Payload: self._send_payload,
            said.ResumeHere: self._of_session(self._resume_here),
            said.Judge: self._of_session(self._answers.judge),
            said.AskCounts: self._of_session(self._answers.tell_standing),
            said.Strike: self._answers.strike,
            said.Export: self._of_session(self._export),
            said.Seat: self._seat,
            said.Arrive: self._of_session(self._arrive),
            said.ArriveFromDead: self._of_session(self._arrive_from_dead),
            said.Drain: lambda _: self.drain_asked.set(),
            said.WhenDrained: self._of_session(self._answers.tell_when_drained),
        }

    def _of_session(self, task: Callable[..., Awaitable[None]]) -> Callable[[Any], None]:
        """Run a task about the session that is in the slot now; the slot may soon have another session."""
        return lambda message: self._begin(task, message, self.table.by_slot.get(message.slot))

    def say(self, message: NodeMessage) -> None:
        """Send a message to the core."""
        if self._link is not None:
            self._link.send(encode(message))

    @property
    def is_up(self) -> bool:
        """Whether broker and core can be reached."""
        return self.starts.is_up

    # Coming and going

    async def run(self) -> None:
        """Serve until drained. Raises Fenced (in a group)."""
        async with trio.open_nursery() as self._nursery:
            self._parts = GatewayParts(
                admission=Admission(
                    connections_per_address=CONNECTIONS_PER_ADDRESS, identify_budget=0, rate_limited=True
                ),
                node=self.state,
                table=self.table,
                starts=self.starts,
                fanout=self.fanout,
                commands=self._commands,
                randint=self._randint,
                heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS,
                outboxes=self.outboxes,
                background=self._nursery,
            )
            self._nursery.start_soon(lasting, self.fanout.run)
            self._nursery.start_soon(self._keep_lease)
            self._nursery.start_soon(self._listen)
            self._nursery.start_soon(lasting, self._progress.keep_checkpoints)
            self._nursery.start_soon(lasting, self._tell_figures)
            await self.drain_asked.wait()
            await self._finish()
            self._nursery.cancel_scope.cancel()

    def drain(self) -> None:
        """Send every session elsewhere, and let `run` return."""
        self.drain_asked.set()

    async def _finish(self) -> None:
        self.state.draining = True
        self.say(self._figures())
        for connection in list(self.connections):
            connection.drain()
        for connection in list(self.connections):
            connection.process_ends()
        self._note_last_socket()
        with trio.move_on_after(DRAIN_SECONDS):
            await self._last_socket_gone.wait()
        self._reading.cancel()
        await self._read.wait()
        await self._progress.caught_up()
        try:
            with trio.move_on_after(LEAVE_SECONDS):
                await self._leave()
        except BrokerUnavailable:
            logger.warning("the broker is not reachable at the end: sessions go on from the last checkpoint")
        self.end_sockets()  # those that came meanwhile

    async def _leave(self) -> None:
        """Write down all sessions for those who take them over."""
        numberings = {slot: session.numbering for slot, session in self.table.by_slot.items() if has_numbers(session)}
        await self._broker.put(
            {rest_of(self.id): encode_state(self._progress.position, numberings)}, seconds=KEEP_SECONDS
        )
        if self._link is not None:
            self.say(said.Bye())
            await self._link.appended()  # this node reads no more, so it learns of no confirmation
        await self._broker.forget(lease_of(self.id))

    def end_sockets(self) -> None:
        """This life of the node is over: send every socket Reconnect, and close it with 4000."""
        self.starts.fail()
        for connection in list(self.connections):
            connection.process_ends()

    # Sockets

    async def serve(self, request: UpgradeRequest, transport: Transport) -> None:
        """Serve one socket whose upgrade request has been read, until it is closed."""
        parts = self._parts
        if parts is None:
            raise AssertionError("the node is not running")
        connection, query = socket_of(request, transport, parts, self.starts, self.mounts)
        address = request.address
        del request
        with parts.admission.connection(address) as has_room:
            self.connections[connection] = None
            try:
                await connection.run(query, has_room)
            finally:
                del self.connections[connection]
                self._note_last_socket()

    def _note_last_socket(self) -> None:
        if self.state.draining and not self.connections:
            self._last_socket_gone.set()

    # The lease, and the core

    async def _keep_lease(self) -> None:
        while True:
            try:
                await self._renew()
            except BrokerUnavailable:
                self.starts.fail()
            await trio.sleep(RENEW_SECONDS if self.starts.is_up else RETRY_SECONDS)

    async def _renew(self) -> None:
        """Renew the lease, and check that the core is alive. Raises Fenced, BrokerUnavailable."""
        if self._link is not None and self._link.is_full:
            raise Fenced(self.id)
        now = trio.current_time()
        if not await self._broker.claim(lease_of(self.id), self.id.encode(), seconds=LEASE_SECONDS):
            raise Fenced(self.id)
        self._renewed_at = now
        (core,) = await self._broker.get(CORE_LEASE)
        if core is None:
            self.starts.fail()
            return
        self._meet(core_of(core)[1])
        if not self.starts.is_up:
            self.starts.is_up = self._welcomed
            self._progress.want_checkpoint()

    def _meet(self, epoch: int) -> None:
        """Send Hello to the core in its present life, unless that was done."""
        before = self._link
        if before is not None and epoch <= before.epoch:
            return
        self._welcomed = False
        self.starts.fail()
        self._link_scope.cancel()
        self._link_scope = trio.CancelScope()
        self._heard_before = Position(0, 0) if before is None else Position(before.epoch, before.heard)
        self._link = link = Link(self._broker, CORE_STREAM, self.id, epoch)
        self.say(said.Hello(self._name, __version__, PROTOCOL))
        for written in () if before is None else before.unsent():
            if isinstance(decode(written), said.Command | said.Detached):  # the next life of a core goes on with these
                link.send(written)
        self._begin(self._speak, link, self._link_scope)

    async def _speak(self, link: Link, scope: trio.CancelScope) -> None:
        with scope:
            await lasting(link.run)

    def _follows(self, follows: said.Follows) -> None:
        if follows.said != self._heard_before:  # this node stood still while the core was started anew
            for session in list(self.table.by_slot.values()):
                self._seats.lost(session)
            self._audiences.clear()

    def _welcome(self, welcome: said.Welcome) -> None:
        if not self.on_welcome(welcome):
            return
        if self._parts is not None:
            self._parts.admission.rate_limited = welcome.rate_limits
            self._parts.admission.connections_per_address = welcome.connections_per_address
            self._parts = attrs.evolve(self._parts, heartbeat_interval_ms=welcome.heartbeat_interval_ms)
        for slot in sorted(self.table.by_slot.keys() - set(welcome.kept)):
            self._end(said.Ended(slot))
        for connection in list(self.connections):
            connection.drain()  # what its session watches the core has to be told anew: it resumes
        self.starts.sends_digests = welcome.protocol >= DIGESTS
        self._welcomed = self.starts.is_up = True

    async def _tell_figures(self) -> None:
        while True:
            self.say(self._figures())
            await trio.sleep(FIGURES_SECONDS)

    def _figures(self) -> said.Figures:
        sessions = list(self.table)
        cpu_seconds, resident = self.measure()
        return said.Figures(
            sockets=len(self.connections),
            attached=sum(session.receiver is not None for session in sessions),
            sessions=len(sessions),
            backlog=self.fanout.backlog(),
            delivered=self._progress.delivered,
            cpu_seconds=cpu_seconds,
            resident_bytes=resident,
            draining=self.state.draining,
        )

    # What the core says

    async def _listen(self) -> None:
        read_at = "0"
        try:
            with self._reading:
                while True:
                    try:
                        entries = await self._broker.read(to_node(self.id), read_at, wait_seconds=READ_SECONDS)
                        if entries and trio.current_time() > self._renewed_at + FRESH_SECONDS:
                            await self._renew()  # this process may have stood still while others went on
                    except BrokerUnavailable:
                        self.starts.fail()
                        await trio.sleep(RETRY_SECONDS)
                        continue
                    for entry_id, data in entries:
                        read_at = entry_id
                        await self._take(data)
        finally:
            self._read.set()

    async def _take(self, data: bytes) -> None:
        try:
            entry = decode_entry(data)
        except Malformed:
            logger.warning("something else writes to the stream of this node")
            return
        self._meet(entry.epoch)
        link = self._link
        if link is None or entry.epoch != link.epoch:
            return
        number = link.heard
        messages = [decode(written) for written in link.accept(entry)]
        readies = await self._readies(messages)
        begun = 0
        for message in messages:
            number += 1
            if isinstance(message, said.Began):
                begun += 1
                if begun % BEGUN_PER_TURN == 0:
                    await trio.lowlevel.checkpoint()
                self._began(message, readies.get(message.ready) if message.ready else message.data[-1])
            elif message is not None:
                self._handle(message, Position(link.epoch, number))
            self._progress.read = Position(link.epoch, number)

    async def _readies(self, messages: Sequence[NodeMessage | None]) -> dict[str, bytes | None]:
        keys = [message.ready for message in messages if isinstance(message, said.Began) and message.ready]
        if not keys:
            return {}
        return dict(zip(keys, await self._while_away(lambda: self._broker.get(*keys)), strict=True))

    def _handle(self, message: NodeMessage, position: Position) -> None:
        try:
            if isinstance(message, said.Deliver):
                self._deliver(message, position)
            else:
                self._handlers[type(message)](message)
        except Exception:  # one message that cannot be carried out is no reason to hear no other
            logger.exception("the core was not understood")

    def _deliver(self, message: said.Deliver, position: Position) -> None:
        receivers = self._audiences.get(message.slots)
        if receivers is None:
            if len(self._audiences) >= AUDIENCES:
                self._audiences.clear()
            present = (self.table.by_slot.get(slot) for slot in slot_numbers(message.slots))
            receivers = self._audiences[message.slots] = tuple(filter(None, present))
        self._progress.is_queued(position)
        self.fanout.queue(message.to(receivers))

    # Sessions

    def _began(self, began: said.Began, ready: bytes | None) -> None:
        if ready is None or not self.starts.awaits(began.request):
            self.say(said.Gone(began.slot))
            self.starts.refused(said.Refused(began.request, machine.StartPostponed.__name__))
            return
        session = session_of(began.facts)
        session.ready = OutgoingEvent(EventName.READY, ready, retained=False)
        session.starting = waiting_events(began)
        self._audiences.clear()
        self.table.seat(session, began.slot)
        self.starts.answered(began.request, session)
        if session.starting is not None:
            self.table.end(session)  # its socket is gone

    def _end(self, ended: said.Ended) -> None:
        session = self.table.by_slot.get(ended.slot)
        if session is not None:
            self._seats.forget(session)
            self.table.release(ended.slot)
        self._audiences.clear()

    def _send_payload(self, message: said.Payload) -> None:
        session = self.table.by_slot.get(message.slot)
        if session is not None and session.receiver is not None:
            session.receiver.send_payload(message.data[0])

    async def _resume_here(self, message: said.ResumeHere, asked: GatewaySession | None) -> None:
        session = await self._seats.settled(asked)
        if session is None:
            self.starts.refused(said.Refused(message.request, machine.ResumeUnknown.__name__))
        else:
            self.starts.answered(message.request, session)

    def _seat(self, message: said.Seat) -> None:
        self._audiences.clear()
        self._seats.take(session_of(message.facts), message.slot, message.request)

    async def _arrive(self, message: said.Arrive, session: GatewaySession | None) -> None:
        await self._take_over(session, lambda _: arrived(self._broker, message.key))

    async def _arrive_from_dead(self, message: said.ArriveFromDead, session: GatewaySession | None) -> None:
        remains = self._remains.setdefault(message.dead, Remains(self._broker, message.dead))
        await self._take_over(
            session, lambda facts: remains.numbering(message.dead_slot, facts, message.until, message.seq)
        )

    async def _take_over(
        self, session: GatewaySession | None, numbering: Callable[[SessionFacts], Awaitable[Numbering]]
    ) -> None:
        """Get a session's numbering, or report that it is lost."""
        if session is None:
            return
        try:
            there = await self._while_away(lambda: numbering(SessionFacts.of(session)))
        except Lost as error:
            logger.info("a session cannot be taken over", reason=str(error))
            self._seats.lost(session)
            self._audiences.clear()
        else:
            self._seats.arrived(session, there)
            self._progress.want_checkpoint()

    async def _export(self, message: said.Export, asked: GatewaySession | None) -> None:
        """Export a session; everything that the core sent before is numbered by then."""
        await self._progress.caught_up()
        session = await self._seats.settled(asked)
        if session is not None:
            if session.receiver is not None:
                session.receiver.displaced()
                session.receiver = None
            state = encode_state(self._progress.position, {0: session.numbering})
            self.table.release(message.slot)
            self._audiences.clear()
            await self._while_away(lambda: self._broker.put({message.key: state}, seconds=KEEP_SECONDS))
        self.say(said.Exported(message.question))

    async def _while_away(self, call: Callable[[], Awaitable[T]]) -> T:
        """Repeat a call of the broker until it succeeds, because the core's message has to be carried out."""
        while True:
            try:
                return await call()
            except BrokerUnavailable:
                self.starts.fail()
                await trio.sleep(RETRY_SECONDS)

    def _begin(self, task: Callable[..., Awaitable[None]], *arguments: Any) -> None:
        self._nursery.start_soon(guarded, task, *arguments)
