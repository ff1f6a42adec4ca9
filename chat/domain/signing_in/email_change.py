"""Changing an account's address: POST /v1/users/@me/email-change/..., and as a member of the own account by PATCH
/v1/users/@me {email, email_token} (signing_in.md, Change of the email address).

A ticket stands for one change under way. Each step finds it at the stage that the last one left it at, and moves it on
as STAGES says; any other step is refused like an unknown ticket. Two proofs lie between the beginning and a new
address: a code from the old address, and a code from the new one. The second yields a token, which `apply` turns into
the change once the account has proved itself (sudo mode).

The first proof is left out where there is nothing to prove: the account has no address, or never verified the one it
has, or mail to it comes back. For the last of these there is a shorter way, POST
/v1/users/@me/email-change/bounced/... (`EmailChanges.request_replacement`).

An account without an address is claimed by giving it one, and a password if it has none. For any other PATCH needs the
token, unless the instance sends no mail: then there is nothing that an address could prove, and it is changed like a
name.
"""

from __future__ import annotations

import enum
import sqlite3
from collections.abc import Callable, Mapping
from typing import Final

import attrs
import structlog

from chat.auth.tokens import token_hash
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.policy import account_rules
from chat.domain.policy.account_rules import present
from chat.domain.signing_in.email_addresses import (
    CHANGE_KIND,
    REPLACEMENT_KIND,
    TOKEN_KIND,
    EmailAddresses,
    EmailVerification,
)
from chat.domain.signing_in.mailed_codes import TICKET_LIFETIME_MS, Found, Issued, MailedCodes, refused_ticket
from chat.domain.signing_in.sudo import SudoMode, SudoProof
from chat.errors import ApiError, InvalidFormBody
from chat.mail import letters
from chat.mail.letters import Letterhead
from chat.mail.mailer import Mailer
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account, email_key
from chat.store.guard import Guard
from chat.store.signing_in import tickets
from chat.store.signing_in.tickets import Ticket

log: Final = structlog.get_logger("chat.accounts")


class EmailChangeStage(enum.StrEnum):
    """How far a change has come."""

    OLD_ASKED = "old_asked"
    """A code is on its way to the old address."""

    OLD_PROVED = "old_proved"
    """The old address agrees, or is not asked."""

    NEW_ASKED = "new_asked"
    """A code is on its way to the new address."""

    PROVED = "proved"
    """Both agree: the ticket is gone, and a token stands for the change."""


class EmailChangeStep(enum.StrEnum):
    """What the holder of the ticket asks for; as in the paths."""

    RESEND_ORIGINAL = "resend-original"
    VERIFY_ORIGINAL = "verify-original"
    REQUEST_NEW = "request-new"
    RESEND_NEW = "resend-new"
    VERIFY_NEW = "verify-new"


STAGES: Final[Mapping[tuple[EmailChangeStage, EmailChangeStep], EmailChangeStage]] = {
    (EmailChangeStage.OLD_ASKED, EmailChangeStep.RESEND_ORIGINAL): EmailChangeStage.OLD_ASKED,
    (EmailChangeStage.OLD_ASKED, EmailChangeStep.VERIFY_ORIGINAL): EmailChangeStage.OLD_PROVED,
    (EmailChangeStage.OLD_PROVED, EmailChangeStep.REQUEST_NEW): EmailChangeStage.NEW_ASKED,
    (EmailChangeStage.NEW_ASKED, EmailChangeStep.REQUEST_NEW): EmailChangeStage.NEW_ASKED,
    (EmailChangeStage.NEW_ASKED, EmailChangeStep.RESEND_NEW): EmailChangeStage.NEW_ASKED,
    (EmailChangeStage.NEW_ASKED, EmailChangeStep.VERIFY_NEW): EmailChangeStage.PROVED,
}
"""Where each step leads; a step that is not here is refused, and changes nothing."""


@frozen
class StartedEmailChange:
    """A change has begun: its ticket, and either a code to the old address or the proof that it is not needed."""

    ticket: str = attrs.field(repr=False)
    email: str | None
    issued: Issued | None
    proof: str | None = attrs.field(repr=False)


@frozen
class NewAsked:
    """A code is on its way to the new address."""

    ticket: str = attrs.field(repr=False)
    email: str
    issued: Issued


