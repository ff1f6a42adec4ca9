"""Searching messages (messages.md, Search), and the full-text index that follows their changes.

What changed is written down with the change itself (`020_message_search.sql`), so nothing is lost when the process
ends, and a database from before there was an index gets one the same way, bit by bit. Many changes cost little more
than one, so the index follows a second behind. Entries of an older form are renewed by a job, which a migration orders.
While nothing changes, its segments are merged (`chat.store.messages.message_search_segments`).

A search settles first where to look (`chat.domain.messages.message_search_scopes`), then has the index follow at once,
so that what the caller wrote a moment ago is found. It runs in a reader's thread, one at a time, and is given up after
a while: a search does not keep others from reading. Before the answer, each channel in it is asked for once more: what
was taken from the caller meanwhile is not shown.
"""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs
import structlog
import trio

from chat import wire
from chat.auth.principal import Principal
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.messages.message_reading import StoredMessages, Viewer, viewer_of, with_context
from chat.domain.messages.message_search_scopes import Whereabouts, search_scope
from chat.domain.standing.access import ChannelAccess
from chat.errors import ApiError, InvalidFormBody, StorageUnavailable
from chat.jobs import JobRun, Progress
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.store.guard import UNGUARDED
from chat.store.messages import message_search, message_search_entries, message_search_segments, messages
from chat.store.messages.message_search import FINDS_MAXIMUM, QueryTooSlow, given_up_after
from chat.store.messages.message_search_entries import old_until, pending_among, terms_until
from chat.store.messages.message_search_expressions import Criteria, Scope

log: Final = structlog.get_logger("chat.search")

BEHIND_SECONDS: Final = 1.0
"""How far the index may lag behind, in seconds."""

SLICE_MESSAGES: Final = 200
"""Messages of one transaction: some milliseconds, for which others wait to write."""

PENDING_MAXIMUM: Final = 2_000
"""A search first indexes up to this many waiting messages; when more wait, it answers that the index is not ready."""

RENEWED_AT_ONCE: Final = 200
DISCARDED_AT_ONCE: Final = 500
"""Messages that are brought over from the old index in one transaction, and rows of it that are thrown away then."""

REST: Final = 9.0
REST_SECONDS: Final = 5.0
"""The longest rest after a portion of a renewal or a merge. A rest is a multiple of the time that the store took for
the portion, so a busy store is left to others for longer."""

QUIET_SECONDS: Final = 5.0
"""Segments are merged once nothing has changed for this long, so that merging slows down neither writers nor
searches."""

LOOK_SECONDS: Final = 600.0
"""How often it looks by itself, for changes without an event."""

SEARCH_SECONDS: Final = 2.0
"""How long the queries of one search may take."""

WAITING_MAXIMUM: Final = 32
"""Searches that wait for others; further ones are sent away."""

CHANGES: Final = frozenset(
    {
        EventName.MESSAGE_CREATE,
        EventName.MESSAGE_UPDATE,
        EventName.MESSAGE_DELETE,
        EventName.MESSAGE_DELETE_BULK,
        EventName.CHANNEL_PINS_UPDATE,
    }
)


