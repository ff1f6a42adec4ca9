"""Replacing an address that takes no mail: POST /v1/users/@me/email-change/bounced/... (signing_in.md, Change of the
email address).

    step         ticket before     ticket after
    request-new  -                 waits for the code from the new address
    resend-new   waits for a code  waits for another code
    verify-new   waits for a code  gone; the address is the new one

There is no code from the old address, which would come back like any mail; the account proves itself (sudo mode).
"""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs
import structlog

from chat.domain.core import Core
from chat.domain.policy.account_gates import present
from chat.domain.signing_in.email_addresses import REPLACEMENT_KIND, EmailAddresses
from chat.domain.signing_in.email_change import NewAsked
from chat.domain.signing_in.mailed_codes import MailedCodes, refused_ticket, wrong_code
from chat.domain.signing_in.sudo import SudoMode, SudoProof
from chat.errors import ApiError
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.signing_in.tickets import Ticket

log: Final = structlog.get_logger("chat.accounts")

Change = tuple[Account, Account]
"""An account before and after."""


@attrs.define(kw_only=True, eq=False)
class EmailReplacements:
    """Takes accounts through the steps."""

    _core: Core
    _codes: MailedCodes
    _addresses: EmailAddresses
    _sudo: SudoMode

    async def request_new(self, user_id: int, new_email: str) -> NewAsked:
        """Mail a code to the address that is to be the new one.

        :raises ApiError: ACCESS_DENIED for an account whose address has not bounced, and for a deleted one.
        :raises InvalidFormBody: what is wrong with the address at `new_email`.
        """

        def unit(connection: sqlite3.Connection) -> NewAsked:
            account = _bounced(accounts.by_id(connection, user_id))
            email = self._addresses.acceptable(connection, account, new_email)
            members = {"email": account.email, "new_email": email}
            secret = self._codes.open(connection, REPLACEMENT_KIND, user_id, members)
            ticket = self._codes.find(connection, REPLACEMENT_KIND, user_id, secret)
            issued = self._codes.issue(connection, ticket, {})
            self._addresses.mail_code(connection, email, issued.code)
            return NewAsked(secret, email, issued)

        return await self._core.database.write(unit)

    async def resend_new(self, user_id: int, secret: str) -> None:
        """Mail another code.

        :raises ApiError: as `request_new`.
        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket`.
        :raises RateLimited: as `MailedCodes.issue`.
        """

        def unit(connection: sqlite3.Connection) -> None:
            _, ticket = self._found(connection, user_id, secret)
            issued = self._codes.issue(connection, ticket)
            self._addresses.mail_code(connection, ticket.body["new_email"], issued.code)

        await self._core.database.write(unit)

    async def verify_new(self, account: Account, secret: str, code: str, proof: SudoProof) -> Account:
        """Take the code, and change the address.

        :raises ApiError: as `request_new`; SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET or EMAIL_ALREADY_IN_USE at `ticket`, INVALID_CODE at `code`;
            as `SudoMode.require`.
        """
        self._found(self._core.database.reader, account.id, secret)
        await self._sudo.require(account, proof)

        def unit(connection: sqlite3.Connection) -> Change | None:
            before, ticket = self._found(connection, account.id, secret)
            if not self._codes.takes(connection, ticket, code):
                return None  # not raised here: the attempt has to be counted
            after = self._addresses.moved(connection, before, ticket.body["new_email"], path="ticket")
            accounts.replace(connection, after)
            return before, after

        def then(changed: Change | None) -> None:
            if changed is not None:
                self._core.account_events.changed(*changed)

        changed = await self._core.database.write(unit, then)
        if changed is None:
            raise wrong_code()
        log.info("bounced address replaced", user_id=account.id)
        return changed[1]

    def _found(self, connection: sqlite3.Connection, user_id: int, secret: str) -> tuple[Account, Ticket]:
        """The account and its ticket, if the address is the one that it began with."""
        account = _bounced(accounts.by_id(connection, user_id))
        ticket = self._codes.find(connection, REPLACEMENT_KIND, user_id, secret)
        if ticket.body["email"] != account.email:
            raise refused_ticket()
        return account, ticket


def _bounced(account: Account | None) -> Account:
    """The account, if mail to its address comes back.

    :raises ApiError: ACCESS_DENIED otherwise, and for a deleted one.
    """
    account = present(account)
    if not account.email_bounced or account.email is None:
        raise ApiError("ACCESS_DENIED")
    return account
