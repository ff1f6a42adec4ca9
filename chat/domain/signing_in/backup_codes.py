"""Backup codes: ten one-time codes for whoever has lost the authenticator (signing_in.md, Backup codes).

They have to be shown again, so they are stored sealed, not hashed. People copy them by hand: letter case and
everything that is no letter or digit do not count.
"""

from __future__ import annotations

import hmac
import random
import re
import sqlite3
import string
from collections.abc import Iterator, Sequence
from typing import Any, Final

from chat.auth.keys import Keys
from chat.store.signing_in import backup_codes
from chat.store.signing_in.backup_codes import BackupCode

CODES: Final = 10
HALF_CHARACTERS: Final = 4
"""Characters on each side of the hyphen."""

KEY_PURPOSE: Final = "backup codes"

_ALPHABET: Final = string.ascii_lowercase + string.digits
_INSIGNIFICANT: Final = re.compile(r"[^A-Za-z0-9]", re.ASCII)


class BackupCodes:
    """Makes codes and knows them again. All but `fresh` work inside a unit of reading or writing."""

    def __init__(self, keys: Keys, chance: random.Random) -> None:
        self._keys = keys
        self._chance = chance

    def fresh(self) -> list[str]:
        """Ten different codes, `xxxx-xxxx`."""
        codes: dict[str, None] = {}
        while len(codes) < CODES:
            codes[f"{self._half()}-{self._half()}"] = None
        return list(codes)

    def replace(self, connection: sqlite3.Connection, user_id: int, codes: Sequence[str]) -> None:
        """Give the account these codes; the ones before count no longer."""
        sealed = [self._keys.seal(KEY_PURPOSE, code.encode(), _context(user_id)) for code in codes]
        backup_codes.replace_all(connection, user_id, sealed)

    def of_user(self, connection: sqlite3.Connection, user_id: int) -> list[dict[str, Any]]:
        """The account's codes as the wire has them, used ones included."""
        rows = self._readable(connection, user_id)
        return [{"code": code, "consumed": row.consumed_at is not None} for row, code in rows]

    def use(self, connection: sqlite3.Connection, user_id: int, code: str, now: int) -> bool:
        """Use an unused code of the account up; False when it is none."""
        wanted = significant(code)
        position = None
        for row, known in self._readable(connection, user_id):  # all of them, whichever it is
            matches = hmac.compare_digest(significant(known), wanted)
            if matches and row.consumed_at is None:
                position = row.position
        return position is not None and backup_codes.consume(connection, user_id, position, now)

    def _half(self) -> str:
        return "".join(self._chance.choice(_ALPHABET) for _ in range(HALF_CHARACTERS))

    def _readable(self, connection: sqlite3.Connection, user_id: int) -> Iterator[tuple[BackupCode, str]]:
        """The account's codes; those that were sealed for somebody else or with another secret are none."""
        for row in backup_codes.of_user(connection, user_id):
            plain = self._keys.open(KEY_PURPOSE, row.sealed_code, _context(user_id))
            if plain is not None:
                yield row, plain.decode()


def public_codes(codes: Sequence[str]) -> list[dict[str, Any]]:
    """Codes that nobody has used yet, as the wire has them."""
    return [{"code": code, "consumed": False} for code in codes]


def significant(code: str) -> str:
    """What counts of a code as somebody wrote it."""
    return _INSIGNIFICANT.sub("", code).lower()


def _context(user_id: int) -> bytes:
    return str(user_id).encode()
