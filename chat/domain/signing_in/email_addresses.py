"""The email address of an account: whether it may have it, verifying it, moving to another one, and marking one that
takes no mail (signing_in.md, Verification mails, Change of the email address, Mail).

A new address is as good as the account. So the old address, if it was verified, is told, and its holder may take the
account back for 72 hours (`chat.domain.signing_in.recovery`). During that time no other account can take the
old address: otherwise a thief could give it to another account, and the holder could never take it back.
"""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.auth.tokens import token_hash
from chat.classes import define
from chat.domain.core import Core
from chat.domain.policy import account_rules
from chat.domain.policy.account_rules import present
from chat.domain.policy.changes import note_changes
from chat.domain.presence.account_events import AccountEvents
from chat.domain.signing_in.mailed_codes import Issued
from chat.errors import ApiError, InvalidFormBody, RateLimited
from chat.mail import letters
from chat.mail.letters import Letterhead
from chat.mail.mailer import Mailer, MailKind
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.limits import VERIFICATION_MAILS, VERIFICATION_MAILS_WINDOW_MS
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account, email_key
from chat.store.guard import Guard
from chat.store.signing_in import tickets
from chat.store.signing_in.tickets import EmailToken, Ticket

REVERT_KIND: Final = str(MailKind.EMAIL_REVERT)
REVERT_LIFETIME_MS: Final = 72 * 3_600_000

VERIFICATION_KIND: Final = str(MailKind.VERIFICATION)
VERIFICATION_LIFETIME_MS: Final = 24 * 3_600_000
"""How long the link in the mail works (signing_in.md, Verification mails)."""

CHANGE_KIND: Final = "email_change"
REPLACEMENT_KIND: Final = "email_replacement"
TOKEN_KIND: Final = "email_token"  # noqa: S105 - a kind of ticket


@define(kw_only=True, eq=False)
class EmailAddresses:
    """Moves accounts from address to address."""

    _core: Core
    _mailer: Mailer

    def require_free(self, connection: sqlite3.Connection, account: Account, email: str, *, path: str) -> None:
        """Return if the account may have the address.

        :raises InvalidFormBody: EMAIL_ALREADY_IN_USE at `path`.
        :raises ApiError: CONTENT_BLOCKED.
        """
        self._core.blocked.require_email(email)
        require_free_address(connection, email, account.id, self._core.clock.now_ms(), path=path)

    def acceptable(self, connection: sqlite3.Connection, account: Account, new_email: str) -> str:
        """Another address as the account may have it.

        :raises InvalidFormBody: what is wrong with it at `new_email`; the address that the account has is in use.
        """
        email = account_rules.email(new_email, path="new_email")
        if account.email is not None and email_key(email) == email_key(account.email):
            raise InvalidFormBody.at("new_email", FieldCode.EMAIL_ALREADY_IN_USE)
        self.require_free(connection, account, email, path="new_email")
        return email

    def mail_code(self, connection: sqlite3.Connection, ticket: Ticket, issued: Issued) -> None:
        """In a unit of writing: mail the ticket's new address the code by which its holder agrees to its use."""
        email: str = ticket.body["new_email"]
        head = Letterhead.to(connection, self._core.settings, ticket.user_id)
        letter = letters.email_change_to(head, email, code=issued.code)
        self._mailer.post(connection, letter)

    def moved(
        self, connection: sqlite3.Connection, account: Account, email: str, *, verified: bool = True, path: str
    ) -> Account:
        """In a unit of writing: the account with the address, for the caller to write; the old address is told.

        Links that were mailed to the old address, and changes under way, come to nothing.

        :raises InvalidFormBody: EMAIL_ALREADY_IN_USE at `path`.
        """
        self.require_free(connection, account, email, path=path)
        for kind in (MailKind.VERIFICATION, MailKind.PASSWORD_RESET):
            tickets.delete_email_tokens(connection, str(kind), account.id)
        tickets.delete_of_user(connection, account.id, CHANGE_KIND, REPLACEMENT_KIND, TOKEN_KIND)
        if account.email is not None and email_key(account.email) != email_key(email):
            self._offer_revert(connection, account, account.email)
        after = attrs.evolve(account, email=email, email_verified=verified, email_bounced=False)
        note_changes(connection, account, after, self._core.clock.now_ms())
        return after

    def _offer_revert(self, connection: sqlite3.Connection, account: Account, old: str) -> None:
        # The account never showed to hold an address that is not verified, and one that bounces may belong to another
        # person by now: a stranger would be handed the account.
        if not account.email_verified or account.email_bounced or not self._mailer.is_on:
            return
        now = self._core.clock.now_ms()
        token = self._core.mint.mail_token()
        totp_hash = None if account.totp_secret is None else token_hash(account.totp_secret)
        expires_at = now + REVERT_LIFETIME_MS
        tickets.insert_email_token(
            connection, EmailToken(token_hash(token), REVERT_KIND, account.id, old, now, expires_at, totp_hash)
        )
        letter = letters.email_revert(Letterhead.to(connection, self._core.settings, account.id), old, token=token)
        self._mailer.post(connection, letter)


