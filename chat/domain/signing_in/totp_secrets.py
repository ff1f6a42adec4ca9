"""The secret of an account's authenticator, sealed for this account and no other."""

from __future__ import annotations

import base64
from typing import Final

from chat.auth.keys import Keys
from chat.store.accounts.accounts import Account

KEY_PURPOSE: Final = "totp secret"


def sealed_secret(keys: Keys, user_id: int, secret: str) -> str:
    """What `users.totp_secret` holds."""
    sealed = keys.seal(KEY_PURPOSE, secret.encode(), str(user_id).encode())
    return base64.b64encode(sealed).decode("ascii")


def opened_secret(keys: Keys, account: Account) -> str | None:
    """The account's secret in Base32; None where it has none, and where it was sealed elsewhere."""
    if account.totp_secret is None:
        return None
    try:
        sealed = base64.b64decode(account.totp_secret, validate=True)
    except ValueError:
        return None
    plain = keys.open(KEY_PURPOSE, sealed, str(account.id).encode())
    return None if plain is None else plain.decode()
