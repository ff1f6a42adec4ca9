"""An account's holder closes it: for a while, or for good (accounts.md, Closing an account; administration.md,
Scheduled deletion).

Either way every sign-in ends, and signing in again takes it back (`SignIns.enter`). What is closed for good is
erased once its date has come.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

import attrs
import structlog

from chat.domain.core import Core
from chat.domain.policy.account_rules import present
from chat.domain.signing_in.sudo import SudoMode, SudoProof
from chat.errors import ApiError
from chat.mail.mailer import MailKind
from chat.registries.reports import MINIMUM_DAYS_ON_REQUEST, DeletionReason
from chat.registries.user_flags import UserFlag
from chat.store.accounts import account_deletions, accounts
from chat.store.accounts.account_deletions import AccountDeletion
from chat.store.accounts.accounts import Account
from chat.store.applications import oauth2_grants
from chat.store.guilds import guilds
from chat.store.signing_in import auth_sessions, email_tokens, tickets

log: Final = structlog.get_logger("chat.accounts")

ERASED_AFTER_MS: Final = MINIMUM_DAYS_ON_REQUEST * 24 * 3_600_000
"""How long an account waits for its holder to come back."""


@attrs.define(kw_only=True, eq=False)
class AccountClosing:
    """Closes accounts."""

    _core: Core
    _sudo: SudoMode

    async def disable(self, account: Account, proof: SudoProof) -> None:
        """Disable the account until its holder signs in again; no sudo token is issued (access.md, Sudo mode).

        :raises ApiError: ACCESS_DENIED for a deleted account, SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: as `SudoMode.require`.
        """
        present(account)
        await self._sudo.require(account, proof, issues_token=False)
        await self._close(account, UserFlag.DISABLED, lambda connection: None)
        log.info("account disabled", user_id=account.id)

    async def delete(self, account: Account, proof: SudoProof) -> None:
        """Schedule the account's erasure, which its holder takes back by signing in before the date.

        :raises ApiError: ACCESS_DENIED for a deleted account, SUDO_MODE_REQUIRED, USER_OWNS_GUILDS.
        :raises InvalidFormBody: as `SudoMode.require`.
        """
        present(account)
        await self._sudo.require(account, proof)
        now = self._core.clock.now_ms()
        reason = int(DeletionReason.USER_REQUESTED)
        deletion = AccountDeletion(account.id, now + ERASED_AFTER_MS, reason, None, None, None, now)

        def schedule(connection: sqlite3.Connection) -> None:
            if guilds.are_owned_by(connection, account.id):
                raise ApiError("USER_OWNS_GUILDS")
            if account_deletions.of_user(connection, account.id) is None:  # what an administrator scheduled stands
                account_deletions.put(connection, deletion)
            oauth2_grants.delete_of_user(connection, account.id)  # as scheduling does

        await self._close(account, UserFlag.SELF_DELETED, schedule)
        log.info("account deletion scheduled", user_id=account.id)

    async def _close(self, account: Account, flag: UserFlag, also: Callable[[sqlite3.Connection], None]) -> None:
        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            before = present(accounts.by_id(connection, account.id))
            also(connection)
            after = attrs.evolve(before, flags=before.flags | flag)
            accounts.replace(connection, after)
            auth_sessions.end_of_user(connection, account.id, self._core.clock.now_ms())
            # Signing in opens the account again, but nothing that was begun before does.
            email_tokens.delete_of_user(connection, str(MailKind.PASSWORD_RESET), account.id)
            tickets.delete_of_user(connection, account.id)
            return before, after

        def then(changed: tuple[Account, Account]) -> None:
            self._core.account_events.signed_out(account.id)
            self._core.account_events.changed(*changed)

        await self._core.database.write(unit, then)
