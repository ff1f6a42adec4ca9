"""Searching messages (messages.md, Search).

Where to look is settled first (`chat.domain.messages.message_search_scopes`), then the index follows what was written
until now (`chat.domain.messages.message_search_index`), so that what the caller wrote a moment ago is found. The search
itself runs in a reader's thread, one at a time, and is given up after a while: nobody's search keeps others from
reading. Before the answer, each channel in it is asked for once more, as if somebody opened it: what was taken from the
caller meanwhile is not shown.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import attrs
import structlog
import trio

from chat.auth.principal import Principal
from chat.domain.core import Core
from chat.domain.messages.message_parts import Viewer, viewer_of
from chat.domain.messages.message_reading import StoredMessages, with_context
from chat.domain.messages.message_search_index import MessageSearchIndex
from chat.domain.messages.message_search_scopes import MessageSearchScopes, Whereabouts
from chat.domain.standing.access import ChannelAccess
from chat.errors import ApiError, InvalidFormBody
from chat.snowflake import MAXIMUM
from chat.store.messages import message_search, messages
from chat.store.messages.message_search import FINDS_MAXIMUM, Criteria, Scope
from chat.store.messages.message_search_entries import pending_among
from chat.store.messages.search_deadlines import QueryTooSlow, given_up_after

log: Final = structlog.get_logger("chat.search")

SEARCH_SECONDS: Final = 2.0
"""How long the queries of one search may take."""

WAITING_MAXIMUM: Final = 32
"""Searches that wait for others; further ones are sent away."""


@attrs.frozen(kw_only=True)
class Search:
    """A whole request: where, what, and which page of it.

    A page has up to `hits_per_page` messages; `after` continues behind the message with this id, or for a search by
    relevance behind so many messages, and then `page` has no meaning.
    """

    whereabouts: Whereabouts
    criteria: Criteria
    by_relevance: bool = False
    ascending: bool = False
    hits_per_page: int = 25
    page: int = 1
    after: int | None = None


@attrs.frozen
class _Found:
    total: int
    stored: StoredMessages
    cursor: int | None
    """Where the next page begins; None behind the last one."""


class MessageSearches:
    """The operation that searches messages. Without `enabled` there is no index to search."""

    def __init__(
        self, core: Core, scopes: MessageSearchScopes, index: MessageSearchIndex, *, seconds: float = SEARCH_SECONDS
    ) -> None:
        self._core = core
        self._scopes = scopes
        self._index = index
        self._seconds = seconds
        self._turn = trio.CapacityLimiter(1)

    async def search(self, principal: Principal, search: Search) -> dict[str, Any] | None:
        """One page of the messages that the caller may read and that are as asked for; None while the index is not
        ready.

        `total` is exact up to FINDS_MAXIMUM, beyond which nothing is counted nor paged (a cursor goes on).

        :raises ApiError: FEATURE_TEMPORARILY_DISABLED where the instance has no search; SERVICE_UNAVAILABLE for a
            search that takes too long, and when too many are waiting; as `MessageSearchScopes.of`.
        :raises InvalidFormBody: as `MessageSearchScopes.of`; INVALID_FORMAT at `cursor`.
        """
        if not self._index.enabled:
            raise ApiError("FEATURE_TEMPORARILY_DISABLED")
        if search.by_relevance and search.after is not None and search.after > FINDS_MAXIMUM:
            raise InvalidFormBody.at("cursor", "INVALID_FORMAT")
        scope = await self._scopes.of(principal, search.whereabouts)
        if not await self._index.is_ready():
            return None
        found = await self._find(search, scope, viewer_of(principal))
        answer = self._shown(principal, found.stored)
        answer |= {"total": found.total, "hits_per_page": search.hits_per_page, "page": search.page}
        if found.cursor is not None:
            answer["cursor"] = [str(found.cursor)]
        return answer

    def _shown(self, principal: Principal, stored: StoredMessages) -> dict[str, Any]:
        """The messages as the caller sees them, and the channels that they are in."""
        places: dict[int, tuple[ChannelAccess, int] | None] = {}
        shown, channels = [], {}
        for message in stored.messages:
            if message.channel_id not in places:
                places[message.channel_id] = self._place(principal, message.channel_id)
            place = places[message.channel_id]
            if place is not None and message.id >= place[1]:
                access, floor = place
                shown.append(stored.wire(message, self._core.media_addresses, floor))
                if message.channel_id not in channels:
                    channels[message.channel_id] = access.channel_object()
        return {"messages": shown, "channels": list(channels.values())}

    async def _find(self, search: Search, scope: Scope, viewer: Viewer) -> _Found:
        if self._turn.statistics().tasks_waiting >= WAITING_MAXIMUM:
            raise ApiError("SERVICE_UNAVAILABLE", headers={"Retry-After": "1"})
        async with self._turn:
            try:
                return await self._core.database.read(
                    lambda connection: _query(connection, search, scope, viewer, self._seconds)
                )
            except QueryTooSlow:
                log.info("a search was given up", seconds=self._seconds)
                message = "The search takes too long; ask for less, or for fewer places."
                raise ApiError("SERVICE_UNAVAILABLE", message, headers={"Retry-After": "1"}) from None

    def _place(self, principal: Principal, channel_id: int) -> tuple[ChannelAccess, int] | None:
        """A channel as the caller finds it now, and from which message on its history may be read, if it may."""
        try:
            access = self._core.access.channel(principal, channel_id)
        except ApiError:
            return None
        floor = access.history_floor()
        return None if floor is None else (access, floor)


def _query(connection: sqlite3.Connection, search: Search, scope: Scope, viewer: Viewer, seconds: float) -> _Found:
    """Runs in a reader's thread."""
    with given_up_after(connection, seconds):
        found = message_search.matching(
            connection, scope, search.criteria, ascending=search.ascending and not search.by_relevance
        )
        page, cursor = _page(connection, search, scope, found)
    out_of_date = pending_among(connection, page)
    stored = {message.id: message for message in messages.by_ids(connection, page)}
    present = [stored[message_id] for message_id in page if message_id in stored and message_id not in out_of_date]
    return _Found(len(found), with_context(connection, present, viewer=viewer), cursor)


def _page(
    connection: sqlite3.Connection, search: Search, scope: Scope, found: list[int]
) -> tuple[list[int], int | None]:
    """The messages of the page that is asked for, and where the next one begins."""
    size = search.hits_per_page
    if search.by_relevance:
        ordered = message_search.by_relevance(connection, search.criteria, found)
        if search.ascending:
            ordered.reverse()
        start = (search.page - 1) * size if search.after is None else search.after
        return ordered[start : start + size], start + size if start + size < len(ordered) else None
    if search.after is None:
        start = (search.page - 1) * size
        page = found[start : start + size + 1]
    elif search.ascending:
        further = attrs.evolve(search.criteria, min_id=max(search.criteria.min_id, min(search.after + 1, MAXIMUM)))
        page = message_search.matching(connection, scope, further, ascending=True, most=size + 1)
    else:
        further = attrs.evolve(search.criteria, max_id=min(search.criteria.max_id, search.after - 1))
        page = message_search.matching(connection, scope, further, most=size + 1)
    return page[:size], page[size - 1] if len(page) > size else None
