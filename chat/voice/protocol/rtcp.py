"""RTCP: reports and feedback, in compound packets (RFC 3550, RFC 4585, RFC 5104, draft-alvestrand-rmcat-remb)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from chat.classes import frozen

SENDER_REPORT: Final = 200
RECEIVER_REPORT: Final = 201
BYE: Final = 203
TRANSPORT_FEEDBACK: Final = 205
PAYLOAD_FEEDBACK: Final = 206

NACK_FORMAT: Final = 1
PLI_FORMAT: Final = 1
FIR_FORMAT: Final = 4
REMB_FORMAT: Final = 15

NTP_EPOCH_SECONDS: Final = 2_208_988_800
"""From 1900, where NTP begins, to 1970."""


@frozen
class ReceptionReport:
    """What a receiver says of one stream. `fraction_lost` counts 256ths, `delay` 65,536ths of a second."""

    ssrc: int
    fraction_lost: int
    lost: int
    highest_sequence: int
    jitter: int
    last_report: int
    delay: int


@frozen
class SenderReport:
    ssrc: int
    ntp: int
    """64 bits: seconds since 1900 and their fraction."""
    timestamp: int
    packets: int
    octets: int
    reports: tuple[ReceptionReport, ...] = ()


@frozen
class ReceiverReport:
    ssrc: int
    reports: tuple[ReceptionReport, ...] = ()


@frozen
class Nack:
    """These packets of a stream did not arrive."""

    sender: int
    media: int
    sequences: tuple[int, ...]


@frozen
class PictureLoss:
    """A key frame is wanted: by PLI, or by FIR, which the answer does not tell apart."""

    sender: int
    media: int


@frozen
class Bye:
    ssrcs: tuple[int, ...]


@frozen
class Remb:
    """The bit rate that the receiver can take, for these streams together."""

    sender: int
    bitrate: int
    ssrcs: tuple[int, ...]


Report = SenderReport | ReceiverReport | Nack | PictureLoss | Bye | Remb


def parse(data: bytes) -> list[Report]:
    """Everything in a compound packet that is understood, up to the first part that is malformed."""
    found: list[Report] = []
    for kind, count, body in _parts(data):
        if kind == SENDER_REPORT and len(body) >= 24:
            ssrc, ntp, timestamp, packets, octets = struct.unpack_from("!IQIII", body)
            reports = _reception(body[24:], count)
            found.append(SenderReport(ssrc, ntp, timestamp, packets, octets, reports))
        elif kind == RECEIVER_REPORT and len(body) >= 4:
            found.append(ReceiverReport(struct.unpack_from("!I", body)[0], _reception(body[4:], count)))
        elif kind == BYE:
            found.append(Bye(struct.unpack_from(f"!{min(count, len(body) // 4)}I", body)))
        elif kind == TRANSPORT_FEEDBACK and count == NACK_FORMAT and len(body) >= 8:
            found.append(_nack(body))
        elif kind == PAYLOAD_FEEDBACK and len(body) >= 8:
            found.extend(_payload_feedback(count, body))
    return found


def _parts(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Type, count or format, and body of each part, its padding taken off."""
    at = 0
    while at + 4 <= len(data):
        first, kind, words = struct.unpack_from("!BBH", data, at)
        end = at + 4 + 4 * words
        if first >> 6 != 2 or end > len(data):
            return
        body = data[at + 4 : end]
        if first & 0x20 and body:
            body = body[: max(0, len(body) - body[-1])]
        yield kind, first & 0x1F, body
        at = end


def _reception(data: bytes, count: int) -> tuple[ReceptionReport, ...]:
    reports = []
    for at in range(0, min(count * 24, len(data) - len(data) % 24), 24):
        ssrc, losses, highest, jitter, last, delay = struct.unpack_from("!IIIIII", data, at)
        lost = losses & 0xFFFFFF
        lost -= (lost & 0x800000) << 1
        reports.append(ReceptionReport(ssrc, losses >> 24, lost, highest, jitter, last, delay))
    return tuple(reports)


