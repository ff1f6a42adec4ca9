"""What the instance's one secret is used for: a key of its own per purpose, and sealing what must be read again.

The secret lies beside the database with mode 0600 (`chat.store.data_directory`). Keys are derived per purpose, so that
nothing made with one is taken for something made with another (ASVS 9.2).
"""

from __future__ import annotations

import random
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12


class Keys:
    """Keys derived from the instance's secret (HKDF, RFC 5869). `chance` makes nonces."""

    def __init__(self, secret: bytes, chance: random.Random) -> None:
        self._secret = secret
        self._chance = chance
        self._derived: dict[str, bytes] = {}

    def of(self, purpose: str) -> bytes:
        """The 32-byte key of a purpose; always the same for the same secret."""
        key = self._derived.get(purpose)
        if key is None:
            key = HKDFExpand(SHA256(), KEY_BYTES, f"chat {purpose}".encode()).derive(self._secret)
            self._derived[purpose] = key
        return key

    def seal(self, purpose: str, plain: bytes, context: bytes = b"") -> bytes:
        """Encrypt (AES-256-GCM). `context` says where it belongs, such as the account's id: opened elsewhere it
        fails."""
        nonce = self._chance.randbytes(NONCE_BYTES)
        return nonce + AESGCM(self.of(purpose)).encrypt(nonce, plain, context)

    def open(self, purpose: str, sealed: bytes, context: bytes = b"") -> bytes | None:
        """What was sealed; None when it was not sealed here, not for this, or not with this secret."""
        try:
            return AESGCM(self.of(purpose)).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], context)
        except (InvalidTag, ValueError):
            return None
