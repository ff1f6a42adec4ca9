"""One push request (RFC 8030, 5): to an address that a client gave, which may be anybody's.

So it goes through the guard of `chat.media.outside_addresses`, over TLS, to the very address that was judged; it takes
ten seconds at most, follows nothing, and of the answer only the head is looked at.
"""

from __future__ import annotations

import enum
import functools
import ipaddress
import ssl
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import attrs
import h11
import trio

from chat.media.outside_addresses import Guard, OutsideRefused, Target, parsed

REQUEST_SECONDS: Final = 10.0
HEAD_BYTES: Final = 16_384
READ_BYTES: Final = 16_384

LONGEST_PAUSE_SECONDS: Final = 3_600.0
"""However long a push service asks for."""


class Urgency(enum.StrEnum):
    """How much a device's battery is worth (RFC 8030, 5.3)."""

    NORMAL = "normal"
    HIGH = "high"


class Result(enum.Enum):
    """What became of a push request."""

    ACCEPTED = "the push service has it"
    GONE = "there is no such subscription any more"
    LATER = "not now"
    REFUSED = "never"


@attrs.frozen
class Outcome:
    """The result, and for LATER how many seconds the push service asked for, if it did."""

    result: Result
    pause_seconds: float | None = None


@attrs.frozen
class PushRequest:
    """What is sent: an encrypted message, to be kept for `ttl_seconds` where the device cannot be reached; of those
    with the same `topic` only the last."""

    endpoint: str = attrs.field(repr=False)
    body: bytes = attrs.field(repr=False)
    authorization: str = attrs.field(repr=False)
    ttl_seconds: int
    urgency: Urgency
    topic: str


def origin_of(endpoint: str) -> str:
    """Whose token a request there carries: scheme, host and port of the push service."""
    parts = urlsplit(endpoint)
    return f"{parts.scheme}://{parts.netloc}"


class PushSender:
    """Sends push requests. `allowed` are networks that may be asked although they are not public, and without TLS."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self._guard = Guard(allowed)
        self._allowed = tuple(ipaddress.ip_network(network) for network in allowed)

    def accepts(self, endpoint: str) -> bool:
        """Whether a request to this address could be made at all, as far as can be told without asking anybody."""
        try:
            parts, host, _ = parsed(endpoint)
        except OutsideRefused:
            return False
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return parts.scheme == "https" and "." in host.rstrip(".")
        return self._guard.admits(host) and (parts.scheme == "https" or self._is_allowed(host))

    async def send(self, request: PushRequest) -> Outcome:
        """Make one request; whatever happens is an outcome."""
        with trio.move_on_after(REQUEST_SECONDS):
            try:
                target = await self._guard.target(request.endpoint)
                if target.url.scheme != "https" and not self._is_allowed(target.address):
                    return Outcome(Result.REFUSED)
                return await _sent(target, request)
            except (OSError, trio.BrokenResourceError, h11.ProtocolError):
                return Outcome(Result.LATER)
            except OutsideRefused:
                # The name may be unknown for the moment only: a push service's resolver fails like any other.
                return Outcome(Result.LATER)
        return Outcome(Result.LATER)

    def _is_allowed(self, address: str) -> bool:
        found = ipaddress.ip_address(address)
        return any(found.version == network.version and found in network for network in self._allowed)


async def _sent(target: Target, request: PushRequest) -> Outcome:
    stream: trio.abc.Stream = await trio.open_tcp_stream(target.address, target.port)
    try:
        if target.url.scheme == "https":
            # The certificate must be the name's, not the address's; a wrong one shows at the first byte.
            stream = trio.SSLStream(stream, _trust(), server_hostname=target.host, https_compatible=True)
        parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
        head = h11.Request(method="POST", target=target.path, headers=_headers(target, request))
        pieces = (head, h11.Data(data=request.body), h11.EndOfMessage())
        await stream.send_all(b"".join(parser.send(piece) or b"" for piece in pieces))
        while not isinstance(event := parser.next_event(), h11.Response):
            if event is h11.NEED_DATA:
                parser.receive_data(bytes(await stream.receive_some(READ_BYTES)))
            elif not isinstance(event, h11.InformationalResponse):
                return Outcome(Result.LATER)
        return _outcome(event)
    finally:
        await trio.aclose_forcefully(stream)


def _headers(target: Target, request: PushRequest) -> list[tuple[str, str]]:
    return [
        ("Host", target.host_header),
        ("Authorization", request.authorization),
        ("TTL", str(request.ttl_seconds)),
        ("Urgency", request.urgency),
        ("Topic", request.topic),
        ("Content-Encoding", "aes128gcm"),
        ("Content-Type", "application/octet-stream"),
        ("Content-Length", str(len(request.body))),
        ("Connection", "close"),
    ]


def _outcome(response: h11.Response) -> Outcome:
    status = response.status_code
    if 200 <= status < 300:
        return Outcome(Result.ACCEPTED)
    if status in (404, 410):
        return Outcome(Result.GONE)
    if status in (408, 425, 429) or status >= 500:
        asked = dict(response.headers).get(b"retry-after", b"").decode("latin-1")
        pause = min(float(asked), LONGEST_PAUSE_SECONDS) if asked.isdecimal() and len(asked) < 10 else None
        return Outcome(Result.LATER, pause)
    return Outcome(Result.REFUSED)


@functools.cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()
