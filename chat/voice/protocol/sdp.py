"""Session descriptions as far as WebRTC clients and this server use them (RFC 8866, RFC 8829, RFC 8843, RFC 8853)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from chat.classes import frozen

DESCRIPTION_CHARACTERS: Final = 262_144
"""The longest description that is read: that of a client that hears a hundred others."""

SECTIONS_MAXIMUM: Final = 512

AUDIO_LEVEL: Final = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
MID: Final = "urn:ietf:params:rtp-hdrext:sdes:mid"
VIDEO_ORIENTATION: Final = "urn:3gpp:video-orientation"

DIRECTIONS: Final = frozenset({"sendrecv", "sendonly", "recvonly", "inactive"})
_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`{|}~-]{1,64}", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,10}", re.ASCII)
_ICE: Final = re.compile(r"[A-Za-z0-9+/]{4,256}", re.ASCII)
_FINGERPRINT: Final = re.compile(r"([A-Za-z0-9-]{1,16}) ((?:[0-9A-Fa-f]{2}:){15,63}[0-9A-Fa-f]{2})", re.ASCII)


class SdpRefused(ValueError):
    """The description cannot be used; the text says why."""


@frozen
class Codec:
    """`name` is in lower case; `format` the parameters of fmtp; `feedback` the messages of RTCP that it takes."""

    payload_type: int
    name: str
    clock_rate: int
    channels: int = 1
    format: str = ""
    feedback: tuple[str, ...] = ()

    def parameter(self, name: str) -> str | None:
        """A parameter of fmtp."""
        for pair in self.format.split(";"):
            key, _, value = pair.strip().partition("=")
            if key.lower() == name:
                return value
        return None


@frozen(kw_only=True)
class MediaSection:
    kind: str
    """`audio`, `video` or `application`."""
    protocol: str
    mid: str
    direction: str = "sendrecv"
    codecs: tuple[Codec, ...] = ()
    extensions: Mapping[str, int] = attrs.field(factory=dict)
    """Ids of header extensions by their addresses."""
    ssrcs: tuple[int, ...] = ()
    track: str | None = None
    """The second half of msid: the sender's name of its track."""
    rejected: bool = False


@frozen(kw_only=True)
class Description:
    """What is said per section and must be the same in all, as everything is bundled: credentials and fingerprint."""

    sections: tuple[MediaSection, ...]
    ice_name: str
    ice_password: str
    fingerprint: tuple[str, str]
    """The hash's name in lower case, and hexadecimal bytes with colons, in capitals."""
    setup: str


@frozen(kw_only=True)
class LocalEnd:
    """This server's end of a transport, as it stands in descriptions. `candidates` are values of a=candidate."""

    ice_name: str
    ice_password: str = attrs.field(repr=False)
    fingerprint: str
    """SHA-256 of the certificate."""
    candidates: tuple[str, ...]


def parse(text: str) -> Description:
    """Read an offer or an answer. Raises SdpRefused."""
    if len(text) > DESCRIPTION_CHARACTERS:
        raise SdpRefused("the description is too long")
    parts = _split(text)
    session, bodies = next(parts), list(parts)
    if not 1 <= len(bodies) <= SECTIONS_MAXIMUM:
        raise SdpRefused("the description has no media, or too much")
    common = _Common(session)
    sections = tuple(_section(body) for body in bodies)
    if len({section.mid for section in sections}) != len(sections):
        raise SdpRefused("two sections have the same mid")
    return common.description(bodies, sections)


def _split(text: str) -> Iterator[list[tuple[str, str]]]:
    """Lines as type and value: first those of the session, then those of each section."""
    part: list[tuple[str, str]] = []
    for line in re.split(r"\r\n|\n", text):
        if len(line) >= 2 and line[1] == "=":
            if line[0] == "m":
                yield part
                part = []
            part.append((line[0], line[2:]))
    yield part


def _attributes(lines: Sequence[tuple[str, str]], name: str) -> list[str]:
    """The values of an attribute, in order; those of a flag are empty."""
    found = []
    for kind, value in lines:
        key, _, rest = value.partition(":")
        if kind == "a" and key == name:
            found.append(rest)
    return found


class _Common:
    """What a section may leave to the session."""

    def __init__(self, session: Sequence[tuple[str, str]]) -> None:
        self._session = session

    def description(
        self, bodies: Sequence[Sequence[tuple[str, str]]], sections: tuple[MediaSection, ...]
    ) -> Description:
        used = [body for body, section in zip(bodies, sections, strict=True) if not section.rejected]
        places = [*used, self._session]
        name, password = self._first(places, "ice-ufrag"), self._first(places, "ice-pwd")
        fingerprint = _FINGERPRINT.fullmatch(self._first(places, "fingerprint"))
        if not _ICE.fullmatch(name) or not _ICE.fullmatch(password):
            raise SdpRefused("the description has no ICE credentials")
        if fingerprint is None:
            raise SdpRefused("the description has no fingerprint")
        return Description(
            sections=sections,
            ice_name=name,
            ice_password=password,
            fingerprint=(fingerprint[1].lower(), fingerprint[2].upper()),
            setup=self._first(places, "setup") or "actpass",
        )

    @staticmethod
    def _first(places: Sequence[Sequence[tuple[str, str]]], name: str) -> str:
        return next((value for place in places for value in _attributes(place, name)), "")


