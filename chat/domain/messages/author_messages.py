"""Deleting what one author wrote in a guild or a channel: a banned account's messages, or the caller's own (guilds.md,
Deletion of own messages).

Each batch of up to a hundred messages of one channel is a transaction and an event, so that the messages of a busy
author do not hold up other requests. The request waits until all of them are gone. An errand carries the deletion to
its end, also when the server is killed on the way.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable
from typing import Final

from chat.domain.core import Core
from chat.domain.messages.message_deletion import RemovedMessages, announce_removed, remove_messages
from chat.domain.policy.errands import Errand, State
from chat.domain.standing.access import ChannelAccess
from chat.domain.standing.thread_access import ChannelWitness
from chat.registries.jobs import ErrandKind
from chat.store.guard import Guard
from chat.store.messages import author_messages

BATCH_MESSAGES: Final = 100
"""Messages that one event names at most (guilds.md, Deletion of own messages)."""


Leave = Callable[[sqlite3.Connection, int, int], Callable[[], None] | None]
"""In a unit: takes the account out of the guild, by their ids; gives what announces that after the commit, or None
where the account has to stay."""


class AuthorsMessages:
    """Deletes everything that one author wrote in a guild or a channel."""

    def __init__(self, core: Core, witness: ChannelWitness, leave: Leave) -> None:
        self._core = core
        self._witness = witness
        self._leave = leave
        core.errands.handle(ErrandKind.DELETE_GUILD_MESSAGES, self._delete_in_guild)
        core.errands.handle(ErrandKind.DELETE_CHANNEL_MESSAGES, self._delete_in_channel)

    async def delete_all(self, guild_id: int, author_id: int, *, leaves: bool = False, guard: Guard) -> None:
        """Delete every message that the author has written in the guild's channels and threads so far; returns once all
        of them are gone. With `leaves` the author then leaves the guild, unless the author has to stay by then."""
        last_id = await self._core.database.read(
            lambda connection: author_messages.last_of_author(connection, author_id)
        )
        state = {"guild_id": guild_id, "author_id": author_id, "since_id": 0, "last_id": last_id, "leaves": leaves}
        await self._core.errands.do(ErrandKind.DELETE_GUILD_MESSAGES, state, guard=guard)

    def begin_in(self, connection: sqlite3.Connection, guild_id: int, author_id: int, since_id: int) -> Errand:
        """In a unit: begin to delete the author's messages whose id is at least `since_id`. Call `finish` after the
        commit."""
        last_id = author_messages.last_of_author(connection, author_id)
        state = {"guild_id": guild_id, "author_id": author_id, "since_id": since_id, "last_id": last_id}
        return self._core.errands.begin_in(connection, ErrandKind.DELETE_GUILD_MESSAGES, state)

    async def finish(self, errand: Errand) -> None:
        """Call after the commit of `begin_in`: returns once all of the messages are gone."""
        await self._core.errands.finish(errand)

    async def _delete_in_guild(self, errand: Errand) -> None:
        guild_id: int = errand.state["guild_id"]
        author_id: int = errand.state["author_id"]
        since_id, last_id = errand.state["since_id"], errand.state["last_id"]

        def portion(connection: sqlite3.Connection, state: State) -> tuple[State | None, Callable[[], None] | None]:
            batch = author_messages.some_of_author(connection, guild_id, author_id, since_id, last_id, BATCH_MESSAGES)
            if batch is not None:
                return state, functools.partial(self._announce, remove_messages(connection, *batch))
            return None, self._leave(connection, guild_id, author_id) if state.get("leaves") else None

        def then(announce: Callable[[], None] | None) -> None:
            if announce is not None:
                announce()

        while not errand.is_over:
            await errand.step(portion, then)

    async def delete_in_channel(self, access: ChannelAccess, guard: Guard) -> None:
        """Delete every message that the account of `access` has written in the channel so far; returns once all of them
        are gone."""
        author_id = access.user_id
        last_id = await self._core.database.read(
            lambda connection: author_messages.last_of_author(connection, author_id)
        )
        state = {"channel_id": access.channel.id, "author_id": author_id, "since_id": 0, "last_id": last_id}
        await self._core.errands.do(ErrandKind.DELETE_CHANNEL_MESSAGES, state, guard=guard)

    async def _delete_in_channel(self, errand: Errand) -> None:
        channel_id: int = errand.state["channel_id"]

        while not errand.is_over:
            # What the account wrote elsewhere is passed over by a reader, once, so that no writer waits for that.
            message_ids = await self._core.database.read(
                functools.partial(
                    author_messages.of_author_in_channel,
                    author_id=errand.state["author_id"],
                    channel_id=channel_id,
                    since_id=errand.state["since_id"],
                    last_id=errand.state["last_id"],
                    limit=BATCH_MESSAGES,
                )
            )

            def portion(
                connection: sqlite3.Connection, state: State, message_ids: list[int] = message_ids
            ) -> tuple[State | None, RemovedMessages]:
                left = {**state, "since_id": message_ids[-1] + 1} if message_ids else None
                return left, remove_messages(connection, channel_id, message_ids)

            await errand.step(portion, self._announce)

    def _announce(self, removed: RemovedMessages) -> None:
        # What the author may see does not matter: the events go to those who see the channel.
        access = self._witness.of(removed.channel_id)
        if access is not None:
            announce_removed(self._core.bus, access, removed)
