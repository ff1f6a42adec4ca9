"""RTP and RTCP: what is built is read back, and nothing that is read breaks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.voice.protocol import rtcp, rtp
from chat.voice.protocol.demultiplexing import Kind, kind_of
from chat.voice.protocol.rtcp import Bye, Nack, PictureLoss, ReceiverReport, ReceptionReport, Remb, SenderReport

u8, u16, u24, u32 = (st.integers(0, (1 << bits) - 1) for bits in (8, 16, 24, 32))
u64 = st.integers(0, (1 << 64) - 1)

small_extensions = st.dictionaries(st.integers(1, 14), st.binary(min_size=1, max_size=16), max_size=5)
large_extensions = st.dictionaries(st.integers(1, 255), st.binary(max_size=40), max_size=5)
packets = st.builds(
    rtp.RtpPacket,
    st.booleans(),
    st.integers(0, 127),
    u16,
    u32,
    u32,
    st.one_of(small_extensions, large_extensions),
    st.binary(max_size=200),
)

reception_reports = st.builds(ReceptionReport, u32, u8, st.integers(-0x800000, 0x7FFFFF), u32, u32, u32, u32)
few_reports = st.lists(reception_reports, max_size=31).map(tuple)
reports = st.one_of(
    st.builds(SenderReport, u32, u64, u32, u32, u32, few_reports),
    st.builds(ReceiverReport, u32, few_reports),
    st.builds(PictureLoss, u32, u32),
    st.builds(Bye, st.lists(u32, max_size=31).map(tuple)),
)


@given(packet=packets)
def test_a_packet_is_read_as_it_was_built(packet: rtp.RtpPacket) -> None:
    data = rtp.build(packet)
    assert rtp.parse(data) == packet
    assert kind_of(data) is (Kind.RTCP if 192 <= data[1] <= 223 else Kind.RTP)


@given(packet=packets, padding=st.integers(1, 255))
def test_padding_is_no_payload(packet: rtp.RtpPacket, padding: int) -> None:
    data = bytearray(rtp.build(packet) + bytes(padding - 1) + bytes((padding,)))
    data[0] |= 0x20
    assert rtp.parse(bytes(data)) == packet


@given(packet=packets, sequence=u16, timestamp=u32, ssrc=u32)
def test_a_rewritten_packet_carries_the_same(packet: rtp.RtpPacket, sequence: int, timestamp: int, ssrc: int) -> None:
    data = rtp.rewritten(
        packet, payload_type=96, ssrc=ssrc, sequence=sequence, timestamp=timestamp, extensions={3: b"x"}
    )
    again = rtp.parse(data)
    assert again is not None
    assert (again.payload, again.marker) == (packet.payload, packet.marker)
    assert (again.sequence, again.timestamp, again.ssrc, again.payload_type) == (sequence, timestamp, ssrc, 96)
    assert again.extensions == {3: b"x"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(11),
        bytes(12),  # version 0
        b"\x9f" + bytes(11),  # fifteen sources that are not there
        b"\x90" + bytes(11),  # an extension that is not there
        b"\xa0" + bytes(11),  # no padding where padding was said
        b"\xa0" + bytes(10) + b"\x0d",  # more padding than packet
    ],
)
def test_what_is_no_packet(data: bytes) -> None:
    assert rtp.parse(data) is None


@given(reports=st.lists(reports, max_size=5))
def test_reports_are_read_as_they_were_built(reports: list[rtcp.Report]) -> None:
    assert rtcp.parse(rtcp.build(reports)) == reports


@given(sender=u32, media=u32, start=u16, gaps=st.lists(st.integers(1, 40), max_size=40))
def test_what_is_asked_for_again_is_what_is_missing(sender: int, media: int, start: int, gaps: list[int]) -> None:
    sequences, at = [start], start
    for gap in gaps:
        at = (at + gap) % 65_536
        sequences.append(at)
    (nack,) = rtcp.parse(rtcp.build([Nack(sender, media, tuple(sequences))]))
    assert nack == Nack(sender, media, tuple(sequences))


@given(sender=u32, bitrate=st.integers(0, 1 << 50), ssrcs=st.lists(u32, max_size=20).map(tuple))
def test_a_bit_rate_keeps_its_first_eighteen_bits(sender: int, bitrate: int, ssrcs: tuple[int, ...]) -> None:
    (remb,) = rtcp.parse(rtcp.build([Remb(sender, bitrate, ssrcs)]))
    assert isinstance(remb, Remb)
    assert remb.ssrcs == ssrcs
    assert 0 <= bitrate - remb.bitrate <= bitrate >> 17


@given(reports=st.lists(reports, min_size=1, max_size=3), cut=st.integers(1, 3))
def test_a_part_that_is_cut_short_ends_the_reading(reports: list[rtcp.Report], cut: int) -> None:
    assert rtcp.parse(rtcp.build(reports)[:-cut]) == reports[:-1]


@given(first=u8, second=u8)
def test_every_first_byte_has_one_meaning(first: int, second: int) -> None:
    kind = kind_of(bytes((first, second)))
    assert (kind is None) is not any((first < 4, 20 <= first < 64, 128 <= first < 192))
    assert kind_of(bytes((first,))) is None