def _nack(body: bytes) -> Nack:
    sender, media = struct.unpack_from("!II", body)
    sequences: list[int] = []
    for at in range(8, len(body) - 3, 4):
        first, mask = struct.unpack_from("!HH", body, at)
        sequences.append(first)
        sequences.extend((first + bit + 1) % 65536 for bit in range(16) if mask >> bit & 1)
    return Nack(sender, media, tuple(sequences))


def _payload_feedback(form: int, body: bytes) -> Iterator[Report]:
    sender, media = struct.unpack_from("!II", body)
    if form == PLI_FORMAT:
        yield PictureLoss(sender, media)
    elif form == FIR_FORMAT:
        for at in range(8, len(body) - 7, 8):
            yield PictureLoss(sender, struct.unpack_from("!I", body, at)[0])
    elif form == REMB_FORMAT and body[8:12] == b"REMB" and len(body) >= 16:
        count, packed = body[12], int.from_bytes(body[13:16], "big")
        ssrcs = struct.unpack_from(f"!{min(count, (len(body) - 16) // 4)}I", body, 16)
        yield Remb(sender, (packed & 0x3FFFF) << (packed >> 18), ssrcs)


def build(reports: Iterable[Report]) -> bytes:
    """A compound packet."""
    return b"".join(map(_part, reports))


def _part(report: Report) -> bytes:
    match report:
        case SenderReport():
            head = struct.pack("!IQIII", report.ssrc, report.ntp, report.timestamp, report.packets, report.octets)
            return _framed(SENDER_REPORT, len(report.reports), head + _reception_blocks(report.reports))
        case ReceiverReport():
            head = struct.pack("!I", report.ssrc)
            return _framed(RECEIVER_REPORT, len(report.reports), head + _reception_blocks(report.reports))
        case Bye():
            return _framed(BYE, len(report.ssrcs), struct.pack(f"!{len(report.ssrcs)}I", *report.ssrcs))
        case Nack():
            head = struct.pack("!II", report.sender, report.media)
            return _framed(TRANSPORT_FEEDBACK, NACK_FORMAT, head + _nack_items(report.sequences))
        case PictureLoss():
            return _framed(PAYLOAD_FEEDBACK, PLI_FORMAT, struct.pack("!II", report.sender, report.media))
        case Remb():
            exponent = max(0, report.bitrate.bit_length() - 18)
            rate = (exponent << 18) | (report.bitrate >> exponent)
            head = struct.pack("!II4sB", report.sender, 0, b"REMB", len(report.ssrcs)) + rate.to_bytes(3, "big")
            ssrcs = struct.pack(f"!{len(report.ssrcs)}I", *report.ssrcs)
            return _framed(PAYLOAD_FEEDBACK, REMB_FORMAT, head + ssrcs)


def _framed(kind: int, count: int, body: bytes) -> bytes:
    return struct.pack("!BBH", 0x80 | count, kind, len(body) // 4) + body


def _reception_blocks(reports: Sequence[ReceptionReport]) -> bytes:
    return b"".join(
        struct.pack(
            "!IIIIII",
            report.ssrc,
            (report.fraction_lost << 24) | (report.lost & 0xFFFFFF),
            report.highest_sequence,
            report.jitter,
            report.last_report,
            report.delay,
        )
        for report in reports
    )


def _nack_items(sequences: Sequence[int]) -> bytes:
    """Each item names one packet and, by a mask, those among the sixteen behind it."""
    items: list[tuple[int, int]] = []
    for sequence in sequences:
        ahead = (sequence - items[-1][0]) % 65536 if items else 17
        if ahead == 0:
            continue
        if ahead <= 16:
            items[-1] = items[-1][0], items[-1][1] | 1 << (ahead - 1)
        else:
            items.append((sequence, 0))
    return b"".join(struct.pack("!HH", first, mask) for first, mask in items)


def ntp_time(unix_seconds: float) -> int:
    """The 64 bits of a moment in a sender report."""
    return int((unix_seconds + NTP_EPOCH_SECONDS) * (1 << 32)) & ((1 << 64) - 1)
