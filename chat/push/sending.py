"""Push requests (RFC 8030, 5), and the queue before them.

A request goes to an address that a client gave, which may be any host's: through the guard of
`chat.media.outside_addresses`, over TLS, to the very address that was judged. It takes ten seconds at most, follows
nothing, and of the answer only the head is looked at.

At most one request is under way for a subscription, so a push service that hangs holds up only those who chose it. What
fails for now is tried again after ever longer pauses. All waiting is bounded, and nothing outlives the process: a
notification that is late is worth little.
"""

from __future__ import annotations

import collections
import enum
import heapq
import ipaddress
import itertools
import math
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final, Generic, Protocol, TypeVar
from urllib.parse import urlsplit

import attrs
import h11
import structlog
import trio

from chat.classes import define, frozen
from chat.media.outside_addresses import AddressGuard, JudgedTarget, OutsideRefused, parsed
from chat.media.outside_fetching import connected

REQUEST_SECONDS: Final = 10.0
HEAD_BYTES: Final = 16_384
READ_BYTES: Final = 16_384

LONGEST_PAUSE_ASKED_SECONDS: Final = 3_600.0
"""The longest, even if a push service asks for more."""


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


@frozen
class PushOutcome:
    """The result, and for LATER how many seconds the push service asked for, if it did."""

    result: Result
    pause_seconds: float | None = None


@frozen
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
        self._guard = AddressGuard(allowed)
        self._allowed = tuple(ipaddress.ip_network(network) for network in allowed)

    def accepts(self, endpoint: str) -> bool:
        """Whether a request to this address could be made at all, as far as the URL alone tells."""
        try:
            parts, host, _ = parsed(endpoint)
        except OutsideRefused:
            return False
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return parts.scheme == "https" and "." in host.rstrip(".")
        return self._guard.admits(host) and (parts.scheme == "https" or self._is_allowed(host))

    async def send(self, request: PushRequest) -> PushOutcome:
        """Make one request; every failure is an outcome."""
        with trio.move_on_after(REQUEST_SECONDS):
            try:
                target = await self._guard.target(request.endpoint)
                if target.url.scheme != "https" and not self._is_allowed(target.address):
                    return PushOutcome(Result.REFUSED)
                return await _sent(target, request)
            except (OutsideRefused, OSError, trio.BrokenResourceError, h11.ProtocolError):
                # A refusal too: the name may be unknown for the moment only, when a resolver fails.
                return PushOutcome(Result.LATER)
        return PushOutcome(Result.LATER)

    def _is_allowed(self, address: str) -> bool:
        found = ipaddress.ip_address(address)
        return any(found.version == network.version and found in network for network in self._allowed)


async def _sent(target: JudgedTarget, request: PushRequest) -> PushOutcome:
    stream = await connected(target)
    try:
        parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
        head = h11.Request(method="POST", target=target.path, headers=_headers(target, request))
        pieces = (head, h11.Data(data=request.body), h11.EndOfMessage())
        await stream.send_all(b"".join(parser.send(piece) or b"" for piece in pieces))
        while not isinstance(event := parser.next_event(), h11.Response):
            if event is h11.NEED_DATA:
                parser.receive_data(bytes(await stream.receive_some(READ_BYTES)))
            elif not isinstance(event, h11.InformationalResponse):
                return PushOutcome(Result.LATER)
        return _outcome(event)
    finally:
        await trio.aclose_forcefully(stream)


def _headers(target: JudgedTarget, request: PushRequest) -> list[tuple[str, str]]:
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


def _outcome(response: h11.Response) -> PushOutcome:
    status = response.status_code
    if 200 <= status < 300:
        return PushOutcome(Result.ACCEPTED)
    if status in (404, 410):
        return PushOutcome(Result.GONE)
    if status in (408, 425, 429) or status >= 500:
        asked = dict(response.headers).get(b"retry-after", b"").decode("latin-1")
        pause = min(float(asked), LONGEST_PAUSE_ASKED_SECONDS) if asked.isdecimal() and len(asked) < 10 else None
        return PushOutcome(Result.LATER, pause)
    return PushOutcome(Result.REFUSED)


# The queue

AT_A_TIME: Final = 16
"""Requests under way, of all subscriptions."""

LINE_NOTICES: Final = 16
"""What may wait for one subscription; one more, and the oldest is dropped."""

NOTICES: Final = 8_192
"""What may wait for all together; beyond it nothing more is taken."""

ATTEMPTS: Final = 5
FIRST_PAUSE_SECONDS: Final = 5.0
LONGEST_PAUSE_SECONDS: Final = 600.0
JITTER: Final = 0.25

log: Final = structlog.get_logger("chat.push")


@frozen
class Notice:
    """What a device is told: JSON, and how. A later one with the same `topic` takes its place."""

    plain: bytes = attrs.field(repr=False)
    urgency: Urgency
    topic: str
    ttl_seconds: int


