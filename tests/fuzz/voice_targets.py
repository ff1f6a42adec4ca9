"""What is fuzzed of voice: each reader of datagrams, descriptions and signalling."""

from __future__ import annotations

from livekit.protocol import rtc

from chat.voice.engine.engine import Engine
from chat.voice.engine.rooms import Grant, Rights, Source
from chat.voice.protocol import rtcp, rtp, sdp, stun
from chat.voice.protocol.demultiplexing import Kind, kind_of
from chat.voice.protocol.sdp import SdpRefused
from chat.voice.signalling.conversation import carry_out
from chat.voice.signalling.reading import SignalRefused, read_request
from chat.voice.signalling.writing import response_of


def voice_datagrams(data: bytes) -> None:
    """Any datagram is read or passed over; what was read of RTP is the same when it is written and read again."""
    kind = kind_of(data)
    message = stun.parse(data)
    if message is not None:
        assert kind is Kind.STUN
        assert not message.is_signed_with("a password that nobody has")
    packet = rtp.parse(data)
    if packet is not None:
        assert rtp.parse(rtp.build(packet)) == packet
    for report in rtcp.parse(data):
        again = rtcp.parse(rtcp.build([report]))
        if isinstance(report, rtcp.Nack):  # may name a packet twice
            (nack,) = again
            assert isinstance(nack, rtcp.Nack)
            assert set(nack.sequences) == set(report.sequences)
        else:
            assert again == [report]


def voice_descriptions(data: bytes) -> None:
    """Any text is a description or refused; what was read is the same when it is written and read again."""
    try:
        description = sdp.parse(data.decode("utf-8", "replace"))
    except SdpRefused:
        return
    local = sdp.LocalEnd(
        ice_name=description.ice_name,
        ice_password=description.ice_password,
        fingerprint=":".join(["00"] * 32),
        candidates=(),
    )
    written = sdp.write(
        local, description.setup, 1, [sdp.WrittenSection(section=section) for section in description.sections]
    )
    assert "\n\n" not in written


def voice_signalling(data: bytes) -> None:
    """Whatever somebody signals is carried out or refused, and what is told can be written down."""
    numbers = iter(range(10_000))
    engine = Engine(
        new_name=lambda beginning: f"{beginning}{next(numbers):016}", new_number=lambda: 1, fingerprint="00"
    )
    rights = Rights(sources=frozenset(Source), hears=True)
    for identity in ("one", "other"):
        engine.join(Grant(room="room", identity=identity, name="", metadata="", rights=rights), (), 0)
    speaker = engine.everybody()[0].id
    for is_text in (False, True):
        try:
            request = read_request(data, is_text=is_text)
            carry_out(engine, speaker, request, 0)
        except (SignalRefused, SdpRefused):
            continue
        if engine.participant(speaker) is None:
            break
    for told in engine.told:
        assert isinstance(response_of(told.message, ()), rtc.SignalResponse)
