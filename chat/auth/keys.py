"""What the instance's one secret is used for: a key of its own per purpose, sealing what must be read again, and sudo
tokens.

The secret lies beside the database with mode 0600 (`chat.store.data_directory`). Keys are derived per purpose, so that
nothing made with one is taken for something made with another (ASVS 9.2). `cryptography` is imported when something is
sealed or opened: it takes 9 MB, and many a server seals nothing for hours."""

from __future__ import annotations

import hmac
import random
from typing import Final

import attrs

from chat.classes import define
from chat.clock import Clock
from chat.registries.limits import SUDO_PROOF_MS

KEY_BYTES: Final = 32
"""As many as SHA-256 makes, so that one round of HKDF-Expand is enough (RFC 5869, 2.3)."""

FIRST_ROUND: Final = b"\x01"
NONCE_BYTES: Final = 12

SUDO_TYPE: Final = "sudo"
SUDO_AUDIENCE: Final = "chat:sudo"
SUDO_ALGORITHM: Final = "HS256"
SUDO_KEY_PURPOSE: Final = "sudo token"
SUDO_TOKEN_LENGTH: Final = 1_024
"""Characters; a longer one is not looked at."""

SUDO_TOKEN_TYPE: Final = f"{SUDO_TYPE}+jwt"
"""The `typ` of the header (RFC 8725, 3.11)."""

_SUDO_CLAIMS: Final = ("sub", "aud", "iat", "exp", "type")


@define(eq=False)
class Keys:
    """Keys derived from the instance's secret (HKDF, RFC 5869). `chance` makes nonces."""

    _secret: bytes = attrs.field(repr=False)
    _chance: random.Random
    _derived: dict[str, bytes] = attrs.field(factory=dict, init=False, repr=False)

    def of(self, purpose: str) -> bytes:
        """The 32-byte key of a purpose; always the same for the same secret."""
        key = self._derived.get(purpose)
        if key is None:
            key = hmac.digest(self._secret, f"chat {purpose}".encode() + FIRST_ROUND, "sha256")
            self._derived[purpose] = key
        return key

    def seal(self, purpose: str, plain: bytes, context: bytes = b"") -> bytes:
        """Encrypt (AES-256-GCM). `context` says where it belongs, such as the account's id: opened elsewhere it
        fails."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = self._chance.randbytes(NONCE_BYTES)
        return nonce + AESGCM(self.of(purpose)).encrypt(nonce, plain, context)

    def open(self, purpose: str, sealed: bytes, context: bytes = b"") -> bytes | None:
        """What was sealed; None when it was not sealed here, not for this, or not with this secret."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            return AESGCM(self.of(purpose)).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], context)
        except (InvalidTag, ValueError):
            return None


@define(eq=False)
class SudoTokens:
    """Issues and checks the sudo proof as a token: a JSON Web Token that nothing else is ever taken for (RFC 8725).

    HS256 and no other algorithm, a key of its own, a type, an issuer-less audience, the account as subject, five
    minutes (access.md, Sudo mode; ASVS 9.1, 9.2).
    """

    _keys: Keys
    _clock: Clock

    def issue(self, user_id: int) -> str:
        """A token for the account, from now on for five minutes."""
        import jwt  # with cryptography a tenth of a second, which a start of the server does not pay

        now = self._clock.now_ms() // 1_000
        claims = {
            "sub": str(user_id),
            "type": SUDO_TYPE,
            "aud": SUDO_AUDIENCE,
            "iat": now,
            "exp": now + SUDO_PROOF_MS // 1_000,
        }
        return jwt.encode(
            claims, self._keys.of(SUDO_KEY_PURPOSE), algorithm=SUDO_ALGORITHM, headers={"typ": SUDO_TOKEN_TYPE}
        )

    def is_valid(self, token: str, user_id: int) -> bool:
        """Whether the token was issued here, for sudo mode, to this account, and is not over."""
        if len(token) > SUDO_TOKEN_LENGTH:
            return False
        import jwt

        try:
            decoded = jwt.decode_complete(
                token,
                self._keys.of(SUDO_KEY_PURPOSE),
                algorithms=[SUDO_ALGORITHM],
                audience=SUDO_AUDIENCE,
                # Time is the server's own clock, which tests move; PyJWT would ask the operating system.
                options={"require": list(_SUDO_CLAIMS), "verify_exp": False, "verify_iat": False, "verify_nbf": False},
            )
        except (jwt.PyJWTError, ValueError, RecursionError):  # the header is parsed before the signature is checked
            return False
        claims = decoded["payload"]
        issued, expires = claims["iat"], claims["exp"]
        if type(issued) is not int or type(expires) is not int:
            return False
        if decoded["header"].get("typ") != SUDO_TOKEN_TYPE or claims["type"] != SUDO_TYPE:
            return False
        now = self._clock.now_ms()
        return claims["sub"] == str(user_id) and issued * 1_000 <= now <= expires * 1_000
