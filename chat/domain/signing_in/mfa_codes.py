"""Codes that people type as a second factor: of an authenticator app, or backup codes. Each counts once."""

from __future__ import annotations

import sqlite3
from typing import Final

import structlog

from chat.auth.keys import Keys
from chat.auth.totp import matching_step, oldest_step
from chat.clock import Clock
from chat.domain.signing_in.backup_codes import BackupCodes
from chat.domain.signing_in.totp_secrets import opened_secret
from chat.store.accounts import accounts
from chat.store.signing_in import used_totp_codes

log: Final = structlog.get_logger("chat.accounts")


class MfaCodes:
    """Knows right codes from wrong ones. How often somebody may guess is for whoever calls to limit."""

    def __init__(self, clock: Clock, keys: Keys, backup_codes: BackupCodes) -> None:
        self._clock = clock
        self._keys = keys
        self._backup_codes = backup_codes

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
            return used_totp_codes.use(connection, user_id, step, oldest=oldest_step(now))
        return self._backup_codes.use(connection, user_id, code, now)
