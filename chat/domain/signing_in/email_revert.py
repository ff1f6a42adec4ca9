"""Taking an account back whose address was changed: POST /v1/auth/email-revert (signing_in.md, Change of the email
address).

The link was mailed to the address that the account had. Whoever follows it gets the account as it was when it left
that address: the address is restored, a new password is set, everybody is signed out, and what was added since to
prove oneself with is removed (passkeys, another authenticator, applications). A factor that was there before is asked
for.
"""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs
import structlog

from chat.auth.tokens import token_hash
from chat.auth.turns import Asker
from chat.domain.core import Core
from chat.domain.policy.account_history import note_changes
from chat.domain.signing_in.authentication import Authentication, SignedIn
from chat.domain.signing_in.email_addresses import REVERT_KIND, require_free_address
from chat.domain.signing_in.login_tickets import MfaChallenge
from chat.domain.signing_in.new_passwords import NewPasswords
from chat.domain.signing_in.sign_ins import Client
from chat.errors import ApiError, InvalidFormBody
from chat.mail.mailer import MailKind
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.applications import oauth2_grants
from chat.store.signing_in import backup_codes, email_tokens, webauthn_credentials
from chat.store.signing_in.email_tokens import EmailToken

log: Final = structlog.get_logger("chat.accounts")


@attrs.define(kw_only=True, eq=False)
class EmailReverts:
    """Takes the tokens of revert links."""

    _core: Core
    _authentication: Authentication
    _new_passwords: NewPasswords

    async def revert(self, token: str, password: str, client: Client) -> SignedIn | MfaChallenge:
        """Give the account its address back and a new password; its sign-ins end and a new one begins.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_REVERT_TOKEN at `token`, else what is wrong with the password;
            EMAIL_ALREADY_IN_USE at `token` where an administrator gave the address away.
        :raises ApiError: CONTENT_BLOCKED for an address that nobody may have; as `Authentication.proceed`.
        """
        issued, account = self._found(self._core.database.reader, token)
        if account.bot:
            raise ApiError("BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")
        password_hash = await self._new_passwords.hashed(account, password, Asker.at(client.address, account.id))

        def change(connection: sqlite3.Connection, current: Account) -> Account:
            self._found(connection, token)  # somebody else may have used it in the meantime
            restored = self._restored(connection, current, issued)
            return self._new_passwords.replaced(connection, restored, password_hash)

        entered = await self._authentication.proceed(
            account,
            client,
            refused=_refused(),
            change=change,
            then=self._new_passwords.announce,
            address_is_proved=True,
        )
        log.info("change of address reverted", user_id=account.id, address=client.address)
        return entered

    def _found(self, connection: sqlite3.Connection, token: str) -> tuple[EmailToken, Account]:
        issued = email_tokens.by_hash(connection, REVERT_KIND, token_hash(token))
        account = None if issued is None else accounts.by_id(connection, issued.user_id)
        if issued is None or issued.expires_at <= self._core.clock.now_ms() or account is None or account.is_deleted:
            raise _refused()
        return issued, account

    def _restored(self, connection: sqlite3.Connection, account: Account, issued: EmailToken) -> Account:
        """The account with the address of the token. Later changes of address cannot be taken back after this one."""
        if issued.email is None:
            raise _refused()
        self._core.blocked.require_email(issued.email)
        require_free_address(connection, issued.email, account.id, self._core.clock.now_ms(), path="token")
        email_tokens.delete_of_user(connection, REVERT_KIND, account.id, since=issued.created_at)
        email_tokens.delete_of_user(connection, str(MailKind.VERIFICATION), account.id)
        account = _without_what_came_since(connection, account, issued)
        after = attrs.evolve(account, email=issued.email, email_verified=True, email_bounced=False)
        note_changes(connection, account, after, self._core.clock.now_ms())
        return after


def _without_what_came_since(connection: sqlite3.Connection, account: Account, issued: EmailToken) -> Account:
    oauth2_grants.delete_of_user_since(connection, account.id, issued.created_at)
    for passkey in webauthn_credentials.listed_of_user(connection, account.id):
        if passkey.created_at >= issued.created_at:
            webauthn_credentials.delete(connection, account.id, passkey.credential_id)
    if not webauthn_credentials.is_one_listed(connection, account.id):
        account = attrs.evolve(account, passkey_second_factor=False)
    if account.totp_secret is not None and token_hash(account.totp_secret) != issued.totp_hash:
        backup_codes.delete_of_user(connection, account.id)
        account = attrs.evolve(account, totp_secret=None)
    return account


def _refused() -> InvalidFormBody:
    """What a token gets that is unknown, used, over, or of something else."""
    return InvalidFormBody.at("token", "INVALID_OR_EXPIRED_REVERT_TOKEN")
