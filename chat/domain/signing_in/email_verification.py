"""Verification of mail addresses: a mail with a token, and the token back."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.auth.tokens import token_hash
from chat.domain.core import Core
from chat.domain.policy.account_gates import present
from chat.errors import ApiError, InvalidFormBody, RateLimited
from chat.mail import letters
from chat.mail.mailer import Mailer, MailKind
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.signing_in import email_tokens
from chat.store.signing_in.email_tokens import EmailToken

TOKEN_LIFETIME_MS: Final = 24 * 3_600_000
"""How long the link in the mail works (signing_in.md, Verification mails)."""

MAILS_PER_WINDOW: Final = 3
MAILS_WINDOW_MS: Final = 15 * 60_000
"""Three mails per address within it (signing_in.md, Verification mails): a rule, not a request limit, so it always
holds."""

KIND: Final = str(MailKind.VERIFICATION)


@attrs.define(kw_only=True, eq=False)
class EmailVerification:
    """Sends verification mails and takes their tokens."""

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

        :raises RateLimited: when the address was sent three within fifteen minutes.
        """
        if account.email is None or not self._mailer.is_on:
            return
        now = self._core.clock.now_ms()
        email_tokens.delete_expired(connection, now)
        sent = email_tokens.sent_since(connection, KIND, account.email, now - MAILS_WINDOW_MS)
        if len(sent) >= MAILS_PER_WINDOW:
            raise RateLimited((sent[-MAILS_PER_WINDOW] + MAILS_WINDOW_MS - now) / 1000)
        email_tokens.insert(
            connection,
            EmailToken(token_hash(token), KIND, account.id, account.email, now, now + TOKEN_LIFETIME_MS),
        )
        letter = letters.verification(
            account.email,
            service_name=self._core.settings.service_name,
            public_url=self._core.settings.public_url,
            token=token,
        )
        self._mailer.post(connection, letter)

    async def resend(self, account: Account) -> None:
        """Send the mail again; nothing to do for a verified address, and where there is none.

        :raises ApiError: ACCESS_DENIED for a deleted account.
        :raises RateLimited: as `send`.
        """
        token = self._core.mint.mail_token()

        def unit(connection: sqlite3.Connection) -> None:
            current = present(accounts.by_id(connection, account.id))
            if not current.email_verified:
                self.send(connection, current, token)

        await self._core.database.write(unit)

    async def verify(self, token: str) -> None:
        """Take a token back: the address that it was sent to is verified.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_VERIFICATION_TOKEN at `token`, for whatever reason it is not good.
        :raises ApiError: BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED where the account has become a bot's.
        """
        now = self._core.clock.now_ms()

        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            issued = email_tokens.by_hash(connection, KIND, token_hash(token))
            before = None if issued is None else accounts.by_id(connection, issued.user_id)
            if issued is None or issued.expires_at <= now:
                raise _refused()
            if before is None or before.is_deleted or before.email != issued.email:
                raise _refused()
            if before.bot:
                raise ApiError("BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")
            after = attrs.evolve(before, email_verified=True, email_bounced=False)
            accounts.replace(connection, after)
            email_tokens.delete_of_user(connection, KIND, before.id)
            return before, after

        await self._core.database.write(unit, lambda changed: self._core.account_events.changed(*changed))


def _refused() -> InvalidFormBody:
    """What a token gets that is unknown, used, over, or of something else."""
    return InvalidFormBody.at("token", "INVALID_OR_EXPIRED_VERIFICATION_TOKEN")
