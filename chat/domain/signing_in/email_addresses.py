"""Giving an account another address: whether it may have it, what becomes of the old one, and the way back.

Who changes the address of an account has as good as got the account. So the old address, if it was verified, is told,
and its holder may take the account back for 72 hours (signing_in.md, Change of the email address;
`chat.domain.signing_in.email_revert`). For so long the address stays kept for the account: otherwise whoever took it
over could give the address to another account, and so make sure that it never comes back.
"""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.auth.tokens import token_hash
from chat.domain.core import Core
from chat.domain.policy import account_rules
from chat.domain.policy.account_history import note_changes
from chat.errors import InvalidFormBody
from chat.mail import letters
from chat.mail.mailer import Mailer, MailKind
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account, email_key
from chat.store.signing_in import email_tokens, tickets
from chat.store.signing_in.email_tokens import EmailToken

REVERT_KIND: Final = str(MailKind.EMAIL_REVERT)
REVERT_LIFETIME_MS: Final = 72 * 3_600_000

CHANGE_KIND: Final = "email_change"
REPLACEMENT_KIND: Final = "email_replacement"
TOKEN_KIND: Final = "email_token"  # noqa: S105 - a kind of ticket


@attrs.define(kw_only=True, eq=False)
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
            raise InvalidFormBody.at("new_email", "EMAIL_ALREADY_IN_USE")
        self.require_free(connection, account, email, path="new_email")
        return email

    def mail_code(self, connection: sqlite3.Connection, email: str, code: str) -> None:
        """In a unit of writing: mail an address the code by which its holder agrees to its use."""
        letter = letters.email_change_to(email, service_name=self._core.settings.service_name, code=code)
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
            email_tokens.delete_of_user(connection, str(kind), account.id)
        tickets.delete_of_user(connection, account.id, CHANGE_KIND, REPLACEMENT_KIND, TOKEN_KIND)
        if account.email is not None and email_key(account.email) != email_key(email):
            self._offer_revert(connection, account, account.email)
        after = attrs.evolve(account, email=email, email_verified=verified, email_bounced=False)
        note_changes(connection, account, after, self._core.clock.now_ms())
        return after

    def _offer_revert(self, connection: sqlite3.Connection, account: Account, old: str) -> None:
        # Nobody ever showed to hold an address that is not verified, and one that bounces may be given to somebody
        # else by now: a stranger would be handed the account.
        if not account.email_verified or account.email_bounced or not self._mailer.is_on:
            return
        now = self._core.clock.now_ms()
        token = self._core.mint.mail_token()
        secret = account.totp_secret
        email_tokens.delete_expired(connection, now)
        email_tokens.insert(
            connection,
            EmailToken(
                token_hash=token_hash(token),
                kind=REVERT_KIND,
                user_id=account.id,
                email=old,
                created_at=now,
                expires_at=now + REVERT_LIFETIME_MS,
                totp_hash=None if secret is None else token_hash(secret),
            ),
        )
        letter = letters.email_revert(
            old, service_name=self._core.settings.service_name, public_url=self._core.settings.public_url, token=token
        )
        self._mailer.post(connection, letter)


def require_free_address(
    connection: sqlite3.Connection, email: str, user_id: int | None, now: int, *, path: str = "email"
) -> None:
    """Return if nobody but this account has the address, or may take it back; None for an account yet to be made.

    :raises InvalidFormBody: EMAIL_ALREADY_IN_USE at `path`.
    """
    holder = accounts.by_email_key(connection, email)
    holders = email_tokens.accounts_of(connection, REVERT_KIND, email, now)
    if holder is not None:
        holders.add(holder.id)
    if holders - {user_id}:
        raise InvalidFormBody.at(path, "EMAIL_ALREADY_IN_USE")
