"""Registrations that wait for an administrator, where the setting `registration` is `approval`."""

from __future__ import annotations

import sqlite3
from typing import Final

import structlog

from chat.clock import Clock
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.database import Database
from chat.store.signing_in import pending_registrations
from chat.store.signing_in.pending_registrations import PendingRegistration

log: Final = structlog.get_logger("chat.accounts")


class PendingRegistrations:
    """Lists them and decides on them."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def waiting(self) -> list[tuple[Account, PendingRegistration]]:
        """Whoever waits, the longest waiting first."""

        def query(connection: sqlite3.Connection) -> list[tuple[Account, PendingRegistration]]:
            found = [
                (accounts.by_id(connection, pending.user_id), pending)
                for pending in pending_registrations.waiting(connection)
            ]
            return [(account, pending) for account, pending in found if account is not None]

        return await self._database.read(query)

    async def approve(self, user_id: int) -> bool:
        """From now on the account can sign in, even if it was turned down before; False where it did not wait."""
        approved = await self._database.write(lambda connection: pending_registrations.approve(connection, user_id))
        log.info("registration approved", user_id=user_id, waited=approved)
        return approved

    async def reject(self, user_id: int) -> bool:
        """The account cannot sign in, and its name and address stay taken; False where it did not wait."""
        now = self._clock.now_ms()
        rejected = await self._database.write(lambda connection: pending_registrations.reject(connection, user_id, now))
        log.info("registration rejected", user_id=user_id, waited=rejected)
        return rejected
