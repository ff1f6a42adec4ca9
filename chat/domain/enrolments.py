"""Whether somebody who uses elevated permissions has a second factor (document 001, MFA levels)."""

from __future__ import annotations

from chat.domain.second_factors import SecondFactors
from chat.store import accounts, applications
from chat.store.accounts import Account
from chat.store.database import Database


class Enrolments:
    """Answers for people, and for bots by who owns their application."""

    def __init__(self, database: Database, factors: SecondFactors) -> None:
        self._database = database
        self._factors = factors

    def has_factor(self, account: Account) -> bool:
        """Whether the account, or the owner of a bot's application, has enrolled an authenticator."""
        holder: Account | None = account
        if account.bot:
            application = applications.by_bot(self._database.reader, account.id)
            holder = None if application is None else accounts.by_id(self._database.reader, application.owner_id)
        return holder is not None and self._factors.held(holder).any
