"""TOTP on and off, and its backup codes anew (signing_in.md, TOTP)."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs
import structlog

from chat import wire
from chat.auth.typed_codes import matching_step, normalised_secret, oldest_step
from chat.classes import define
from chat.domain.core import Core
from chat.domain.signing_in.email_addresses import EmailVerification
from chat.domain.signing_in.mfa_codes import MfaCodes, public_codes, sealed_secret, significant
from chat.domain.signing_in.sudo import SecondFactors, SudoMode, SudoProof
from chat.domain.standing.verification import held_in
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.signing_in import one_time_codes

log: Final = structlog.get_logger("chat.accounts")


@define(kw_only=True, eq=False)
class Totp:
    """An account's authenticator app and its backup codes."""

    _core: Core
    _codes: MfaCodes
    _factors: SecondFactors
    _sudo: SudoMode
    _verification: EmailVerification

    async def enable(self, account: Account, secret: str, code: str, proof: SudoProof) -> list[wire.BackupCode]:
        """Make the secret the account's own; returns its backup codes. A fresh sign-in is proof enough (signing_in.md,
        TOTP).

        The code shows that the authenticator works, and is used up.

        :raises ApiError: TWO_FA_NOT_ENABLED when there is one already, MFA_EMAIL_VERIFICATION_REQUIRED,
            SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: INVALID_FORMAT at `secret`, INVALID_CODE at `code`, and as SudoMode.require.
        """
        if account.totp_secret is not None:
            raise ApiError(ErrorCode.TWO_FA_NOT_ENABLED)
        if self._verification.is_needed and not account.email_verified:
            raise ApiError(ErrorCode.MFA_EMAIL_VERIFICATION_REQUIRED)
        plain = normalised_secret(secret)
        if plain is None:
            raise InvalidFormBody.at("secret", FieldCode.INVALID_FORMAT)
        await self._sudo.require(account, proof, sign_in_counts=True)
        now = self._core.clock.now_ms()
        step = matching_step(plain, code, now)
        if step is None:
            raise InvalidFormBody.at("code", FieldCode.INVALID_CODE)
        fresh = self._codes.backup_codes.fresh()
        sealed = sealed_secret(self._core.keys, account.id, plain)

        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            before = _present(connection, account.id)
            if before.totp_secret is not None:
                raise ApiError(ErrorCode.TWO_FA_NOT_ENABLED)
            after = attrs.evolve(before, totp_secret=sealed)
            accounts.replace(connection, after)
            one_time_codes.use_totp_step(connection, account.id, step, oldest=oldest_step(now))
            self._codes.backup_codes.replace(connection, account.id, fresh)
            return before, after

        await self._core.database.write(
            unit, lambda changed: self._core.account_events.changed(*changed), guard=proof.guard
        )
        log.info("totp enabled", user_id=account.id)
        return public_codes(fresh)

    async def disable(self, account: Account, code: str, proof: SudoProof) -> None:
        """Forget the account's secret and its backup codes.

        `code` is one of the authenticator or a backup code; the one that proved sudo mode in this very request is good
        for both.

        :raises ApiError: TWO_FA_NOT_ENABLED without a secret, SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: INVALID_CODE at `code`, and as SudoMode.require.
        """
        if account.totp_secret is None:
            raise ApiError(ErrorCode.TWO_FA_NOT_ENABLED)
        await self._sudo.require(account, proof)
        is_used = proof.used_code is not None and significant(code) == significant(proof.used_code)
        if not is_used and not self._factors.may_guess(account.id):
            raise InvalidFormBody.at("code", FieldCode.INVALID_CODE)

        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            before = _present(connection, account.id)
            if before.totp_secret is None:
                raise ApiError(ErrorCode.TWO_FA_NOT_ENABLED)
            if not is_used and not self._codes.use(connection, account.id, code):
                raise InvalidFormBody.at("code", FieldCode.INVALID_CODE)
            after = attrs.evolve(before, totp_secret=None)
            accounts.replace(connection, after)
            one_time_codes.delete_backup_codes(connection, account.id)
            return before, after

        await self._core.database.write(
            unit, lambda changed: self._core.account_events.changed(*changed), guard=proof.guard
        )
        log.info("totp disabled", user_id=account.id)

    async def backup_codes(self, account: Account, *, regenerate: bool, proof: SudoProof) -> list[wire.BackupCode]:
        """The account's backup codes, or new ones in their place.

        :raises ApiError: TWO_FA_NOT_ENABLED for an account that has no factor, SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: as SudoMode.require.
        """
        if not self._factors.held(account).any:
            raise ApiError(ErrorCode.TWO_FA_NOT_ENABLED)
        await self._sudo.require(account, proof)
        if not regenerate:
            return self._codes.backup_codes.of_user(self._core.database.reader, account.id)
        fresh = self._codes.backup_codes.fresh()

        def unit(connection: sqlite3.Connection) -> None:
            if not held_in(connection, _present(connection, account.id)).any:
                raise ApiError(ErrorCode.TWO_FA_NOT_ENABLED)
            self._codes.backup_codes.replace(connection, account.id, fresh)

        await self._core.database.write(unit, guard=proof.guard)
        log.info("backup codes regenerated", user_id=account.id)
        return public_codes(fresh)


def _present(connection: sqlite3.Connection, user_id: int) -> Account:
    account = accounts.by_id(connection, user_id)
    if account is None:
        raise ApiError(ErrorCode.UNAUTHORIZED)
    return account
