"""The history over HTTP: a query, one entry, and a stream of what happens (development.md, History); and what writes
requests down."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Annotated, Final

import attrs
import orjson
import trio

from chat.api.answers import EncodedPairs, Streamed
from chat.api.fields import OMITTED, Length, Maybe, Omitted, Pattern, Range, Snowflake, Timestamp
from chat.api.operation import Operation, Policy, Request, Routes
from chat.classes import frozen
from chat.clock import MovableClock
from chat.development.answers import HistoryPage, HistoryState, RecordedTest, ShownEntry
from chat.development.history import (
    HISTORY_BYTES,
    HISTORY_ENTRIES,
    NOBODY,
    EntryFilter,
    EntryKind,
    Exchanged,
    FrameDirection,
    History,
    search,
    summary,
    whole,
)
from chat.development.node import Development
from chat.development.recording import NAME, Recorder
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode

BATCH_SECONDS: Final = 0.2
"""How often who looks on is told: what happens in between comes together."""

BATCH_ENTRIES: Final = 1_000
"""Entries of one line at most; of more the latest are told, and how many were left out."""

ENTRIES_OF_ANSWER: Final = 1_000
ENTRIES_OF_TEST: Final = 1_000
NUMBER_DIGITS: Final = 19

UNTOLD_PREFIX: Final = "/v1/_dev/"
"""Reading below it is not written down: it would fill the history of who looks at it."""


@frozen
class RequestsIntoHistory:
    """The kernel's tap (`chat.api.kernel.RequestTap`)."""

    history: History
    clock: MovableClock

    def began(self) -> tuple[int, int]:
        return self.clock.now_ms(), self.history.next

    def answered(
        self,
        method: str,
        path: str,
        request: Request,
        operation: Operation | None,
        began: tuple[int, int],
        encoded: EncodedPairs,
    ) -> None:
        if path.startswith(UNTOLD_PREFIX) and method in {"GET", "HEAD"}:
            return
        status, headers, answer = encoded
        query_string = request.query_string.decode("latin-1")
        told = Exchanged(
            method=method,
            path=f"{path}?{query_string}" if query_string else path,
            route=path if operation is None else operation.path,
            began_ms=began[0],
            began_at=began[1],
            user_id=request.caller_id,
            bucket=None if operation is None or operation.bucket is None else operation.bucket.name,
            body=request.body or None,
            has_other_body=request.body is None and request.headers.get("content-length", "0") != "0",
            status=status,
            headers=tuple(headers),
            answer=answer,
        )
        self.history.add(len(answer) + len(request.body or b""), 0, NOBODY, 0, told)


@frozen(kw_only=True)
class HistoryQuery:
    """What is asked of the history; entries agree with every member that is given."""

    kind: EntryKind | None = None
    direction: FrameDirection | None = None
    session_id: Annotated[str, Length(1, 128)] | None = None
    user_id: Snowflake | None = None
    socket: int | None = None
    event: Annotated[str, Length(1, 100)] | None = None
    op: int | None = None
    method: Annotated[str, Length(1, 32)] | None = None
    path: Annotated[str, Length(1, 2_048)] | None = None
    status: int | None = None
    since: Timestamp | None = None
    until: Timestamp | None = None
    after: int | None = None
    before: int | None = None
    limit: Annotated[int, Range(1, ENTRIES_OF_ANSWER)] = 100
    payloads: bool = True

    def wanted(self) -> EntryFilter:
        members = attrs.asdict(self, filter=lambda field, _: field.name not in {"since", "until", "limit", "payloads"})
        if self.method is not None:
            members["method"] = self.method.upper()
        return EntryFilter(**members, since_ms=self.since, until_ms=self.until)


@frozen
class HistoryChange:
    recording: Maybe[bool] = OMITTED


@frozen
class StreamQuery:
    """From which number on; what is to come where none is given."""

    after: int | None = None


