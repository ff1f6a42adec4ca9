"""Codes that people read and type in: those of mails and recovery kits, and the one-time codes of an authenticator app.

Our own leave out the letters and digits that are taken for one another, and letter case, hyphens and blanks do not
matter. What is kept is an HMAC under a key of the instance, bound to what the code is for: the shorter ones have too
little chance in them for a plain hash (ASVS 6.5).

One-time codes (RFC 6238) are those of SHA-1, six digits, a step of thirty seconds, one step of tolerance to each side
(signing_in.md, TOTP). The secret comes from the client, in Base32; the server makes none. Nothing here keeps anything:
that no code counts twice is for the caller (`chat.domain.signing_in.mfa_codes`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import random
import re
from typing import Final

from chat.auth.keys import Keys
from chat.registries.limits import RECOVERY_CODE_CHARACTERS

ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""32 characters: 5 bits each."""

MAILED_CHARACTERS: Final = 8
"""40 bits, for codes of which a handful of guesses is allowed; shown in two halves."""

STEP_MS: Final = 30_000
TOLERANCE: Final = 1
"""Steps before and after the present one whose code is taken."""

SECRET_CHARACTERS: Final = (16, 128)
"""Bounds on the Base32 characters of a secret, padding aside. Sixteen (80 bits) is what the first authenticator apps
had, and many programs still make."""

_LIBRARY_BYTES: Final = 14
"""Secrets that are shorter than this pyotp refuses."""

_SECRET: Final = re.compile(r"[A-Za-z2-7]+={0,6}", re.ASCII)
_CODE: Final = re.compile(r"[0-9]{6}", re.ASCII)


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
        """What is kept of a code; `purpose` is what it is for, so that it serves nothing else."""
        return hmac.digest(self._key, purpose + b"\0" + _bare(code), hashlib.sha256)

    def matches(self, code: str, purpose: bytes, digest: bytes) -> bool:
        """Whether this is the code that was kept, in constant time."""
        return hmac.compare_digest(self.digest(code, purpose), digest)

    def _characters(self, count: int) -> str:
        return "".join(self._chance.choice(ALPHABET) for _ in range(count))


def _bare(code: str) -> bytes:
    """The letters and digits of what was typed, in upper case. What no code contains stays, so that it matches none."""
    return "".join(code.upper().replace("-", "").split()).encode()


def normalised_secret(text: str) -> str | None:
    """The secret in upper case, without the blanks and the padding that people and programs write; None for text that
    is no Base32 of a fitting length."""
    written = text.replace(" ", "").replace("-", "")
    if _SECRET.fullmatch(written) is None:
        return None
    secret = written.rstrip("=").upper()
    shortest, longest = SECRET_CHARACTERS
    if not shortest <= len(secret) <= longest:
        return None
    try:
        _key(secret)
    except binascii.Error:
        return None
    return secret


def matching_step(secret: str, code: str, now_ms: int) -> int | None:
    """The step that the code belongs to, as of this moment (Unix milliseconds); None for a wrong code.

    A code may be written with blanks in it. Where two steps have the same code, the earlier one is named.
    """
    import pyotp  # a start of the server does not pay for it

    digits = code.replace(" ", "")
    if _CODE.fullmatch(digits) is None:
        return None
    # To HMAC a key is the same with zeros after it, up to a whole block.
    generator = pyotp.TOTP(base64.b32encode(_key(secret).ljust(_LIBRARY_BYTES, b"\0")).decode("ascii"))
    present = now_ms // STEP_MS
    matching = None
    for step in range(
        present + TOLERANCE, max(present - TOLERANCE, 0) - 1, -1
    ):  # all of them, so that the time tells nothing
        if hmac.compare_digest(generator.generate_otp(step), digits):
            matching = step
    return matching


def _key(secret: str) -> bytes:
    return base64.b32decode(secret + "=" * (-len(secret) % 8))


def oldest_step(now_ms: int) -> int:
    """The first step whose code is still taken at this moment."""
    return now_ms // STEP_MS - TOLERANCE
