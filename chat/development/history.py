"""What has gone over the wire lately: frames in both directions, sockets that came and went, requests with their
answers (development.md, History).

The history is a ring, bounded in entries and in bytes. An entry is a plain tuple that refers to what is in memory
anyway: an event that was encoded for all its receivers, a command that was decoded to be carried out. So writing one
down costs half a microsecond, and reading pays for the rest. Who looks on has no queue of their own, but a place in
the ring; what the ring has lost by then is told as a number.
"""

from __future__ import annotations

import collections
import enum
import functools
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import orjson
import trio

from chat.classes import frozen
from chat.clock import Clock, iso_timestamp
from chat.development.answers import ShownEntry, ShownExchange
from chat.gateway.session import GatewaySession
from chat.protocol.frames import OutgoingEvent
from chat.protocol.payload import Payload
from chat.registries.close_codes import Close

HISTORY_ENTRIES: Final = 50_000
HISTORY_BYTES: Final = 67_108_864
"""Of payloads and bodies. One that many entries share counts for each of them."""

ENTRIES_PER_TURN: Final = 500
"""Entries that a query looks at before other tasks get a turn."""

TEXT_SHOWN: Final = 4_096
"""How many characters are shown of a message that is not JSON."""


class EntryKind(enum.StrEnum):
    """The kinds of entries."""

    FRAME = "frame"
    OPENED = "opened"
    ENDED = "ended"
    REQUEST = "request"


class FrameDirection(enum.StrEnum):
    """Where a frame goes, as the server sees it."""

    OUT = "out"
    IN = "in"


Who = tuple[str | None, int | None]
"""Id of a session and of its account."""

NOBODY: Final[Who] = (None, None)


@frozen
class ReceivedFrame:
    """A message of a client."""

    data: bytes
    decoded: Payload | Close


@frozen
class SocketEnded:
    close: Close
    by_client: bool


@frozen(kw_only=True)
class Exchanged:
    """A request and its answer. `path` is as it was asked for, query included; `route` as it is declared. What came of
    it has at least the number `began_at`."""

    method: str
    path: str
    route: str
    began_ms: int
    began_at: int
    user_id: int | None
    bucket: str | None
    body: bytes | None
    has_other_body: bool
    """Whether there was a form, a file or a stream, which is not kept."""
    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    answer: bytes


What = OutgoingEvent | bytes | ReceivedFrame | SocketEnded | Exchanged | str
"""A Dispatch, another payload that was sent, what a client said, the end of a socket, a request, the address from which
a socket was opened."""


class HistoryEntry(NamedTuple):
    """`size` is in bytes; `socket` is 0 for a request, and `sequence` for everything but a Dispatch."""

    at_ms: int
    size: int
    socket: int
    who: Who
    sequence: int
    what: What


_entry: Final = tuple.__new__
"""As `HistoryEntry(...)`, at half of its cost."""


