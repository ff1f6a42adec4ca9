"""A gateway client that comes back by itself, and the history of what each of its sessions was sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs
import trio

from chat.registries.close_codes import Close
from chat.registries.events import EventName
from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import GatewayClient, GatewayClosed, HandshakeRefused, NothingArrived, ServerPayload
from chat.testing.gateway_model import ModelSession
from chat.testing.network import TcpRoute
from tests.patience import PATIENCE_SECONDS

HEARTBEAT_SECONDS: Final = 0.75
UNANSWERED_SECONDS: Final = 2.5
"""A client that gets no answer to its heartbeats for this long connects elsewhere and leaves the old socket open."""

CONNECT_SECONDS: Final = 3.0
"""A node that stands still accepts connections, and says nothing on them."""

RETRY_SECONDS: Final = 0.2
LATE_SECONDS: Final = 1.0
"""What an old socket was sent before it lost the session has been read by then."""

Channels = dict[str, tuple[str, str | None]]


@attrs.frozen
class Kind:
    """What a client is and does."""

    account: str
    compressed: bool
    acknowledges: bool
    """Whether its heartbeats say what it has processed, or nothing."""

    def __str__(self) -> str:
        how = "zstd" if self.compressed else "plain"
        return f"{self.account}, {how}, {'acknowledging' if self.acknowledges else 'silent'}"


@attrs.define(eq=False)
class History:
    """One session as its client knows it: numbers are the model's to judge, messages and state are kept here."""

    model: ModelSession
    channel_id: str
    after: str | None = None
    """The last message of the channel that the state of Ready held."""
    messages: list[str] = attrs.field(factory=list)
    channels: Channels = attrs.field(factory=dict)
    last_message_id: str | None = None
    events: int = 0
    doubled: int = 0
    faults: list[str] = attrs.field(factory=list)
    """What a session must not be sent, in words."""

    def take(self, payload: ServerPayload) -> None:
        """A Dispatch on the socket that holds the session."""
        self.events += 1
        sequence, replaying = payload.sequence or 0, self.model.replaying_from is not None
        if payload.name != EventName.RESUMED and sequence <= self.model.last:
            self.doubled += 1
        try:
            self.model.take(payload)
        except AssertionError as error:
            where = "in a replay" if replaying else "live"
            self.faults.append(f"{self.model.id} {where}: {error}")
            self.model.last = max(self.model.last, sequence)
        self._fold(payload)

    def _fold(self, payload: ServerPayload) -> None:
        data = payload.data
        match payload.name:
            case EventName.READY:
                for guild in data["guilds"]:
                    self._take_channels(guild.get("channels", ()))
            case EventName.GUILD_CREATE:
                self._take_channels(data.get("channels", ()))
            case EventName.CHANNEL_CREATE | EventName.CHANNEL_UPDATE:
                self.channels[data["id"]] = (data["name"], data.get("topic"))
            case EventName.CHANNEL_DELETE:
                self.channels.pop(data["id"], None)
            case EventName.MESSAGE_CREATE if data["channel_id"] == self.channel_id:
                self._take_message(data["id"])
            case _:
                pass

    def _take_channels(self, channels: list[dict[str, Any]]) -> None:
        for channel in channels:
            self.channels[channel["id"]] = (channel["name"], channel.get("topic"))
            if channel["id"] == self.channel_id:
                self.after = self.last_message_id = channel["last_message_id"]

    def _take_message(self, message_id: str) -> None:
        if message_id in self.messages[-64:] or int(message_id) <= int(self.after or 0):
            self.doubled += 1
        self.messages.append(message_id)
        self.last_message_id = message_id

    def knows(self, message_id: str) -> bool:
        """Whether the client has been told of the message, by an event or by the state it began with."""
        return int(self.last_message_id or 0) >= int(message_id)

    def begin_anew(self) -> None:
        """Forget what was looked at already."""
        self.messages.clear()
        self.faults.clear()
        self.events = self.doubled = 0

    @property
    def state(self) -> tuple[Channels, str | None]:
        """What a Ready would say, by Ready and events."""
        return self.channels, self.last_message_id


@attrs.define(eq=False)
class Tally:
    """What all clients count, over one round."""

    invalid_sessions: int = 0
    resumes: int = 0
    attached_at: list[float] = attrs.field(factory=list)
    """When a session got its Resumed or Ready."""
    told_at: list[float] = attrs.field(factory=list)
    """When a session was told that it is over."""
    closed: list[tuple[int, Close]] = attrs.field(factory=list)
    """How sockets ended that held a session, with the port."""
    left_closed: list[tuple[int, Close]] = attrs.field(factory=list)
    """How sockets ended that a client had left, with the port."""
    late: int = 0
    """Dispatches on a socket whose session another socket held already."""


