"""Setting a password, whichever way somebody has proved to be the holder: what it must be, and what ends with it."""

from __future__ import annotations

import sqlite3

import attrs

from chat.auth.turns import Asker
from chat.domain.core import Core
from chat.domain.policy import account_rules
from chat.mail.mailer import MailKind
from chat.store.accounts.accounts import Account
from chat.store.signing_in import auth_sessions, email_tokens, tickets


@attrs.define(kw_only=True, eq=False)
class NewPasswords:
    """Hashes new passwords and puts them in place of the old."""

    _core: Core

    def require_acceptable(self, account: Account, password: str, *, path: str = "password") -> None:
        """Return if the account may have the password.

        :raises InvalidFormBody: at `path`.
        """
        account_rules.password(password, names=(account.username, account.global_name, account.email), path=path)

    async def hashed(self, account: Account, password: str, asker: Asker, *, path: str = "password") -> str:
        """The hash of a password that the account may have.

        :raises InvalidFormBody: as `require_acceptable`.
        :raises RateLimited: when too many are being hashed.
        """
        self.require_acceptable(account, password, path=path)
        return await self._core.passwords.hash(password, asker)

    def replaced(self, connection: sqlite3.Connection, account: Account, password_hash: str) -> Account:
        """In a unit of writing: the account with its new password, for the caller to write.

        With the old one go the account's sign-ins, its reset links, and everything that was begun under it and not
        finished: login tickets, challenges, mailed codes.
        """
        auth_sessions.end_of_user(connection, account.id, self._core.clock.now_ms())
        email_tokens.delete_of_user(connection, str(MailKind.PASSWORD_RESET), account.id)
        tickets.delete_of_user(connection, account.id)
        return attrs.evolve(account, password_hash=password_hash, password_last_changed_at=self._core.clock.now_ms())

    def announce(self, before: Account, after: Account) -> None:
        """After the commit: the account's gateway sessions end, and whoever else sees a difference is told."""
        self._core.account_events.signed_out(after.id)
        self._core.account_events.changed(before, after)
