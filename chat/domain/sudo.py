"""Sudo mode: an account proves anew that it is its holder who acts (document 000, Sudo mode).

An account that holds a password and no second factor proves itself with the password, each time. A bot passes at once,
and so does an account that has nothing to prove itself with.
"""

from __future__ import annotations

import attrs

from chat.auth.passwords import Passwords
from chat.errors import ApiError, InvalidFormBody
from chat.store.accounts import Account


@attrs.frozen
class SudoProof:
    """What a request brings along as proof (document 001, Sudo verification fields)."""

    password: str | None = attrs.field(default=None, repr=False)


class SudoMode:
    """Judges proofs."""

    def __init__(self, passwords: Passwords) -> None:
        self._passwords = passwords

    async def require(self, account: Account, proof: SudoProof) -> None:
        """Return if the account has proved itself.

        :raises ApiError: SUDO_MODE_REQUIRED without a usable proof; where the account holds a factor, a password is
            none.
        :raises InvalidFormBody: INVALID_PASSWORD at `password`.
        """
        has_factor = account.totp_secret is not None
        if account.bot or (account.password_hash is None and not has_factor):
            return
        if has_factor or proof.password is None:
            raise sudo_mode_required(account)
        if not await self._passwords.verify(account.password_hash, proof.password):
            raise InvalidFormBody.at("password", "INVALID_PASSWORD")


def sudo_mode_required(account: Account) -> ApiError:
    """403 with what the account could prove itself with."""
    has_totp = account.totp_secret is not None
    methods = {"totp": has_totp, "webauthn": False, "backup_codes": False}
    return ApiError("SUDO_MODE_REQUIRED", members={"has_mfa": has_totp, "methods": methods})
