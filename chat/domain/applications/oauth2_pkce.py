"""Proof Key for Code Exchange (RFC 7636): only who asked for a code can exchange it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import Final

import attrs

from chat.domain.applications.oauth2_errors import invalid_request

S256: Final = "S256"

_VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)
_S256_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


@attrs.frozen
class Challenge:
    """What an authorisation request says of the verifier to come; `method` is S256."""

    method: str
    value: str = attrs.field(repr=False)

    def is_met_by(self, verifier: str) -> bool:
        """Whether this is the verifier."""
        if self.method != S256 or _VERIFIER.fullmatch(verifier) is None:
            return False
        return hmac.compare_digest(s256(verifier), self.value)


def s256(verifier: str) -> str:
    """The challenge that belongs to a verifier under S256 (RFC 7636 4.2)."""
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def challenge_of(value: str | None, method: str | None, *, required: bool = False) -> Challenge | None:
    """The challenge in an authorisation request; None where it makes no use of PKCE.

    The method is S256 and has to be named: left out it would mean `plain`, which is refused (applications.md,
    Authorisation; RFC 9700 2.1.1). `required` is for clients without a secret, which have nothing but the challenge to
    prove themselves with.

    :raises OAuth2Error: invalid_request.
    """
    if value is None:
        if method is not None or required:
            raise invalid_request("code_challenge is missing.")
        return None
    if method != S256:
        raise invalid_request("code_challenge_method has to be S256.")
    if _S256_CHALLENGE.fullmatch(value) is None:
        raise invalid_request("code_challenge is malformed.")
    return Challenge(method, value)
