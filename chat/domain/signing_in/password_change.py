"""Changing the password with a mailed code instead of the old password: POST /v1/users/@me/password-change/...

    step      ticket before     ticket after
    start     -                 waits for the code
    resend    waits for a code  waits for another code
    verify    waits for a code  proved
    complete  proved            gone; the password is the new one

The mailed code stands in for the old password only. An account with a second factor proves that as well (ASVS 6.4).
"""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs
import structlog

from chat.auth.principal import Principal
from chat.domain.core import Core
from chat.domain.policy.account_gates import present
from chat.domain.signing_in.authentication import Authentication, SignedIn
from chat.domain.signing_in.mailed_codes import Issued, MailedCodes, refused_ticket, wrong_code
from chat.domain.signing_in.new_passwords import NewPasswords
from chat.domain.signing_in.second_factors import SecondFactors
from chat.domain.signing_in.sign_ins import Client
from chat.domain.signing_in.sudo import SudoMode, SudoProof
from chat.errors import InvalidFormBody
from chat.mail import letters
from chat.mail.mailer import Mailer
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.signing_in.tickets import Ticket

log: Final = structlog.get_logger("chat.accounts")

KIND: Final = "password_change"
WAITS: Final = "waits"
PROVED: Final = "proved"


@attrs.define(kw_only=True, eq=False)
class PasswordChanges:
    """Takes accounts through the steps."""

    _core: Core
    _mailer: Mailer
    _codes: MailedCodes
    _factors: SecondFactors
    _sudo: SudoMode
    _authentication: Authentication
    _new_passwords: NewPasswords

    async def start(self, user_id: int) -> tuple[str, Issued]:
        """Mail a code to the account's address; the ticket of what follows.

        :raises ApiError: ACCESS_DENIED for a deleted account.
        :raises InvalidFormBody: USER_DOES_NOT_HAVE_AN_EMAIL_ADDRESS at `email`.
        """

        def unit(connection: sqlite3.Connection) -> tuple[str, Issued]:
            account = present(accounts.by_id(connection, user_id))
            if account.email is None:
                raise InvalidFormBody.at("email", "USER_DOES_NOT_HAVE_AN_EMAIL_ADDRESS")
            secret = self._codes.open(connection, KIND, user_id, {"step": WAITS, "email": account.email})
            ticket = self._codes.find(connection, KIND, user_id, secret)
            return secret, self._mail(connection, ticket, self._codes.issue(connection, ticket, {}))

        return await self._core.database.write(unit)

    async def resend(self, user_id: int, secret: str) -> None:
        """Mail another code in place of the one that the ticket waits for.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket`.
        :raises RateLimited: as `MailedCodes.issue`.
        """

        def unit(connection: sqlite3.Connection) -> None:
            _, ticket = self._found(connection, user_id, secret, WAITS)
            self._mail(connection, ticket, self._codes.issue(connection, ticket))

        await self._core.database.write(unit)

    async def verify(self, user_id: int, secret: str, code: str) -> str:
        """Take the code; the proof of it.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket`, INVALID_CODE at `code`.
        """

        def unit(connection: sqlite3.Connection) -> str | None:
            _, ticket = self._found(connection, user_id, secret, WAITS)
            if not self._codes.takes(connection, ticket, code):
                return None  # not raised here: the attempt has to be counted
            return self._codes.prove(connection, ticket, {"step": PROVED})

        proof = await self._core.database.write(unit)
        if proof is None:
            raise wrong_code()
        return proof

    async def complete(
        self, principal: Principal, secret: str, code_proof: str, password: str, proof: SudoProof, client: Client
    ) -> SignedIn:
        """Set the password; every sign-in of the account ends, and one begins for whoever asked.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket` or `verification_proof`, what is wrong with the
            password at `new_password`; as `SudoMode.require`.
        :raises ApiError: ACCESS_DENIED for a deleted account; SUDO_MODE_REQUIRED for one that has a factor.
        """
        user_id = principal.user_id

        def proved(connection: sqlite3.Connection) -> Account:
            account, ticket = self._found(connection, user_id, secret, PROVED)
            self._codes.require_proof(ticket, code_proof, path="verification_proof")
            return account

        account = proved(self._core.database.reader)
        if self._factors.held(account).any:
            await self._sudo.require(account, proof)
        password_hash = await self._new_passwords.hashed(account, password, proof.asker, path="new_password")

        def change(connection: sqlite3.Connection, current: Account) -> Account:
            proved(connection)
            return self._new_passwords.replaced(connection, current, password_hash)

        signed_in = await self._authentication.complete(
            account,
            client,
            refused=refused_ticket(),
            change=change,
            then=self._new_passwords.announce,
            address_is_proved=True,
        )
        log.info("password changed with a mailed code", user_id=user_id)
        return signed_in

    def _found(self, connection: sqlite3.Connection, user_id: int, secret: str, step: str) -> tuple[Account, Ticket]:
        """The account and its ticket, if that waits for this step and the address is the one it began with."""
        account = present(accounts.by_id(connection, user_id))
        ticket = self._codes.find(connection, KIND, user_id, secret)
        if ticket.body["step"] != step or ticket.body["email"] != account.email:
            raise refused_ticket()
        return account, ticket

    def _mail(self, connection: sqlite3.Connection, ticket: Ticket, issued: Issued) -> Issued:
        letter = letters.password_change(
            ticket.body["email"], service_name=self._core.settings.service_name, code=issued.code
        )
        self._mailer.post(connection, letter)
        return issued
