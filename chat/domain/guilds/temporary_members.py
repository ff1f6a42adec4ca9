"""Memberships by temporary invites: they end with the account's last gateway session, unless the member got a role."""

from __future__ import annotations

import sqlite3
from typing import Final

import structlog
import trio

from chat.bus.bus import AccountDisconnected
from chat.domain.core import Core
from chat.domain.guilds.memberships import Departure, Memberships
from chat.domain.presence.presences import Presences
from chat.errors import StorageUnavailable
from chat.store.accounts import accounts
from chat.store.guilds import guilds, members, temporary_members

RETURN_SECONDS: Final = 60.0
"""How long sessions of an earlier process may be resumed: so long nobody is taken for gone after a start."""

log: Final = structlog.get_logger("chat.members")


class TemporaryMembers:
    """Ends memberships when their accounts go. Hears the bus."""

    def __init__(self, core: Core, memberships: Memberships, presences: Presences) -> None:
        self._core = core
        self._memberships = memberships
        self._presences = presences
        self._gone: set[int] = set()
        self._somebody_went = trio.Event()
        core.bus.subscribe(AccountDisconnected, self._account_disconnected)

    def _account_disconnected(self, signal: AccountDisconnected) -> None:
        """Note whose last session is over; `run` does the rest."""
        if temporary_members.guilds_of(self._core.database.reader, signal.user_id):
            self._gone.add(signal.user_id)
            self._somebody_went.set()

    async def run(self) -> None:
        """End memberships until cancelled; first of those whose accounts did not come back after a restart."""
        with trio.move_on_after(RETURN_SECONDS):
            await self._end_memberships_of_the_gone()
        self._gone.update(temporary_members.user_ids(self._core.database.reader))
        self._somebody_went.set()
        await self._end_memberships_of_the_gone()

    async def _end_memberships_of_the_gone(self) -> None:
        while True:
            await self._somebody_went.wait()
            self._somebody_went = trio.Event()
            while self._gone:
                await self._end(self._gone.pop())

    async def _end(self, user_id: int) -> None:
        for guild_id in temporary_members.guilds_of(self._core.database.reader, user_id):
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
            if guild_id not in temporary_members.guilds_of(connection, user_id):
                return None
            if account is None or guild is None or member is None or member.role_ids or guild.owner_id == user_id:
                temporary_members.delete(connection, guild_id, user_id)
                return None
            return self._memberships.depart(connection, guild_id, account)

        def then(left: Departure | None) -> None:
            if left is not None:
                self._memberships.announce_departure(left)

        await self._core.database.write(unit, then)
