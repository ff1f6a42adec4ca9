"""Addresses that take no mail: whoever has one is told (signing_in.md, Mail)."""

from __future__ import annotations

import sqlite3

import attrs

from chat.domain.presence.account_events import AccountEvents
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account


@attrs.define(eq=False)
class MailBounces:
    """Marks the accounts that have a dead address."""

    _events: AccountEvents

    def note(self, connection: sqlite3.Connection, recipient: str) -> list[tuple[Account, Account]]:
        """In a unit of writing: the address does not exist. The accounts that have it, before and after."""
        noted = []
        for account in accounts.of_address(connection, recipient):
            if not account.email_bounced:
                marked = attrs.evolve(account, email_bounced=True)
                accounts.replace(connection, marked)
                noted.append((account, marked))
        return noted

    def announce(self, noted: list[tuple[Account, Account]]) -> None:
        """After the commit: USER_UPDATE."""
        for change in noted:
            self._events.changed(*change)
