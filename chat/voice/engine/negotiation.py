"""Descriptions of the two connections that each participant has: it offers what it publishes, and is offered what it
gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from chat.classes import frozen
from chat.voice.engine.commands import Stream
from chat.voice.engine.rooms import Participant, Subscription, Track
from chat.voice.protocol.sdp import (
    AUDIO_LEVEL,
    MID,
    VIDEO_ORIENTATION,
    Codec,
    Description,
    MediaSection,
    WrittenSection,
    write,
)

OPUS: Final = "opus"
PICTURE_CODECS: Final = ("vp8", "h264", "vp9", "av1")
"""What pictures may be sent in, the most widely understood first."""

ANY_FEEDBACK: Final = ("nack", "nack pli", "ccm fir")
PROTOCOL: Final = "UDP/TLS/RTP/SAVPF"

OFFERED_TYPES: Final[Mapping[str, int]] = {OPUS: 111, "vp8": 96, "vp9": 98, "h264": 102, "av1": 45}
"""Payload types of our own offers."""

OFFERED_EXTENSIONS: Final[Mapping[str, Mapping[str, int]]] = {
    "audio": {MID: 1, AUDIO_LEVEL: 2},
    "video": {MID: 1, VIDEO_ORIENTATION: 3},
}
"""Header extensions of our own offers, by the kind of section."""


@frozen
class Taken:
    """A section of a publisher's offer that carries something, and the codec that was agreed on."""

    section: MediaSection
    codec: Codec


def publisher_answer(
    offer: Description, participant: Participant, wanted: Mapping[str, str], version: int
) -> tuple[str, list[Taken]]:
    """Our answer to what a client offers to send, and what of it is taken.

    `wanted` are codecs that clients asked for, by the name of their track. A section that the client only wants to
    receive in is answered as inactive: nothing is sent in this connection.
    """
    taken: list[Taken] = []
    answers: list[WrittenSection] = []
    for section in offer.sections:
        if section.kind == "application" or section.rejected:
            answers.append(WrittenSection(section=section))
            continue
        codec = _agreed(section, wanted.get(section.track or "", ""), participant.rights.bits_per_second)
        sends = section.direction in {"sendrecv", "sendonly"} and codec is not None
        answered = MediaSection(
            kind=section.kind,
            protocol=section.protocol,
            mid=section.mid,
            direction="recvonly" if sends else "inactive",
            codecs=section.codecs[:1] if codec is None else (codec,),
            extensions=_understood(section),
        )
        answers.append(WrittenSection(section=answered))
        if sends and codec is not None:
            taken.append(Taken(section, codec))
    return write(participant.publisher, "passive", version, answers), taken


def _understood(section: MediaSection) -> dict[str, int]:
    known = OFFERED_EXTENSIONS[section.kind]
    return {address: number for address, number in section.extensions.items() if address in known}


def _agreed(section: MediaSection, wanted: str, bits_per_second: int | None) -> Codec | None:
    if section.kind == "audio":
        found = next((codec for codec in section.codecs if codec.name == OPUS), None)
        if found is None:
            return None
        bound = "" if bits_per_second is None else f";maxaveragebitrate={bits_per_second}"
        return attrs.evolve(found, format=f"minptime=10;useinbandfec=1;usedtx=1{bound}", feedback=())
    usable = [codec for codec in section.codecs if _is_usable(codec)]
    usable.sort(key=lambda codec: (codec.name != wanted, PICTURE_CODECS.index(codec.name)))
    if not usable:
        return None
    return attrs.evolve(usable[0], feedback=tuple(m for m in usable[0].feedback if m in ANY_FEEDBACK))


def _is_usable(codec: Codec) -> bool:
    """Of H.264 only what every browser decodes: constrained baseline, in the packets of mode 1."""
    if codec.name == "h264":
        profile = (codec.parameter("profile-level-id") or "").lower()
        return codec.parameter("packetization-mode") == "1" and profile.startswith(("42e0", "4200"))
    if codec.name == "vp9":
        return codec.parameter("profile-id") in {None, "0"}
    return codec.name in PICTURE_CODECS


def received_stream(taken: Taken) -> Stream:
    """How the packets of a section look that a client sends in."""
    codec = taken.codec
    is_video = taken.section.kind == "video"
    return Stream(codec.payload_type, codec.clock_rate, _understood(taken.section), "nack" in codec.feedback, is_video)


def offered_codec(track: Track) -> Codec:
    """The track's codec under our own payload type."""
    codec = track.codec
    if codec is None:
        raise AssertionError("a track that is offered has a codec")
    if codec.name == OPUS:
        return Codec(OFFERED_TYPES[OPUS], OPUS, 48_000, 2, "minptime=10;useinbandfec=1;usedtx=1")
    return attrs.evolve(codec, payload_type=OFFERED_TYPES[codec.name], feedback=ANY_FEEDBACK)


def sent_stream(track: Track) -> Stream:
    """How a track's packets look for those who get it."""
    codec = offered_codec(track)
    kind = "video" if track.request.is_video else "audio"
    return Stream(codec.payload_type, codec.clock_rate, OFFERED_EXTENSIONS[kind], bool(codec.feedback), kind == "video")


def subscriber_offer(participant: Participant, version: int) -> str:
    """Our offer of everything that a participant gets; sections keep their places for good."""
    return write(participant.subscriber, "actpass", version, _offered(participant.sections))


def _offered(sections: Sequence[Subscription]) -> list[WrittenSection]:
    offered = []
    for subscription in sections:
        track = subscription.track
        kind = "video" if track.request.is_video else "audio"
        section = MediaSection(
            kind=kind,
            protocol=PROTOCOL,
            mid=subscription.mid,
            direction="sendonly" if subscription.active else "inactive",
            codecs=(offered_codec(track),),
            extensions=OFFERED_EXTENSIONS[kind],
        )
        stream = f"{track.owner.id}|{track.id} {track.id}" if subscription.active else None
        offered.append(WrittenSection(section=section, stream=stream, ssrc=subscription.ssrc))
    return offered
