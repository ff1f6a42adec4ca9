"""Recovery kits: a code on paper, by which somebody who signs in with a username and forgot the password comes back
(signing_in.md, Recovery kit)."""

from __future__ import annotations

import sqlite3
from typing import Final

import structlog

from chat.auth.typed_codes import TypedCodes
from chat.domain.core import Core
from chat.domain.policy.account_gates import present
from chat.domain.signing_in.authentication import Authentication, SignedIn
from chat.domain.signing_in.login_tickets import MfaChallenge
from chat.domain.signing_in.new_passwords import NewPasswords
from chat.domain.signing_in.sign_ins import Client
from chat.domain.signing_in.sudo import SudoMode, SudoProof
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.signing_in import recovery_kits
from chat.store.signing_in.recovery_kits import RecoveryKit

log: Final = structlog.get_logger("chat.accounts")


class RecoveryKits:
    """Gives kits out and takes their codes."""

    def __init__(
        self, core: Core, codes: TypedCodes, sudo: SudoMode, authentication: Authentication, new_passwords: NewPasswords
    ) -> None:
        self._core = core
        self._codes = codes
        self._sudo = sudo
        self._authentication = authentication
        self._new_passwords = new_passwords
        self._nobodys = codes.digest(codes.recovery(), b"nobody")

    async def make(self, account: Account, proof: SudoProof) -> str:
        """A new kit in place of the one there was: its 32-character code, which nobody is told again.

        :raises ApiError: ACCESS_DENIED for a deleted account, SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: as `SudoMode.require`.
        """
        present(account)
        await self._sudo.require(account, proof)
        code = self._codes.recovery()
        kit = RecoveryKit(account.id, self._codes.digest(code, _purpose(account.id)), self._core.clock.now_ms())

        def unit(connection: sqlite3.Connection) -> None:
            present(accounts.by_id(connection, account.id))
            recovery_kits.put(connection, kit)

        await self._core.database.write(unit)
        log.info("recovery kit made", user_id=account.id)
        return code

    async def recover(self, username: str, code: str, password: str, client: Client) -> SignedIn | MfaChallenge:
        """Give the account a new password against its kit's code, which is used up; its sign-ins end and one begins.

        The new password is hashed before anything is looked up: the time of a refusal tells nobody which accounts
        there are, or have a kit.

        :raises InvalidFormBody: INVALID_CODE at `username` and `code`, whichever is wrong; what is wrong with the
            password.
        :raises ApiError: as `Authentication.proceed`.
        """
        found = self._find(username)
        if found is not None and found.bot:
            raise ApiError("BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")
        stranger = Account(id=0, username=username, discriminator=0)
        password_hash = await self._new_passwords.hashed(
            stranger, password, self._authentication.asker(username, client.address)
        )
        if not self._is_code_of(self._core.database.reader, found, code) or found is None:
            log.info("recovery refused", user_id=None if found is None else found.id, address=client.address)
            raise _refused()

        def change(connection: sqlite3.Connection, account: Account) -> Account:
            if not self._is_code_of(connection, account, code):  # used by somebody else in the meantime
                raise _refused()
            recovery_kits.delete(connection, account.id)
            return self._new_passwords.replaced(connection, account, password_hash)

        entered = await self._authentication.proceed(
            found,
            client,
            refused=_refused(),
            change=change,
            then=self._new_passwords.announce,
            address_is_proved=True,
        )
        log.info("password recovered with a kit", user_id=found.id, address=client.address)
        return entered

    def _find(self, username: str) -> Account | None:
        """The account of this name; of a person's and a bot's the person's."""
        holders = sorted(accounts.by_username(self._core.database.reader, username), key=lambda account: account.bot)
        return holders[0] if holders else None

    def _is_code_of(self, connection: sqlite3.Connection, account: Account | None, code: str) -> bool:
        kit = None if account is None or account.is_deleted else recovery_kits.of_user(connection, account.id)
        purpose = _purpose(0 if account is None else account.id)
        matches = self._codes.matches(code, purpose, self._nobodys if kit is None else kit.code_hash)
        return matches and kit is not None


def _purpose(user_id: int) -> bytes:
    return b"recovery kit of %d" % user_id


def _refused() -> InvalidFormBody:
    return InvalidFormBody([FieldError("username", "INVALID_CODE"), FieldError("code", "INVALID_CODE")])