@attrs.define(eq=False)
class SteadyClient:
    """Keeps one session: resumes at any node, identifies where there is none any more."""

    name: str
    kind: Kind
    token: str
    routes: Callable[[], dict[int, TcpRoute]]
    """Where a gateway may be, by port."""
    home: int
    """The port that it tries first."""
    channel_id: str
    tally: Callable[[], Tally]
    history: History | None = None
    over: list[History] = attrs.field(factory=list)
    """Sessions that have ended, since someone last took them away."""
    port: int = 0
    """Where its session is attached; 0 while it is not."""
    _wanted: int = attrs.field(default=0, init=False)
    """The port that it tries next, in place of its home."""
    _holding: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _attached_at: float = attrs.field(default=0.0, init=False)
    _heard: int = attrs.field(default=0, init=False)
    """Payloads that it was sent. Each shows that the node lives, as an acknowledgement does; on a busy machine those
    wait behind the events of a replay."""
    _patience: float = attrs.field(default=UNANSWERED_SECONDS, init=False)
    """Seconds without an answer after which it leaves. They double each time that it leaves before it had a session:
    clients that all come back too soon keep a busy machine from serving any of them."""

    async def live(self, nursery: trio.Nursery) -> None:
        """Keep a session until cancelled."""
        while True:
            port = self._wanted or self.home
            self._wanted = self._other(port)
            try:
                with trio.fail_after(CONNECT_SECONDS):
                    socket = await GatewayClient.connect(
                        nursery, self.routes()[port], compressed=self.kind.compressed, heartbeats=False, name=self.name
                    )
            except (OSError, KeyError, HandshakeRefused, GatewayClosed, NothingArrived, trio.TooSlowError):
                await trio.sleep(RETRY_SECONDS)
                continue
            await self._hold(nursery, socket, port)

    def _other(self, port: int) -> int:
        ports = sorted(self.routes())
        return next((other for other in ports if other > port), ports[0])

    def leave(self, port: int) -> None:
        """Resume at this port, and leave the socket open that holds the session now."""
        self._wanted = port
        self._holding.cancel()

    async def _hold(self, nursery: trio.Nursery, socket: GatewayClient, port: int) -> None:
        """Use a socket until it closes or is left."""
        was_attached = False
        with trio.CancelScope() as self._holding:
            async with trio.open_nursery() as beats:
                beats.start_soon(self._beat, socket, port)
                try:
                    await self._start(socket)
                    while True:
                        await self._take(socket, port, await socket.next_payload(seconds=float("inf")))
                        was_attached = was_attached or self.port == port
                except GatewayClosed:
                    beats.cancel_scope.cancel()
        self.port = 0
        if self.history is not None:
            self.history.model.detach(trio.current_time())
        if socket.close_frame is None:
            nursery.start_soon(self._watch, socket, port)
        elif was_attached:
            self.tally().closed.append((port, socket.close_frame))
        else:
            await trio.sleep(RETRY_SECONDS)

    async def _start(self, socket: GatewayClient) -> None:
        if self.history is None:
            await socket.identify(self.token)
            return
        model = self.history.model
        model.attach(model.last)
        await socket.resume(self.token, model.id, model.last)

    async def _take(self, socket: GatewayClient, port: int, payload: ServerPayload) -> None:
        self._heard += 1
        match payload.op:
            case Opcode.DISPATCH:
                self._take_dispatch(port, payload)
            case Opcode.INVALID_SESSION:
                self.tally().invalid_sessions += 1
                self.tally().told_at.append(trio.current_time())
                if self.history is not None:
                    self.over.append(self.history)
                self.history, self.port = None, 0
                await self._start(socket)
            case Opcode.HEARTBEAT:
                await self._heartbeat(socket)
            case _:
                pass

    def _take_dispatch(self, port: int, payload: ServerPayload) -> None:
        if payload.name == EventName.READY:
            model = ModelSession(payload.data["session_id"], self.kind.account, is_whole=False)
            self.history = History(model, self.channel_id)
        if self.history is None:
            return
        self.history.take(payload)
        if payload.name in {EventName.READY, EventName.RESUMED}:
            self.port, self._attached_at, self._patience = port, trio.current_time(), UNANSWERED_SECONDS
            self.tally().attached_at.append(self._attached_at)
            self.tally().resumes += payload.name == EventName.RESUMED

    async def _heartbeat(self, socket: GatewayClient) -> None:
        if self.kind.acknowledges and self.history is not None and self.port:
            self.history.model.acknowledge(self.history.model.last)
            await socket.heartbeat(self.history.model.last)
        else:
            await socket.heartbeat(None)

    async def _beat(self, socket: GatewayClient, port: int) -> None:
        seen, seen_at = (socket.acknowledgements, self._heard), trio.current_time()
        while socket.is_open:
            await self._heartbeat(socket)
            await trio.sleep(HEARTBEAT_SECONDS)
            signs = (socket.acknowledgements, self._heard)
            if signs != seen:
                seen, seen_at = signs, trio.current_time()
            elif trio.current_time() > seen_at + self._patience:
                if not self.port:
                    self._patience = min(2 * self._patience, PATIENCE_SECONDS / 2)
                self.leave(self._other(port))

    async def _watch(self, socket: GatewayClient, port: int) -> None:
        """A socket that was left: once another one holds the session, this one must be sent nothing of it."""
        history = self.history
        while True:
            try:
                payload = await socket.next_payload(seconds=float("inf"))
            except GatewayClosed as closed:
                self.tally().left_closed.append((port, closed.close))
                return
            is_held = self.port and history is not None and history is self.history
            if payload.op == Opcode.DISPATCH and is_held and trio.current_time() > self._attached_at + LATE_SECONDS:
                self.tally().late += 1
