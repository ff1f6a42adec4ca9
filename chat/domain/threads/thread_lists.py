"""Finding threads: the active ones of a guild, the archived ones of a channel, and a search (threads.md, Thread
lists)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Final

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define
from chat.domain.core import Core
from chat.domain.messages.message_reading import viewer_of, with_context
from chat.domain.standing.access import GuildChannelAccess
from chat.domain.standing.thread_access import MANAGE_THREADS, seen_of
from chat.domain.standing.thread_objects import thread_member_object, thread_object
from chat.errors import ApiError
from chat.registries.channel_types import THREAD_ONLY_CHANNEL_TYPES
from chat.registries.error_codes import ErrorCode
from chat.registries.permissions import Permission
from chat.snowflake import MAXIMUM
from chat.store import threads
from chat.store.messages import messages
from chat.store.threads import FoundThreads, ShownThread, ThreadQuery

READ_MESSAGE_HISTORY: Final = Permission.READ_MESSAGE_HISTORY.value

TOO_LATE: Final = 1 << 62
"""Unix milliseconds after every moment that counts."""


_Named = dict[int, list[int]]
"""The first members of threads, by the thread's id."""


@define(kw_only=True, eq=False)
class ThreadLists:
    _core: Core

    async def active_of_guild(self, principal: Principal, guild_id: int) -> wire.Threads:
        """The guild's threads that are not archived and that the caller sees, with the caller's memberships.

        :raises ApiError: as `Access.guild`; ACCESS_DENIED for people (threads.md, Thread lists).
        """
        state = self._core.access.guild(principal, guild_id).state
        if not principal.is_bot:
            raise ApiError(ErrorCode.ACCESS_DENIED)

        found, named = await self._read(
            lambda connection: threads.active_of_guild(connection, guild_id, principal.user_id)
        )
        return _listed(seen_of(state, principal.user_id, found), named)

    async def archived(
        self, principal: Principal, channel_id: int, *, private: bool, before: int | None, limit: int
    ) -> wire.Threads:
        """Archived threads below a channel, the last one archived first; `before` is a moment in Unix milliseconds.

        :raises ApiError: as `Access.guild_channel` with READ_MESSAGE_HISTORY; for private threads with MANAGE_THREADS.
        """
        access = self._core.access.guild_channel(principal, channel_id)
        access.require(READ_MESSAGE_HISTORY | (MANAGE_THREADS if private else 0))

        user_id, bound = principal.user_id, TOO_LATE if before is None else before
        found = await self._read(
            lambda connection: threads.archived(
                connection, channel_id, user_id, private=private, before=bound, limit=limit + 1
            )
        )
        return _page(found, limit)

    async def archived_and_joined(
        self, principal: Principal, channel_id: int, *, before: int | None, limit: int
    ) -> wire.Threads:
        """Archived private threads below a channel that the caller is in, the newest first; `before` is an id.

        :raises ApiError: as `Access.guild_channel` with READ_MESSAGE_HISTORY.
        """
        self._core.access.guild_channel(principal, channel_id, READ_MESSAGE_HISTORY)

        user_id, bound = principal.user_id, MAXIMUM if before is None else before
        found = await self._read(
            lambda connection: threads.archived_and_joined(
                connection, channel_id, user_id, before=bound, limit=limit + 1
            )
        )
        return _page(found, limit)

    async def _read(self, find: Callable[[sqlite3.Connection], list[ShownThread]]) -> tuple[list[ShownThread], _Named]:
        def query(connection: sqlite3.Connection) -> tuple[list[ShownThread], _Named]:
            found = find(connection)
            return found, threads.member_ids_shown(connection, [shown.thread.id for shown in found])

        return await self._core.database.read(query)

    async def search(self, principal: Principal, channel_id: int, asked: ThreadQuery) -> wire.FoundThreads:
        """Threads below a channel whose name holds every word, and that have the tags; for forums with the first
        message of each.

        :raises ApiError: as `Access.guild_channel` with READ_MESSAGE_HISTORY.
        """
        access = self._core.access.guild_channel(principal, channel_id, READ_MESSAGE_HISTORY)
        user_id, every_private = principal.user_id, access.may(MANAGE_THREADS)

        def query(connection: sqlite3.Connection) -> tuple[FoundThreads, _Named, list[wire.Message]]:
            found = threads.search(connection, channel_id, user_id, asked, every_private=every_private)
            ids = [shown.thread.id for shown in found.threads]
            named = threads.member_ids_shown(connection, ids)
            return found, named, self._first_messages(connection, principal, access, ids)

        found, named, first = await self._core.database.read(query)
        return {
            **_listed(found.threads, named),
            "has_more": found.total > asked.offset + len(found.threads),
            "total_results": found.total,
            "first_messages": first,
        }

    def _first_messages(
        self, connection: sqlite3.Connection, principal: Principal, access: GuildChannelAccess, thread_ids: list[int]
    ) -> list[wire.Message]:
        if access.channel.type not in THREAD_ONLY_CHANNEL_TYPES or not thread_ids:
            return []
        wanted = set(thread_ids)
        found = [message for message in messages.by_ids(connection, thread_ids) if message.channel_id in wanted]
        stored = with_context(connection, found, viewer=viewer_of(principal))
        return stored.objects(self._core.media_addresses)


def _listed(found: Sequence[ShownThread], named: _Named) -> wire.Threads:
    return {
        "threads": [
            thread_object(shown.thread, own=shown.own, member_ids=named.get(shown.thread.id, [])) for shown in found
        ],
        "members": [thread_member_object(shown.own) for shown in found if shown.own is not None],
    }


def _page(read: tuple[list[ShownThread], _Named], limit: int) -> wire.Threads:
    found, named = read
    return {**_listed(found[:limit], named), "has_more": len(found) > limit}
