"""What an account holds beside its password, and whose factors count: a person's own, and for a bot those of the owner
of its application (guilds.md, MFA levels; access.md, Sudo mode)."""

from __future__ import annotations

import sqlite3

import attrs

from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.applications import applications
from chat.store.database import Database
from chat.store.signing_in import backup_codes, webauthn_credentials


@attrs.frozen
class FactorsHeld:
    """The means by which an account could prove itself in sudo mode."""

    totp: bool = False
    webauthn: bool = False
    """Whether a passkey is registered, enabled as a second factor or not (access.md, Sudo mode)."""
    backup_codes: bool = False
    """Whether a backup code is left."""

    @property
    def any(self) -> bool:
        """Whether a TOTP secret or a passkey is there: backup codes alone make no factor."""
        return self.totp or self.webauthn


def held_in(connection: sqlite3.Connection, account: Account) -> FactorsHeld:
    """What the account could prove itself with in sudo mode, as the connection sees it."""
    if account.bot:
        return FactorsHeld()
    return FactorsHeld(
        totp=account.totp_secret is not None,
        webauthn=webauthn_credentials.is_one_listed(connection, account.id),
        backup_codes=backup_codes.is_one_left(connection, account.id),
    )


def holder_of_factors(connection: sqlite3.Connection, account: Account) -> Account:
    """The account whose factors an account shows and uses; a bot whose owner is gone has its own, which are none."""
    application = applications.by_bot(connection, account.id) if account.bot else None
    owner = None if application is None else accounts.by_id(connection, application.owner_id)
    return account if owner is None else owner


def has_factor(database: Database, account: Account) -> bool:
    """Whether the account, or the owner of a bot's application, has enrolled an authenticator."""
    return held_in(database.reader, holder_of_factors(database.reader, account)).any
