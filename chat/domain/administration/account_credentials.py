"""What an administrator does about the ways into an account: mails, links, factors, sign-ins (administration.md, Ways
into an account), and registrations that wait (setting `registration` = `approval`).

Each is one unit of writing that ends with its entry in the audit log.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

import attrs

from chat import wire
from chat.auth.tokens import id_hash
from chat.auth.webauthn import credential_id_of
from chat.classes import define
from chat.clock import iso_timestamp
from chat.domain.administration.account_fields import (
    AdministeredAccounts,
    Edited,
    found,
    require_every_acl_of,
    require_person,
)
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.administration.administration_objects import user_summary
from chat.domain.core import Core
from chat.domain.signing_in.email_addresses import EmailVerification
from chat.domain.signing_in.passkeys import Passkeys, Removal, listed, remove
from chat.domain.signing_in.recovery import PasswordRecovery
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.mail.mailer import MailKind
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.signing_in import auth_sessions, one_time_codes, pending_registrations, tickets, webauthn_credentials

NO_ADDRESS: Final = FieldCode.USER_DOES_NOT_HAVE_AN_EMAIL_ADDRESS


@define(kw_only=True, eq=False)
class AdministeredCredentials:
    """Opens and closes the ways into accounts. Each method raises UNKNOWN_USER for an account that does not exist."""

    _core: Core
    _accounts: AdministeredAccounts
    _verification: EmailVerification
    _recovery: PasswordRecovery
    _passkeys: Passkeys
    _log: AdminAuditLog

    async def send_verification(self, acting: Acting, user_id: int) -> None:
        """Mail the account's address a link that verifies it. Raises EMAIL_UNAVAILABLE_ON_INSTANCE,
        BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED; USER_DOES_NOT_HAVE_AN_EMAIL_ADDRESS; RateLimited when the address was sent
        three within fifteen minutes."""
        self._accounts.require_mail_instance()
        token = self._core.mint.mail_token()

        def unit(connection: sqlite3.Connection) -> None:
            account = found(connection, user_id)
            require_person(account)
            _require_address(account)
            self._verification.send(connection, account, token)
            self._log.record(
                connection, acting, AdminAction.RESEND_VERIFICATION_EMAIL, user_id, {"email": account.email}
            )

        await self._core.database.write(unit, guard=acting.guard)

    async def send_password_reset(self, acting: Acting, user_id: int) -> None:
        """Mail the account's address a link with which its holder chooses a new password. Raises
        EMAIL_UNAVAILABLE_ON_INSTANCE; USER_DOES_NOT_HAVE_AN_EMAIL_ADDRESS."""
        self._accounts.require_mail_instance()
        token = self._core.mint.mail_token()

        def unit(connection: sqlite3.Connection) -> None:
            account = found(connection, user_id)
            _require_address(account)
            self._recovery.send(connection, account, token)
            self._log.record(connection, acting, AdminAction.SEND_PASSWORD_RESET, user_id, {"email": account.email})

        await self._core.database.write(unit, guard=acting.guard)

    async def create_reset_link(self, acting: Acting, user_id: int, origin: str) -> wire.PasswordResetLink:
        """A password reset link object for the administrator to hand over, to a page at this origin.

        Earlier links and the recovery kit are void.

        :raises ApiError: USERNAME_SIGN_IN_ONLY, MISSING_ACL, BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED.
        """
        self._accounts.require_username_instance()
        token = self._core.mint.mail_token()

        def unit(connection: sqlite3.Connection) -> int:
            account = found(connection, user_id)
            require_every_acl_of(acting, account)
            require_person(account)
            tickets.delete_email_tokens(connection, str(MailKind.PASSWORD_RESET), user_id)
            one_time_codes.delete_recovery_kit(connection, user_id)
            expires_at = self._recovery.remember(connection, user_id, None, token)
            self._log.record(connection, acting, AdminAction.CREATE_PASSWORD_RESET_LINK, user_id)
            return expires_at

        expires_at = await self._core.database.write(unit, guard=acting.guard)
        return {"url": f"{origin}/reset#token={token}", "expires_at": iso_timestamp(expires_at)}

    async def revoke_recovery_kit(self, acting: Acting, user_id: int) -> None:
        """Void the account's recovery kit, if it has one. Raises USERNAME_SIGN_IN_ONLY, MISSING_ACL."""
        self._accounts.require_username_instance()

        def unit(connection: sqlite3.Connection) -> None:
            require_every_acl_of(acting, found(connection, user_id))
            one_time_codes.delete_recovery_kit(connection, user_id)
            self._log.record(connection, acting, AdminAction.REVOKE_RECOVERY_KIT, user_id)

        await self._core.database.write(unit, guard=acting.guard)

    async def disable_mfa(self, acting: Acting, user_id: int) -> None:
        """Forget the account's TOTP secret, its choice of passkeys as a second factor, and its backup codes. The bots
        of its applications show its authenticator types, so they have none any more either."""

        def edit(connection: sqlite3.Connection, before: Account) -> Edited:
            one_time_codes.delete_backup_codes(connection, user_id)
            return attrs.evolve(before, totp_secret=None, passkey_second_factor=False), {}

        await self._accounts.changed(acting, user_id, AdminAction.DISABLE_MFA, edit)

    async def passkeys(self, acting: Acting, user_id: int) -> list[wire.WebauthnCredential]:
        """The account's passkeys, those that were replaced left out."""

        def unit(connection: sqlite3.Connection) -> list[wire.WebauthnCredential]:
            found(connection, user_id)
            own = listed(connection, user_id)
            self._log.record(
                connection, acting, AdminAction.LIST_WEBAUTHN_CREDENTIALS, user_id, {"credential_count": len(own)}
            )
            return own

        return await self._core.database.write(unit, guard=acting.guard)

    async def delete_passkey(self, acting: Acting, user_id: int, credential: str) -> None:
        """Take a passkey away, with those that it replaced. Raises UNKNOWN_USER for a passkey that does not exist
        either, UNKNOWN_WEBAUTHN_CREDENTIAL for one that was replaced."""
        credential_id = credential_id_of(credential)

        def unit(connection: sqlite3.Connection) -> Removal:
            found(connection, user_id)
            known = None if credential_id is None else webauthn_credentials.by_id(connection, credential_id)
            if known is None or known.user_id != user_id:
                raise ApiError(ErrorCode.UNKNOWN_USER)
            if known.replaced_by is not None:
                raise ApiError(ErrorCode.UNKNOWN_WEBAUTHN_CREDENTIAL)
            removal = remove(connection, user_id, known.credential_id)
            if removal is None:
                raise ApiError(ErrorCode.UNKNOWN_USER)
            self._log.record(
                connection, acting, AdminAction.DELETE_WEBAUTHN_CREDENTIAL, user_id, {"credential_id": credential}
            )
            return removal

        await self._core.database.write(unit, self._passkeys.removed, guard=acting.guard)

    async def terminate_sessions(self, acting: Acting, user_id: int) -> int:
        """End every sign-in of the account; how many there were. Keys, bot tokens and access tokens stay."""

        def unit(connection: sqlite3.Connection) -> list[str]:
            found(connection, user_id)
            ended = [id_hash(session.token_hash) for session in auth_sessions.of_user(connection, user_id)]
            auth_sessions.end_of_user(connection, user_id, self._core.clock.now_ms())
            self._log.record(connection, acting, AdminAction.TERMINATE_SESSIONS, user_id)
            return ended

        def then(ended: list[str]) -> None:
            if ended:
                self._core.account_events.signed_out(user_id, *ended)

        ended = await self._core.database.write(unit, then, guard=acting.guard)
        return len(ended)


