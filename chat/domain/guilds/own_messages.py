"""Deleting what one author wrote in a guild or a channel: one's own messages (guilds.md, Deletion of own messages), or
those of a banned account.

Each batch of up to a hundred messages of one channel is a transaction and an event, so that the messages of a busy
writer do not hold up other requests; the request that asked waits until all of them are gone. It is an errand: what was
begun is done to the end.
"""

from __future__ import annotations

import functools
import sqlite3
from typing import Final

import attrs

from chat.auth.principal import Principal
from chat.domain.core import Core
from chat.domain.guilds.memberships import Departure, Memberships
from chat.domain.messages.message_deletion import Removed, announce_removed, remove_messages
from chat.domain.policy.errands import Errand, State
from chat.domain.signing_in.sudo import SudoMode, SudoProof
from chat.domain.standing.access import Access, ChannelAccess
from chat.domain.standing.channel_witness import ChannelWitness
from chat.registries.jobs import ErrandKind
from chat.store.guard import Guard
from chat.store.messages import messages

BATCH_MESSAGES: Final = 100
"""Messages that one event names at most (guilds.md, Deletion of own messages)."""


class AuthorsMessages:
    def __init__(self, core: Core, witness: ChannelWitness, memberships: Memberships) -> None:
        self._core = core
        self._witness = witness
        self._memberships = memberships
        core.errands.handle(ErrandKind.DELETE_GUILD_MESSAGES, self._delete_in_guild)
        core.errands.handle(ErrandKind.DELETE_CHANNEL_MESSAGES, self._delete_in_channel)

    async def delete_all(self, guild_id: int, author_id: int, *, leaves: bool = False, guard: Guard) -> None:
        """Delete every message of the author in the guild's channels and threads; returns once all of them are gone.
        Later ones stay. `leaves`: then the author leaves the guild, where that is still possible."""
        last_id = await self._core.database.read(lambda connection: messages.last_of_author(connection, author_id))
        state = {"guild_id": guild_id, "author_id": author_id, "since_id": 0, "last_id": last_id, "leaves": leaves}
        await self._core.errands.do(ErrandKind.DELETE_GUILD_MESSAGES, state, guard=guard)

    def begin_in(self, connection: sqlite3.Connection, guild_id: int, author_id: int, since_id: int) -> Errand:
        """In a unit of writing: have every message of the author go that has an id of at least `since_id`; `finish` is
        to follow its commit."""
        last_id = messages.last_of_author(connection, author_id)
        state = {"guild_id": guild_id, "author_id": author_id, "since_id": since_id, "last_id": last_id}
        return self._core.errands.begin_in(connection, ErrandKind.DELETE_GUILD_MESSAGES, state)

    async def finish(self, errand: Errand) -> None:
        """After the commit of `begin_in`: returns once all of them are gone."""
        await self._core.errands.finish(errand)

    async def _delete_in_guild(self, errand: Errand) -> None:
        guild_id: int = errand.state["guild_id"]
        author_id: int = errand.state["author_id"]
        since_id, last_id = errand.state["since_id"], errand.state["last_id"]

        def portion(connection: sqlite3.Connection, state: State) -> tuple[State | None, Removed | Departure | None]:
            batch = messages.some_of_author(connection, guild_id, author_id, since_id, last_id, BATCH_MESSAGES)
            if batch is not None:
                return state, remove_messages(connection, *batch)
            leaves = state.get("leaves", False)
            return None, self._memberships.depart_if_possible(connection, guild_id, author_id) if leaves else None

        def then(done: Removed | Departure | None) -> None:
            if isinstance(done, Departure):
                self._memberships.announce_departure(done)
                return
            # What the author may see does not matter: the events go to those who see the channel.
            access = None if done is None else self._witness.of(done.channel_id)
            if done is not None and access is not None:
                announce_removed(self._core.bus, access, done)

        while not errand.is_over:
            await errand.step(portion, then)

    async def delete_in_channel(self, access: ChannelAccess, guard: Guard) -> None:
        """Delete every message that the access's account wrote in the channel; returns once all of them are gone.
        Later ones stay."""
        author_id = access.user_id
        last_id = await self._core.database.read(lambda connection: messages.last_of_author(connection, author_id))
        state = {"channel_id": access.channel.id, "author_id": author_id, "since_id": 0, "last_id": last_id}
        await self._core.errands.do(ErrandKind.DELETE_CHANNEL_MESSAGES, state, guard=guard)

    async def _delete_in_channel(self, errand: Errand) -> None:
        channel_id: int = errand.state["channel_id"]

        def then(removed: Removed) -> None:
            access = self._witness.of(channel_id)
            if access is not None:
                announce_removed(self._core.bus, access, removed)

        while not errand.is_over:
            # What the account wrote elsewhere is passed over by a reader, once, so that no writer waits for that.
            message_ids = await self._core.database.read(
                functools.partial(
                    messages.of_author_in_channel,
                    author_id=errand.state["author_id"],
                    channel_id=channel_id,
                    since_id=errand.state["since_id"],
                    last_id=errand.state["last_id"],
                    limit=BATCH_MESSAGES,
                )
            )

            def portion(
                connection: sqlite3.Connection, state: State, message_ids: list[int] = message_ids
            ) -> tuple[State | None, Removed]:
                left = {**state, "since_id": message_ids[-1] + 1} if message_ids else None
                return left, remove_messages(connection, channel_id, message_ids)

            await errand.step(portion, then)


@attrs.define(kw_only=True, eq=False)
class OwnMessages:
    """The operations bulk-delete-mine, where the membership stays, and Leave guild with `delete_messages`, where it
    does not (guilds.md, Deletion of own messages)."""

    _access: Access
    _authors_messages: AuthorsMessages
    _sudo: SudoMode
    _memberships: Memberships

    async def leave(self, principal: Principal, guild_id: int, proof: SudoProof) -> None:
        """Leave guild with `delete_messages`: what the caller wrote there goes first, all of it, then the membership.

        :raises ApiError: UNKNOWN_GUILD, MISSING_PERMISSIONS (not a member), SINGLE_COMMUNITY_CANNOT_LEAVE,
            SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: for a wrong proof; CANNOT_LEAVE_GUILD_AS_OWNER at `guild_id`.
        """
        self._memberships.require_may_leave(principal, guild_id, as_owner=True)
        await self._sudo.require(principal.account, proof)
        self._memberships.require_may_leave(principal, guild_id)
        await self._authors_messages.delete_all(guild_id, principal.user_id, leaves=True, guard=principal.guard)

    async def delete_in_guild(self, principal: Principal, guild_id: int, proof: SudoProof) -> None:
        """Delete every message that the caller wrote in the guild; returns once they are gone.

        :raises ApiError: as `Access.guild`; SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: for a wrong proof.
        """
        self._access.guild(principal, guild_id)
        await self._sudo.require(principal.account, proof)
        await self._authors_messages.delete_all(guild_id, principal.user_id, guard=principal.guard)

    async def delete_in_channel(self, principal: Principal, channel_id: int, proof: SudoProof) -> None:
        """Delete every message that the caller wrote in the channel; returns once they are gone.

        :raises ApiError: as `Access.channel`; SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: for a wrong proof.
        """
        access = self._access.channel(principal, channel_id)
        await self._sudo.require(principal.account, proof)
        await self._authors_messages.delete_in_channel(access, principal.guard)
