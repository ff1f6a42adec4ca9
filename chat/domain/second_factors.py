"""Second factors of accounts: what they hold, and whether somebody proves to have it."""

from __future__ import annotations

from chat.auth.keys import Keys
from chat.clock import Clock
from chat.domain.factors import FactorsHeld
from chat.domain.sudo import SudoProof
from chat.store.accounts import Account
from chat.store.database import Database


class SecondFactors:
    """TOTP, backup codes and passkeys."""

    def __init__(self, database: Database, clock: Clock, keys: Keys) -> None:
        self._database = database
        self._clock = clock
        self._keys = keys

    def held(self, account: Account) -> FactorsHeld:
        """What the account could prove itself with."""
        return FactorsHeld(totp=account.totp_secret is not None)

    async def is_proved(self, account: Account, proof: SudoProof) -> bool:
        """Whether the proof is one of the account's factors."""
        return False
