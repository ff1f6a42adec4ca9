"""One transport: ICE's answers, the handshake, and media in both directions, for one peer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs
import pylibsrtp
import trio

from chat.classes import define
from chat.voice.engine.commands import ReceiveTrack, TrustPeer
from chat.voice.media.datagrams import Address
from chat.voice.media.dtls import DtlsServer, HandshakeFailed, Identity, MediaKeys
from chat.voice.media.forwarding import Incoming, Outgoing
from chat.voice.protocol import rtcp, rtp, stun
from chat.voice.protocol.reception import Reception
from chat.voice.protocol.rtcp import Nack, PictureLoss, ReceiverReport, SenderReport
from chat.voice.protocol.rtp import RtpPacket
from chat.voice.protocol.sdp import MID

CONNECT_SECONDS: Final = 30.0
"""How long a peer may take from its first word to encrypted media."""

SILENCE_SECONDS: Final = 20.0
"""A peer that asks for no consent for this long is gone; clients ask every few seconds."""

REPORT_SECONDS: Final = 1.0
ADDRESSES_MAXIMUM: Final = 16
STREAMS_MAXIMUM: Final = 64
"""SSRCs that one peer may send under."""


AGAIN_MAXIMUM: Final = 128
"""Packets that one request of a peer has sent again; it may name thousands."""


class TransportFailed(Exception):
    """The transport is over; the text says why."""


@define(eq=False)
class Transport:
    """The state of one. Its task is `run`; datagrams are given to it by the worker."""

    name: str
    password: str = attrs.field(repr=False)
    _identity: Identity = attrs.field(repr=False)
    _send_to: Callable[[bytes, Address], None] = attrs.field(repr=False)
    _on_up: Callable[[], None] = attrs.field(repr=False)
    addresses: dict[Address, None] = attrs.field(factory=dict, init=False)
    """Addresses that proved to be the peer's, the latest proof last."""
    outgoing: dict[int, tuple[Incoming, Outgoing]] = attrs.field(factory=dict, init=False)
    """What this peer gets, by SSRC."""
    ask_for_picture: Callable[[Incoming], None] = attrs.field(default=lambda _: None, init=False)
    lost_reported: int = attrs.field(default=0, init=False)
    """Packets that the peer says it did not get."""
    _selected: Address | None = attrs.field(default=None, init=False)
    _trusted: tuple[str, str] | None = attrs.field(default=None, init=False)
    _dtls: DtlsServer | None = attrs.field(default=None, init=False)
    _keys: MediaKeys | None = attrs.field(default=None, init=False)
    _heard_at: float = attrs.field(factory=trio.current_time, init=False)
    _by_mid: dict[bytes, Incoming] = attrs.field(factory=dict, init=False)
    _by_ssrc: dict[int, Incoming] = attrs.field(factory=dict, init=False)
    _receptions: dict[int, Reception] = attrs.field(factory=dict, init=False)
    _wake: trio.Event = attrs.field(factory=trio.Event, init=False)
    _failed: str | None = attrs.field(default=None, init=False)

    @property
    def is_up(self) -> bool:
        """Whether media can flow."""
        return self._keys is not None

    # Datagrams

    def binding_request(self, request: stun.StunMessage, address: Address) -> Address | None:
        """Answer a check that is signed with our password; returns an address that no longer counts, if any."""
        self._heard_at = trio.current_time()
        self.addresses.pop(address, None)
        self.addresses[address] = None
        if self._selected is None or stun.USE_CANDIDATE in request.attributes:
            self._selected = address
        self._send_to(stun.success(request, *address, self.password), address)
        if len(self.addresses) <= ADDRESSES_MAXIMUM:
            return None
        oldest = next(each for each in self.addresses if each != self._selected)
        del self.addresses[oldest]
        return oldest

    def handshake(self, datagram: bytes) -> None:
        """A datagram of DTLS."""
        if self._dtls is None:
            self._dtls = DtlsServer.begin(self._identity)
        try:
            self._send_all(self._dtls.receive(datagram))
            if self._dtls.closed:
                self._fail("the peer said goodbye")
            self._come_up()
        except HandshakeFailed as error:
            self._fail(str(error))
        self._wake.set()

    def trust(self, order: TrustPeer) -> None:
        """The description promised this certificate; another than before ends the transport."""
        promised = order.algorithm, order.fingerprint
        if self._trusted is not None and self._trusted != promised and self.is_up:
            self._fail("the promised certificate changed")
            return
        self._trusted = promised
        self._come_up()

    def _come_up(self) -> None:
        if self._dtls is None or self._trusted is None or self._keys is not None or not self._dtls.finished:
            return
        if not self._dtls.peer_has(*self._trusted):
            self._fail("the certificate is not the promised one")
            return
        try:
            self._keys = self._dtls.keys()
        except HandshakeFailed as error:
            self._fail(str(error))
            return
        self._wake.set()
        self._on_up()

    def media(self, datagram: bytes, now: float) -> None:
        """An encrypted packet of RTP; what cannot be decrypted, or was there before, is dropped."""
        if self._keys is None:
            return
        try:
            packet = rtp.parse(self._keys.received.unprotect(datagram))
        except pylibsrtp.Error:
            return
        incoming = None if packet is None else self._by_ssrc.get(packet.ssrc) or self._bind(packet)
        if packet is None or incoming is None or packet.payload_type != incoming.order.stream.payload_type:
            return
        reception = self._receptions[packet.ssrc]
        reception.packet(packet.sequence, packet.timestamp, now)
        if incoming.order.stream.asks_again:
            missing = reception.to_ask_for(now)
            if missing:
                self.report(Nack(0, packet.ssrc, tuple(missing)))
        # Padding that probes the line goes on as an empty packet: a number left out would count as lost for ever.
        incoming.packet(packet, now)
        if incoming.may_ask(now):
            self.ask_for_key_frame(incoming)

    def _bind(self, packet: RtpPacket) -> Incoming | None:
        """The track of an SSRC that is seen for the first time, by the mid that its first packets carry."""
        for incoming in self._by_mid.values():
            number = incoming.order.stream.extensions.get(MID)
            mid = None if number is None else packet.extensions.get(number)
            if mid is not None and mid == incoming.order.mid.encode():
                self._bind_ssrc(packet.ssrc, incoming)
                return self._by_ssrc.get(packet.ssrc)
        return None

    def _bind_ssrc(self, ssrc: int, incoming: Incoming) -> None:
        if len(self._by_ssrc) < STREAMS_MAXIMUM:
            self._by_ssrc[ssrc] = incoming
            self._receptions[ssrc] = Reception(ssrc, incoming.order.stream.clock_rate)

    def control(self, datagram: bytes, now: float) -> None:
        """An encrypted packet of RTCP."""
        if self._keys is None:
            return
        try:
            reports = rtcp.parse(self._keys.received.unprotect_rtcp(datagram))
        except pylibsrtp.Error:
            return
        for report in reports:
            match report:
                case SenderReport(ssrc=ssrc):
                    self._sender_report(ssrc, report, now)
                    self._losses(report.reports)
                case ReceiverReport(reports=reception):
                    self._losses(reception)
                case Nack(media=media, sequences=sequences):
                    self._send_again(media, sequences)
                case PictureLoss(media=media) if media in self.outgoing:
                    self.ask_for_picture(self.outgoing[media][0])

    def _sender_report(self, ssrc: int, report: SenderReport, now: float) -> None:
        incoming = self._by_ssrc.get(ssrc)
        if incoming is None:
            return
        self._receptions[ssrc].sender_report(report, now)
        for outgoing in incoming.outgoing.values():
            if outgoing.packets:
                outgoing.send_report(outgoing.report(report))

    def _losses(self, reports: tuple[rtcp.ReceptionReport, ...]) -> None:
        lost = sum(max(0, report.lost) for report in reports if report.ssrc in self.outgoing)
        self.lost_reported = max(self.lost_reported, lost)

    def _send_again(self, media: int, sequences: tuple[int, ...]) -> None:
        found = self.outgoing.get(media)
        if found is None or self._selected is None:
            return
        for sequence in dict.fromkeys(sequences[:AGAIN_MAXIMUM]):
            sent = found[1].sent_before(sequence)
            if sent is not None:
                self._send_to(sent, self._selected)

    # Sending

    def send(self, packet: bytes) -> bytes | None:
        """Encrypt a packet of RTP and send it."""
        if self._keys is None or self._selected is None:
            return None
        try:
            sent = self._keys.sent.protect(packet)
        except pylibsrtp.Error:
            return None  # a number that was used: the packet came twice
        self._send_to(sent, self._selected)
        return sent

    def report(self, *reports: rtcp.Report) -> None:
        """Encrypt RTCP and send it."""
        if self._keys is not None and self._selected is not None:
            self._send_to(self._keys.sent.protect_rtcp(rtcp.build(reports)), self._selected)

    def ask_for_key_frame(self, incoming: Incoming) -> None:
        """Tell the publisher that somebody needs a whole picture."""
        for ssrc, each in self._by_ssrc.items():
            if each is incoming:
                self.report(PictureLoss(0, ssrc))

    def _send_all(self, datagrams: list[bytes]) -> None:
        if self._selected is not None:
            for datagram in datagrams:
                self._send_to(datagram, self._selected)

    # Tracks

    def receive_track(self, incoming: Incoming) -> None:
        """Take the packets of a track from now on."""
        order: ReceiveTrack = incoming.order
        self._by_mid[order.mid.encode()] = incoming
        for ssrc in order.ssrcs:
            self._bind_ssrc(ssrc, incoming)

    def stop_track(self, incoming: Incoming) -> None:
        """Take them no more."""
        self._by_mid = {mid: each for mid, each in self._by_mid.items() if each is not incoming}
        for ssrc in [ssrc for ssrc, each in self._by_ssrc.items() if each is incoming]:
            del self._by_ssrc[ssrc], self._receptions[ssrc]

    # The task

    async def run(self) -> None:
        """Live until the peer is gone. Raises TransportFailed."""
        with trio.move_on_after(CONNECT_SECONDS):
            await self._connect()
        if not self.is_up:
            self._raise_failure()
            raise TransportFailed("no media came up in time")
        while True:
            with trio.move_on_after(REPORT_SECONDS):
                await self._wake.wait()
            self._wake = trio.Event()
            self._raise_failure()
            now = trio.current_time()
            if now - self._heard_at > SILENCE_SECONDS:
                raise TransportFailed("the peer is not heard of")
            self._tell_reception(now)
            await trio.lowlevel.checkpoint()

    async def _connect(self) -> None:
        while not self.is_up:
            self._raise_failure()
            timeout = None if self._dtls is None else self._dtls.timeout()
            with trio.move_on_after(CONNECT_SECONDS if timeout is None else max(timeout, 0.001)):
                await self._wake.wait()
            if self._wake.is_set():
                self._wake = trio.Event()
            elif self._dtls is not None:
                try:
                    self._send_all(self._dtls.tick())
                except HandshakeFailed as error:
                    self._fail(str(error))

    def _tell_reception(self, now: float) -> None:
        reports = [reception.report(now) for reception in self._receptions.values() if reception.has_begun]
        for at in range(0, len(reports), 31):
            self.report(ReceiverReport(0, tuple(reports[at : at + 31])))

    def _fail(self, why: str) -> None:
        self._failed = why if self._failed is None else self._failed
        self._wake.set()

    def _raise_failure(self) -> None:
        if self._failed is not None:
            raise TransportFailed(self._failed)

    def close(self) -> None:
        """Say goodbye to the peer."""
        if self._dtls is not None and self._failed is None:
            self._send_all(self._dtls.close())
