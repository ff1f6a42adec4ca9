"""Whose second factors count: a person's own, and for a bot those of who owns its application (document 001, MFA
levels; document 002, Admin user object; design 8)."""

from __future__ import annotations

import sqlite3

from chat.domain.second_factors import SecondFactors
from chat.store import accounts, applications
from chat.store.accounts import Account
from chat.store.database import Database


def holder_of_factors(connection: sqlite3.Connection, account: Account) -> Account:
    """The account whose factors an account shows and uses; a bot whose owner is gone has its own, which are none."""
    application = applications.by_bot(connection, account.id) if account.bot else None
    owner = None if application is None else accounts.by_id(connection, application.owner_id)
    return account if owner is None else owner


class Enrolments:
    """Answers for people, and for bots by who owns their application."""

    def __init__(self, database: Database, factors: SecondFactors) -> None:
        self._database = database
        self._factors = factors

    def has_factor(self, account: Account) -> bool:
        """Whether the account, or the owner of a bot's application, has enrolled an authenticator."""
        return self._factors.held(holder_of_factors(self._database.reader, account)).any
