"""The Admin user object (administration.md, Admin user object): an account as the administration sees it."""

from __future__ import annotations

from typing import Any, Final

from chat.clock import iso_timestamp
from chat.domain.signing_in.client_info import NOTHING_KNOWN, AddressFacts
from chat.domain.standing.user_objects import authenticator_types
from chat.registries.acls import ACLS
from chat.store.accounts.account_deletions import AccountDeletion
from chat.store.accounts.accounts import Account

TRAITS_MAXIMUM: Final = 100
"""Traits that the object names at most."""

_ACLS: Final = frozenset(ACLS)
_DELETION: Final = (
    "pending_deletion_at",
    "deletion_reason_code",
    "deletion_public_reason",
    "deletion_audit_log_reason",
    "deletion_scheduled_by",
    "deletion_scheduled_at",
)


def admin_user(
    account: Account,
    *,
    locale: str | None,
    deletion: AccountDeletion | None = None,
    facts: AddressFacts = NOTHING_KNOWN,
    factors_of: Account,
    now_ms: int,
) -> dict[str, Any]:
    """The object with every key and nothing redacted.

    `locale` is the account's own setting, None when it never set one; `deletion` is what is scheduled for it; `facts`
    are of its last address; `factors_of` is whose authenticator types it shows; `now_ms` (Unix) decides
    whether a ban still runs.
    """
    scheduled = _deletion(deletion)
    return {
        "id": str(account.id),
        "username": account.username,
        "discriminator": account.discriminator,
        "global_name": account.global_name,
        "bot": account.bot,
        "system": account.system,
        "flags": str(account.flags),
        "premium_flags": account.premium_flags,
        "avatar": account.avatar,
        "banner": account.banner,
        "bio": account.bio,
        "pronouns": account.pronouns,
        "accent_color": account.accent_color,
        "email": account.email,
        "email_verified": account.email_verified,
        "email_bounced": account.email_bounced,
        "date_of_birth": account.date_of_birth,
        "locale": locale,
        **_premium(account),
        "temp_banned_until": _timestamp(_ban_end(account, now_ms)),
        "pending_deletion_at": scheduled["pending_deletion_at"],
        "pending_bulk_message_deletion_at": _timestamp(account.pending_bulk_message_deletion_at),
        **scheduled,
        "acls": [acl for acl in account.acls if acl in _ACLS],
        "traits": sorted(account.traits)[:TRAITS_MAXIMUM],
        "has_totp": account.totp_secret is not None,
        "authenticator_types": authenticator_types(factors_of),
        "last_active_at": _timestamp(account.last_active_at),
        "last_active_ip": account.last_active_ip,
        "last_active_ip_reverse": facts.reverse,
        "last_active_location": facts.location,
    }


def _premium(account: Account) -> dict[str, Any]:
    return {
        "premium_type": account.premium_type,
        "premium_since": _timestamp(account.premium_since),
        "premium_until": _timestamp(account.premium_until),
        "premium_grace_ends_at": _timestamp(account.premium_grace_ends_at),
        "premium_lifetime_sequence": account.premium_lifetime_sequence,
    }


def _deletion(deletion: AccountDeletion | None) -> dict[str, Any]:
    if deletion is None:
        return dict.fromkeys(_DELETION)
    by = deletion.scheduled_by
    values = (
        iso_timestamp(deletion.due_at) if deletion.erased_at is None else None,
        deletion.reason_code,
        deletion.public_reason,
        deletion.audit_log_reason,
        None if by is None else str(by),
        iso_timestamp(deletion.scheduled_at),
    )
    return dict(zip(_DELETION, values, strict=True))


def _ban_end(account: Account, now_ms: int) -> int | None:
    """The end of the ban; one that has passed is none."""
    until = account.temp_banned_until
    return until if until is not None and until > now_ms else None


def _timestamp(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else iso_timestamp(milliseconds)