def state_of(history: History) -> HistoryState:
    """`first` and `next` are numbers: of the oldest entry that is there, and of the next one to come."""
    return {
        "recording": history.recording,
        "first": history.first,
        "next": history.next,
        "entries_maximum": HISTORY_ENTRIES,
        "bytes_maximum": HISTORY_BYTES,
    }


async def batches(
    history: History, clock: MovableClock, after: int | None, sessions_at_nodes: Callable[[], int] = lambda: 0
) -> AsyncGenerator[bytes, None]:
    """What is added to the history as lines of JSON, `{entries, dropped, next, sessions_at_nodes}`, for as long as
    somebody reads on.

    The first line comes at once, even if it has no entries: until then a client does not know that it is heard. Frames
    of sessions at gateway nodes are not in the history, because nodes do not send them here: it is told how many these
    sessions are.
    """
    position = history.next if after is None else after + 1
    while True:
        start, entries = history.since(position, BATCH_ENTRIES)
        told = [summary(number, entry) for number, entry in enumerate(entries, start)]
        dropped, position = start - position, start + len(entries)
        line = {"entries": told, "dropped": dropped, "next": position, "sessions_at_nodes": sessions_at_nodes()}
        yield orjson.dumps(line) + b"\n"
        with clock.in_machine_time(BATCH_SECONDS):
            await trio.sleep_forever()
        while position >= history.next:
            await history.news()


routes = Routes(policy=Policy.NONE, same_origin=True)


@routes.operation("GET", "/v1/_dev/history")
async def read_history(request: Request, history: History, query: HistoryQuery) -> HistoryPage:
    """The latest entries that are wanted, the oldest of them first."""
    found = await search(history, query.wanted(), query.limit)
    tell = whole if query.payloads else summary
    return {**state_of(history), "entries": [tell(number, entry) for number, entry in found]}


@routes.operation("GET", "/v1/_dev/history/{number}")
async def read_entry(request: Request, history: History, number: str) -> ShownEntry:
    """One entry with its payload, or its body and answer."""
    entry = history.at(int(number)) if number.isdecimal() and len(number) < NUMBER_DIGITS else None
    if entry is None:
        message = f"There is no entry {number}: there are {history.first} to {history.next - 1}."
        raise ApiError(ErrorCode.NOT_FOUND, message)
    return whole(int(number), entry)


@routes.operation("POST", "/v1/_dev/history")
async def change_history(request: Request, history: History, body: HistoryChange) -> HistoryState:
    """Write down what happens, or leave it."""
    if isinstance(body.recording, Omitted):
        raise InvalidFormBody([FieldError("recording", FieldCode.INVALID_FORMAT, "It takes `recording`.")])
    history.recording = body.recording
    return state_of(history)


@routes.operation("DELETE", "/v1/_dev/history")
async def clear_history(request: Request, history: History) -> None:
    """Forget what was written down."""
    history.clear()


@routes.operation("GET", "/v1/_dev/history/stream")
async def stream_history(request: Request, development: Development, history: History, query: StreamQuery) -> Streamed:
    """What is added to the history, as lines of JSON, until the client goes."""
    return Streamed(
        headers={"Content-Type": "application/x-ndjson"},
        pieces=lambda: batches(history, development.clock, query.after, development.sessions_at_nodes),
        length=None,
    )


@frozen(kw_only=True)
class RecordingQuery:
    """What is to be said as a test: between two numbers, with the frames of one session or of all."""

    after: int | None = None
    before: int | None = None
    session_id: Annotated[str, Length(1, 128)] | None = None
    name: Annotated[str, Pattern(NAME)] = "what_happened"


@routes.operation("GET", "/v1/_dev/history/test")
async def record_test(
    request: Request, development: Development, history: History, query: RecordingQuery
) -> RecordedTest:
    """What happened, as a Python test on the test kit."""
    found = await search(history, EntryFilter(after=query.after, before=query.before), ENTRIES_OF_TEST)
    if query.session_id is not None:
        found = [(number, entry) for number, entry in found if entry.who[0] in {None, query.session_id}]
    recording = Recorder(development.world).record(found, query.name)
    return {"source": recording.source, "left_out": recording.left_out}
