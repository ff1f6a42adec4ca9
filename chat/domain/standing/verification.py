"""What a guild's verification level asks of a member who sends a message (guilds.md, Verification levels)."""

from __future__ import annotations

from chat.domain.standing.guild_states import GuildState, Member
from chat.errors import ApiError
from chat.registries.guild_features import GuildFeature
from chat.registries.guild_values import (
    VERIFICATION_ACCOUNT_AGE_MS,
    VERIFICATION_MEMBERSHIP_AGE_MS,
    VerificationLevel,
)
from chat.store.accounts.accounts import Account


def is_unclaimed(account: Account) -> bool:
    """Whether a person left the mail address out where people sign in with one (signing_in.md, Registration).

    Nobody but the holder of its session can come back to the account. On a username instance, where nobody has an
    address, an account counts as verified from the beginning and is claimed by its password.
    """
    if account.bot or account.email is not None:
        return False
    return account.password_hash is None or not account.email_verified


def has_verified_address(account: Account) -> bool:
    """Whether the account's address is verified; an account of a username instance has none to verify."""
    return account.email is None or account.email_verified


def verification_level(state: GuildState) -> VerificationLevel:
    """The level by which members are judged: a discoverable guild's is at least LOW."""
    stored = VerificationLevel(state.guild.verification_level)
    return max(stored, VerificationLevel.LOW) if GuildFeature.DISCOVERABLE in state.guild.features else stored


def require_verification(state: GuildState, member: Member, account: Account, now_ms: int) -> None:
    """Raise GUILD_VERIFICATION_REQUIRED for a member below the level; the owner, bots and members with a role pass.

    A join time that nobody knows is stored as 0 and asks for nothing (guilds.md, Verification levels).
    """
    level = verification_level(state)
    if level is VerificationLevel.NONE or account.bot or member.role_ids or account.id == state.guild.owner_id:
        return
    verified = not is_unclaimed(account) and has_verified_address(account)
    old_enough = level < VerificationLevel.MEDIUM or now_ms - account.created_at >= VERIFICATION_ACCOUNT_AGE_MS
    known_enough = level < VerificationLevel.HIGH or now_ms - member.joined_at >= VERIFICATION_MEMBERSHIP_AGE_MS
    if not (verified and old_enough and known_enough):
        raise ApiError("GUILD_VERIFICATION_REQUIRED")
