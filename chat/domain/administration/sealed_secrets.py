"""Whether the instance's signing key opens what is sealed in its database (`chat check`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Final

from chat.auth.keys import Keys
from chat.domain.signing_in import mfa_codes
from chat.domain.webhooks import webhooks
from chat.mail import outbox
from chat.store.administration import sealed_secrets

PURPOSES: Final[Mapping[str, str]] = {
    sealed_secrets.AUTHENTICATORS: mfa_codes.SEALED_TOTP_SECRET,
    sealed_secrets.BACKUP_CODES: mfa_codes.SEALED_BACKUP_CODES,
    sealed_secrets.WEBHOOKS: webhooks.SEALED_FOR,
    sealed_secrets.MAILS: outbox.PURPOSE,
}
"""What each kind is sealed for."""


def unopened(connection: sqlite3.Connection, keys: Keys) -> Iterator[str]:
    """The kinds of which the key does not open all, in words."""
    for kind, purpose in PURPOSES.items():
        found = [
            keys.open(purpose, sealed, context) is not None
            for context, sealed in sealed_secrets.of_kind(connection, kind)
        ]
        if not all(found):
            yield f"does not open {found.count(False)} of {len(found)} {kind}: was it sealed with another key?"
