"""Second factors of accounts: what they hold, and whether somebody proves to have it.

This is what sign-in and sudo mode ask; how factors come and go is in `chat.domain.signing_in.totp` and
`chat.domain.signing_in.passkeys`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import structlog

from chat.domain.signing_in.mfa_codes import MfaCodes
from chat.domain.signing_in.passkey_assertions import PasskeyAssertions
from chat.domain.signing_in.sudo import SudoProof
from chat.domain.signing_in.webauthn_challenges import ChallengeContext
from chat.domain.standing.factors import FactorsHeld, held_in
from chat.store.accounts.accounts import Account
from chat.store.database import Database

log: Final = structlog.get_logger("chat.accounts")


@attrs.define(kw_only=True, eq=False)
class SecondFactors:
    """TOTP, backup codes and passkeys as proofs.

    `may_guess` counts one code of an account in sudo mode and tells whether it is not one too many (http.md, Request
    limits).
    """

    _database: Database
    _codes: MfaCodes
    _assertions: PasskeyAssertions
    _may_guess: Callable[[int], bool]

    def held(self, account: Account) -> FactorsHeld:
        """What the account could prove itself with in sudo mode."""
        return held_in(self._database.reader, account)

    def second_factor_needed(self, account: Account) -> FactorsHeld:
        """What the account may answer a correct password with; `any` is false where the password is enough.

        A passkey is a second factor only where its holder chose that (signing_in.md, Second step); TOTP always is one.
        """
        held = self.held(account)
        passkey = held.webauthn and account.passkey_second_factor
        return FactorsHeld(totp=held.totp, webauthn=passkey, backup_codes=held.backup_codes)

    async def verify_code(self, account: Account, code: str) -> bool:
        """Whether the code is a present one of the account's authenticator, or an unused backup code; used up if it is.

        How often somebody may guess is for the caller to limit.
        """
        return await self._database.write(lambda connection: self._codes.use(connection, account.id, code))

    def may_guess(self, user_id: int) -> bool:
        """Count one code of the account in sudo mode; False when it was one too many."""
        return self._may_guess(user_id)

    async def authentication_options(self, context: ChallengeContext, user_id: int | None) -> dict[str, Any]:
        """The options of `navigator.credentials.get` with a new challenge (signing_in.md, Second step).

        `user_id` is None for ChallengeContext.DISCOVERABLE, and the account's for the others.

        :raises ApiError: NO_PASSKEYS_REGISTERED for an account without any.
        """
        return await self._assertions.options(context, user_id)

    async def verify_assertion(
        self, context: ChallengeContext, response: Mapping[str, Any], challenge: str, user_id: int | None
    ) -> Account | None:
        """The account whose passkey answered the challenge, None if none did. The challenge is used up either way."""
        return await self._assertions.verify(context, response, challenge, user_id)

    async def is_proved(self, account: Account, proof: SudoProof) -> bool:
        """Whether the proof shows one of the account's factors; what can be used once is used up.

        An account without TOTP gives a backup code as `totp` (access.md, Sudo mode).
        """
        if proof.mfa_method == "totp" and proof.mfa_code is not None:
            proved = self._may_guess(account.id) and await self.verify_code(account, proof.mfa_code)
            proof.used_code = proof.mfa_code if proved else None
        elif proof.mfa_method == "webauthn" and proof.webauthn_response and proof.webauthn_challenge:
            response, challenge = proof.webauthn_response, proof.webauthn_challenge
            proved = await self.verify_assertion(ChallengeContext.SUDO, response, challenge, account.id) is not None
        else:
            proved = False
        log.info("second factor in sudo mode", user_id=account.id, method=proof.mfa_method, accepted=proved)
        return proved
