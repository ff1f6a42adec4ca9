"""How far accounts have read, and how often they were mentioned since (messages.md, Read states)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

import attrs

from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.domain.core import Core
from chat.domain.messages.mention_counting import UnreadMassMentions, find_unread_mass_mentions
from chat.domain.messages.read_state_objects import needs_threads, read_state_object
from chat.domain.standing.guild_states import GuildStates
from chat.errors import ApiError
from chat.registries.channel_types import CHANNEL_THREADS_TYPES
from chat.registries.events import EventName
from chat.store.database import Database
from chat.store.guilds import channels
from chat.store.messages import read_states
from chat.store.messages.read_states import Acknowledgement, ReadState


@attrs.frozen
class ReadUpTo:
    """An account says that it has read a channel up to a message.

    `manual` where that place was chosen by hand, backwards perhaps. `mention_count` is what the account's client counts
    as unread from there; without it the server counts.
    """

    channel_id: int
    message_id: int
    mention_count: int | None = None
    manual: bool = False


@attrs.frozen
class _Told:
    """What one acknowledgement led to. `mass` is what is left unread beside `mention_count`."""

    acknowledgement: Acknowledgement
    manual: bool
    mention_count: int
    of_threads: bool
    mass: UnreadMassMentions | None


@attrs.define(kw_only=True, eq=False)
class ReadStates:
    """The operations on read states."""

    _core: Core

    async def acknowledge(self, principal: Principal, wish: ReadUpTo) -> None:
        """The caller has read up to this message.

        :raises ApiError: as `Access.channel`.
        """
        self._core.access.channel(principal, wish.channel_id)
        await self._take(principal.user_id, [wish])

    async def acknowledge_many(self, principal: Principal, wishes: Iterable[ReadUpTo]) -> None:
        """The same for several channels at once: of each the last wish counts. Those that the caller does not see are
        passed over, for a list that a client keeps may be older than what it may see."""
        last = {wish.channel_id: wish for wish in wishes}
        await self._take(
            principal.user_id, [wish for channel_id, wish in last.items() if self._is_seen(principal, channel_id)]
        )

    async def forget(self, principal: Principal, channel_id: int) -> None:
        """The caller's read state of the channel is as if it had never opened it, and nobody had mentioned it there.

        :raises ApiError: as `Access.channel`.
        """
        self._core.access.channel(principal, channel_id)
        await self._core.database.write(
            lambda connection: read_states.forget(connection, principal.user_id, channel_id)
        )

    async def _take(self, user_id: int, wishes: Iterable[ReadUpTo]) -> None:
        numbered = [(wish, self._acknowledgement(wish)) for wish in wishes]

        def unit(connection: sqlite3.Connection) -> list[_Told]:
            taken = [(wish, told, read_states.take(connection, user_id, told)) for wish, told in numbered]
            left: dict[int, UnreadMassMentions] = {}
            if any(done is not None and done.leaves_some for _, _, done in taken):
                left = find_unread_mass_mentions(connection, user_id)
            return [
                _Told(
                    told,
                    wish.manual,
                    done.mention_count,
                    done.channel_type in CHANNEL_THREADS_TYPES,
                    left.get(wish.channel_id) if done.leaves_some else None,
                )
                for wish, told, done in taken
                if done is not None  # else the channel went at this moment
            ]

        def then(told: list[_Told]) -> None:
            self._core.bus.publish(*(self._event(user_id, entry) for entry in told))

        if numbered:
            await self._core.database.write(unit, then)

    def _acknowledgement(self, wish: ReadUpTo) -> Acknowledgement:
        version = self._core.snowflakes()
        # A count of nothing left is only as good as what the client had heard by then.
        count = wish.mention_count if wish.mention_count or wish.manual else None
        # Nobody has read what is not written yet.
        return Acknowledgement(wish.channel_id, min(wish.message_id, version), count, version)

    def _event(self, user_id: int, told: _Told) -> Event:
        """MESSAGE_ACK, for the account's own sessions."""
        acknowledgement, count = told.acknowledgement, told.mention_count
        if told.mass is not None and told.mass.is_seen(self._core.guild_states, user_id):
            count += len(told.mass.message_ids)
        data: dict[str, Any] = {
            "channel_id": str(acknowledgement.channel_id),
            "message_id": str(acknowledgement.message_id),
            "mention_count": count,
            "version": str(acknowledgement.version),
        }
        if told.manual:
            data["manual"] = True
        return Event(EventName.MESSAGE_ACK, data, ToAccounts((user_id,), threads=told.of_threads))

    def _is_seen(self, principal: Principal, channel_id: int) -> bool:
        try:
            self._core.access.channel(principal, channel_id)
        except ApiError:
            return False
        return True


def read_states_of(
    database: Database, guild_states: GuildStates, user_id: int, *, threads: bool
) -> list[dict[str, Any]]:
    """Every read state object of an account; without `threads` none that only sessions with threads are told of."""
    connection = database.reader
    states = {state.channel_id: state for state in read_states.of_user(connection, user_id)}
    for channel_id, unread in find_unread_mass_mentions(connection, user_id).items():
        if not unread.is_seen(guild_states, user_id):
            continue
        state = states.get(channel_id)
        if state is None:
            kind = channels.type_of(connection, channel_id)
            state = ReadState(channel_id, None, 0, None, channel_type=kind or 0)
        states[channel_id] = attrs.evolve(state, mention_count=state.mention_count + len(unread.message_ids))
    shown = (states[channel_id] for channel_id in sorted(states))
    return [read_state_object(state) for state in shown if threads or not needs_threads(state)]
