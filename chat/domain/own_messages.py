"""Deleting what one author wrote in a guild or a channel: one's own messages (document 001, bulk-delete-mine and Leave
guild; wire facts, appendix A), or those of somebody banned.

Each batch of up to a hundred messages of one channel is a transaction and an event, so that a writer of a hundred
thousand messages holds nobody up; whoever asked waits until all of them are gone.
"""

from __future__ import annotations

import functools
import sqlite3
from typing import Final

from chat.auth.principal import Principal
from chat.bus.bus import Bus
from chat.domain.access import Access, ChannelAccess
from chat.domain.channel_witness import ChannelWitness
from chat.domain.message_removal import Removed, announce_removed, remove_messages
from chat.domain.sudo import SudoMode, SudoProof
from chat.store import messages
from chat.store.database import Database

BATCH_MESSAGES: Final = 100
"""Messages that one event names at most (document 001, Limits)."""


class AuthorsMessages:
    """Deletes messages by their author."""

    def __init__(self, database: Database, access: Access, witness: ChannelWitness, bus: Bus) -> None:
        self._database = database
        self._access = access
        self._witness = witness
        self._bus = bus

    async def delete_all(self, guild_id: int, author_id: int, *, since_id: int = 0) -> int:
        """Delete every message of the author in the guild's channels and threads with an id of at least `since_id`;
        returns how many there were. Returns once all of them are gone; later ones stay."""
        last_id = await self._database.read(lambda connection: messages.last_of_author(connection, author_id))
        deleted = 0

        def unit(connection: sqlite3.Connection) -> Removed | None:
            batch = messages.some_of_author(connection, guild_id, author_id, since_id, last_id, BATCH_MESSAGES)
            return None if batch is None else remove_messages(connection, *batch)

        def then(removed: Removed | None) -> None:
            # Whoever the author is and may see does not matter: the events go to those who see the channel.
            access = None if removed is None else self._witness.of(removed.channel_id)
            if removed is not None and access is not None:
                announce_removed(self._bus, access, removed)

        while (removed := await self._database.write(unit, then)) is not None:
            deleted += len(removed.message_ids)
        return deleted

    async def delete_in_channel(self, access: ChannelAccess) -> int:
        """Delete every message that the access's account wrote in the channel; returns how many there were, once all of
        them are gone. Later ones stay."""
        channel_id, author_id, deleted = access.channel.id, access.user_id, 0
        last_id = await self._database.read(lambda connection: messages.last_of_author(connection, author_id))

        def then(removed: Removed) -> None:
            renewed = self._access.renewed(access)
            if renewed is not None:
                announce_removed(self._bus, renewed, removed)

        # What the account wrote elsewhere is passed over by a reader, once, so that no writer waits for that.
        since_id = 0
        while message_ids := await self._database.read(
            functools.partial(
                messages.of_author_in_channel,
                author_id=author_id,
                channel_id=channel_id,
                since_id=since_id,
                last_id=last_id,
                limit=BATCH_MESSAGES,
            )
        ):
            unit = functools.partial(remove_messages, channel_id=channel_id, message_ids=message_ids)
            deleted += len((await self._database.write(unit, then)).message_ids)
            since_id = message_ids[-1] + 1
        return deleted


class OwnMessages:
    """The operations bulk-delete-mine: the caller's own messages go, the membership stays (document 001)."""

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

    async def delete_in_channel(self, principal: Principal, channel_id: int, proof: SudoProof) -> None:
        """Delete every message that the caller wrote in the channel; returns once they are gone.

        :raises ApiError: as `Access.channel`; SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: for a wrong proof.
        """
        access = self._access.channel(principal, channel_id)
        await self._sudo.require(principal.account, proof)
        await self._authors_messages.delete_in_channel(access)
