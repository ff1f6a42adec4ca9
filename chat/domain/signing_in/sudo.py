"""Sudo mode: an account proves anew that it is its holder who acts (access.md, Sudo mode).

An account that holds a password and no factor proves itself with the password, each time. One that holds a TOTP secret
or a passkey proves itself with that, and gets a token that stands for the proof for five minutes. A bot passes at once,
and so does an account that has nothing to prove itself with.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs
import structlog

from chat.auth.keys import SudoTokens
from chat.auth.passwords import OURSELVES, Asker, Passwords
from chat.classes import define
from chat.domain.signing_in.mfa_codes import MfaCodes
from chat.domain.signing_in.passkey_assertions import ChallengeContext, PasskeyAssertions
from chat.domain.signing_in.sign_ins import SignIns
from chat.domain.standing.verification import FactorsHeld, held_in
from chat.errors import ApiError, InvalidFormBody, RateLimited
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.database import Database
from chat.store.guard import UNGUARDED, Guard

log: Final = structlog.get_logger("chat.accounts")


@define
class SudoProof:
    """What a request brings along as proof, and the token that it takes back."""

    password: str | None = attrs.field(default=None, repr=False)
    mfa_method: str | None = None
    mfa_code: str | None = attrs.field(default=None, repr=False)
    webauthn_response: Mapping[str, Any] | None = attrs.field(default=None, repr=False)
    webauthn_challenge: str | None = attrs.field(default=None, repr=False)
    token: str | None = attrs.field(default=None, repr=False)
    """The value of X-Service-Sudo-Mode-JWT."""
    asker: Asker = OURSELVES
    """Whom a password is checked for."""
    session_id_hash: str | None = None
    """The sign-in that the request came with."""
    guard: Guard = attrs.field(default=UNGUARDED, repr=False)
    """The guard of the request: a password that was proved has to be the account's still when it is made use of."""
    answered: str | None = attrs.field(default=None, repr=False, init=False)
    """The token that a successful answer carries: set by `SudoMode.require`."""
    used_code: str | None = attrs.field(default=None, repr=False, init=False)
    """The code that proved a factor in this request, and is used up."""


@define(kw_only=True, eq=False)
class SecondFactors:
    """TOTP, backup codes and passkeys as proofs, for sign-in and sudo mode. How factors come and go is in
    `chat.domain.signing_in.totp` and `chat.domain.signing_in.passkeys`."""

    _database: Database
    _codes: MfaCodes
    _assertions: PasskeyAssertions
    may_guess: Callable[[int], bool]
    """Counts one code of an account in sudo mode; False when it was one too many (http.md, Request limits)."""

    def held(self, account: Account) -> FactorsHeld:
        """What the account could prove itself with in sudo mode."""
        return held_in(self._database.reader, account)

    def second_factor_needed(self, account: Account) -> FactorsHeld:
        """What the account may answer a correct password with; `any` is false where the password is enough.

        A passkey is a second factor only where its holder chose that (signing_in.md, Second step); TOTP always is one.
        """
        held = self.held(account)
        return attrs.evolve(held, webauthn=held.webauthn and account.passkey_second_factor)

    async def is_proved(self, account: Account, proof: SudoProof) -> bool:
        """Whether the proof shows one of the account's factors; what can be used once is used up.

        An account without TOTP gives a backup code as `totp` (access.md, Sudo mode).
        """
        proved = False
        code, response, challenge = proof.mfa_code, proof.webauthn_response, proof.webauthn_challenge
        if proof.mfa_method == "totp" and code is not None:
            proved = self.may_guess(account.id) and await self._database.write(
                lambda connection: self._codes.use(connection, account.id, code), guard=proof.guard
            )
            proof.used_code = code if proved else None
        elif proof.mfa_method == "webauthn" and response and challenge:
            shown = await self._assertions.verify(ChallengeContext.SUDO, response, challenge, account.id, proof.guard)
            proved = shown is not None
        log.info("second factor in sudo mode", user_id=account.id, method=proof.mfa_method, accepted=proved)
        return proved


@define(kw_only=True, eq=False)
class SudoMode:
    _passwords: Passwords
    _factors: SecondFactors
    _tokens: SudoTokens
    _sign_ins: SignIns
    _wait_to_guess: Callable[[int], float]
    """Counts one password of an account, and tells the seconds to wait where it is one too many, else 0: with a stolen
    sign-in passwords must not be tried for as long as one likes."""

    async def require(
        self, account: Account, proof: SudoProof, *, issues_token: bool = True, sign_in_counts: bool = False
    ) -> None:
        """Return if the account has proved itself, with `proof.answered` set where the answer carries a token.

        `issues_token` False is for the operations that never answer with one (access.md, Sudo mode).
        `sign_in_counts` is for the operations that take a fresh sign-in in place of a proof (access.md, Sudo mode).

        :raises ApiError: SUDO_MODE_REQUIRED without a usable proof; a password is none where the account holds a
            factor, and a factor is none where it holds no factor (access.md, Sudo mode).
        :raises InvalidFormBody: INVALID_PASSWORD at `password`, INVALID_MFA_CODE at `mfa_code`.
        :raises RateLimited: too many passwords.
        """
        held = self._factors.held(account)
        if account.bot or (account.password_hash is None and not held.any):
            return
        if held.any:
            proved = await self._is_factor_proved(account, proof, issues_token)
        else:
            proved = await self._is_password_proved(account, proof)
        if not proved and not (sign_in_counts and self._sign_ins.is_freshly_proved(proof.session_id_hash)):
            raise sudo_mode_required(held)

    async def _is_password_proved(self, account: Account, proof: SudoProof) -> bool:
        """Whether the password is given; a wrong one is refused."""
        if proof.password is None:
            return False
        retry_after = self._wait_to_guess(account.id)
        if retry_after:
            raise RateLimited(retry_after)
        if not await self._passwords.verify(account.password_hash, proof.password, proof.asker, guard=proof.guard):
            raise InvalidFormBody.at("password", FieldCode.INVALID_PASSWORD)
        proof.guard.claim(_require_password_still, (account.id, account.password_hash))
        return True

    async def _is_factor_proved(self, account: Account, proof: SudoProof, issues_token: bool) -> bool:
        """Whether a factor, or a token in its place, is shown; a wrong one is refused."""
        if proof.token is not None and self._tokens.is_valid(proof.token, account.id):
            proof.answered = proof.token if issues_token else None
            return True
        if proof.mfa_method is None:
            return False
        if not await self._factors.is_proved(account, proof):
            raise InvalidFormBody.at("mfa_code", FieldCode.INVALID_MFA_CODE)
        if issues_token:
            proof.answered = self._tokens.issue(account.id)
        return True


def _require_password_still(connection: sqlite3.Connection, proved: Iterable[tuple[int, str]]) -> None:
    """In a unit of writing: raise INVALID_PASSWORD where the password that was proved is another one by now."""
    for user_id, password_hash in proved:
        account = accounts.by_id(connection, user_id)
        if account is None or account.password_hash != password_hash:
            raise InvalidFormBody.at("password", FieldCode.INVALID_PASSWORD)


def sudo_mode_required(held: FactorsHeld) -> ApiError:
    """403 with what the account could prove itself with."""
    return ApiError(ErrorCode.SUDO_MODE_REQUIRED, members={"has_mfa": held.any, "methods": attrs.asdict(held)})
