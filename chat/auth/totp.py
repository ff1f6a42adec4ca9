"""One-time codes of an authenticator app (RFC 6238): SHA-1, six digits, a step of thirty seconds, one step of tolerance
to each side (signing_in.md, TOTP).

The secret comes from the client, in Base32; the server makes none. Nothing here keeps anything: that no code counts
twice is for whoever calls (`chat.domain.signing_in.sudo`).
"""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from typing import Final

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
    for step in range(present + TOLERANCE, max(present - TOLERANCE, 0) - 1, -1):  # all of them, whichever it is
        if hmac.compare_digest(generator.generate_otp(step), digits):
            matching = step
    return matching


def _key(secret: str) -> bytes:
    return base64.b32decode(secret + "=" * (-len(secret) % 8))


def oldest_step(now_ms: int) -> int:
    """The first step whose code is still taken at this moment."""
    return now_ms // STEP_MS - TOLERANCE