class MessageSearchIndex:
    """The index as something that follows. Hears the bus; without `enabled` it stays as it is."""

    def __init__(self, core: Core, *, enabled: bool) -> None:
        self._core = core
        self._changed = trio.Event()
        self._turn = trio.Lock()
        self.enabled: Final = enabled
        if enabled:
            core.bus.subscribe_events(CHANGES, self._message_changed)

    def _message_changed(self, event: Event) -> None:
        """Note that messages changed; `run` updates the index."""
        self._changed.set()

    async def is_ready(self) -> bool:
        """Bring the index up to date; False, and nothing done, when there is too much to do for that."""
        pending = self._pending(PENDING_MAXIMUM + 1)
        if pending > PENDING_MAXIMUM:
            self._changed.set()
            return False
        # What comes meanwhile is newer than the search; so this ends, however much is written.
        async with self._turn:
            while pending > 0:
                pending -= SLICE_MESSAGES
                if await self._follow() < SLICE_MESSAGES:
                    break
        return True

    async def run(self) -> None:
        """Follow until cancelled."""
        if not self.enabled:
            return
        while True:
            self._changed = trio.Event()
            try:
                while await self._follow() == SLICE_MESSAGES:
                    await trio.lowlevel.checkpoint()
                await self._merge_at_rest()
            except (StorageUnavailable, sqlite3.Error):
                log.warning("the index of messages waits for the store")
            if await self._changes_within(LOOK_SECONDS):
                await trio.sleep(BEHIND_SECONDS)

    async def _changes_within(self, seconds: float) -> bool:
        """Wait for a change, up to so long."""
        with trio.move_on_after(seconds):
            await self._changed.wait()
        return self._changed.is_set()

    async def _merge_at_rest(self) -> None:
        """Merge segments in portions, if there are many, until none are left to be merged or a message changes."""
        if await self._changes_within(QUIET_SECONDS):
            return
        database = self._core.database
        is_due = database.read_here(message_search_segments.are_many)
        while is_due:
            began = trio.current_time()
            is_due = await database.write(message_search_segments.merge_some, guard=UNGUARDED)
            if await self._changes_within(min(REST_SECONDS, REST * (trio.current_time() - began))):
                return

    def _pending(self, most: int) -> int:
        return self._core.database.read_here(lambda connection: message_search_entries.pending(connection, most))

    async def renew(self, run: JobRun) -> None:
        """Do the job that brings messages over from the old index, in portions, throws it away then, and writes entries
        anew that have the terms of an earlier version."""
        database = self._core.database
        if run.job.progress_total is None:
            total = await database.read(message_search_entries.old_entries)
            await run.step(lambda _: Progress(total=total))

        def unit(connection: sqlite3.Connection) -> Progress:
            if old_until(connection):
                renewed = message_search_entries.renew(connection, RENEWED_AT_ONCE)
                return Progress(current=run.job.progress_current + renewed)
            if message_search_entries.discard_old(connection, DISCARDED_AT_ONCE):
                return Progress()
            if terms_until(connection):
                renewed = message_search_entries.renew_terms(connection, RENEWED_AT_ONCE)
                return Progress(current=run.job.progress_current + renewed)
            return Progress(state={"is_over": True}, current=run.job.progress_total)

        while not run.job.state.get("is_over"):
            began = trio.current_time()
            await run.step(unit)
            await trio.sleep(min(REST_SECONDS, REST * (trio.current_time() - began)))

    async def _follow(self) -> int:
        # Looks first, because a write costs a commit even where it changes nothing. The index is the server's own, also
        # where a search has it follow: no guard is named.
        if not self._pending(1):
            return 0
        return await self._core.database.write(
            lambda connection: message_search_entries.bring_up_to_date(connection, SLICE_MESSAGES), guard=UNGUARDED
        )


@frozen(kw_only=True)
class Search:
    """A whole request: where, what, and which page of it.

    A page has up to `hits_per_page` messages; `after` is the id of the message behind which to continue. In a search by
    relevance it is the number of messages to skip, and `page` has no meaning.
    """

    whereabouts: Whereabouts
    criteria: Criteria
    by_relevance: bool = False
    ascending: bool = False
    hits_per_page: int = 25
    page: int = 1
    after: int | None = None


@frozen
class _FoundMessages:
    total: int
    stored: StoredMessages
    cursor: int | None
    """Where the next page begins; None after the last page."""


