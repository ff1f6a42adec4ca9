"""The embedded engine at work: rooms, one media worker, and the sockets of those who signal. It exists while somebody
is in voice; with it comes everything that voice needs."""

from __future__ import annotations

import contextlib
import datetime
import random
import secrets
from collections.abc import Callable
from typing import Final

import attrs
import structlog
import trio
from livekit.protocol import rtc

from chat.classes import define
from chat.domain.presence.voice_media import MediaRights
from chat.gateway.websocket import Message, WebSocket
from chat.port.transport import Transport
from chat.voice.addresses import candidate_addresses
from chat.voice.engine.engine import Engine, Presence
from chat.voice.engine.messages import Leave, LeaveReason
from chat.voice.engine.rooms import SHOWN, Grant, Rights, Source
from chat.voice.media.datagrams import Datagrams
from chat.voice.media.dtls import make_identity
from chat.voice.media.worker import Worker
from chat.voice.protocol.sdp import SdpRefused, candidates
from chat.voice.signalling.conversation import carry_out
from chat.voice.signalling.reading import MESSAGE_BYTES, SignalRefused, read_request
from chat.voice.signalling.writing import IceServer, frame, response_of

NAME_CHARACTERS: Final = 16
"""Of ids and of ICE names: 80 bits and more that nobody guesses."""

ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"

SILENT_SECONDS: Final = 45.0
"""A client that signals nothing for this long is gone: it sends a ping every ten seconds."""

BUDGET_MESSAGES: Final = 600
BUDGET_SECONDS: Final = 10.0
"""What a client may signal; the candidates of a machine with many networks are sixty."""

FRESH_SECONDS: Final = 300.0
"""How often a client gets a new token: half of the time that one is good for."""

POLICY_VIOLATION: Final = 1008
REFUSED: Final = 1003

log: Final = structlog.get_logger("chat.voice")


def rights_of(granted: MediaRights) -> Rights:
    """A connection's rights in the engine's words."""
    sources: set[Source] = set()
    if granted.hears:
        sources |= {Source.MICROPHONE} if granted.speaks else set()
        sources |= SHOWN if granted.streams else set()
    return Rights(sources=frozenset(sources), hears=granted.hears, bits_per_second=granted.bits_per_second)


@define(eq=False)
class SignalSocket:
    """One client's socket; `as_text` follows the form that it speaks."""

    websocket: WebSocket
    as_text: bool = False
    participant: str = ""
    over: bool = False
    received: int = 0
    window_began: float = attrs.field(factory=trio.current_time)

    def is_within_budget(self) -> bool:
        """Whether one more message may be taken."""
        now = trio.current_time()
        if now - self.window_began > BUDGET_SECONDS:
            self.received, self.window_began = 0, now
        self.received += 1
        return self.received <= BUDGET_MESSAGES

    def send(self, response: rtc.SignalResponse) -> None:
        """Send it as soon as the client takes it."""
        self.websocket.outbox.send(frame(response, as_text=self.as_text))


