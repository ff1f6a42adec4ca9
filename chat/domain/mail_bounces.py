"""Addresses that take no mail: whoever has one is told (wire facts 5.1, `email_bounced`)."""

from __future__ import annotations

import sqlite3

import attrs

from chat.domain.account_events import AccountEvents
from chat.store import accounts
from chat.store.accounts import Account


class MailBounces:
    """Marks the account that has a dead address."""

    def __init__(self, events: AccountEvents) -> None:
        self._events = events

    def note(self, connection: sqlite3.Connection, recipient: str) -> tuple[Account, Account] | None:
        """In a unit of writing: the address does not exist. The account before and after, if one has it."""
        account = accounts.by_email_key(connection, recipient)
        if account is None or account.email_bounced:
            return None
        marked = attrs.evolve(account, email_bounced=True)
        accounts.replace(connection, marked)
        return account, marked

    def announce(self, noted: tuple[Account, Account]) -> None:
        """After the commit: USER_UPDATE."""
        self._events.changed(*noted)