class History:
    """The ring. `next` is the number that the next entry gets; numbers are never used twice."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: collections.deque[HistoryEntry] = collections.deque()
        self._bytes = 0
        self._news: trio.Event | None = None
        self._sockets = 0
        self.next = 1
        self.recording = True

    @property
    def first(self) -> int:
        """The number of the oldest entry that is still there."""
        return self.next - len(self._entries)

    def add(self, size: int, socket: int, who: Who, sequence: int, what: What) -> None:
        """Write an entry down, where that is wanted."""
        if not self.recording:
            return
        entries = self._entries
        entries.append(_entry(HistoryEntry, (self._clock.now_ms(), size, socket, who, sequence, what)))
        self.next += 1
        self._bytes += size
        while len(entries) > HISTORY_ENTRIES or self._bytes > HISTORY_BYTES:
            self._bytes -= entries.popleft().size
        if self._news is not None:
            self._news.set()
            self._news = None

    def clear(self) -> None:
        """Forget every entry."""
        self._entries.clear()
        self._bytes = 0

    def tap(self, address: str) -> HistoryTap:
        """What sees a new socket."""
        self._sockets += 1
        self.add(0, self._sockets, NOBODY, 0, address)
        return HistoryTap(self, self._sockets)

    def since(self, number: int, most: int) -> tuple[int, list[HistoryEntry]]:
        """The entries from a number on, the latest `most` of them, and the number of the first of these."""
        start = max(number, self.first, self.next - most)
        entries = self._entries
        # From the right end: a deque is slow in its middle.
        return start, [entries[position] for position in range(start - self.next, 0)]

    def at(self, number: int) -> HistoryEntry | None:
        """One entry; None where it is not there any more, or not yet."""
        if not self.first <= number < self.next:
            return None
        return self._entries[number - self.first]

    def whole(self) -> tuple[int, list[HistoryEntry]]:
        """All entries, and the number of the first."""
        return self.first, list(self._entries)

    async def news(self) -> None:
        """Return when an entry has been added."""
        if self._news is None:
            self._news = trio.Event()
        await self._news.wait()


class HistoryTap:
    """The tap of one socket (`chat.gateway.tap.SocketTap`)."""

    __slots__ = ("_add", "_session_id", "_socket", "_who")

    def __init__(self, history: History, socket: int) -> None:
        self._add = history.add
        self._socket = socket
        self._session_id: str | None = None
        self._who = NOBODY

    def _holds(self, session: GatewaySession | None) -> Who:
        """Who holds the socket; what comes after the end of a session is still of its account."""
        if session is not None and session.id != self._session_id:
            self._session_id = session.id
            self._who = session.id, session.user_id
        return self._who

    def dispatched(self, session: GatewaySession | None, sequence: int, event: OutgoingEvent) -> None:
        self._add(event.size, self._socket, self._holds(session), sequence, event)

    def sent(self, session: GatewaySession | None, data: bytes) -> None:
        self._add(len(data), self._socket, self._holds(session), 0, data)

    def received(self, session: GatewaySession | None, data: bytes, decoded: Payload | Close) -> None:
        self._add(len(data), self._socket, self._holds(session), 0, ReceivedFrame(data, decoded))

    def ended(self, close: Close, *, by_client: bool) -> None:
        self._add(0, self._socket, self._who, 0, SocketEnded(close, by_client))


# How an entry is told


def summary(number: int, entry: HistoryEntry) -> ShownEntry:
    """An entry without payloads and bodies."""
    at_ms, size, socket, (session_id, user_id), sequence, what = entry
    at = _moment(at_ms)
    account = None if user_id is None else str(user_id)
    if type(what) is OutgoingEvent:  # most of them, so without a detour
        return {
            "number": number,
            "at": at,
            "kind": "frame",
            "direction": "out",
            "op": 0,
            "event": what.name,
            "sequence": sequence,
            "socket": socket,
            "session_id": session_id,
            "user_id": account,
            "size": size,
        }
    told: ShownEntry = {"number": number, "at": at}
    match what:
        case bytes() as data:
            told |= {
                "kind": EntryKind.FRAME,
                "direction": FrameDirection.OUT,
                "op": _op_of(data),
                "event": None,
                "sequence": None,
            }
        case ReceivedFrame(_, decoded):
            op = decoded.op if isinstance(decoded, Payload) else None
            told |= {"kind": EntryKind.FRAME, "direction": FrameDirection.IN, "op": op, "event": None, "sequence": None}
        case SocketEnded(close, by_client):
            told |= {"kind": EntryKind.ENDED, "code": close.code, "reason": close.reason, "by_client": by_client}
        case Exchanged() as exchanged:
            return {**told, **_exchange(exchanged, entry)}
        case str() as address:
            told |= {"kind": EntryKind.OPENED, "address": address}
    return {**told, "socket": socket, "session_id": session_id, "user_id": account, "size": size}


@functools.lru_cache(maxsize=64)
def _second(seconds: int) -> str:
    return iso_timestamp(seconds * 1000)[:-4]


def _moment(at_ms: int) -> str:
    """The same text as `iso_timestamp`. Its seconds are kept, since many entries fall into one second."""
    seconds, milliseconds = divmod(at_ms, 1000)
    return f"{_second(seconds)}{milliseconds:03d}Z"


def whole(number: int, entry: HistoryEntry) -> ShownEntry:
    """An entry with what it carries: `payload` of a frame (or `text`, of one that is no JSON), `body` and `answer` of a
    request."""
    told = summary(number, entry)
    match entry.what:
        case OutgoingEvent() as event:
            told["payload"] = _parsed(event.payload(entry.sequence))
        case bytes() as data:
            told["payload"] = _parsed(data)
        case ReceivedFrame(data, Close() as refused):
            told |= {"text": data[:TEXT_SHOWN].decode("utf-8", "replace"), "refused": refused.reason}
        case ReceivedFrame(data, Payload() as decoded):
            told["payload"] = _said(data, decoded)
        case Exchanged() as exchanged:
            told["body"] = None if exchanged.body is None else _parsed(exchanged.body)
            told["answer"] = _parsed(exchanged.answer) if exchanged.answer else None
            told["headers"] = {name.decode("latin-1"): value.decode("latin-1") for name, value in exchanged.headers}
        case _:
            pass
    return told


def _exchange(exchanged: Exchanged, entry: HistoryEntry) -> ShownExchange:
    limits = {
        name.decode().removeprefix("x-ratelimit-").replace("-", "_"): value.decode()
        for name, value in exchanged.headers
        if name.startswith(b"x-ratelimit-") or name == b"retry-after"
    }
    return {
        "kind": EntryKind.REQUEST,
        "method": exchanged.method,
        "path": exchanged.path,
        "route": exchanged.route,
        "status": exchanged.status,
        "ms": entry.at_ms - exchanged.began_ms,
        "user_id": None if exchanged.user_id is None else str(exchanged.user_id),
        "bucket": exchanged.bucket,
        "limits": limits or None,
        "size": len(exchanged.answer),
    }


def _said(data: bytes, decoded: Payload) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:  # compressed
        return {"op": decoded.op, **({"d": decoded.d} if decoded.has_d else {})}


def _op_of(data: bytes) -> int | None:
    value = _parsed(data)
    return value.get("op") if isinstance(value, dict) else None


def _parsed(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return data[:TEXT_SHOWN].decode("utf-8", "replace")


# Queries

TOLD: Final = ("kind", "direction", "op", "method", "status")
"""What is asked of an entry as it is told."""


@frozen(kw_only=True)
class EntryFilter:
    """Which entries: those that agree with everything that is named here. Times are Unix milliseconds."""

    kind: EntryKind | None = None
    direction: FrameDirection | None = None
    session_id: str | None = None
    user_id: int | None = None
    socket: int | None = None
    event: str | None = None
    op: int | None = None
    method: str | None = None
    path: str | None = None
    status: int | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    after: int | None = None
    before: int | None = None

    def has(self, entry: HistoryEntry) -> bool:
        """Whether this is one of them; numbers are not looked at here."""
        at_ms, _, socket, (session_id, user_id), _, what = entry
        if self.socket not in (None, socket) or self.session_id not in (None, session_id):
            return False
        if self.user_id is not None and self.user_id not in (user_id, getattr(what, "user_id", None)):
            return False
        if (self.since_ms is not None and at_ms < self.since_ms) or (
            self.until_ms is not None and at_ms > self.until_ms
        ):
            return False
        if self.event is not None and not (isinstance(what, OutgoingEvent) and what.name == self.event):
            return False
        if self.path is not None and not (isinstance(what, Exchanged) and what.path.startswith(self.path)):
            return False
        told = {name: getattr(self, name) for name in TOLD if getattr(self, name) is not None}
        return not told or told.items() <= summary(0, entry).items()


async def search(history: History, wanted: EntryFilter, limit: int) -> list[tuple[int, HistoryEntry]]:
    """The latest `limit` entries that are wanted, the oldest of them first."""
    first, entries = history.whole()
    found: list[tuple[int, HistoryEntry]] = []
    for looked_at, position in enumerate(_positions(first, len(entries), wanted), 1):
        entry = entries[position]
        if wanted.has(entry):
            found.append((first + position, entry))
            if len(found) == limit:
                break
        if looked_at % ENTRIES_PER_TURN == 0:
            await trio.lowlevel.checkpoint()
    return found[::-1]


def _positions(first: int, count: int, wanted: EntryFilter) -> Iterable[int]:
    """Places in the list between `after` and `before`, the latest first."""
    start = 0 if wanted.after is None else max(0, wanted.after + 1 - first)
    stop = count if wanted.before is None else min(count, wanted.before - first)
    return reversed(range(start, max(start, stop)))
