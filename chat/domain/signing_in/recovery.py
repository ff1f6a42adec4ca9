"""Ways back into an account whose password is lost, or whose email address was changed by another (signing_in.md,
Password recovery, Change of the email address, Recovery kit).

Each sets a new password, ends every sign-in and begins one. It replaces the password and nothing else: an account that
is banned stays banned, and one that holds a second factor is asked for it (ASVS 6.4).
"""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs
import structlog

from chat.auth.passwords import Asker
from chat.auth.tokens import token_hash
from chat.auth.typed_codes import TypedCodes
from chat.classes import define
from chat.domain.core import Core
from chat.domain.policy.account_rules import present
from chat.domain.policy.changes import note_changes
from chat.domain.signing_in.authentication import Authentication, MfaChallenge, SignedIn, person_called
from chat.domain.signing_in.email_addresses import REVERT_KIND, require_free_address
from chat.domain.signing_in.password_change import NewPasswords
from chat.domain.signing_in.sign_ins import RequestOrigin
from chat.domain.signing_in.sudo import SudoMode, SudoProof
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.mail import letters
from chat.mail.letters import Letterhead
from chat.mail.mailer import Mailer, MailKind
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account, email_key
from chat.store.applications import oauth2_grants
from chat.store.guard import Guard
from chat.store.signing_in import one_time_codes, tickets, webauthn_credentials
from chat.store.signing_in.one_time_codes import RecoveryKit
from chat.store.signing_in.tickets import EmailToken, Ticket

log: Final = structlog.get_logger("chat.accounts")

RESET_KIND: Final = str(MailKind.PASSWORD_RESET)
RESET_LIFETIME_MS: Final = 3_600_000
"""How long a reset link works (signing_in.md, Password recovery)."""

UNSENT_KIND: Final = "password_reset_of_nobody"
"""The kind of the rows that are written where no mail goes out: expired from the beginning."""


@define(kw_only=True, eq=False)
class PasswordRecovery:
    """Sends reset links and takes their tokens. A link proves control of the email address."""

    _core: Core
    _mailer: Mailer
    _authentication: Authentication
    _new_passwords: NewPasswords

    async def request(self, email: str, guard: Guard) -> None:
        """Mail a reset link to the account with this address, if there is one.

        Either way something is written and committed, so the time of the answer does not tell whether there is one.

        :raises ApiError: BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED where the account is a bot's.
        """
        token = self._core.mint.mail_token()

        def unit(connection: sqlite3.Connection) -> Account | None:
            account = accounts.by_email_key(connection, email)
            if account is not None and account.bot:
                raise ApiError(ErrorCode.BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED)
            if account is None or account.is_deleted or not self._mailer.is_on:
                now = self._core.clock.now_ms()
                tickets.insert(connection, Ticket(token_hash(token), UNSENT_KIND, None, {}, now, now))
                return None
            self.send(connection, account, token)
            return account

        account = await self._core.database.write(unit, guard=guard)
        log.info("password recovery", user_id=None if account is None else account.id)

    def send(self, connection: sqlite3.Connection, account: Account, token: str) -> None:
        """In a unit of writing: mail the account's address a link with this token; nothing for an account without."""
        if account.email is None:
            return
        self.remember(connection, account.id, account.email, token)
        head = Letterhead.to(connection, self._core.settings, account.id)
        letter = letters.password_reset(head, account.email, token=token)
        self._mailer.post(connection, letter)

    def remember(self, connection: sqlite3.Connection, user_id: int, email: str | None, token: str) -> int:
        """In a unit of writing: store a new token; returns when it expires (Unix milliseconds).

        A token that is mailed is bound to the `email` that it is sent to.
        """
        now = self._core.clock.now_ms()
        expires_at = now + RESET_LIFETIME_MS
        tickets.insert_email_token(
            connection, EmailToken(token_hash(token), RESET_KIND, user_id, email, now, expires_at)
        )
        return expires_at

    def is_valid(self, token: str) -> bool:
        """Whether `reset` would take this token."""
        return self._holder(self._core.database.reader, token) is not None

    async def reset(self, token: str, password: str, client: RequestOrigin) -> SignedIn | MfaChallenge:
        """Give the account that the token is for a new password; its sign-ins end and a new one begins.

        The token is used up with the account's others, unless something about the request is refused.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_RESET_TOKEN at `token`, else what is wrong with the password.
        :raises ApiError: as `Authentication.proceed`.
        """
        refused = InvalidFormBody.at("token", FieldCode.INVALID_OR_EXPIRED_RESET_TOKEN)
        holder = self._holder(self._core.database.reader, token)
        if holder is None:
            raise refused
        if holder.bot:
            raise ApiError(ErrorCode.BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED)
        password_hash = await self._new_passwords.hashed(
            holder, password, Asker.at(client.address, holder.id), client.guard
        )

        def change(connection: sqlite3.Connection, account: Account) -> Account:
            if self._holder(connection, token) is None:  # it was used in the meantime
                raise refused
            return self._new_passwords.replaced(connection, account, password_hash)

        entered = await self._authentication.proceed(holder, client, self._new_passwords.way(refused, change))
        log.info("password reset", user_id=holder.id, address=client.address)
        return entered

    def _holder(self, connection: sqlite3.Connection, token: str) -> Account | None:
        """The account that a good token is for: it still has the address that the token was mailed to, if any."""
        issued = tickets.email_token(connection, RESET_KIND, token_hash(token))
        if issued is None or issued.expires_at <= self._core.clock.now_ms():
            return None
        account = accounts.by_id(connection, issued.user_id)
        if account is None or account.is_deleted:
            return None
        if issued.email is None:
            return account
        return account if account.email is not None and email_key(account.email) == email_key(issued.email) else None