def _require_address(account: Account) -> None:
    if account.email is None:
        raise InvalidFormBody([FieldError("email", NO_ADDRESS)])


SHOWN: Final = 200
"""Registrations of one answer; once they are decided on, the next are shown."""


@define(kw_only=True, eq=False)
class AdministeredRegistrations:
    """Lists registrations that wait and decides on them."""

    _core: Core
    _log: AdminAuditLog

    async def waiting(self, acting: Acting) -> wire.Registrations:
        """Registrations that wait, the oldest first, at most SHOWN; addresses for administrators who may see them."""

        def query(connection: sqlite3.Connection) -> list[wire.PendingRegistration]:
            waiting = pending_registrations.waiting(connection, SHOWN)
            rows = ((accounts.by_id(connection, pending.user_id), pending) for pending in waiting)
            return [
                {
                    "user": user_summary(account),
                    "email": account.email if acting.holds(Acl.USER_VIEW_EMAIL) else None,
                    "client_ip": pending.address if acting.holds(Acl.USER_VIEW_IP) else None,
                    "registered_at": iso_timestamp(pending.created_at),
                }
                for account, pending in rows
                if account is not None
            ]

        shown = await self._core.database.read(query)
        await self._log.note(acting, AdminAction.LIST_REGISTRATIONS, NO_TARGET, {"result_count": len(shown)})
        return {"registrations": shown}

    async def approve(self, acting: Acting, user_id: int) -> None:
        """The account can sign in, even if it was turned down before. Raises UNKNOWN_USER for an account that does not
        wait."""
        await self._decide(acting, AdminAction.APPROVE_REGISTRATION, user_id, pending_registrations.approve)

    async def reject(self, acting: Acting, user_id: int) -> None:
        """The account cannot sign in; its name and address stay taken. Raises UNKNOWN_USER for an account that does not
        wait."""
        now = self._core.clock.now_ms()
        await self._decide(
            acting,
            AdminAction.REJECT_REGISTRATION,
            user_id,
            lambda connection, who: pending_registrations.reject(connection, who, now),
        )

    async def _decide(
        self, acting: Acting, action: AdminAction, user_id: int, decide: Callable[[sqlite3.Connection, int], bool]
    ) -> None:
        def unit(connection: sqlite3.Connection) -> None:
            if not decide(connection, user_id):
                raise ApiError(ErrorCode.UNKNOWN_USER)
            self._log.record(connection, acting, action, user_id)

        await self._core.database.write(unit, guard=acting.guard)
