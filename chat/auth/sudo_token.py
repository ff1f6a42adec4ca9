"""The sudo proof as a token: a JSON Web Token that nothing else is ever taken for (RFC 8725).

HS256 and no other algorithm, a key of its own, a type, an issuer-less audience, the account as subject, five minutes
(access.md, Sudo mode; ASVS 9.1, 9.2).
"""

from __future__ import annotations

from typing import Final

from chat.auth.keys import Keys
from chat.clock import Clock
from chat.registries.limits import SUDO_PROOF_MS

TYPE: Final = "sudo"
AUDIENCE: Final = "chat:sudo"
ALGORITHM: Final = "HS256"
KEY_PURPOSE: Final = "sudo token"
TOKEN_LENGTH: Final = 1_024
"""Characters; a longer one is not looked at."""

TOKEN_TYPE: Final = f"{TYPE}+jwt"
"""The `typ` of the header (RFC 8725, 3.11)."""

_REQUIRED: Final = ("sub", "aud", "iat", "exp", "type")


class SudoTokens:
    """Issues and checks sudo tokens."""

    def __init__(self, keys: Keys, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    def issue(self, user_id: int) -> str:
        """A token for the account, from now on for five minutes."""
        import jwt  # with cryptography a tenth of a second, which a start of the server does not pay

        now = self._clock.now_ms() // 1_000
        claims = {"sub": str(user_id), "type": TYPE, "aud": AUDIENCE, "iat": now, "exp": now + SUDO_PROOF_MS // 1_000}
        return jwt.encode(claims, self._keys.of(KEY_PURPOSE), algorithm=ALGORITHM, headers={"typ": TOKEN_TYPE})

    def is_valid(self, token: str, user_id: int) -> bool:
        """Whether the token was issued here, for sudo mode, to this account, and is not over."""
        if len(token) > TOKEN_LENGTH:
            return False
        import jwt

        try:
            decoded = jwt.decode_complete(
                token,
                self._keys.of(KEY_PURPOSE),
                algorithms=[ALGORITHM],
                audience=AUDIENCE,
                # Time is the server's own clock, which tests move; PyJWT would ask the operating system.
                options={"require": list(_REQUIRED), "verify_exp": False, "verify_iat": False, "verify_nbf": False},
            )
        except (jwt.PyJWTError, ValueError, RecursionError):  # the header is parsed before the signature is checked
            return False
        claims = decoded["payload"]
        issued, expires = claims["iat"], claims["exp"]
        if type(issued) is not int or type(expires) is not int:
            return False
        if decoded["header"].get("typ") != TOKEN_TYPE or claims["type"] != TYPE:
            return False
        now = self._clock.now_ms()
        return claims["sub"] == str(user_id) and issued * 1_000 <= now <= expires * 1_000
