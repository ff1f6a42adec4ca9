"""Codes that people read somewhere and type in: how they are made, compared and kept.

They leave out the letters and digits that are taken for one another, and letter case, hyphens and blanks do not matter.
What is kept is an HMAC under a key of the instance, bound to what the code is for: the shorter ones have too little
chance in them for a plain hash (ASVS 6.5).
"""

from __future__ import annotations

import hashlib
import hmac
import random
from typing import Final

from chat.auth.keys import Keys
from chat.registries.limits import RECOVERY_CODE_CHARACTERS

ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""32 characters: 5 bits each."""

MAILED_CHARACTERS: Final = 8
"""40 bits, for codes of which a handful of guesses is allowed; shown in two halves."""


class TypedCodes:
    """Makes codes from a source of chance, and recognises them."""

    def __init__(self, keys: Keys, chance: random.Random) -> None:
        self._key = keys.of("typed codes")
        self._chance = chance

    def mailed(self) -> str:
        """A code for a mail: `XXXX-XXXX`."""
        code = self._characters(MAILED_CHARACTERS)
        return f"{code[:4]}-{code[4:]}"

    def recovery(self) -> str:
        """The code of a recovery kit: 160 bits (signing_in.md, Recovery kit)."""
        return self._characters(RECOVERY_CODE_CHARACTERS)

    def digest(self, code: str, purpose: bytes) -> bytes:
        """What is kept of a code; `purpose` is whatever it is for, so that it serves nothing else."""
        return hmac.digest(self._key, purpose + b"\0" + _bare(code), hashlib.sha256)

    def matches(self, code: str, purpose: bytes, digest: bytes) -> bool:
        """Whether this is the code that was kept, in constant time."""
        return hmac.compare_digest(self.digest(code, purpose), digest)

    def _characters(self, count: int) -> str:
        return "".join(self._chance.choice(ALPHABET) for _ in range(count))


def _bare(code: str) -> bytes:
    """The letters and digits of what was typed, in upper case. What no code contains stays, so that it matches none."""
    return "".join(code.upper().replace("-", "").split()).encode()