@define(kw_only=True, eq=False)
class EmailReverts:
    """Takes an account back whose address was changed: POST /v1/auth/email-revert.

    The link was mailed to the address that the account had. It leads to the account as it was when it left that
    address: the address is restored, a new password is set, every sign-in ends, and what was added since to prove
    oneself with is removed (passkeys, another authenticator, applications). A factor that was there before is asked
    for.
    """

    _core: Core
    _authentication: Authentication
    _new_passwords: NewPasswords

    async def revert(self, token: str, password: str, client: RequestOrigin) -> SignedIn | MfaChallenge:
        """Give the account its address back and a new password; its sign-ins end and a new one begins.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_REVERT_TOKEN at `token`, else what is wrong with the password;
            EMAIL_ALREADY_IN_USE at `token` where an administrator gave the address away.
        :raises ApiError: CONTENT_BLOCKED for a blocked address; as `Authentication.proceed`.
        """
        issued, account = self._found(self._core.database.reader, token)
        if account.bot:
            raise ApiError(ErrorCode.BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED)
        password_hash = await self._new_passwords.hashed(
            account, password, Asker.at(client.address, account.id), client.guard
        )

        def change(connection: sqlite3.Connection, current: Account) -> Account:
            self._found(connection, token)  # it may have been used in the meantime
            restored = self._restored(connection, current, issued)
            return self._new_passwords.replaced(connection, restored, password_hash)

        way = self._new_passwords.way(_refused_revert(), change)
        entered = await self._authentication.proceed(account, client, way)
        log.info("change of address reverted", user_id=account.id, address=client.address)
        return entered

    def _found(self, connection: sqlite3.Connection, token: str) -> tuple[EmailToken, Account]:
        issued = tickets.email_token(connection, REVERT_KIND, token_hash(token))
        account = None if issued is None else accounts.by_id(connection, issued.user_id)
        if issued is None or issued.expires_at <= self._core.clock.now_ms() or account is None or account.is_deleted:
            raise _refused_revert()
        return issued, account

    def _restored(self, connection: sqlite3.Connection, account: Account, issued: EmailToken) -> Account:
        """The account with the address of the token. Later changes of address cannot be taken back after this one."""
        if issued.email is None:
            raise _refused_revert()
        self._core.blocked.require_email(issued.email)
        require_free_address(connection, issued.email, account.id, self._core.clock.now_ms(), path="token")
        tickets.delete_email_tokens(connection, REVERT_KIND, account.id, since=issued.created_at)
        tickets.delete_email_tokens(connection, str(MailKind.VERIFICATION), account.id)
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
        one_time_codes.delete_backup_codes(connection, account.id)
        account = attrs.evolve(account, totp_secret=None)
    return account