@define(kw_only=True, eq=False)
class EmailChanges:
    _core: Core
    _mailer: Mailer
    _codes: MailedCodes
    _addresses: EmailAddresses
    _sudo: SudoMode

    async def start(self, user_id: int, guard: Guard) -> StartedEmailChange:
        """Begin a change in place of any that is under way. Raises ACCESS_DENIED for a deleted account."""

        def unit(connection: sqlite3.Connection) -> StartedEmailChange:
            account = present(accounts.by_id(connection, user_id))
            asks = account.email is not None and account.email_verified and not account.email_bounced
            stage = EmailChangeStage.OLD_ASKED if asks else EmailChangeStage.OLD_PROVED
            secret, ticket = self._codes.open(connection, CHANGE_KIND, account, {"stage": stage})
            if not asks:
                return StartedEmailChange(secret, account.email, None, self._codes.prove(connection, ticket, {}))
            issued = self._codes.issue(connection, ticket, {})
            self._mail_old(connection, ticket, issued)
            return StartedEmailChange(secret, account.email, issued, None)

        return await self._core.database.write(unit, guard=guard)

    async def resend_original(self, user_id: int, secret: str, guard: Guard) -> None:
        """Mail the old address another code.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket`.
        :raises RateLimited: as `MailedCodes.issue`.
        """
        await self._codes.resend(self._at(user_id, secret, EmailChangeStep.RESEND_ORIGINAL), self._mail_old, guard)

    async def verify_original(self, user_id: int, secret: str, code: str, guard: Guard) -> str:
        """Take the code from the old address; the proof of it.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket`, INVALID_CODE at `code`.
        """
        return await self._codes.take(
            code,
            self._at(user_id, secret, EmailChangeStep.VERIFY_ORIGINAL),
            lambda connection, account, ticket: self._codes.prove(
                connection, ticket, {"stage": _stage_after(ticket, EmailChangeStep.VERIFY_ORIGINAL)}
            ),
            guard,
        )

    async def request_new(self, user_id: int, secret: str, new_email: str, proof: str, guard: Guard) -> NewAsked:
        """Mail the new address a code; `proof` is that of the old address.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket` or `original_proof`; what is wrong with the
            address at `new_email`.
        """
        found = self._at(user_id, secret, EmailChangeStep.REQUEST_NEW, proof)

        def unit(connection: sqlite3.Connection) -> NewAsked:
            account, ticket = found(connection)
            email = self._addresses.acceptable(connection, account, new_email)
            body = {**ticket.body, "stage": _stage_after(ticket, EmailChangeStep.REQUEST_NEW), "new_email": email}
            ticket = attrs.evolve(ticket, body=body)
            issued = self._codes.issue(connection, ticket, {})
            self._addresses.mail_code(connection, ticket, issued)
            return NewAsked(secret, email, issued)

        return await self._core.database.write(unit, guard=guard)

    async def resend_new(self, user_id: int, secret: str, guard: Guard) -> None:
        """Mail the new address another code.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket`.
        :raises RateLimited: as `MailedCodes.issue`.
        """
        await self._codes.resend(
            self._at(user_id, secret, EmailChangeStep.RESEND_NEW), self._addresses.mail_code, guard
        )

    async def verify_new(self, user_id: int, secret: str, code: str, proof: str, guard: Guard) -> str:
        """Take the code from the new address; the token that `apply` asks for. The ticket is used up.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket` or `original_proof`, INVALID_CODE at `code`.
        """
        token = self._core.mint.secret()

        def promise(connection: sqlite3.Connection, account: Account, ticket: Ticket) -> None:
            now = self._core.clock.now_ms()
            body = {"email": account.email, "new_email": ticket.body["new_email"]}
            promised = Ticket(token_hash(token), TOKEN_KIND, user_id, body, now, now + TICKET_LIFETIME_MS)
            tickets.delete_of_user(connection, user_id, CHANGE_KIND, TOKEN_KIND)
            tickets.insert(connection, promised)

        await self._codes.take(code, self._at(user_id, secret, EmailChangeStep.VERIFY_NEW, proof), promise, guard)
        return token

    async def apply(self, account: Account, token: str, proof: SudoProof) -> Account:
        """Change the address; the old one is told.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET or EMAIL_ALREADY_IN_USE at `email_token`; as
            `SudoMode.require`.
        :raises ApiError: ACCESS_DENIED for a deleted account; SUDO_MODE_REQUIRED.
        """
        self.promised(self._core.database.reader, account, token)
        await self._sudo.require(account, proof)

        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            before = present(accounts.by_id(connection, account.id))
            after = self.redeem(connection, before, token)
            accounts.replace(connection, after)
            return before, after

        _, changed = await self._core.database.write(
            unit, lambda changed: self._core.account_events.changed(*changed), guard=proof.guard
        )
        log.info("address changed", user_id=changed.id)
        return changed

    def promised(self, connection: sqlite3.Connection, account: Account, token: str) -> str:
        """The address that the token stands for.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `email_token`.
        :raises ApiError: ACCESS_DENIED for a deleted account.
        """
        present(account)
        ticket = tickets.find(connection, TOKEN_KIND, token_hash(token), self._core.clock.now_ms())
        if ticket is None or ticket.user_id != account.id or ticket.body["email"] != account.email:
            raise refused_ticket("email_token")
        email: str = ticket.body["new_email"]
        return email

    def redeem(self, connection: sqlite3.Connection, account: Account, token: str) -> Account:
        """In a unit of writing: the account with the address that the token stands for, for the caller to write.

        :raises InvalidFormBody: as `promised`; EMAIL_ALREADY_IN_USE at `email_token`.
        """
        email = self.promised(connection, account, token)
        return self._addresses.moved(connection, account, email, path="email_token")

    def _at(self, user_id: int, secret: str, step: EmailChangeStep, original_proof: str | None = None) -> Found:
        """Finds the account and its ticket, if the ticket has come to this step, and the proof, if given, is its."""

        def found(connection: sqlite3.Connection) -> tuple[Account, Ticket]:
            account = present(accounts.by_id(connection, user_id))
            ticket = self._codes.find(connection, CHANGE_KIND, account, secret)
            _stage_after(ticket, step)
            if original_proof is not None:
                self._codes.require_proof(ticket, original_proof, path="original_proof")
            return account, ticket

        return found

    def _mail_old(self, connection: sqlite3.Connection, ticket: Ticket, issued: Issued) -> None:
        email: str = ticket.body["email"]
        head = Letterhead.to(connection, self._core.settings, ticket.user_id)
        letter = letters.email_change_from(head, email, code=issued.code)
        self._mailer.post(connection, letter)

    # An address that takes no mail is replaced with a code from the new one alone:
    #
    #     step         ticket before     ticket after
    #     request-new  -                 waits for the code from the new address
    #     resend-new   waits for a code  waits for another code
    #     verify-new   waits for a code  gone; the address is the new one
    #
    # There is no code from the old address, which would come back like any mail; the account proves itself (sudo mode).

    async def request_replacement(self, user_id: int, new_email: str, guard: Guard) -> NewAsked:
        """Mail a code to the address that is to be the new one.

        :raises ApiError: ACCESS_DENIED for an account whose address has not bounced, and for a deleted one.
        :raises InvalidFormBody: what is wrong with the address at `new_email`.
        """

        def unit(connection: sqlite3.Connection) -> NewAsked:
            account = _bounced(accounts.by_id(connection, user_id))
            email = self._addresses.acceptable(connection, account, new_email)
            secret, ticket = self._codes.open(connection, REPLACEMENT_KIND, account, {"new_email": email})
            issued = self._codes.issue(connection, ticket, {})
            self._addresses.mail_code(connection, ticket, issued)
            return NewAsked(secret, email, issued)

        return await self._core.database.write(unit, guard=guard)

    async def resend_replacement(self, user_id: int, secret: str, guard: Guard) -> None:
        """Mail another code.

        :raises ApiError: as `request_replacement`.
        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket`.
        :raises RateLimited: as `MailedCodes.issue`.
        """
        await self._codes.resend(
            lambda connection: self._replacement(connection, user_id, secret), self._addresses.mail_code, guard
        )

    async def verify_replacement(self, account: Account, secret: str, code: str, proof: SudoProof) -> Account:
        """Take the code, and change the address.

        :raises ApiError: as `request_replacement`; SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET or EMAIL_ALREADY_IN_USE at `ticket`, INVALID_CODE at `code`;
            as `SudoMode.require`.
        """
        self._replacement(self._core.database.reader, account.id, secret)
        await self._sudo.require(account, proof)

        def move(connection: sqlite3.Connection, before: Account, ticket: Ticket) -> tuple[Account, Account]:
            after = self._addresses.moved(connection, before, ticket.body["new_email"], path="ticket")
            accounts.replace(connection, after)
            return before, after

        _, changed = await self._codes.take(
            code,
            lambda connection: self._replacement(connection, account.id, secret),
            move,
            proof.guard,
            lambda changed: self._core.account_events.changed(*changed),
        )
        log.info("bounced address replaced", user_id=account.id)
        return changed

    def _replacement(self, connection: sqlite3.Connection, user_id: int, secret: str) -> tuple[Account, Ticket]:
        """The account and its ticket."""
        account = _bounced(accounts.by_id(connection, user_id))
        return account, self._codes.find(connection, REPLACEMENT_KIND, account, secret)


