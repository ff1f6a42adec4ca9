"""What happens to members who are away: memberships by temporary invites end, and members who are inactive in voice
move to the guild's AFK channel (guilds.md, AFK channel), if they see it.

A temporary membership ends with its account's last gateway session, unless the member got a role. Clients say when
their user is inactive (`afk` of a presence). An account is inactive while all of its sessions say so; what counts is
how long that has been seen here. The same round ends time-outs that are over.
"""

from __future__ import annotations

import sqlite3
from typing import Final

import structlog
import trio

from chat.bus.bus import AccountDisconnected, Event
from chat.domain.core import Core
from chat.domain.guilds.memberships import Departure, Memberships
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.errors import StorageUnavailable
from chat.registries.channel_types import ChannelType
from chat.registries.events import EventName
from chat.store.accounts import accounts
from chat.store.guard import UNGUARDED
from chat.store.guilds import guilds, members

RETURN_SECONDS: Final = 60.0
"""How long after a start no account counts as gone, because sessions of an earlier process may be resumed."""

log: Final = structlog.get_logger("chat.members")


class TemporaryMembers:
    """Ends memberships when their accounts go. Hears the bus."""

    def __init__(self, core: Core, memberships: Memberships, presences: Presences) -> None:
        self._core = core
        self._memberships = memberships
        self._presences = presences
        self._gone: set[int] = set()
        self._went = trio.Event()
        core.bus.subscribe(AccountDisconnected, self._account_disconnected)

    def _account_disconnected(self, signal: AccountDisconnected) -> None:
        """Note an account whose last session ended; `run` ends its temporary memberships."""
        if members.temporary_guilds(self._core.database.reader, signal.user_id):
            self._gone.add(signal.user_id)
            self._went.set()

    async def run(self) -> None:
        """End memberships until cancelled; first of those whose accounts did not come back after a restart."""
        with trio.move_on_after(RETURN_SECONDS):
            await self._end_as_they_go()
        self._gone.update(members.temporary_user_ids(self._core.database.reader))
        self._went.set()
        await self._end_as_they_go()

    async def _end_as_they_go(self) -> None:
        while True:
            await self._went.wait()
            self._went = trio.Event()
            while self._gone:
                await self._end(self._gone.pop())

    async def _end(self, user_id: int) -> None:
        for guild_id in members.temporary_guilds(self._core.database.reader, user_id):
            if self._presences.is_connected(user_id):
                return
            try:
                await self.end(guild_id, user_id)
            except StorageUnavailable:
                log.warning("a temporary membership could not be ended", guild_id=guild_id)

    async def end(self, guild_id: int, user_id: int) -> None:
        """End one membership; a member who has got a role, or the guild, stays for good."""

        def unit(connection: sqlite3.Connection) -> Departure | None:
            account, guild = accounts.by_id(connection, user_id), guilds.by_id(connection, guild_id)
            member = members.by_id(connection, guild_id, user_id)
            if guild_id not in members.temporary_guilds(connection, user_id):
                return None
            if account is None or guild is None or member is None or member.role_ids or guild.owner_id == user_id:
                members.delete_temporary(connection, guild_id, user_id)
                return None
            return self._memberships.depart(connection, guild_id, account)

        def then(left: Departure | None) -> None:
            if left is not None:
                self._memberships.announce_departure(left)

        await self._core.database.write(unit, then, guard=UNGUARDED)


LOOK_SECONDS: Final = 5.0
"""Seconds between two looks for inactive members, while an account is in voice."""


class InactiveMembers:
    """Moves inactive members. Hears the bus."""

    def __init__(self, core: Core, presences: Presences, voice_states: VoiceStates) -> None:
        self._core = core
        self._presences = presences
        self._voice_states = voice_states
        self._since: dict[int, int] = {}
        """Since when accounts in voice are seen inactive, in Unix milliseconds."""
        self._came = trio.Event()
        core.bus.subscribe_events((EventName.VOICE_STATE_UPDATE,), self._voice_changed)

    def _voice_changed(self, event: Event) -> None:
        """Note that an account is in voice; `run` moves it when it becomes inactive."""
        self._came.set()

    async def run(self) -> None:
        """Move inactive members until cancelled; sleeps while no account is in voice."""
        while True:
            self._came = trio.Event()
            if not self._look():
                await self._came.wait()
            await trio.sleep(LOOK_SECONDS)

    def _look(self) -> bool:
        """Move members who are inactive for long enough; returns whether an account is in voice."""
        connections = self._voice_states.every()
        now_ms = self._core.clock.now_ms()
        away = {state.user_id for state in connections if self._presences.is_away(state.user_id)}
        self._since = {user_id: self._since.get(user_id, now_ms) for user_id in away}
        for state in connections:
            guild = None if state.guild_id is None else self._core.guild_states.loaded(state.guild_id)
            if guild is None or state.user_id not in away:
                continue
            afk_channel = guild.channels.get(guild.guild.afk_channel_id or 0)
            if afk_channel is None or afk_channel.type != ChannelType.GUILD_VOICE:
                continue
            is_due = now_ms - self._since[state.user_id] >= guild.guild.afk_timeout * 1_000
            if is_due and guild.can_view(state.user_id, afk_channel.id):
                self._voice_states.move(state.connection_id, afk_channel.id)
        self._voice_states.timeouts_looked_at()
        return bool(connections)
