"""The core of a server that has gateway nodes: who the nodes are, and what they ask for.

The core decides, nodes deliver (architecture.md, Beyond one process). It reads what all nodes say from one stream, and
says to each what is for its sessions. A node that lets its lease lapse is dead: the core takes the lease away, so that
it can never come back under that name, and its sessions resume at other nodes.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any, Final

import attrs
import orjson
import structlog
import trio

from chat import __version__
from chat.auth.address_bans import AddressBans
from chat.auth.client_address import ClientAddresses
from chat.auth.principal import Principal
from chat.bus.bus import Bus
from chat.classes import define
from chat.clock import Clock
from chat.config import Settings
from chat.domain.presence.account_presence import SessionPresence
from chat.errors import OperatorError
from chat.gateway.gateway import Gateway
from chat.gateway.session import GatewaySession, KeptPlace, MakeSession
from chat.nodes.broker import Broker, BrokerUnavailable
from chat.nodes.codec import Malformed, decode
from chat.nodes.entries import decode_entry
from chat.nodes.leases import CORE_LEASE, CORE_STREAM, LEASE_SECONDS, core_of, lease_of
from chat.nodes.link import KEEP_SECONDS, Link
from chat.nodes.messages import (
    PROTOCOL,
    AskIdentify,
    AskResume,
    Attached,
    Began,
    Bye,
    Command,
    CountsAnswer,
    Detached,
    Drain,
    Drained,
    Exported,
    Figures,
    Follows,
    Gone,
    Hello,
    Judged,
    NodeMessage,
    Position,
    ResumeDone,
    SessionFacts,
    UnnamedProxy,
    Welcome,
)
from chat.nodes.moving import Moving
from chat.nodes.recovery import checkpoints_of, rest_of, to_node
from chat.nodes.refusals import RefusalsAtCore
from chat.nodes.relay import Line, Relay
from chat.nodes.remote import refusal
from chat.protocol import machine
from chat.protocol.commands import Identify, Resume, SessionCommand, parse_identify
from chat.registries import close_codes
from chat.registries.close_codes import Close
from chat.registries.opcodes import Opcode
from chat.supervision import guarded, lasting

RENEW_SECONDS: Final = 0.5
GRACE_SECONDS: Final = 3.0
"""How long nodes have to renew their leases after the broker was away or has lost everything."""

FENCED: Final = b"fenced"
FENCE_SECONDS: Final = 3_600.0
"""How long the name of a dead node stays taken."""

READ_SECONDS: Final = 1.0
RETRY_SECONDS: Final = 0.2
DRAIN_SECONDS: Final = 3.0
"""How long a core that ends waits for its nodes to receive all messages."""

SMALL_READY_BYTES: Final = 8_192
"""A Ready up to this size is part of Began. A larger one would fill the log, which never replays it."""

WAITING_EVENTS: Final = 254
"""How many events go with Began; further ones follow it."""

logger = structlog.get_logger(__name__)


@define(eq=False)
class CoreNodes:
    """The nodes of a server. `running` around the gateway's own; `prepare` before sessions are taken up."""

    _gateway: Gateway
    _broker: Broker
    _bus: Bus
    _settings: Settings
    _clock: Clock
    _instance: str
    """An identifier that tells this server's data from that of every other one."""
    _address_bans: AddressBans
    _addresses: ClientAddresses
    _next_epoch: Callable[[int], Awaitable[int]]  # greater than all before, whatever the clock says, and at least so
    epoch: int = attrs.field(init=False)
    """The number of this life of the core; greater than those before."""
    lines: dict[str, Line] = attrs.field(factory=dict, init=False)
    """Every node by its id; a dead one stays as long as a session may be fetched from it."""
    relay: Relay = attrs.field(factory=Relay, init=False)
    broker_is_up: bool = attrs.field(default=True, init=False)
    """Whether the broker answered when the leases were last looked at."""
    is_ending: bool = attrs.field(default=False, init=False)
    """Whether the core ends, and only waits for its nodes to receive all messages."""
    _moving: Moving = attrs.field(init=False)
    _nursery: trio.Nursery | None = attrs.field(default=None, init=False)
    _grace_until: float = attrs.field(default=float("-inf"), init=False)
    _read_at: str = attrs.field(default="0", init=False)
    _handlers: dict[type[NodeMessage], Callable[[Line, Any], None]] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.epoch = self._clock.now_ms()
        self._moving = Moving(self._gateway, self.relay, self._broker, self._begin)
        self._handlers = {
            Hello: self._welcome,
            AskIdentify: lambda line, ask: self._begin(self._identify, line, ask),
            AskResume: lambda line, ask: self._begin(self._resume, line, ask),
            Command: self._carry_out,
            Attached: self._attached,
            ResumeDone: self._resumed,
            Detached: self._detached,
            Gone: self._gone,
            Judged: lambda line, answer: line.answered(answer.question, answer),
            Exported: lambda line, answer: line.answered(answer.question, answer),
            Drained: lambda line, answer: line.answered(answer.question, answer),
            CountsAnswer: lambda line, answer: line.answered(answer.question, answer),
            Bye: self._bye,
            Figures: self._take_figures,
            UnnamedProxy: lambda _, proxy: self._addresses.note_unnamed(proxy.address),
        }

    # Coming and going

    def prepare(self) -> None:
        """From now on take the fan-out's deliveries for sessions of nodes."""
        gateway = self._gateway
        gateway.fanout.relay = self.relay.take
        gateway.starts.elsewhere = self._moving.elsewhere
        gateway.table.on_end.append(self.relay.ended)
        gateway.placed = self._place_again
        self._bus.backlog = self._backlog

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Exchange messages with the nodes until cancelled. Raises OperatorError if another server uses the same
        broker, and BrokerUnavailable."""
        await self._take_lease()
        self._read_at = await self._broker.newest(CORE_STREAM)
        async with trio.open_nursery() as self._nursery:
            for line in self.lines.values():
                self._nursery.start_soon(line.run)
            self._nursery.start_soon(lasting, self._keep_leases)
            refusals = RefusalsAtCore(self._broker, self._address_bans, self._clock, self.epoch)
            self._nursery.start_soon(lasting, refusals.keep)
            self._nursery.start_soon(lasting, self._listen)
            task_status.started()

    @property
    def _lease(self) -> bytes:
        return f"{self._instance}:{self.epoch}".encode()

    async def _take_lease(self) -> None:
        """Take the core's lease, even if it has not expired: the data directory is locked, so an earlier life of this
        server is over."""
        (holder,) = await self._broker.get(CORE_LEASE)
        if holder is not None:
            instance, epoch = core_of(holder)
            if instance != self._instance:
                raise OperatorError(
                    "another server works with this database of the broker: give each one of its own (redis://.../1)"
                )
            self.epoch = max(self.epoch, epoch + 1)
        self.epoch = await self._next_epoch(self.epoch)
        for line in self.lines.values():
            line.link.epoch = self.epoch
        self._moving.epoch = self.epoch
        await self._broker.seize(CORE_LEASE, self._lease, seconds=LEASE_SECONDS)

    async def finish(self) -> None:
        """Call before the end: wait for the nodes to receive all messages, which lets their sessions outlive the core.
        Messages from nodes are left to the core's next life."""
        await self._moving.finish()
        self.is_ending = True
        await self._all_heard()
        try:
            await self._broker.forget(CORE_LEASE)
        except BrokerUnavailable:
            logger.warning("the broker is not reachable at the end")
        await self._all_heard()  # what was said meanwhile, too: the next life begins behind it

    async def _all_heard(self) -> None:
        while lines := [line for line in self.lines.values() if line.has_to_hear]:
            with trio.move_on_after(DRAIN_SECONDS) as waiting:
                for line in lines:  # what a command had begun to answer goes on meanwhile
                    await line.link.confirmed()
            for line in lines if waiting.cancelled_caught else ():
                if line.has_to_hear:
                    logger.warning("a gateway node did not hear everything", node=line.name)
                    self._end_sessions(line)
                    line.bury()

    def _backlog(self) -> int:
        slowest = max((line.link.unconfirmed for line in self.lines.values() if not line.is_dead), default=0)
        return max(self._gateway.fanout.backlog(), slowest)

    # Nodes

    def _line(self, node: str) -> Line:
        line = self.lines.get(node)
        if line is None:
            link = Link(self._broker, to_node(node), CORE_STREAM, self.epoch, causes=lambda: self._bus.causes)
            line = self.lines[node] = Line(node, link)
            # Not at once: what it is called from may be going through the sessions that are to end.
            link.on_full = functools.partial(self._begin, self._overflow, line)
            if self._nursery is not None:
                self._nursery.start_soon(line.run)
        return line

    async def _listen(self) -> None:
        while True:
            try:
                entries = await self._broker.read(CORE_STREAM, self._read_at, wait_seconds=READ_SECONDS)
            except BrokerUnavailable:
                self._grace_until = trio.current_time() + GRACE_SECONDS
                await trio.sleep(RETRY_SECONDS)
                continue
            for self._read_at, data in entries:
                self._take(data)
            await trio.lowlevel.checkpoint()

    def _take(self, data: bytes) -> None:
        try:
            entry = decode_entry(data)
        except Malformed:
            logger.warning("something else writes to the stream of the core")
            return
        if entry.epoch != self.epoch:
            return
        line = self._line(entry.sender)
        if line.is_dead:
            return
        if self.is_ending:
            line.link.heed(entry)
        for written in entry.messages if self.is_ending else line.link.accept(entry):
            try:
                message = decode(written)
                if self.is_ending and not isinstance(message, Bye):
                    continue  # it is said again to the next life of the core
                if message is not None and not line.is_refused:
                    self._handlers[type(message)](line, message)
            except Exception:  # one message that cannot be carried out is no reason to hear no other
                logger.exception("a gateway node was not understood", node=line.name)

    def _welcome(self, line: Line, hello: Hello) -> None:
        line.name, line.version, line.welcome = hello.name, hello.version, True
        if abs(hello.protocol - PROTOCOL) > 1:
            self._refuse(line, hello)
        gateway = self._settings.gateway
        line.send(
            Welcome(
                protocol=PROTOCOL,
                heartbeat_interval_ms=gateway.heartbeat_interval_ms,
                connections_per_address=gateway.connections_per_address,
                rate_limits=self._gateway.admission.rate_limited,
                kept=tuple(sorted(line.sessions)),
                trusted_proxies=tuple(self._settings.trusted_proxies),
                version=__version__,
                names_addresses=gateway.address_header_for_tests,
                mounts=() if self._gateway.mount is None else (self._gateway.mount.name,),
            )
        )
        if not line.is_refused:
            logger.info("a gateway node is here", node=line.name, version=hello.version, core=__version__)

    def _refuse(self, line: Line, hello: Hello) -> None:
        """Refuse a node, which ends when it reads our Welcome. Until then its messages are ignored."""
        logger.error(
            "a gateway node is refused: its version is too far from this one",
            node=line.name,
            version=hello.version,
            core=__version__,
            remedy="nodes and core may be one protocol apart: bring the node to the version of the core",
        )
        line.is_refused = True
        self._end_sessions(line)

    def _take_figures(self, line: Line, figures: Figures) -> None:
        line.figures, line.draining, line.seen_at = figures, figures.draining, trio.current_time()

    def drain(self, node: str) -> None:
        """Ask the node with this id to send its sessions elsewhere and to end; does nothing if it is gone."""
        line = self.lines.get(node)
        if line is not None and not line.is_dead:
            line.draining = True
            line.send(Drain())
            logger.info("a gateway node is asked to end", node=line.name, sessions=len(line.sessions))

    async def _keep_leases(self) -> None:
        while True:
            try:
                await self._look_at_leases()
                self.broker_is_up = True
            except BrokerUnavailable:
                self.broker_is_up = False
                self._grace_until = trio.current_time() + GRACE_SECONDS
            await trio.sleep(RENEW_SECONDS if self.broker_is_up else RETRY_SECONDS)

    async def _look_at_leases(self) -> None:
        lines = list(self.lines.values())
        own, *leases = await self._broker.get(CORE_LEASE, *(lease_of(line.id) for line in lines))
        now = trio.current_time()
        if own is None:  # the broker has forgotten everything
            self._grace_until = now + GRACE_SECONDS
        await self._broker.claim(CORE_LEASE, self._lease, seconds=LEASE_SECONDS)
        for line, lease in zip(lines, leases, strict=True):
            if line.is_dead and not line.has_ended and lease not in {None, FENCED}:
                # The broker has forgotten that the name is taken, and the node goes on under it.
                await self._broker.seize(lease_of(line.id), FENCED, seconds=FENCE_SECONDS)
        if now < self._grace_until:
            return
        for line, lease in zip(lines, leases, strict=True):
            # Its name can have been taken by a call that seemed to fail.
            if lease in {None, FENCED} and not line.is_dead and now >= line.seen_at + LEASE_SECONDS:
                await self._broker.seize(lease_of(line.id), FENCED, seconds=FENCE_SECONDS)
                logger.warning("a gateway node is dead", node=line.name, sessions=len(line.sessions))
                self._bury(line)
        for line in [line for line in self.lines.values() if line.is_dead and not line.sessions]:
            if now >= line.seen_at + KEEP_SECONDS:  # other nodes read what it left
                del self.lines[line.id]
                line.stop.cancel()
                self._moving.forget(line.id)
                await self._broker.forget(to_node(line.id), checkpoints_of(line.id), rest_of(line.id))

    def _bury(self, line: Line) -> None:
        """A node is dead: its sessions have no socket now, and may be resumed anywhere."""
        line.bury()
        line.seen_at = trio.current_time()
        for session in list(line.sessions.values()):
            if session.starting is not None:
                self._gateway.table.end(session)
            else:
                self._moving.let_go(session)

    def _bye(self, line: Line, _: Bye) -> None:
        logger.info("a gateway node has ended", node=line.name, sessions=len(line.sessions))
        line.has_ended = True
        self._bury(line)

    async def _overflow(self, line: Line) -> None:
        logger.warning("a gateway node hears nothing: its sessions end", node=line.name, sessions=len(line.sessions))
        self._end_sessions(line)
        if not line.is_dead:
            self._bury(line)

    def _end_sessions(self, line: Line) -> None:
        for session in list(line.sessions.values()):
            self._gateway.table.end(session)

    def _place_again(self, session: GatewaySession, kept: KeptPlace) -> None:
        """Restore the place of a node's session after a restart of the core."""
        self.epoch = max(self.epoch, kept.epoch + 1)
        is_new, line = kept.node not in self.lines, self._line(kept.node)
        if is_new:
            line.send(Follows(Position(kept.epoch, kept.number)))
        line.take_seat(session, kept.slot)
        self.relay.place(session, line, kept.slot)

    # Identify

    def _begin(self, task: Callable[..., Awaitable[None]], *arguments: Any) -> None:
        if self._nursery is None:
            raise AssertionError("the core does not speak with nodes yet")
        self._nursery.start_soon(guarded, task, *arguments)

    async def _identify(self, line: Line, ask: AskIdentify) -> None:
        identify = parse_identify(orjson.loads(ask.d[0]))
        if isinstance(identify, Close):
            line.send(refusal(ask.request, machine.StartRefused(identify)))
            return
        begun = self._maker(ask)
        if begun is None:
            line.send(refusal(ask.request, machine.StartRefused(close_codes.FAILED_TO_START_SESSION)))
            return
        made: list[GatewaySession] = []

        def make(
            session_id: str, principal: Principal, identify: Identify, presence: SessionPresence
        ) -> GatewaySession:
            session = begun(session_id, principal, identify, presence)
            self.relay.place(session, line, line.seat(session))
            made.append(session)
            return session

        begin = functools.partial(self._began, line, ask)
        failure: machine.Input | None = machine.StartPostponed()
        if line.has_room and not line.draining:
            start = functools.partial(self._gateway.starts.start, retried=ask.retried, token=ask.credential)
            failure = await start(identify, ask.address, make, begin)
        if failure is not None:
            for session in made:
                self.relay.ended(session)
            line.send(refusal(ask.request, failure))

    def _maker(self, ask: AskIdentify) -> MakeSession | None:
        """The function that makes sessions of a mount; None if this life of the core does not have the mount."""
        if not ask.mount:
            return GatewaySession.identified
        mount = self._gateway.mount
        return mount.maker(ask.host) if mount is not None and mount.name == ask.mount else None

    def _began(self, line: Line, ask: AskIdentify, session: GatewaySession) -> None:
        if line.is_dead:
            self._gateway.table.end(session)  # the client has lost its socket, and does not know this session
            return
        place = self.relay.place_of(session)
        (ready,) = session.told(session.take_ready())
        waiting = [told for event in session.starting or () for told in session.told(event)]
        session.starting = None
        key = "" if ready.size <= SMALL_READY_BYTES else f"ready:{line.id}:{ask.request}"
        if key:
            line.link.put(key, ready.data)
        first = waiting[:WAITING_EVENTS]
        line.send(
            Began(
                request=ask.request,
                slot=place.slot,
                facts=SessionFacts.of(session),
                ready=key,
                waiting=tuple((event.name, event.retained) for event in first),
                data=(*(event.data for event in first), *(() if key else (ready.data,))),
            )
        )
        session.receiver = place
        self.relay.changed()
        for event in waiting[WAITING_EVENTS:]:
            session.numbering.number(event)
        if session.joining_guild_ids:
            self._begin(self._gateway.starts.introduce_guilds, session)

    # Resume

    async def _resume(self, line: Line, ask: AskResume) -> None:
        resume = Resume(ask.token, ask.session_id, ask.seq)
        failure: object = self._gateway.starts.owned(resume, ask.address, ask.mount, ask.credential)
        if isinstance(failure, GatewaySession):
            failure = await self._moving.to_node(failure, ask.seq, line, ask.request)
        if isinstance(failure, machine.Input):
            line.send(refusal(ask.request, failure))

    # What sessions at nodes do

    def _carry_out(self, line: Line, command: Command) -> None:
        session = line.at(command.slot)
        if session is None or session.receiver is None:
            return
        try:
            given = SessionCommand(Opcode(command.opcode), orjson.loads(command.d[0]))
            close = self._gateway.commands.handle(session, given)
        except Exception:  # noqa: BLE001 - logged there; one command is no reason to hear no other
            session.receiver.failed()
        else:
            if close is not None:
                self.relay.place_of(session).close(close)

    def _attached(self, line: Line, attached: Attached) -> None:
        session = line.at(attached.slot)
        if session is None:
            return
        if session.receiver is not None:
            self._gateway.commands.socket_closed(session)
        self._gateway.table.attach(session)
        session.address = attached.address
        session.receiver = self.relay.place_of(session)

    def _resumed(self, line: Line, resumed: ResumeDone) -> None:
        session = line.at(resumed.slot)
        if session is not None and session.receiver is not None:
            self._gateway.commands.session_resumed(session)

    def _detached(self, line: Line, detached: Detached) -> None:
        session = line.at(detached.slot)
        if session is not None:
            self._moving.let_go(session)

    def _gone(self, line: Line, gone: Gone) -> None:
        session = line.at(gone.slot)
        if session is not None:
            self._gateway.table.end(session)