@define(kw_only=True, eq=False)
class MessageSearches:
    """The operation that searches messages, if the index is enabled."""

    _core: Core
    _index: MessageSearchIndex
    _turn: trio.CapacityLimiter = attrs.field(factory=lambda: trio.CapacityLimiter(1), init=False)

    async def search(self, principal: Principal, search: Search) -> wire.MessageSearchResults | None:
        """One page of the messages that the caller may read and that are as asked for; None while the index is not
        ready.

        `total` is exact up to FINDS_MAXIMUM, beyond which nothing is counted nor paged (a cursor goes on).

        :raises ApiError: FEATURE_TEMPORARILY_DISABLED where the instance has no search; SERVICE_UNAVAILABLE for a
            search that takes too long, and when too many are waiting; as `search_scope`.
        :raises InvalidFormBody: as `search_scope`; INVALID_FORMAT at `cursor`.
        """
        if not self._index.enabled:
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
        if search.by_relevance and search.after is not None and search.after > FINDS_MAXIMUM:
            raise InvalidFormBody.at("cursor", FieldCode.INVALID_FORMAT)
        scope = await search_scope(self._core, principal, search.whereabouts)
        if not await self._index.is_ready():
            return None
        found = await self._find(search, scope, viewer_of(principal))
        shown, channels = self._shown(principal, found.stored)
        answer: wire.MessageSearchResults = {
            "messages": shown,
            "channels": channels,
            "total": found.total,
            "hits_per_page": search.hits_per_page,
            "page": search.page,
        }
        if found.cursor is not None:
            answer["cursor"] = [str(found.cursor)]
        return answer

    def _shown(self, principal: Principal, stored: StoredMessages) -> tuple[list[wire.Message], list[wire.Channel]]:
        """The messages as the caller sees them, and the channels that they are in."""
        places: dict[int, tuple[ChannelAccess, int] | None] = {}
        shown: list[wire.Message] = []
        channels: dict[int, wire.Channel] = {}
        for message in stored.messages:
            if message.channel_id not in places:
                places[message.channel_id] = self._place(principal, message.channel_id)
            place = places[message.channel_id]
            if place is not None and message.id >= place[1]:
                access, floor = place
                shown.append(stored.object_of(message, self._core.media_addresses, floor))
                if message.channel_id not in channels:
                    channels[message.channel_id] = access.channel_object()
        return shown, list(channels.values())

    async def _find(self, search: Search, scope: Scope, viewer: Viewer) -> _FoundMessages:
        if self._turn.statistics().tasks_waiting >= WAITING_MAXIMUM:
            raise ApiError(ErrorCode.SERVICE_UNAVAILABLE, headers={"Retry-After": "1"})
        async with self._turn:
            try:
                return await self._core.database.read(lambda connection: _query(connection, search, scope, viewer))
            except QueryTooSlow:
                log.info("a search was given up", seconds=SEARCH_SECONDS)
                message = "The search takes too long; ask for less, or for fewer places."
                raise ApiError(ErrorCode.SERVICE_UNAVAILABLE, message, headers={"Retry-After": "1"}) from None

    def _place(self, principal: Principal, channel_id: int) -> tuple[ChannelAccess, int] | None:
        """A channel as the caller finds it now, and from which message on its history may be read, if it may."""
        try:
            access = self._core.access.channel(principal, channel_id)
        except ApiError:
            return None
        floor = access.history_floor()
        return None if floor is None else (access, floor)


def _query(connection: sqlite3.Connection, search: Search, scope: Scope, viewer: Viewer) -> _FoundMessages:
    """Runs in a reader's thread."""
    with given_up_after(connection, SEARCH_SECONDS):
        page, cursor, total = (_relevant if search.by_relevance else _in_order)(connection, search, scope)
    out_of_date = pending_among(connection, page)
    stored = {message.id: message for message in messages.by_ids(connection, page)}
    present = [stored[message_id] for message_id in page if message_id in stored and message_id not in out_of_date]
    return _FoundMessages(total, with_context(connection, present, viewer=viewer), cursor)


_Page = tuple[list[int], int | None, int]
"""The messages of a page, where the next page begins, and how many are found in all."""


def _relevant(connection: sqlite3.Connection, search: Search, scope: Scope) -> _Page:
    found = message_search.whole_list(connection, scope, search.criteria)
    ordered = message_search.by_relevance(connection, search.criteria, found)
    if search.ascending:
        ordered.reverse()
    size = search.hits_per_page
    start = (search.page - 1) * size if search.after is None else search.after
    return ordered[start : start + size], start + size if start + size < len(ordered) else None, len(found)


def _in_order(connection: sqlite3.Connection, search: Search, scope: Scope) -> _Page:
    size = search.hits_per_page
    start = (search.page - 1) * size if search.after is None else 0
    found, total = message_search.in_order(
        connection, scope, search.criteria, ascending=search.ascending, most=start + size + 1, after=search.after
    )
    page = found[start : start + size]
    return page, page[-1] if len(found) > start + size else None, total
