"""Two peers of a worker's own transports, with real SRTP: what probes the line leaves no gap, a stream that has not
begun is not reported on, and one request has a bounded number of packets sent again."""

from __future__ import annotations

import datetime

import trio
from pylibsrtp import Policy, Session

from chat.voice.engine.commands import ReceiveTrack, Stream
from chat.voice.media.dtls import MediaKeys, make_identity
from chat.voice.media.forwarding import Incoming, Outgoing
from chat.voice.media.transport import AGAIN_MAXIMUM, Transport
from chat.voice.protocol import rtcp, rtp
from chat.voice.protocol.rtcp import Nack, ReceiverReport
from chat.voice.protocol.rtp import RtpPacket
from chat.voice.protocol.sequencing import Sequencer

KEY = bytes(range(28))
PICTURES = Stream(96, 90_000, {}, asks_again=True, has_pictures=True)
SPOKEN, SILENT = 77, 78


def session(direction: int) -> Session:
    return Session(Policy(key=KEY, ssrc_type=direction, srtp_profile=Policy.SRTP_PROFILE_AEAD_AES_128_GCM))


class Line:
    """A publisher's transport that is up, and everything that it sent and passed on, decrypted."""

    def __init__(self) -> None:
        self.client, self.opened = session(Policy.SSRC_ANY_OUTBOUND), session(Policy.SSRC_ANY_INBOUND)
        self.told: list[rtcp.Report] = []
        self.passed_on: list[RtpPacket] = []
        identity = make_identity(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC))
        self.transport = Transport("t", "password", identity, self._sent, lambda: None)
        keys = MediaKeys(session(Policy.SSRC_ANY_INBOUND), session(Policy.SSRC_ANY_OUTBOUND))
        self.transport._keys, self.transport._selected = keys, ("192.0.2.1", 1)
        self.incoming = Incoming(ReceiveTrack("t", "track", "0", (SPOKEN, SILENT), PICTURES, None))
        self.transport.receive_track(self.incoming)
        self.incoming.outgoing["other"] = Outgoing(5, PICTURES, self._forwarded, lambda _: None, Sequencer(90_000))

    def _sent(self, datagram: bytes, address: tuple[str, int]) -> None:
        self.told += rtcp.parse(self.opened.unprotect_rtcp(datagram))

    def _forwarded(self, data: bytes) -> bytes:
        packet = rtp.parse(data)
        assert packet is not None
        self.passed_on.append(packet)
        return data

    def publish(self, sequence: int, payload: bytes, padding: int = 0) -> None:
        data = bytearray(rtp.build(RtpPacket(False, 96, sequence, 3_000 * sequence, SPOKEN, {}, payload)))
        if padding:
            data[0] |= 0x20
            data += bytes(padding - 1) + bytes((padding,))
        self.transport.media(self.client.protect(bytes(data)), sequence / 30)


async def test_what_probes_the_line_leaves_no_gap() -> None:
    line = Line()
    for sequence in range(10, 30):
        line.publish(sequence, *((b"", 200) if sequence % 4 == 0 else (b"picture", 0)))
    assert [packet.sequence for packet in line.passed_on] == list(range(10, 30))
    assert {packet.sequence for packet in line.passed_on if not packet.payload} == {12, 16, 20, 24, 28}


async def test_a_stream_that_has_not_begun_is_not_reported_on() -> None:
    line = Line()
    line.transport._tell_reception(trio.current_time())
    assert line.told == []
    line.publish(10, b"picture")
    line.transport._tell_reception(trio.current_time())
    (report,) = line.told
    assert isinstance(report, ReceiverReport)
    assert [each.ssrc for each in report.reports] == [SPOKEN]


async def test_one_request_has_a_bounded_number_of_packets_sent_again() -> None:
    line = Line()
    datagrams: list[bytes] = []
    line.transport._send_to = lambda datagram, _: datagrams.append(datagram)
    to_peer = Outgoing(5, PICTURES, line.transport.send, lambda _: None, Sequencer(90_000))
    line.incoming.outgoing["t"] = to_peer
    line.transport.outgoing[5] = line.incoming, to_peer
    for sequence in range(10, 310):
        line.publish(sequence, b"picture")
    sent = datagrams[-300:]
    datagrams.clear()
    asked = Nack(1, 5, (300, 301, 300))
    line.transport.control(line.client.protect_rtcp(rtcp.build([asked])), 11.0)
    assert sorted(datagrams) == sorted(sent[290:292])
    datagrams.clear()
    line.transport.control(line.client.protect_rtcp(rtcp.build([Nack(1, 5, tuple(range(10, 310)))])), 12.0)
    assert len(datagrams) == AGAIN_MAXIMUM
