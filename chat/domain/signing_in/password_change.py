"""Setting a password: what it must be, what ends with the old one, and changing it with a mailed code instead of the
old password (signing_in.md, Change of the password).
"""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs
import structlog

from chat.auth.passwords import Asker
from chat.auth.principal import Principal
from chat.classes import define
from chat.domain.core import Core
from chat.domain.policy import account_rules
from chat.domain.policy.account_rules import present
from chat.domain.signing_in.authentication import Authentication, Change, SignedIn, SignInMethod
from chat.domain.signing_in.mailed_codes import Issued, MailedCodes, refused_ticket
from chat.domain.signing_in.sign_ins import RequestOrigin
from chat.domain.signing_in.sudo import SecondFactors, SudoMode, SudoProof
from chat.errors import ApiError, InvalidFormBody
from chat.mail import letters
from chat.mail.letters import Letterhead
from chat.mail.mailer import Mailer, MailKind
from chat.registries.error_codes import FieldCode
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.signing_in import auth_sessions, tickets
from chat.store.signing_in.tickets import Ticket

log: Final = structlog.get_logger("chat.accounts")

KIND: Final = "password_change"
WAITS: Final = "waits"
PROVED: Final = "proved"


@define(kw_only=True, eq=False)
class NewPasswords:
    """Hashes new passwords and puts them in place of the old, whichever way the holder proved to be one."""

    _core: Core

    def require_acceptable(self, account: Account, password: str, *, path: str = "password") -> None:
        """Return if the account may have the password.

        :raises InvalidFormBody: at `path`.
        """
        account_rules.password(password, names=(account.username, account.global_name, account.email), path=path)

    async def hashed(
        self, account: Account, password: str, asker: Asker, guard: Guard, *, path: str = "password"
    ) -> str:
        """The hash of a password that the account may have.

        :raises InvalidFormBody: as `require_acceptable`.
        :raises RateLimited: when too many are being hashed.
        """
        self.require_acceptable(account, password, path=path)
        return await self._core.passwords.hash(password, asker, guard=guard)

    def replaced(self, connection: sqlite3.Connection, account: Account, password_hash: str) -> Account:
        """In a unit of writing: the account with its new password, for the caller to write.

        With the old one go the account's sign-ins, its reset links, and everything that was begun under it and not
        finished: login tickets, challenges, mailed codes.
        """
        now = self._core.clock.now_ms()
        auth_sessions.end_of_user(connection, account.id, now)
        tickets.delete_email_tokens(connection, str(MailKind.PASSWORD_RESET), account.id)
        return attrs.evolve(account, password_hash=password_hash, password_last_changed_at=now)

    def way(self, refused: ApiError, change: Change) -> SignInMethod:
        """How a caller is signed in who has set the password (`replaced` in `change`) by a code or link from a mail or
        from paper: IP authorisation is not asked for."""
        return SignInMethod(refused=refused, change=change, then=self._announce, address_is_proved=True)

    def _announce(self, before: Account, after: Account) -> None:
        """The account's gateway sessions end, and those who see a difference are told."""
        self._core.account_events.signed_out(after.id)
        self._core.account_events.changed(before, after)


@define(kw_only=True, eq=False)
class PasswordChanges:
    """Takes accounts through the steps of POST /v1/users/@me/password-change/...

        step      ticket before     ticket after
        start     -                 waits for the code
        resend    waits for a code  waits for another code
        verify    waits for a code  proved
        complete  proved            gone; the password is the new one

    The mailed code stands in for the old password only. An account with a second factor proves that as well (ASVS 6.4).
    """

    _core: Core
    _mailer: Mailer
    _codes: MailedCodes
    _factors: SecondFactors
    _sudo: SudoMode
    _authentication: Authentication
    _new_passwords: NewPasswords

    async def start(self, user_id: int, guard: Guard) -> tuple[str, Issued]:
        """Mail a code to the account's address; the ticket of what follows.

        :raises ApiError: ACCESS_DENIED for a deleted account.
        :raises InvalidFormBody: USER_DOES_NOT_HAVE_AN_EMAIL_ADDRESS at `email`.
        """

        def unit(connection: sqlite3.Connection) -> tuple[str, Issued]:
            account = present(accounts.by_id(connection, user_id))
            if account.email is None:
                raise InvalidFormBody.at("email", FieldCode.USER_DOES_NOT_HAVE_AN_EMAIL_ADDRESS)
            secret, ticket = self._codes.open(connection, KIND, account, {"step": WAITS})
            issued = self._codes.issue(connection, ticket, {})
            self._mail(connection, ticket, issued)
            return secret, issued

        return await self._core.database.write(unit, guard=guard)

    async def resend(self, user_id: int, secret: str, guard: Guard) -> None:
        """Mail another code in place of the one that the ticket waits for.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket`.
        :raises RateLimited: as `MailedCodes.issue`.
        """
        await self._codes.resend(lambda connection: self._found(connection, user_id, secret, WAITS), self._mail, guard)

    async def verify(self, user_id: int, secret: str, code: str, guard: Guard) -> str:
        """Take the code; the proof of it.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket`, INVALID_CODE at `code`.
        """
        return await self._codes.take(
            code,
            lambda connection: self._found(connection, user_id, secret, WAITS),
            lambda connection, account, ticket: self._codes.prove(connection, ticket, {"step": PROVED}),
            guard,
        )

    async def complete(
        self, principal: Principal, secret: str, code_proof: str, password: str, proof: SudoProof, client: RequestOrigin
    ) -> SignedIn:
        """Set the password; every sign-in of the account ends, and the caller gets a new one.

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
        password_hash = await self._new_passwords.hashed(
            account, password, proof.asker, proof.guard, path="new_password"
        )

        def change(connection: sqlite3.Connection, current: Account) -> Account:
            proved(connection)
            return self._new_passwords.replaced(connection, current, password_hash)

        way = self._new_passwords.way(refused_ticket(), change)
        signed_in = await self._authentication.complete(account, client, way)
        log.info("password changed with a mailed code", user_id=user_id)
        return signed_in

    def _found(self, connection: sqlite3.Connection, user_id: int, secret: str, step: str) -> tuple[Account, Ticket]:
        """The account and its ticket, if that waits for this step."""
        account = present(accounts.by_id(connection, user_id))
        ticket = self._codes.find(connection, KIND, account, secret)
        if ticket.body["step"] != step:
            raise refused_ticket()
        return account, ticket

    def _mail(self, connection: sqlite3.Connection, ticket: Ticket, issued: Issued) -> None:
        head = Letterhead.to(connection, self._core.settings, ticket.user_id)
        letter = letters.password_change(head, ticket.body["email"], code=issued.code)
        self._mailer.post(connection, letter)