def _refused_revert() -> InvalidFormBody:
    """What a token gets that is unknown, used, over, or of something else."""
    return InvalidFormBody.at("token", FieldCode.INVALID_OR_EXPIRED_REVERT_TOKEN)


@define(kw_only=True, eq=False)
class RecoveryKits:
    """Gives recovery kits out and takes their codes: a code on paper, for a forgotten password on a username instance
    (signing_in.md, Recovery kit)."""

    _core: Core
    _codes: TypedCodes
    _sudo: SudoMode
    _authentication: Authentication
    _new_passwords: NewPasswords
    _unmatched: bytes = attrs.field(init=False, repr=False)
    """Compared with where there is no kit: the digest of a code that was never given out."""

    @_unmatched.default
    def _make_unmatched(self) -> bytes:
        return self._codes.digest(self._codes.recovery(), b"nobody")

    async def make(self, account: Account, proof: SudoProof) -> str:
        """A new kit in place of the one there was: its 32-character code, which is told this once.

        :raises ApiError: ACCESS_DENIED for a deleted account, SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: as `SudoMode.require`.
        """
        present(account)
        await self._sudo.require(account, proof)
        code = self._codes.recovery()
        kit = RecoveryKit(account.id, self._codes.digest(code, _purpose(account.id)), self._core.clock.now_ms())

        def unit(connection: sqlite3.Connection) -> None:
            present(accounts.by_id(connection, account.id))
            one_time_codes.put_recovery_kit(connection, kit)

        await self._core.database.write(unit, guard=proof.guard)
        log.info("recovery kit made", user_id=account.id)
        return code

    async def recover(self, username: str, code: str, password: str, client: RequestOrigin) -> SignedIn | MfaChallenge:
        """Give the account a new password against its kit's code, which is used up; its sign-ins end and one begins.

        The new password is hashed before anything is looked up: the time of a refusal does not tell which accounts
        there are, or have a kit.

        :raises InvalidFormBody: INVALID_CODE at `username` and `code`, whichever is wrong; what is wrong with the
            password.
        :raises ApiError: as `Authentication.proceed`.
        """
        found = person_called(self._core.database.reader, username)
        if found is not None and found.bot:
            raise ApiError(ErrorCode.BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED)
        stranger = Account(id=0, username=username, discriminator=0)
        password_hash = await self._new_passwords.hashed(
            stranger, password, self._authentication.asker(username, client.address), client.guard
        )
        refused = InvalidFormBody(
            [FieldError("username", FieldCode.INVALID_CODE), FieldError("code", FieldCode.INVALID_CODE)]
        )
        if not self._is_code_of(self._core.database.reader, found, code) or found is None:
            log.info("recovery refused", user_id=None if found is None else found.id, address=client.address)
            raise refused

        def change(connection: sqlite3.Connection, account: Account) -> Account:
            if not self._is_code_of(connection, account, code):  # it was used in the meantime
                raise refused
            one_time_codes.delete_recovery_kit(connection, account.id)
            return self._new_passwords.replaced(connection, account, password_hash)

        entered = await self._authentication.proceed(found, client, self._new_passwords.way(refused, change))
        log.info("password recovered with a kit", user_id=found.id, address=client.address)
        return entered

    def _is_code_of(self, connection: sqlite3.Connection, account: Account | None, code: str) -> bool:
        kit = None if account is None or account.is_deleted else one_time_codes.recovery_kit_of(connection, account.id)
        purpose = _purpose(0 if account is None else account.id)
        matches = self._codes.matches(code, purpose, self._unmatched if kit is None else kit.code_hash)
        return matches and kit is not None


def _purpose(user_id: int) -> bytes:
    return b"recovery kit of %d" % user_id