def _section(lines: Sequence[tuple[str, str]]) -> MediaSection:
    words = lines[0][1].split()
    mid = next(iter(_attributes(lines, "mid")), "")
    if len(words) < 4 or not _TOKEN.fullmatch(mid):
        raise SdpRefused("a section has no mid, or no proper first line")
    kind, port, protocol, *formats = words
    if kind not in {"audio", "video", "application"}:
        raise SdpRefused("a section is of an unknown kind")
    msid = next(iter(_attributes(lines, "msid")), "").split()
    return MediaSection(
        kind=kind,
        protocol=protocol,
        mid=mid,
        direction=next((value for key, value in lines if key == "a" and value in DIRECTIONS), "sendrecv"),
        codecs=tuple(_codecs(lines, formats)),
        extensions=_extensions(lines),
        ssrcs=_ssrcs(lines),
        track=msid[1] if len(msid) == 2 else None,
        rejected=port == "0",
    )


def _codecs(lines: Sequence[tuple[str, str]], formats: Sequence[str]) -> Iterator[Codec]:
    maps = _by_format(lines, "rtpmap")
    parameters, feedback = _by_format(lines, "fmtp"), _by_format(lines, "rtcp-fb")
    for number in formats:
        name, _, rest = (maps.get(number) or [""])[0].partition("/")
        rate, _, channels = rest.partition("/")
        if not (_NUMBER.fullmatch(number) and int(number) < 128 and _NUMBER.fullmatch(rate) and _TOKEN.fullmatch(name)):
            continue
        yield Codec(
            int(number),
            name.lower(),
            int(rate),
            int(channels) if _NUMBER.fullmatch(channels) else 1,
            (parameters.get(number) or [""])[0],
            tuple(feedback.get(number, ())),
        )


def _by_format(lines: Sequence[tuple[str, str]], name: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for value in _attributes(lines, name):
        number, _, rest = value.partition(" ")
        found.setdefault(number, []).append(rest)
    return found


def _extensions(lines: Sequence[tuple[str, str]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for value in _attributes(lines, "extmap"):
        name, _, rest = value.partition(" ")
        number, address = name.partition("/")[0], rest.split(" ")[0]
        if _NUMBER.fullmatch(number) and 1 <= int(number) <= 255 and address:
            found.setdefault(address, int(number))
    return found


def _ssrcs(lines: Sequence[tuple[str, str]]) -> tuple[int, ...]:
    numbers = (value.split(" ")[0] for value in _attributes(lines, "ssrc"))
    valid = (int(number) for number in numbers if _NUMBER.fullmatch(number))
    return tuple(dict.fromkeys(number for number in valid if number < 1 << 32))


# Writing


@frozen(kw_only=True)
class WrittenSection:
    """A section of ours. `stream` is the whole value of msid; `ssrc` that of what is sent, with `stream`."""

    section: MediaSection
    stream: str | None = None
    ssrc: int | None = None


def write(local: LocalEnd, setup: str, version: int, sections: Sequence[WrittenSection]) -> str:
    """A description in which this server is an ICE-lite agent and everything is bundled."""
    mids = " ".join(written.section.mid for written in sections if not written.section.rejected)
    lines = [
        "v=0",
        f"o=- 1 {version} IN IP4 127.0.0.1",
        "s=-",
        "t=0 0",
        "a=ice-lite",
        f"a=group:BUNDLE {mids}",
        "a=msid-semantic: WMS *",
    ]
    for written in sections:
        lines += _written(written, local, setup)
    return "\r\n".join(lines) + "\r\n"


def _written(written: WrittenSection, local: LocalEnd, setup: str) -> Iterator[str]:
    section = written.section
    is_data = section.kind == "application"
    formats = "webrtc-datachannel" if is_data else " ".join(str(codec.payload_type) for codec in section.codecs)
    yield f"m={section.kind} {0 if section.rejected else 9} {section.protocol} {formats or '0'}"
    yield "c=IN IP4 0.0.0.0"
    yield f"a=mid:{section.mid}"
    if section.rejected:
        yield "a=inactive"
        return
    yield f"a=ice-ufrag:{local.ice_name}"
    yield f"a=ice-pwd:{local.ice_password}"
    yield f"a=fingerprint:sha-256 {local.fingerprint}"
    yield f"a=setup:{setup}"
    yield from (f"a=candidate:{candidate}" for candidate in local.candidates)
    yield "a=end-of-candidates"
    if is_data:
        yield "a=sctp-port:5000"
        return
    yield f"a={section.direction}"
    yield "a=rtcp-mux"
    yield "a=rtcp-rsize"
    for address, number in section.extensions.items():
        yield f"a=extmap:{number} {address}"
    for codec in section.codecs:
        yield from _written_codec(codec)
    if written.stream is not None and written.ssrc is not None:
        yield f"a=msid:{written.stream}"
        yield f"a=ssrc:{written.ssrc} cname:{written.stream.split()[0]}"
        yield f"a=ssrc:{written.ssrc} msid:{written.stream}"


REGISTERED: Final[Mapping[str, str]] = {"vp8": "VP8", "h264": "H264", "vp9": "VP9", "av1": "AV1"}
"""Names of codecs as IANA has them. They mean the same in any case, but Chromium encodes no pictures for `vp8`."""


def registered_name(codec: Codec) -> str:
    """The codec's name as others write it."""
    return REGISTERED.get(codec.name, codec.name)


def _written_codec(codec: Codec) -> Iterator[str]:
    channels = f"/{codec.channels}" if codec.channels > 1 else ""
    yield f"a=rtpmap:{codec.payload_type} {registered_name(codec)}/{codec.clock_rate}{channels}"
    if codec.format:
        yield f"a=fmtp:{codec.payload_type} {codec.format}"
    for message in codec.feedback:
        yield f"a=rtcp-fb:{codec.payload_type} {message}"


def candidates(addresses: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    """Host candidates of UDP for addresses and ports, the first preferred most."""
    return tuple(
        f"{number + 1} 1 udp {126 << 24 | (65_535 - number) << 8 | 255} {address} {port} typ host"
        for number, (address, port) in enumerate(addresses)
    )
