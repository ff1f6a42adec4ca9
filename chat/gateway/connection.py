"""One socket: a nursery with its reader, its deadlines and, when a frame has to wait, its writer, around the machine.

The machine (`chat.protocol.machine`) decides; this module carries out. What takes time (a session start, a replay, the
confirmation of a sequence) is a task of the nursery and reports back to the machine, so that a Heartbeat is answered at
once. With the nursery ends what the socket started; the session is the session table's and stays for its 60,000 ms.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Final

import attrs
import structlog
import trio

from chat.classes import define
from chat.gateway.commands.budgets import RollingWindow
from chat.gateway.delay import NO_DELAY, Delay, DelayedOutbox
from chat.gateway.outbox import Outbox
from chat.gateway.parts import Elsewhere, GatewayParts, ResumeFailure
from chat.gateway.session import GatewaySession, MakeSession, ReplayQueue, is_held_by
from chat.gateway.tap import SocketTap
from chat.gateway.websocket import Closed, Message, WebSocket
from chat.port.transport import Transport
from chat.protocol import machine, payload, transitions
from chat.protocol.commands import ConnectionQuery, Identify, Resume, SessionCommand
from chat.protocol.frames import EventRun, OutgoingEvent, text_frame
from chat.protocol.machine import Machine
from chat.protocol.payload import Payload
from chat.protocol.zstd_stream import Decompressor, zstd_available
from chat.registries import close_codes
from chat.registries.close_codes import Close
from chat.registries.events import EventName
from chat.registries.limits import (
    COMMAND_BUDGET,
    COMMAND_BUDGET_WINDOW_MS,
    HELD_IDENTIFY_RETRY_MAX_MS,
    HELD_IDENTIFY_RETRY_MIN_MS,
    INBOUND_MESSAGE_BYTES,
)
from chat.supervision import guarded

logger = structlog.get_logger(__name__)

REPLAY_PAUSE_BYTES: Final = 262_144
"""A replay waits while the socket has more than this unsent."""

REPLAY_DISPATCHES_PER_TURN: Final = 64
"""Dispatches of a replay before other tasks get a turn."""

RESUMED: Final = OutgoingEvent(EventName.RESUMED, b"{}", retained=False)


@define(eq=False, weakref_slot=False)
class Connection:
    """One uncompressed socket; see chat.gateway.compressed_connection for the other kind."""

    mount: ClassVar[str] = ""  # as that of its sessions

    _transport: Transport
    address: str
    _parts: GatewayParts
    session: GatewaySession | None = attrs.field(default=None, init=False)
    closed_with: Close | None = attrs.field(default=None, init=False)
    """How this side ended the socket; None while it has not."""
    _websocket: WebSocket = attrs.field(init=False)
    _outbox: Outbox | DelayedOutbox = attrs.field(init=False)
    _machine: Machine = attrs.field(init=False)
    _nursery: trio.Nursery = attrs.field(init=False)
    _alarm: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _reading: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _held: trio.CancelScope | None = attrs.field(default=None, init=False)  # of a held Identify
    _budget: RollingWindow | None = attrs.field(default=None, init=False)
    _decompressor: Decompressor | None = attrs.field(default=None, init=False)
    _unflushed: bool = attrs.field(default=False, init=False)
    _stalls: int = attrs.field(default=0, init=False)
    _stall_over: trio.Event | None = attrs.field(default=None, init=False)
    _replay_queue: ReplayQueue | None = attrs.field(default=None, init=False)
    _tap: SocketTap | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self._websocket = WebSocket(
            self._transport,
            maximum_message_bytes=INBOUND_MESSAGE_BYTES,
            on_outbox_full=self._outbox_full,
            outboxes=self._parts.outboxes,
            on_control=self._take_control,
        )
        self._outbox = self._websocket.outbox
        if self._parts.tap is not None:
            self._tap = self._parts.tap(self.address)
        self._machine = Machine(self._parts.heartbeat_interval_ms, trio.current_time())

    # The life of a socket

    async def run(self, query: ConnectionQuery, capacity_available: bool) -> None:
        """Serve the accepted WebSocket until either side is done with it."""
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                self._websocket.outbox.begin_writer = lambda: self._begin(self._websocket.outbox.run_writer)
                self._take_delay()
                self._handle(
                    machine.Opened(
                        version_accepted=query.version_accepted,
                        capacity_available=capacity_available,
                        compression_available=not query.compressed or zstd_available(),
                    )
                )
                self._begin(self._watch_deadlines)
                with self._reading:
                    await self._last_resort(self._read)
                self._let_go()
                if self.closed_with is not None and self._stall_over is not None:
                    await self._stall_over.wait()  # a close frame is a frame too
                if self.closed_with is not None and isinstance(self._outbox, DelayedOutbox):
                    await self._outbox.emptied()
                self._outbox.flush()
                if self.closed_with is None:
                    await self._websocket.close()
                else:
                    await self._websocket.close(self.closed_with.code, self.closed_with.reason)
                nursery.cancel_scope.cancel()
        finally:
            if self._tap is not None:
                self._tap.ended(self.closed_with or self._websocket.peer_close, by_client=self.closed_with is None)
            self._let_go()
            self._websocket.abort()

    def _begin(self, task: Callable[..., Awaitable[None]], *arguments: Any) -> None:
        self._nursery.start_soon(self._last_resort, task, *arguments)

    async def _last_resort(self, task: Callable[..., Awaitable[None]], *arguments: Any) -> None:
        """Run a task; the socket closes with a registered code if it raises."""
        try:
            await task(*arguments)
        except Exception:  # noqa: BLE001 - logged there
            self.failed()

    def failed(self) -> None:
        """Close because of the exception being handled, which is a defect of ours; the session is retained."""
        logger.exception("a connection failed", address=self.address)
        close = close_codes.SESSION_UNAVAILABLE if self.session else close_codes.FAILED_TO_START_SESSION
        self._perform(transitions.CloseSocket(close))
        self._handle(machine.Faulted(close))
        self._let_go()

    def _let_go(self) -> None:
        """Leave the session to its retention; afterwards no event reaches this socket."""
        self._drop_held()
        session = self._release()
        if session is not None and is_held_by(session, self) and not session.ended:
            self._parts.table.detach(session)

    def _release(self) -> GatewaySession | None:
        """This socket holds its session no longer: its replay ends, and what it asked of it is abandoned."""
        session, self.session = self.session, None
        self._replay_queue = None
        if session is not None:
            self._parts.commands.socket_closed(session)
        return session

    async def _read(self) -> None:
        while self.closed_with is None:
            match await self._websocket.receive():
                case Message(data):
                    self._take(data)
                case Closed():
                    self._handle(machine.TransportEnded())
                    return
                case _:
                    self._handle(machine.Faulted(close_codes.PAYLOAD_TOO_LARGE))

    def _take(self, data: bytes) -> None:
        if not self._within_budget():
            self._handle(machine.CommandBudgetExceeded())
            return
        decoded = self._decode(data)
        if self._tap is not None:
            self._tap.received(self.session, data, decoded)
        if isinstance(decoded, Close):
            self._handle(machine.Faulted(decoded))
        else:
            self._handle(machine.Received(decoded))

    def _take_control(self) -> None:
        """Count a ping or a pong against the budget of payloads, unless the socket is about to close."""
        if self.closed_with is None and not self._within_budget():
            self._handle(machine.CommandBudgetExceeded())

    def _decode(self, data: bytes) -> Payload | Close:
        return payload.decode_payload(data)

    def _within_budget(self) -> bool:
        """At most COMMAND_BUDGET payloads and control frames in any COMMAND_BUDGET_WINDOW_MS (gateway.md, Command
        budgets)."""
        parts = self._parts
        if not parts.admission.rate_limited:
            return True
        if self._budget is None:
            self._budget = RollingWindow(COMMAND_BUDGET, COMMAND_BUDGET_WINDOW_MS)
        return self._budget.spend() and parts.admission.may_send(self.address)

    async def _watch_deadlines(self) -> None:
        """The heartbeat task: sleep until the machine's next deadline."""
        while (deadline := self._machine.next_deadline()) is not None:
            with trio.CancelScope(deadline=deadline) as self._alarm:
                await trio.sleep_forever()
            self._handle(machine.DeadlineReached())

    @property
    def awaits_heartbeat(self) -> bool:
        """Whether the client was asked for a Heartbeat and has not sent one."""
        return self.closed_with is None and self._machine.awaits_heartbeat

    # What others tell this socket

    def session_ended(self) -> None:
        """The session ended while this socket holds it: send Invalid Session and keep the socket."""
        self._release()
        self._handle(machine.SessionEnded())

    def displaced(self) -> None:
        """Another socket took the session over: send Reconnect, then close with 4000."""
        self._release()
        self._handle(machine.Displaced())

    def drain(self) -> None:
        """The node drains, or a fault asks for it: send Reconnect and close with 4000 if the socket has a session."""
        self._handle(machine.DrainRequested())

    def process_ends(self) -> None:
        """The process is about to exit: send Reconnect to every socket, then close with 4000."""
        self._handle(machine.ProcessEnding())

    def close(self, close: Close) -> None:
        """Close with this code and reason; the session is retained."""
        self._handle(machine.Faulted(close))

    def _outbox_full(self) -> None:
        """The peer reads too slowly: close the socket; the session stays retained."""
        self.close(close_codes.OUTBOX_FULL)

    def cut(self) -> None:
        """Drop the transport without a close frame (faults of the development routes)."""
        self._websocket.abort()
        self._reading.cancel()

    def stall(self, milliseconds: int) -> None:
        """Hold back all frames for `milliseconds` (a fault of the development routes)."""
        self._outbox.hold()
        self._stalls += 1
        self._stall_over = trio.Event() if self._stall_over is None else self._stall_over
        self._begin(self._end_stall, milliseconds / 1000)

    def delay(self, delay: Delay) -> None:
        """From now on send each frame late (faults of the development routes)."""
        if not isinstance(self._outbox, DelayedOutbox):
            if delay == NO_DELAY:
                return
            self._outbox = DelayedOutbox(self._websocket.outbox, self._parts.randint, self._outbox_full)
            self._begin(self._outbox.run)
        self._outbox.delay = NO_DELAY if delay == NO_DELAY else delay

    def _take_delay(self) -> None:
        """Take the delay that the node's rules give this socket, or the session that it has just got."""
        if rules := self._parts.node.delays:
            id_, user_id = (None, None) if self.session is None else (self.session.id, self.session.user_id)
            self.delay(rules.of(id_, user_id) or NO_DELAY)

    async def _end_stall(self, seconds: float) -> None:
        await trio.sleep(seconds)
        self._stalls -= 1
        if not self._stalls and self._stall_over is not None:
            self._outbox.release()
            self._stall_over.set()
            self._stall_over = None

    # Sending

    def deliver(self, sequence: int, event: OutgoingEvent) -> None:
        """Frame a numbered Dispatch; it is sent with the present batch."""
        if self._tap is not None:
            self._tap.dispatched(self.session, sequence, event)
        self._leave(event.frame(sequence))

    def deliver_run(self, first: int, run: EventRun) -> None:
        """Frame several numbered Dispatches at once."""
        if self._tap is not None:
            for sequence, event in enumerate(run.events, first):
                self._tap.dispatched(self.session, sequence, event)
        self._leave(run.frames(first))

    def _leave(self, frames: bytes) -> None:
        """Send a frame: at once if the batch has nothing more for this socket, else with the next flush."""
        if self._unflushed:
            self._outbox.push(frames)
        elif self._parts.fanout.has_no_more:
            self._outbox.send(frames)
        else:
            self._outbox.push(frames)
            self._unflushed = True
            self._parts.fanout.flush_later(self)

    def flush(self) -> None:
        """Send what is pending."""
        self._unflushed = False
        self._outbox.flush()

    def send_payload(self, data: bytes) -> None:
        """Send a payload that is no Dispatch, after what was delivered before it."""
        if self._tap is not None:
            self._tap.sent(self.session, data)
        self._outbox.push(text_frame(data))
        self.flush()

    @property
    def pending_bytes(self) -> int:
        """How many bytes wait to be sent to the peer."""
        return self._outbox.pending_bytes

    async def drained(self, below_bytes: int) -> None:
        """Return once at most `below_bytes` wait to be sent to the peer, or the socket is gone."""
        self.flush()
        await self._outbox.drained(below_bytes)

    # The machine's wishes

    def _handle(self, happening: machine.Input) -> None:
        now = trio.current_time()
        for effect in self._machine.handle(happening, now):
            self._perform(effect)
        while waited := self._machine.handle_waiting(now):
            for effect in waited:
                self._perform(effect)
        deadline = self._machine.next_deadline()
        if deadline is not None and deadline < self._alarm.deadline:
            self._alarm.deadline = deadline

    def _perform(self, effect: transitions.Effect) -> None:
        match effect:
            case transitions.SendHeartbeatAck():
                self.send_payload(payload.HEARTBEAT_ACK)
            case transitions.Process(command):
                self._process(command)
            case transitions.ConfirmSequence(sequence):
                self._confirm(sequence)
            case transitions.SendHeartbeatRequest():
                self.send_payload(payload.HEARTBEAT_REQUEST)
            case transitions.SendHello():
                self.send_payload(payload.hello(self._parts.heartbeat_interval_ms))
            case transitions.BeginStart(identify, retried):
                self._begin(self._start, identify, retried)
            case transitions.BeginResume(resume):
                self._resume(resume)
            case transitions.HoldIdentify(identify):
                self._hold(identify)
            case transitions.DropHeldIdentify():
                self._drop_held()
            case transitions.Replay():
                self._begin_replay()
            case transitions.SendResumed():
                self._send_resumed()
            case transitions.DetachSession():
                self._detach()
            case transitions.SendInvalidSession():
                self.send_payload(payload.INVALID_SESSION)
            case transitions.SendReconnect():
                self.send_payload(payload.RECONNECT)
            case transitions.CloseSocket(close):
                self.closed_with = close
                self._reading.cancel()
            case transitions.RetainSession():
                self._let_go()

    def _process(self, command: SessionCommand) -> None:
        if self.session is None:
            raise AssertionError("the machine processes commands for an attached session only")
        close = self._parts.commands.handle(self.session, command)
        if close is not None:
            self._handle(machine.Faulted(close))

    def _confirm(self, sequence: int) -> None:
        if self._parts.node.rpc_failing:
            self._begin(self._confirm_later, sequence)
        elif self.session is not None:
            accepted = self.session.numbering.acknowledge(sequence)
            self._handle(machine.SequenceAccepted() if accepted else machine.SequenceRefused())

    async def _confirm_later(self, sequence: int) -> None:
        """The session cannot be reached: ask again once it can be; after 5,000 ms the machine gives up."""
        await self._parts.node.reachable()
        self._confirm(sequence)

    # Identify

    async def _start(self, identify: Identify, retried: bool) -> None:
        starts = self._parts.starts
        failure = await starts.start(identify, self.address, self._make_session, self._started, retried=retried)
        if failure is not None:
            self._handle(failure)

    @property
    def _make_session(self) -> MakeSession:
        return GatewaySession.identified

    def _started(self, session: GatewaySession) -> None:
        if self.closed_with is not None:
            # The client does not know this session's id: it has no use.
            self._parts.table.end(session)
            return
        self.session = session
        session.receiver = self
        self._take_delay()
        self._unflushed = True  # `flush` comes at once, not with a batch
        session.begin()
        self._handle(machine.SessionStarted())
        self.flush()
        if session.joining_guild_ids:
            self._parts.background.start_soon(guarded, self._parts.starts.introduce_guilds, session)

    def _hold(self, identify: Identify) -> None:
        self._drop_held()
        self._held = trio.CancelScope()
        self._begin(self._retry_held, self._held)

    def _drop_held(self) -> None:
        if self._held is not None:
            self._held.cancel()
            self._held = None

    async def _retry_held(self, scope: trio.CancelScope) -> None:
        with scope:
            delay = self._parts.randint(HELD_IDENTIFY_RETRY_MIN_MS, HELD_IDENTIFY_RETRY_MAX_MS)
            await trio.sleep(delay / 1000)
            self._held = None
            self._handle(machine.HeldRetried())

    # Resume

    def _resume(self, resume: Resume) -> None:
        found = self._parts.starts.find(resume, self.address, self.mount)
        if isinstance(found, Elsewhere):
            self._begin(self._fetch, found, resume.seq)
        else:
            self._found(found, resume.seq)

    async def _fetch(self, elsewhere: Elsewhere, seq: int) -> None:
        self._found(await elsewhere.fetch(), seq)

    def _found(self, outcome: GatewaySession | ResumeFailure, seq: int) -> None:
        if not isinstance(outcome, GatewaySession):
            self._handle(outcome)
        elif self.closed_with is None:
            self._attach(outcome, seq)

    def _attach(self, session: GatewaySession, seq: int) -> None:
        if session.receiver is not None:
            session.receiver.displaced()
        self._parts.table.attach(session)
        session.address = self.address
        self.session = session
        self._take_delay()
        session.receiver = self._replay_queue = ReplayQueue(self, session.numbering.retained_above(seq))
        self._handle(machine.ResumeAccepted())

    def _begin_replay(self) -> None:
        # The task begins later, when this socket may hold another session already.
        if self.session is not None and self._replay_queue is not None:
            self._begin(self._replay, self.session, self._replay_queue)

    async def _replay(self, session: GatewaySession, queue: ReplayQueue) -> None:
        """Send the Dispatches above the client's sequence, then those that came meanwhile. Stops as soon as this socket
        no longer holds the session, or begins another replay."""
        for position, (sequence, event) in enumerate(queue.entries(), 1):
            if self._replay_queue is not queue:
                return
            self.deliver(sequence, event)
            if self._outbox.pending_bytes > REPLAY_PAUSE_BYTES:
                await self.drained(REPLAY_PAUSE_BYTES)
            if position % REPLAY_DISPATCHES_PER_TURN == 0:
                await trio.lowlevel.checkpoint()
        if self._replay_queue is queue:
            session.receiver, self._replay_queue = self, None
            self._handle(machine.ReplayFinished())

    def _send_resumed(self) -> None:
        if self.session is not None:
            self.deliver(self.session.numbering.sequence, RESUMED)
            self.flush()
            self._parts.commands.session_resumed(self.session)

    def _detach(self) -> None:
        session = self._release()
        if session is not None and not session.ended:
            self._parts.table.detach(session)