def require_free_address(
    connection: sqlite3.Connection, email: str, user_id: int | None, now: int, *, path: str = "email"
) -> None:
    """Return if no other account has the address, or may take it back; `user_id` is None for one yet to be made.

    :raises InvalidFormBody: EMAIL_ALREADY_IN_USE at `path`.
    """
    holder = accounts.by_email_key(connection, email)
    holders = tickets.accounts_of_email_tokens(connection, REVERT_KIND, email, now)
    if holder is not None:
        holders.add(holder.id)
    if holders - {user_id}:
        raise InvalidFormBody.at(path, FieldCode.EMAIL_ALREADY_IN_USE)


@define(kw_only=True, eq=False)
class EmailVerification:
    _core: Core
    _mailer: Mailer

    @property
    def is_needed(self) -> bool:
        """Whether an address counts as verified only after its mail came back (signing_in.md, Verification mails)."""
        return (
            self._mailer.is_on
            and self._core.settings.email_verification_required
            and self._core.settings.sign_in == "email"
        )

    def send(self, connection: sqlite3.Connection, account: Account, token: str) -> None:
        """In a unit of writing: mail the account's address its token.

        :raises RateLimited: when the address was sent VERIFICATION_MAILS within VERIFICATION_MAILS_WINDOW_MS: a rule,
            not a request limit, so it always holds (signing_in.md, Verification mails).
        """
        if account.email is None or not self._mailer.is_on:
            return
        now = self._core.clock.now_ms()
        since = now - VERIFICATION_MAILS_WINDOW_MS
        sent = tickets.email_tokens_since(connection, VERIFICATION_KIND, account.email, since)
        if len(sent) >= VERIFICATION_MAILS:
            raise RateLimited((sent[-VERIFICATION_MAILS] - since) / 1000)
        expires_at = now + VERIFICATION_LIFETIME_MS
        tickets.insert_email_token(
            connection, EmailToken(token_hash(token), VERIFICATION_KIND, account.id, account.email, now, expires_at)
        )
        head = Letterhead.to(connection, self._core.settings, account.id)
        letter = letters.verification(head, account.email, token=token)
        self._mailer.post(connection, letter)

    async def resend(self, account: Account, guard: Guard) -> None:
        """Send the mail again; nothing to do for a verified address, and where there is none.

        :raises ApiError: ACCESS_DENIED for a deleted account.
        :raises RateLimited: as `send`.
        """
        token = self._core.mint.mail_token()

        def unit(connection: sqlite3.Connection) -> None:
            current = present(accounts.by_id(connection, account.id))
            if not current.email_verified:
                self.send(connection, current, token)

        await self._core.database.write(unit, guard=guard)

    async def verify(self, token: str, guard: Guard) -> None:
        """Take a token back: the address that it was sent to is verified.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_VERIFICATION_TOKEN at `token`, for any reason.
        :raises ApiError: BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED where the account has become a bot's.
        """
        now = self._core.clock.now_ms()
        refused = InvalidFormBody.at("token", FieldCode.INVALID_OR_EXPIRED_VERIFICATION_TOKEN)

        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            issued = tickets.email_token(connection, VERIFICATION_KIND, token_hash(token))
            before = None if issued is None else accounts.by_id(connection, issued.user_id)
            if issued is None or issued.expires_at <= now:
                raise refused
            if before is None or before.is_deleted or before.email != issued.email:
                raise refused
            if before.bot:
                raise ApiError(ErrorCode.BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED)
            after = attrs.evolve(before, email_verified=True, email_bounced=False)
            accounts.replace(connection, after)
            tickets.delete_email_tokens(connection, VERIFICATION_KIND, before.id)
            return before, after

        await self._core.database.write(unit, lambda changed: self._core.account_events.changed(*changed), guard=guard)


@define(eq=False)
class MailBounces:
    """Marks the accounts that have a dead address."""

    _events: AccountEvents

    def note(self, connection: sqlite3.Connection, recipient: str) -> list[tuple[Account, Account]]:
        """In a unit of writing: mark the accounts that have the address; each before and after."""
        noted = []
        for account in accounts.of_address(connection, recipient):
            if not account.email_bounced:
                marked = attrs.evolve(account, email_bounced=True)
                accounts.replace(connection, marked)
                noted.append((account, marked))
        return noted

    def announce(self, noted: list[tuple[Account, Account]]) -> None:
        """After the commit: USER_UPDATE."""
        for change in noted:
            self._events.changed(*change)