class Recipient(Protocol):
    """Where notices go to; the line is found by `id`."""

    @property
    def id(self) -> str: ...


To = TypeVar("To", bound=Recipient)


@define(eq=False)
class _NoticeQueue(Generic[To]):
    """The notices of one subscription, and how often the first one was tried."""

    recipient: To
    notices: collections.OrderedDict[str, Notice] = attrs.Factory(collections.OrderedDict)
    attempts: int = 0


@define(eq=False)
class PushQueue(Generic[To]):
    """Sends notices while `run` runs.

    `send` makes one request. `over` hears what finally became of it: ACCEPTED, GONE, REFUSED, or LATER when it was
    given up.
    """

    _send: Callable[[To, Notice], Awaitable[PushOutcome]]
    _over: Callable[[To, Result], Awaitable[None]]
    _chance: random.Random
    _lines: dict[str, _NoticeQueue[To]] = attrs.field(factory=dict, init=False)
    _ready: collections.deque[_NoticeQueue[To]] = attrs.field(factory=collections.deque, init=False)
    _resting: list[tuple[float, int, _NoticeQueue[To]]] = attrs.field(factory=list, init=False)
    _order: Iterator[int] = attrs.field(factory=itertools.count, init=False)
    _wake: trio.Event = attrs.field(factory=trio.Event, init=False)
    _places: trio.CapacityLimiter = attrs.field(factory=lambda: trio.CapacityLimiter(AT_A_TIME), init=False)
    _waiting: int = attrs.field(default=0, init=False)
    _dropped: int = attrs.field(default=0, init=False)

    def __len__(self) -> int:
        """How many notices wait, those under way included."""
        return self._waiting

    def put(self, recipient: To, notice: Notice) -> bool:
        """Send soon; False when too much waits already."""
        line = self._lines.get(recipient.id)
        if line is not None:
            if line.notices.pop(notice.topic, None) is not None:
                self._waiting -= 1
            elif len(line.notices) >= LINE_NOTICES:
                line.notices.popitem(last=False)
                self._waiting -= 1
        if self._waiting >= NOTICES:
            self._dropped += 1
            return False
        if line is None:
            line = self._lines[recipient.id] = _NoticeQueue(recipient)
            self._ready.append(line)
            self._wake.set()
        line.recipient = recipient
        line.notices[notice.topic] = notice
        self._waiting += 1
        return True

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            while True:
                self._wake = trio.Event()
                self._wake_rested()
                while self._ready:
                    await self._places.acquire_on_behalf_of(line := self._ready.popleft())
                    nursery.start_soon(self._work_off, line)
                if self._dropped:
                    log.warning("notifications dropped: too many wait", count=self._dropped)
                    self._dropped = 0
                with trio.move_on_at(self._resting[0][0] if self._resting else math.inf):
                    await self._wake.wait()

    def _wake_rested(self) -> None:
        while self._resting and self._resting[0][0] <= trio.current_time():
            self._ready.append(heapq.heappop(self._resting)[2])

    async def _work_off(self, line: _NoticeQueue[To]) -> None:
        """Send the first notice of a line, and see what comes after."""
        pause = 0.0
        try:
            pause = await self._try_first(line)
        except Exception:  # one notice that we cannot make, or write down, is no reason to stop the others
            log.exception("a notification was abandoned")
            self._drop_all(line)
        finally:
            self._places.release_on_behalf_of(line)
        if not line.notices:
            del self._lines[line.recipient.id]
        elif pause:
            heapq.heappush(self._resting, (trio.current_time() + pause, next(self._order), line))
        else:
            self._ready.append(line)
        self._wake.set()

    async def _try_first(self, line: _NoticeQueue[To]) -> float:
        """Returns for how many seconds the line rests."""
        topic, notice = next(iter(line.notices.items()))
        outcome = await self._send(line.recipient, notice)
        line.attempts += 1
        if outcome.result is Result.LATER and line.attempts < ATTEMPTS:
            if outcome.pause_seconds is not None:
                return max(outcome.pause_seconds, 1.0)
            pause = min(FIRST_PAUSE_SECONDS * 4.0 ** (line.attempts - 1), LONGEST_PAUSE_SECONDS)
            return pause * self._chance.uniform(1 - JITTER, 1 + JITTER)
        line.attempts = 0
        if outcome.result is Result.GONE:
            self._drop_all(line)
        elif line.notices.get(topic) is notice:  # another one may have taken its place meanwhile
            del line.notices[topic]
            self._waiting -= 1
        await self._over(line.recipient, outcome.result)
        return 0.0

    def _drop_all(self, line: _NoticeQueue[To]) -> None:
        self._waiting -= len(line.notices)
        line.notices.clear()
        line.attempts = 0
