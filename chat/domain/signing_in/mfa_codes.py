"""Codes that people type as a second factor: of an authenticator app, or backup codes (signing_in.md, TOTP, Backup
codes). Each counts once.

What has to be read again, secrets of authenticators and backup codes, is stored sealed for its account.
"""

from __future__ import annotations

import base64
import hmac
import random
import re
import sqlite3
import string
from collections.abc import Iterator, Sequence
from typing import Final

import structlog

from chat import wire
from chat.auth.keys import Keys
from chat.auth.typed_codes import matching_step, oldest_step
from chat.classes import define
from chat.clock import Clock
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.signing_in import one_time_codes
from chat.store.signing_in.one_time_codes import BackupCode

CODES: Final = 10
HALF_CHARACTERS: Final = 4
"""Characters on each side of the hyphen."""

SEALED_BACKUP_CODES: Final = "backup codes"
SEALED_TOTP_SECRET: Final = "totp secret"  # noqa: S105 - the purpose of a key

_ALPHABET: Final = string.ascii_lowercase + string.digits
_INSIGNIFICANT: Final = re.compile(r"[^A-Za-z0-9]", re.ASCII)

log: Final = structlog.get_logger("chat.accounts")


@define(eq=False)
class BackupCodes:
    """Ten one-time codes for a lost authenticator: makes them and knows them again.

    People copy them by hand: letter case and everything that is no letter or digit do not count. All but `fresh` work
    inside a unit of reading or writing.
    """

    _keys: Keys
    _chance: random.Random

    def fresh(self) -> list[str]:
        """Ten different codes, `xxxx-xxxx`."""
        codes: dict[str, None] = {}
        while len(codes) < CODES:
            codes[f"{self._half()}-{self._half()}"] = None
        return list(codes)

    def replace(self, connection: sqlite3.Connection, user_id: int, codes: Sequence[str]) -> None:
        """Give the account these codes; the ones before count no longer."""
        context = str(user_id).encode()
        sealed = [self._keys.seal(SEALED_BACKUP_CODES, code.encode(), context) for code in codes]
        one_time_codes.replace_backup_codes(connection, user_id, sealed)

    def of_user(self, connection: sqlite3.Connection, user_id: int) -> list[wire.BackupCode]:
        """The account's codes as the wire has them, used ones included."""
        rows = self._readable(connection, user_id)
        return [{"code": code, "consumed": row.consumed_at is not None} for row, code in rows]

    def use(self, connection: sqlite3.Connection, user_id: int, code: str, now: int) -> bool:
        """Use an unused code of the account up; False when it is none."""
        wanted = significant(code)
        position = None
        for row, known in self._readable(connection, user_id):  # all of them, so that the time tells nothing
            matches = hmac.compare_digest(significant(known), wanted)
            if matches and row.consumed_at is None:
                position = row.position
        return position is not None and one_time_codes.consume_backup_code(connection, user_id, position, now)

    def _half(self) -> str:
        return "".join(self._chance.choice(_ALPHABET) for _ in range(HALF_CHARACTERS))

    def _readable(self, connection: sqlite3.Connection, user_id: int) -> Iterator[tuple[BackupCode, str]]:
        """The account's codes; those that were sealed for another account or with another secret are none."""
        for row in one_time_codes.backup_codes_of(connection, user_id):
            plain = self._keys.open(SEALED_BACKUP_CODES, row.sealed_code, str(user_id).encode())
            if plain is not None:
                yield row, plain.decode()


def public_codes(codes: Sequence[str]) -> list[wire.BackupCode]:
    """Unused codes as the wire has them."""
    return [{"code": code, "consumed": False} for code in codes]


def significant(code: str) -> str:
    """What counts of a code as it was typed."""
    return _INSIGNIFICANT.sub("", code).lower()


@define(eq=False)
class MfaCodes:
    """Knows right codes from wrong ones. The caller limits how often they are guessed."""

    _clock: Clock
    _keys: Keys
    backup_codes: BackupCodes

    def use(self, connection: sqlite3.Connection, user_id: int, code: str) -> bool:
        """In a unit of writing: use up a present code of the account's authenticator, or an unused backup code; False
        when it is neither."""
        account = accounts.by_id(connection, user_id)
        if account is None:
            return False
        now = self._clock.now_ms()
        secret = opened_secret(self._keys, account)
        if secret is None and account.totp_secret is not None:
            log.error("a TOTP secret was sealed with another key", user_id=user_id)
        step = None if secret is None else matching_step(secret, code, now)
        if step is not None:
            return one_time_codes.use_totp_step(connection, user_id, step, oldest=oldest_step(now))
        return self.backup_codes.use(connection, user_id, code, now)


def sealed_secret(keys: Keys, user_id: int, secret: str) -> str:
    """What `users.totp_secret` holds."""
    sealed = keys.seal(SEALED_TOTP_SECRET, secret.encode(), str(user_id).encode())
    return base64.b64encode(sealed).decode("ascii")


def opened_secret(keys: Keys, account: Account) -> str | None:
    """The account's secret in Base32; None where it has none, and where it was sealed elsewhere."""
    if account.totp_secret is None:
        return None
    try:
        sealed = base64.b64decode(account.totp_secret, validate=True)
    except ValueError:
        return None
    plain = keys.open(SEALED_TOTP_SECRET, sealed, str(account.id).encode())
    return None if plain is None else plain.decode()
