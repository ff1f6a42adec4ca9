"""Deleting what one author wrote in a guild: one's own messages (document 001, bulk-delete-mine and Leave guild), or
those of somebody banned.

Each batch of up to a hundred messages of one channel is a transaction and an event, so that a writer of a hundred
thousand messages holds nobody up; whoever asked waits until all of them are gone.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from chat.auth.principal import Principal
from chat.bus.bus import Bus, Event
from chat.domain.access import Access, GuildChannelAccess
from chat.domain.guild_states import GuildStates, Member
from chat.domain.sudo import SudoMode, SudoProof
from chat.domain.thread_access import ThreadLookup
from chat.registries.events import EventName
from chat.store import messages, threads
from chat.store.database import Database

BATCH_MESSAGES: Final = 100
"""Messages that one event names at most (document 001, Limits)."""

Batch = tuple[int, list[int]]
"""A channel, and the messages that went from it."""


class AuthorsMessages:
    """Deletes messages by their author."""

    def __init__(self, database: Database, guild_states: GuildStates, lookup: ThreadLookup, bus: Bus) -> None:
        self._database = database
        self._guild_states = guild_states
        self._lookup = lookup
        self._bus = bus

    async def delete_all(self, guild_id: int, author_id: int, *, since_id: int = 0) -> int:
        """Delete every message of the author in the guild's channels and threads with an id of at least `since_id`;
        returns how many there were. Returns once all of them are gone; later ones stay."""
        last_id = await self._database.read(lambda connection: messages.last_of_author(connection, author_id))
        deleted = 0

        def unit(connection: sqlite3.Connection) -> Batch | None:
            batch = messages.some_of_author(connection, guild_id, author_id, since_id, last_id, BATCH_MESSAGES)
            if batch is not None:
                channel_id, message_ids = batch
                messages.delete_many(connection, channel_id, message_ids)
                threads.discount_messages(connection, channel_id, len(message_ids))
            return batch

        def then(batch: Batch | None) -> None:
            if batch is not None:
                self._publish(guild_id, *batch)

        while (batch := await self._database.write(unit, then)) is not None:
            deleted += len(batch[1])
        return deleted

    def _publish(self, guild_id: int, channel_id: int, message_ids: list[int]) -> None:
        state = self._guild_states.get(guild_id)
        if state is None:
            return
        data: dict[str, Any] = {
            "ids": [str(message_id) for message_id in message_ids],
            "channel_id": str(channel_id),
            "guild_id": str(guild_id),
        }
        # Whoever the author is and may see does not matter: the event goes to those who see the channel.
        witness = Member(guild_id, state.guild.owner_id, 0)
        channel = state.channels.get(channel_id)
        if channel is not None:
            audience = GuildChannelAccess(witness.user_id, channel, 0, state, witness).audience()
        else:
            thread = self._lookup.find(state, witness, channel_id)
            if thread is None:
                return
            audience = thread.audience()
        self._bus.publish(Event(EventName.MESSAGE_DELETE_BULK, data, audience))


class OwnMessages:
    """The operation bulk-delete-mine: the caller's own messages go, the membership stays (document 001)."""

    def __init__(self, access: Access, authors_messages: AuthorsMessages, sudo: SudoMode) -> None:
        self._access = access
        self._authors_messages = authors_messages
        self._sudo = sudo

    async def delete_in_guild(self, principal: Principal, guild_id: int, proof: SudoProof) -> None:
        """Delete every message that the caller wrote in the guild; returns once they are gone.

        :raises ApiError: as `Access.guild`; SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: for a wrong proof.
        """
        self._access.guild(principal, guild_id)
        await self._sudo.require(principal.account, proof)
        await self._authors_messages.delete_all(guild_id, principal.user_id)
