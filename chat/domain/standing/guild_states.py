"""The guilds in memory, as many as are held or were used last.

A state is read from the store on first use and kept; the domain's services change it only in what they do after a
commit, so it never runs ahead of the store.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from chat.clock import Clock
from chat.domain.standing.guild_state import GuildState
from chat.store.guilds import channels, guilds, members, roles
from chat.store.guilds.channels import Channel, Overwrite
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.guilds.roles import Role

__all__ = ["Channel", "Guild", "GuildState", "GuildStates", "Member", "Overwrite", "Role"]

GUILD_STATES: Final = 4_096
"""States kept for guilds that are not held; the one unused for longest goes first."""


class HasReader(Protocol):
    """Something that is read on one connection: a database, or one of its transactions."""

    @property
    def reader(self) -> sqlite3.Connection:
        """Where it is read."""


class GuildStates:
    """The guild states in memory; loop thread only."""

    def __init__(self, database: HasReader, clock: Clock, *, capacity: int = GUILD_STATES) -> None:
        self._database = database
        self._clock = clock
        self._capacity = capacity
        self._holds: dict[int, int] = {}
        self._held: dict[int, GuildState] = {}
        self._recent: OrderedDict[int, GuildState] = OrderedDict()
        self._channel_guilds: dict[int, int] = {}
        self.missing_guild_ids: set[int] = set()
        """Stored guilds that this node does not know: access answers ACCESS_DENIED (guilds.md, Order of guild
        checks)."""
        self.counts_failing = False
        """Whether numbers of members are unknown at present; lists come without them (guilds.md, List guilds)."""

    def get(self, guild_id: int) -> GuildState | None:
        """The state of a guild, read from the store on first use; None for a guild that does not exist."""
        state = self._held.get(guild_id)
        if state is not None:
            return state
        state = self._recent.get(guild_id)
        if state is not None:
            self._recent.move_to_end(guild_id)
            return state
        return self._load(guild_id)

    def loaded(self, guild_id: int) -> GuildState | None:
        """The state if it is in memory: what a change has to be told to."""
        return self._held.get(guild_id) or self._recent.get(guild_id)

    def meet(self, user_id: int, guild_ids: Sequence[int]) -> Mapping[int, Member]:
        """The memberships of an account in these guilds, by guild, read at once for `GuildState.remember_member`; empty
        where it is known in the first of them: as a rule it is known in all of them then."""
        first = self.loaded(guild_ids[0])
        if first is not None and first.knows_member(user_id):
            return {}
        return members.of_user(self._database.reader, user_id, min(guild_ids), max(guild_ids))

    def guild_of_channel(self, channel_id: int) -> int | None:
        """The guild that a channel belongs to; None for an unknown channel and for one outside guilds."""
        guild_id = self._channel_guilds.get(channel_id)
        if guild_id is not None:
            state = self.loaded(guild_id)
            if state is not None and channel_id in state.channels:
                return guild_id
            del self._channel_guilds[channel_id]
        guild_id = channels.guild_of(self._database.reader, channel_id)
        if guild_id is not None and self.loaded(guild_id) is not None:
            self._channel_guilds[channel_id] = guild_id
        return guild_id

    def of_channel(self, channel_id: int) -> GuildState | None:
        """The state of the guild that a channel belongs to; None where there is none."""
        guild_id = self.guild_of_channel(channel_id)
        return None if guild_id is None else self.get(guild_id)

    def now_ms(self) -> int:
        """The time, in Unix milliseconds."""
        return self._clock.now_ms()

    def hold(self, guild_id: int) -> None:
        """Keep the state in memory until `release`; holds are counted."""
        self._holds[guild_id] = self._holds.get(guild_id, 0) + 1
        state = self._recent.pop(guild_id, None)
        if state is not None:
            self._held[guild_id] = state

    def release(self, guild_id: int) -> None:
        """Take one hold back."""
        count = self._holds.pop(guild_id, 0) - 1
        if count > 0:
            self._holds[guild_id] = count
            return
        state = self._held.pop(guild_id, None)
        if state is not None:
            self._keep_recent(state)

    def is_held(self, guild_id: int) -> bool:
        """Whether the state is kept in memory until a `release`."""
        return guild_id in self._holds

    def forget(self, guild_id: int) -> None:
        """Drop the state of a guild that was deleted."""
        state = self._held.pop(guild_id, None) or self._recent.pop(guild_id, None)
        if state is not None:
            self._forget_channels(state)

    def forget_all(self) -> None:
        """Drop every state, held ones too."""
        self._held.clear()
        self._recent.clear()
        self._holds.clear()
        self._channel_guilds.clear()

    def refresh(self, guild_id: int) -> None:
        """Read a guild afresh that another process changed in the store; holders of its state see the new one."""
        state = self.loaded(guild_id)
        if state is None:
            return
        guild = guilds.by_id(self._database.reader, guild_id)
        if guild is None:
            self.forget(guild_id)
            return
        self._forget_channels(state)
        state.replace(guild, *self._parts(guild_id))
        self._note_channels(state)

    def every(self) -> list[GuildState]:
        """The states in memory, in no order."""
        return [*self._held.values(), *self._recent.values()]

    def __len__(self) -> int:
        """How many states are in memory."""
        return len(self._held) + len(self._recent)

    def _load(self, guild_id: int) -> GuildState | None:
        guild = guilds.by_id(self._database.reader, guild_id)
        if guild is None:
            return None
        state = GuildState(self._database.reader, self._clock, guild, *self._parts(guild_id))
        self._note_channels(state)
        if guild_id in self._holds:
            self._held[guild_id] = state
        else:
            self._keep_recent(state)
        return state

    def _parts(self, guild_id: int) -> tuple[list[Role], list[Channel]]:
        return roles.of_guild(self._database.reader, guild_id), channels.of_guild(self._database.reader, guild_id)

    def _keep_recent(self, state: GuildState) -> None:
        self._recent[state.id] = state
        while len(self._recent) > self._capacity:
            _, oldest = self._recent.popitem(last=False)
            self._forget_channels(oldest)

    def _note_channels(self, state: GuildState) -> None:
        for channel_id in state.channels:
            self._channel_guilds[channel_id] = state.id

    def _forget_channels(self, state: GuildState) -> None:
        for channel_id in state.channels:
            self._channel_guilds.pop(channel_id, None)