def _stage_after(ticket: Ticket, step: EmailChangeStep) -> EmailChangeStage:
    """Where the step leads; refused is one that the ticket has not come to."""
    stage = STAGES.get((EmailChangeStage(ticket.body["stage"]), step))
    if stage is None:
        raise refused_ticket()
    return stage


def _bounced(account: Account | None) -> Account:
    """The account, if mail to its address comes back. Raises ACCESS_DENIED otherwise, and for a deleted one."""
    account = present(account)
    if not account.email_bounced or account.email is None:
        raise ApiError(ErrorCode.ACCESS_DENIED)
    return account


@frozen
class AddressWish:
    """What a body says of the address."""

    email: str | None = None
    token: str | None = attrs.field(default=None, repr=False)


Move = Callable[[sqlite3.Connection, Account], Account]
"""In a unit of writing: the account with its new address, for the caller to write."""


@define(kw_only=True, eq=False)
class AddressWishes:
    _core: Core
    _mailer: Mailer
    _changes: EmailChanges
    _addresses: EmailAddresses
    _verification: EmailVerification

    def checked(self, account: Account, wish: AddressWish, *, has_password: bool) -> Move | None:
        """What is to be done once the account has proved itself; None for the address that it has already.

        `has_password` is whether the account will have one.

        :raises ApiError: EMAIL_UNAVAILABLE_ON_INSTANCE on a username instance, ACCESS_DENIED for a deleted account.
        :raises InvalidFormBody: at `email`, `email_token` or `password`.
        """
        if self._core.settings.sign_in == "username":
            raise ApiError(ErrorCode.EMAIL_UNAVAILABLE_ON_INSTANCE)
        if account.bot:  # a bot signs in with its token
            raise InvalidFormBody.at("email", FieldCode.INVALID_FORMAT)
        present(account)
        email = None if wish.email is None else account_rules.email(wish.email)
        if wish.token is not None:
            return self._with_token(account, wish.token, email)
        if email is None or (account.email is not None and email_key(account.email) == email_key(email)):
            return None
        if account.email is None:
            if not has_password:
                raise InvalidFormBody.at("password", FieldCode.PASSWORD_NOT_SET)
            return self._claim(email)
        if self._mailer.is_on:
            raise InvalidFormBody.at("email_token", FieldCode.INVALID_FORMAT)
        return lambda connection, current: self._addresses.moved(connection, current, email, path="email")

    def _with_token(self, account: Account, token: str, email: str | None) -> Move:
        promised = self._changes.promised(self._core.database.reader, account, token)
        if email is not None and email_key(email) != email_key(promised):
            raise InvalidFormBody.at("email", FieldCode.INVALID_FORMAT)
        return lambda connection, current: self._changes.redeem(connection, current, token)

    def _claim(self, email: str) -> Move:
        """The account's first address, which is verified by mail like one given at registration."""
        verified = not self._verification.is_needed
        token = self._core.mint.mail_token()

        def move(connection: sqlite3.Connection, current: Account) -> Account:
            if current.email is not None:  # it was claimed in the meantime
                raise InvalidFormBody.at("email_token", FieldCode.INVALID_FORMAT)
            claimed = self._addresses.moved(connection, current, email, verified=verified, path="email")
            if not verified:
                self._verification.send(connection, claimed, token)
            return claimed

        return move
