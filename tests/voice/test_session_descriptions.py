"""Session descriptions: those that real clients made, what is written for them, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.voice.protocol import sdp
from chat.voice.protocol.sdp import AUDIO_LEVEL, MID, LocalEnd, MediaSection, SdpRefused, WrittenSection

FOLDER = Path(__file__).parent / "descriptions"
LOCAL = LocalEnd(
    ice_name="name",
    ice_password="p" * 32,
    fingerprint=":".join(["AB"] * 32),
    candidates=sdp.candidates([("192.0.2.7", 7_882), ("2001:db8::7", 7_882)]),
)


def read(name: str) -> sdp.Description:
    return sdp.parse((FOLDER / f"{name}.sdp").read_text())


def test_what_chromium_offers() -> None:
    offer = read("chromium_publisher")
    sound, pictures, data = offer.sections
    assert (sound.kind, sound.direction, pictures.kind, data.kind) == ("audio", "sendonly", "video", "application")
    opus = next(codec for codec in sound.codecs if codec.name == "opus")
    assert (opus.payload_type, opus.clock_rate, opus.channels) == (111, 48_000, 2)
    assert opus.parameter("useinbandfec") == "1"
    assert {MID, AUDIO_LEVEL} <= sound.extensions.keys()
    vp8 = next(codec for codec in pictures.codecs if codec.name == "vp8")
    assert {"nack", "nack pli", "ccm fir"} <= set(vp8.feedback)
    assert sound.ssrcs
    assert not pictures.ssrcs  # layers are told by their names
    assert offer.setup == "actpass"
    assert offer.fingerprint[0] == "sha-256"


def test_what_the_native_client_says() -> None:
    offer = read("native_publisher")
    sending = [section for section in offer.sections if section.direction in {"sendonly", "sendrecv"}]
    assert sorted(section.kind for section in sending) == ["application", "audio"]
    assert next(section.ssrcs for section in sending if section.kind == "audio")
    assert read("native_subscriber").setup == "active"


def test_what_is_written_is_read_back() -> None:
    sections = read("chromium_publisher").sections
    written = sdp.write(LOCAL, "passive", 3, [WrittenSection(section=section) for section in sections])
    again = sdp.parse(written)
    assert (again.ice_name, again.ice_password, again.setup) == ("name", "p" * 32, "passive")
    assert again.fingerprint == ("sha-256", LOCAL.fingerprint)
    for before, after in zip(sections, again.sections, strict=True):
        assert (after.mid, after.kind, after.codecs) == (before.mid, before.kind, before.codecs)
        assert after.extensions == before.extensions
    assert written.count("a=ice-lite") == 1
    assert "a=rtpmap:96 VP8/90000" in written  # Chromium encodes no pictures for `vp8`
    assert "a=candidate:1 1 udp 2130706431 192.0.2.7 7882 typ host\r\n" in written


def test_a_sent_section_names_its_stream() -> None:
    section = MediaSection(kind="audio", protocol="UDP/TLS/RTP/SAVPF", mid="0", direction="sendonly")
    again = sdp.parse(
        sdp.write(LOCAL, "actpass", 1, [WrittenSection(section=section, stream="PA_x|TR_y TR_y", ssrc=9)])
    )
    assert (again.sections[0].ssrcs, again.sections[0].track) == ((9,), "TR_y")


GOOD = (FOLDER / "native_subscriber.sdp").read_text()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a=ice-ufrag", "a=x"),
        ("a=ice-pwd", "a=x"),
        ("a=fingerprint", "a=x"),
        ("a=mid:0", "a=mid:a b"),
        ("m=audio", "m=message"),
        ("m=audio", "x=audio"),
    ],
)
def test_what_cannot_be_used(before: str, after: str) -> None:
    with pytest.raises(SdpRefused):
        sdp.parse(GOOD.replace(before, after))


def test_two_sections_of_one_name_and_too_many_sections() -> None:
    media = GOOD[GOOD.index("m=audio") :]
    with pytest.raises(SdpRefused):
        sdp.parse(GOOD + media)
    with pytest.raises(SdpRefused):
        sdp.parse(GOOD + "".join(media.replace("mid:0", f"mid:{index}") for index in range(1, 600)))


@given(lines=st.permutations(GOOD.splitlines()), left_out=st.integers(0, 20))
def test_lines_in_any_order_are_read_or_refused(lines: list[str], left_out: int) -> None:
    try:
        read = sdp.parse("\r\n".join(lines[left_out:]))
    except SdpRefused:
        return
    assert read.sections