@define(eq=False, kw_only=True)
class Studio:
    """`run` must be running; `serve` takes clients, whose right to enter was judged before."""

    datagrams: Datagrams
    port: int
    """Where media goes."""
    public_address: str | None
    local_addresses: list[str]
    ice_servers: tuple[IceServer, ...] = ()
    now_ms: Callable[[], int]
    on_presence: Callable[[Presence], None]
    engine: Engine = attrs.field(init=False)
    worker: Worker = attrs.field(init=False)
    _sockets: dict[str, SignalSocket] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        chance = secrets.SystemRandom()
        identity = make_identity(datetime.datetime.now(datetime.UTC))
        self.engine = Engine(
            new_name=lambda beginning: beginning + _name(chance),
            new_number=lambda: chance.getrandbits(32),
            fingerprint=identity.fingerprint,
        )
        self.worker = Worker(self.datagrams, identity, self._worker_event)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Move media until cancelled; then everybody is told to go."""
        try:
            await self.worker.run(task_status)
        finally:
            for participant in self.engine.everybody():
                self.engine.leave(participant.id, LeaveReason.SERVER_SHUTDOWN)
            self._pass_on()

    # The domain

    def change_rights(self, room: str, identity: str, granted: MediaRights) -> None:
        """What somebody may do changed."""
        self.engine.change_rights(room, identity, rights_of(granted))
        self._pass_on()

    def dismiss(self, room: str, identity: str) -> None:
        """Somebody is there no longer."""
        self.engine.dismiss(room, identity, LeaveReason.PARTICIPANT_REMOVED)
        self._pass_on()

    # Clients

    async def serve(
        self,
        connection: Transport,
        client_address: str,
        grant: Grant,
        token: Callable[[], str | None],
        *,
        as_text: bool = False,
    ) -> None:
        """Speak with one client until it leaves. `token` makes it a new one from time to time; `as_text` is the form
        of what the client is told before it has said anything."""
        websocket = WebSocket(connection, maximum_message_bytes=MESSAGE_BYTES)
        signal, code = SignalSocket(websocket, as_text), 1000
        addresses = candidate_addresses(client_address, self.public_address, self.local_addresses)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(websocket.outbox.run_writer)
                lines = candidates([(address, self.port) for address in addresses])
                signal.participant = self.engine.join(grant, lines, self.now_ms())
                self._sockets[signal.participant] = signal
                self._pass_on()
                nursery.start_soon(self._keep_token_fresh, signal, token)
                code = await self._converse(signal)
                nursery.cancel_scope.cancel()
        finally:
            self._sockets.pop(signal.participant, None)
            self.engine.leave(signal.participant)
            self._pass_on()
            await websocket.close(code)

    async def _converse(self, signal: SignalSocket) -> int:
        """Take messages until there is nothing more to say; returns the code to close with."""
        while not signal.over:
            received: object = None
            with trio.move_on_after(SILENT_SECONDS):
                received = await signal.websocket.receive()
            if not isinstance(received, Message) or signal.over:
                return 1000
            if not signal.is_within_budget():
                return POLICY_VIOLATION
            signal.as_text = received.text
            try:
                request = read_request(received.data, is_text=received.text)
                response = carry_out(self.engine, signal.participant, request, self.now_ms())
            except (SignalRefused, SdpRefused) as refused:
                log.info("a client of voice was refused", reason=str(refused))
                return REFUSED
            finally:
                self._pass_on()
            if response is not None:
                signal.send(response)
            if self.engine.participant(signal.participant) is None:
                return 1000
        return 1000

    async def _keep_token_fresh(self, signal: SignalSocket, token: Callable[[], str | None]) -> None:
        while True:
            await trio.sleep(FRESH_SECONDS)
            fresh = token()
            if fresh is not None:
                signal.send(rtc.SignalResponse(refresh_token=fresh))

    # The engine's results

    def _worker_event(self, event: object) -> None:
        self.engine.worker_event(event)  # type: ignore[arg-type]
        self._pass_on()

    def _pass_on(self) -> None:
        """Order, tell and report what the engine left behind. What that leads to is passed on as well."""
        engine = self.engine
        while engine.commands or engine.told or engine.presences:
            commands, engine.commands = engine.commands, []
            told, engine.told = engine.told, []
            presences, engine.presences = engine.presences, []
            for command in commands:
                self.worker.order(command)
            for each in told:
                signal = self._sockets.get(each.participant)
                if signal is None:
                    continue
                signal.send(response_of(each.message, self.ice_servers))
                if isinstance(each.message, Leave):
                    self._finish(signal)
            for presence in presences:
                self.on_presence(presence)

    def _finish(self, signal: SignalSocket) -> None:
        """Nothing more is said to this client: end its socket once it has read the goodbye."""
        signal.over = True
        del self._sockets[signal.participant]
        with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            signal.websocket.begin_closing()


def _name(chance: random.Random) -> str:
    return "".join(chance.choices(ALPHABET, k=NAME_CHARACTERS))
