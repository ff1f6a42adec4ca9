"""Password recovery: a mailed link, and a new password for whoever follows it (signing_in.md, Password recovery).

The link proves one thing, control of the address. So it replaces the password and nothing else: an account that is
banned stays banned, and one that holds a second factor is asked for it (ASVS 6.4).
"""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs
import structlog

from chat.auth.tokens import token_hash
from chat.auth.turns import Asker
from chat.domain.core import Core
from chat.domain.signing_in.authentication import Authentication, SignedIn
from chat.domain.signing_in.login_tickets import MfaChallenge
from chat.domain.signing_in.new_passwords import NewPasswords
from chat.domain.signing_in.sign_ins import Client
from chat.errors import ApiError, InvalidFormBody
from chat.mail import letters
from chat.mail.mailer import Mailer, MailKind
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account, email_key
from chat.store.signing_in import email_tokens, tickets
from chat.store.signing_in.email_tokens import EmailToken
from chat.store.signing_in.tickets import Ticket

log: Final = structlog.get_logger("chat.accounts")

KIND: Final = str(MailKind.PASSWORD_RESET)
TOKEN_LIFETIME_MS: Final = 3_600_000
"""How long a reset link works (signing_in.md, Password recovery)."""

NOBODYS: Final = "password_reset_of_nobody"
"""The kind of the rows that are written where there is nobody to mail to: expired from the beginning."""


@attrs.define(kw_only=True, eq=False)
class PasswordRecovery:
    """Sends reset links and takes their tokens."""

    _core: Core
    _mailer: Mailer
    _authentication: Authentication
    _new_passwords: NewPasswords

    async def request(self, email: str) -> None:
        """Mail a reset link to the account with this address, if there is one.

        Either way something is written and committed, so the time of the answer tells nobody whether there is.

        :raises ApiError: BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED where the account is a bot's.
        """
        token = self._core.mint.mail_token()

        def unit(connection: sqlite3.Connection) -> Account | None:
            account = accounts.by_email_key(connection, email)
            if account is not None and account.bot:
                raise ApiError("BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")
            if account is None or account.is_deleted or not self._mailer.is_on:
                now = self._core.clock.now_ms()
                tickets.insert(connection, Ticket(token_hash(token), NOBODYS, None, {}, now, now))
                return None
            self.send(connection, account, token)
            return account

        account = await self._core.database.write(unit)
        log.info("password recovery", user_id=None if account is None else account.id)

    def send(self, connection: sqlite3.Connection, account: Account, token: str) -> None:
        """In a unit of writing: mail the account's address a link with this token; nothing for an account without."""
        if account.email is None:
            return
        self.remember(connection, account.id, account.email, token)
        letter = letters.password_reset(
            account.email,
            service_name=self._core.settings.service_name,
            public_url=self._core.settings.public_url,
            token=token,
        )
        self._mailer.post(connection, letter)

    def remember(self, connection: sqlite3.Connection, user_id: int, email: str | None, token: str) -> int:
        """In a unit of writing: a token is good from now on; returns until when.

        It is bound to the address that it is mailed to, if there is one.
        """
        now = self._core.clock.now_ms()
        email_tokens.delete_expired(connection, now)
        expires_at = now + TOKEN_LIFETIME_MS
        email_tokens.insert(connection, EmailToken(token_hash(token), KIND, user_id, email, now, expires_at))
        return expires_at

    def is_valid(self, token: str) -> bool:
        """Whether `reset` would take this token."""
        return self._holder(self._core.database.reader, token) is not None

    async def reset(self, token: str, password: str, client: Client) -> SignedIn | MfaChallenge:
        """Give the account that the token is for a new password; its sign-ins end and a new one begins.

        The token is used up with the account's others, unless something about the request is refused.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_RESET_TOKEN at `token`, else what is wrong with the password.
        :raises ApiError: as `Authentication.proceed`.
        """
        holder = self._holder(self._core.database.reader, token)
        if holder is None:
            raise _refused()
        if holder.bot:
            raise ApiError("BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")
        password_hash = await self._new_passwords.hashed(holder, password, Asker.at(client.address, holder.id))

        def change(connection: sqlite3.Connection, account: Account) -> Account:
            if self._holder(connection, token) is None:  # used by somebody else in the meantime
                raise _refused()
            return self._new_passwords.replaced(connection, account, password_hash)

        entered = await self._authentication.proceed(
            holder,
            client,
            refused=_refused(),
            change=change,
            then=self._new_passwords.announce,
            address_is_proved=True,
        )
        log.info("password reset", user_id=holder.id, address=client.address)
        return entered

    def _holder(self, connection: sqlite3.Connection, token: str) -> Account | None:
        """The account that a good token is for."""
        issued = email_tokens.by_hash(connection, KIND, token_hash(token))
        if issued is None or issued.expires_at <= self._core.clock.now_ms():
            return None
        account = accounts.by_id(connection, issued.user_id)
        if account is None or account.is_deleted or not _is_about(issued, account):
            return None
        return account


def _is_about(issued: EmailToken, account: Account) -> bool:
    """Whether the account still has the address that the token was mailed to."""
    if issued.email is None:
        return True
    return account.email is not None and email_key(account.email) == email_key(issued.email)


def _refused() -> InvalidFormBody:
    """What a token gets that is unknown, used, over, or of something else."""
    return InvalidFormBody.at("token", "INVALID_OR_EXPIRED_RESET_TOKEN")
