"""Login tickets: what somebody holds who has proved the password and has yet to prove a second factor.

A ticket stands for the account as it was when the password was right. When the password changes after that, or the
holder closes the account, the ticket has timed out like one that was never given.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import attrs

from chat.auth.tokens import token_hash
from chat.domain.core import Core
from chat.domain.signing_in.sign_ins import SignIns, Standing
from chat.errors import InvalidFormBody
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.signing_in import tickets, webauthn_credentials
from chat.store.signing_in.tickets import Ticket

KIND: Final = "login"
LIFETIME_MS: Final = 5 * 60_000
MOST_WRONG: Final = 5
"""Wrong codes or assertions after which a ticket is gone (signing_in.md, Second step)."""


@attrs.frozen
class MfaChallenge:
    """The answer to a right password that is not enough (signing_in.md, Second step)."""

    ticket: str = attrs.field(repr=False)
    totp: bool
    webauthn: bool

    def answer(self) -> dict[str, Any]:
        """The MFA challenge."""
        methods = [method for method, allowed in (("totp", self.totp), ("webauthn", self.webauthn)) if allowed]
        return {
            "mfa": True,
            "ticket": self.ticket,
            "allowed_methods": methods,
            "totp": self.totp,
            "webauthn": self.webauthn,
        }


@attrs.define(kw_only=True, eq=False)
class LoginTickets:
    """Gives tickets out and takes them back."""

    _core: Core
    _sign_ins: SignIns

    def secret(self) -> str:
        """What the holder of a ticket is told; to be good once it is issued."""
        return self._core.mint.secret()

    def issue(
        self, connection: sqlite3.Connection, account: Account, secret: str, invite_code: str | None
    ) -> MfaChallenge | None:
        """In a unit of writing: ask for the account's second factor; None where it needs none.

        Passkeys are one if the account chose so (signing_in.md, Second step).
        """
        totp = account.totp_secret is not None
        webauthn = account.passkey_second_factor and webauthn_credentials.is_one_listed(connection, account.id)
        if not totp and not webauthn:
            return None
        now = self._core.clock.now_ms()
        tickets.insert(
            connection,
            Ticket(
                secret_hash=token_hash(secret),
                kind=KIND,
                user_id=account.id,
                body={**Standing.of(account).as_members(), "invite_code": invite_code},
                created_at=now,
                expires_at=now + LIFETIME_MS,
            ),
        )
        return MfaChallenge(secret, totp=totp, webauthn=webauthn)

    def holder_of(self, secret: str) -> tuple[Ticket, Account]:
        """The ticket and the account that it is for.

        :raises InvalidFormBody: SESSION_TIMEOUT at `ticket`, for whatever reason it is not good.
        :raises ApiError: as `SignIns.admitted`.
        """
        reader = self._core.database.reader
        ticket = tickets.find(reader, KIND, token_hash(secret), self._core.clock.now_ms())
        account = None if ticket is None or ticket.user_id is None else accounts.by_id(reader, ticket.user_id)
        if ticket is None or account is None:
            raise timed_out()
        self._require_unchanged(reader, ticket, account)
        return ticket, account

    def require(self, connection: sqlite3.Connection, ticket: Ticket, account: Account) -> None:
        """In a unit of writing: check that the ticket is still good, for the account as it is now.

        :raises ApiError: as `holder_of`.
        """
        if tickets.find(connection, KIND, ticket.secret_hash, self._core.clock.now_ms()) is None:
            raise timed_out()
        self._require_unchanged(connection, ticket, account)

    def use_up(self, connection: sqlite3.Connection, ticket: Ticket) -> None:
        """In a unit of writing: nobody signs in with the ticket again."""
        tickets.delete(connection, ticket.secret_hash)

    def count_wrong(self, connection: sqlite3.Connection, ticket: Ticket) -> None:
        """In a unit of writing: something else than the factor was shown; with the fifth the ticket is gone."""
        tickets.count_attempt(connection, ticket.secret_hash, MOST_WRONG)

    def _require_unchanged(self, connection: sqlite3.Connection, ticket: Ticket, account: Account) -> None:
        standing = Standing.from_members(ticket.body)
        if account.is_deleted or not standing.has_password_of(account):
            raise timed_out()
        self._sign_ins.admitted(connection, account)
        if standing.was_closed_since(account):
            raise timed_out()


def timed_out() -> InvalidFormBody:
    """What a ticket gets that is unknown, used, over or superseded."""
    return InvalidFormBody.at("ticket", "SESSION_TIMEOUT")
