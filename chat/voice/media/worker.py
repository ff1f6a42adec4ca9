"""A media worker: takes orders, moves packets, reports. Everything that crosses its border is a record of
`chat.voice.engine.commands`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import attrs
import structlog
import trio

from chat.classes import define
from chat.voice.engine.commands import (
    CloseTransport,
    Command,
    Forward,
    Heard,
    OpenTransport,
    ReceiveTrack,
    SilenceTrack,
    StopForward,
    StopTrack,
    TransportLost,
    TransportUp,
    TrustPeer,
    WorkerEvent,
)
from chat.voice.media.datagrams import Address, Datagrams
from chat.voice.media.dtls import Identity
from chat.voice.media.forwarding import Incoming, Outgoing
from chat.voice.media.transport import Transport, TransportFailed
from chat.voice.protocol import stun
from chat.voice.protocol.demultiplexing import Kind, kind_of
from chat.voice.protocol.sequencing import Sequencer

LISTEN_SECONDS: Final = 0.3
"""How often it is told who speaks."""

TRANSPORTS_MAXIMUM: Final = 4_096

log: Final = structlog.get_logger("chat.voice")


@define(eq=False)
class WorkerFigures:
    """Counts since the worker began."""

    received: int = 0
    sent: int = 0
    strange: int = 0
    """Datagrams of nobody that is known."""


@define(eq=False)
class Worker:
    """One worker on one socket. `run` must be running for anything to move."""

    _datagrams: Datagrams
    _identity: Identity
    _report: Callable[[WorkerEvent], None]
    figures: WorkerFigures = attrs.field(factory=WorkerFigures, init=False)
    _transports: dict[str, Transport] = attrs.field(factory=dict, init=False)
    _scopes: dict[str, trio.CancelScope] = attrs.field(factory=dict, init=False)
    _by_address: dict[Address, Transport] = attrs.field(factory=dict, init=False)
    _tracks: dict[str, Incoming] = attrs.field(factory=dict, init=False)
    _nursery: trio.Nursery | None = attrs.field(default=None, init=False)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Move packets until cancelled."""
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                nursery.start_soon(self._listen)
                task_status.started()
                while True:
                    for datagram, address in await self._datagrams.receive():
                        self._receive(datagram, address)
                    await trio.lowlevel.checkpoint()
        finally:
            self._nursery = None
            for transport in self._transports.values():
                transport.close()
            self._datagrams.close()

    # Orders

    def order(self, command: Command) -> None:
        """Carry out an order; one about something that is gone by now changes nothing."""
        match command:
            case OpenTransport(name, password):
                self._open(name, password)
            case TrustPeer(name):
                if name in self._transports:
                    self._transports[name].trust(command)
            case CloseTransport(name):
                self._close(name)
            case ReceiveTrack(name, track):
                if name in self._transports:
                    self._tracks[track] = Incoming(command)
                    self._transports[name].receive_track(self._tracks[track])
            case StopTrack(track):
                self._stop(track)
            case SilenceTrack(track, silenced):
                if track in self._tracks:
                    self._tracks[track].silence(silenced)
            case Forward():
                self._forward(command)
            case StopForward(track, name):
                if track in self._tracks:
                    self._stop_forward(self._tracks[track], name)

    def _open(self, name: str, password: str) -> None:
        if self._nursery is None or name in self._transports or len(self._transports) >= TRANSPORTS_MAXIMUM:
            return
        on_up = partial(self._report, TransportUp(name))
        transport = Transport(name, password, self._identity, self._send, on_up)
        transport.ask_for_picture = self._ask_for_picture
        self._transports[name] = transport
        self._nursery.start_soon(self._live, transport)

    async def _live(self, transport: Transport) -> None:
        """Run one transport; what goes wrong with one is told and leaves the others alone."""
        reason = ""
        with trio.CancelScope() as scope:
            self._scopes[transport.name] = scope
            if self._transports.get(transport.name) is not transport:
                return  # closed before it began
            try:
                await transport.run()
            except TransportFailed as failed:
                reason = str(failed)
            except Exception:
                log.exception("a transport failed")
                reason = "internal"
        self._scopes.pop(transport.name, None)
        if reason and self._transports.get(transport.name) is transport:
            self._close(transport.name)
            self._report(TransportLost(transport.name, reason))

    def _close(self, name: str) -> None:
        transport = self._transports.pop(name, None)
        if transport is None:
            return
        transport.close()
        for address in transport.addresses:
            if self._by_address.get(address) is transport:
                del self._by_address[address]
        for track in [track for track, each in self._tracks.items() if each.order.transport == name]:
            self._stop(track)
        for incoming, _ in list(transport.outgoing.values()):
            incoming.outgoing.pop(name, None)
        if name in self._scopes:
            self._scopes.pop(name).cancel()

    def _stop(self, track: str) -> None:
        incoming = self._tracks.pop(track, None)
        if incoming is None:
            return
        for name in list(incoming.outgoing):
            self._stop_forward(incoming, name)
        publisher = self._transports.get(incoming.order.transport)
        if publisher is not None:
            publisher.stop_track(incoming)

    def _forward(self, order: Forward) -> None:
        incoming, transport = self._tracks.get(order.track), self._transports.get(order.transport)
        if incoming is None or transport is None:
            return
        sequencer = Sequencer(order.stream.clock_rate)
        outgoing = Outgoing(order.ssrc, order.stream, transport.send, transport.report, sequencer)
        incoming.outgoing[order.transport] = outgoing
        transport.outgoing[order.ssrc] = incoming, outgoing
        if order.stream.has_pictures:
            self._ask_for_picture(incoming)

    def _stop_forward(self, incoming: Incoming, name: str) -> None:
        outgoing, transport = incoming.outgoing.pop(name, None), self._transports.get(name)
        if outgoing is not None and transport is not None:
            transport.outgoing.pop(outgoing.ssrc, None)

    def _ask_for_picture(self, incoming: Incoming) -> None:
        incoming.wants_key_frame = True
        publisher = self._transports.get(incoming.order.transport)
        if publisher is not None and publisher.is_up and incoming.may_ask(trio.current_time()):
            publisher.ask_for_key_frame(incoming)

    # Packets

    def _send(self, datagram: bytes, address: Address) -> None:
        self.figures.sent += 1
        self._datagrams.send(datagram, address)

    def _receive(self, datagram: bytes, address: Address) -> None:
        kind = kind_of(datagram)
        if kind is Kind.STUN:
            self._binding_request(datagram, address)
            return
        transport = self._by_address.get(address)
        if transport is None or kind is None:
            self.figures.strange += 1
            return
        self.figures.received += 1
        now = trio.current_time()
        if kind is Kind.RTP:
            transport.media(datagram, now)
        elif kind is Kind.RTCP:
            transport.control(datagram, now)
        else:
            transport.handshake(datagram)

    def _binding_request(self, datagram: bytes, address: Address) -> None:
        request = stun.parse(datagram)
        name = None if request is None or request.kind != stun.BINDING_REQUEST else request.local_name
        transport = None if name is None else self._transports.get(name)
        if request is None or transport is None or not request.is_signed_with(transport.password):
            self.figures.strange += 1
            return
        self.figures.received += 1
        before = self._by_address.get(address)
        if before is not None and before is not transport:
            before.addresses.pop(address, None)
        self._by_address[address] = transport
        outdated = transport.binding_request(request, address)
        if outdated is not None and self._by_address.get(outdated) is transport:
            del self._by_address[outdated]

    # Who speaks

    async def _listen(self) -> None:
        said = False
        while True:
            await trio.sleep(LISTEN_SECONDS)
            levels = {
                name: level
                for name, track in self._tracks.items()
                if not track.order.stream.has_pictures and (level := track.level()) > 0
            }
            if levels or said:
                self._report(Heard(levels))
            said = bool(levels)

    @property
    def transports(self) -> int:
        """How many transports there are."""
        return len(self._transports)

    def lost_reported(self) -> int:
        """Packets that did not arrive at the peers that are here now, as they say."""
        return sum(transport.lost_reported for transport in self._transports.values())
