"""How far an account has proven itself: whether it is claimed and its email address verified, which second factors it
holds (guilds.md, MFA levels; access.md, Sudo mode), and what a guild's verification level asks of a member who sends a
message (guilds.md, Verification levels).

Factors are a person's own; those of a bot are those of the owner of its application.
"""

from __future__ import annotations

import sqlite3

from chat.classes import frozen
from chat.domain.standing.guild_states import GuildState, Member
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.guild_features import GuildFeature
from chat.registries.guild_values import VERIFICATION_ACCOUNT_AGE_MS, VERIFICATION_MEMBERSHIP_AGE_MS, VerificationLevel
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.applications import applications
from chat.store.database import Database
from chat.store.signing_in import one_time_codes, webauthn_credentials


def is_unclaimed(account: Account) -> bool:
    """Whether a person left the email address out where people sign in with one (signing_in.md, Registration): only
    its present session leads to the account.

    On a username instance an account has no address, counts as verified from the beginning and is claimed by its
    password.
    """
    if account.bot or account.email is not None:
        return False
    return account.password_hash is None or not account.email_verified


def has_verified_address(account: Account) -> bool:
    """Whether the account's email address is verified; an account of a username instance has none to verify."""
    return account.email is None or account.email_verified


def verification_level(state: GuildState) -> int:
    """The level by which members are judged: a discoverable guild's is at least LOW."""
    stored = state.guild.verification_level
    return max(stored, VerificationLevel.LOW) if GuildFeature.DISCOVERABLE in state.guild.features else stored


def require_verification(state: GuildState, member: Member, account: Account, now_ms: int) -> None:
    """Raise GUILD_VERIFICATION_REQUIRED for a member below the level; the owner, bots and members with a role pass.

    An unknown join time is stored as 0 and asks for nothing (guilds.md, Verification levels).
    """
    level = verification_level(state)
    if not level or account.bot or member.role_ids or account.id == state.guild.owner_id:
        return
    verified = not is_unclaimed(account) and has_verified_address(account)
    old_enough = level < VerificationLevel.MEDIUM or now_ms - account.created_at >= VERIFICATION_ACCOUNT_AGE_MS
    known_enough = level < VerificationLevel.HIGH or now_ms - member.joined_at >= VERIFICATION_MEMBERSHIP_AGE_MS
    if not (verified and old_enough and known_enough):
        raise ApiError(ErrorCode.GUILD_VERIFICATION_REQUIRED)


@frozen
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
        backup_codes=one_time_codes.is_backup_code_left(connection, account.id),
    )


def holder_of_factors(connection: sqlite3.Connection, account: Account) -> Account:
    """The account whose factors an account shows and uses; a bot without an owner has no factors."""
    application = applications.by_bot(connection, account.id) if account.bot else None
    owner = None if application is None else accounts.by_id(connection, application.owner_id)
    return account if owner is None else owner


def has_factor(database: Database, account: Account) -> bool:
    """Whether the account, or the owner of a bot's application, has enrolled an authenticator."""
    return held_in(database.reader, holder_of_factors(database.reader, account)).any
