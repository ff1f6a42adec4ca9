"""Flags of accounts (administration.md, Account flags; accounts.md, User objects)."""

from __future__ import annotations

import enum
from typing import Final


class UserFlag(enum.IntFlag):
    """Bits of an account's 64-bit `flags` (administration.md, Account flags)."""

    STAFF = 1 << 0
    """Runs the instance; gives no administrative access by itself."""

    PARTNER = 1 << 2
    """A partner of the instance."""

    BUG_HUNTER = 1 << 3
    """Has found bugs."""

    FRIENDLY_BOT = 1 << 4
    """A bot that may be befriended."""

    FRIENDLY_BOT_MANUAL_APPROVAL = 1 << 5
    """A bot that may be befriended once its owner agrees."""

    SPAMMER = 1 << 6
    """Marked as a sender of unwanted messages."""

    PROFILE_HIDDEN = 1 << 7
    """The profile is not shown."""

    HIGH_GLOBAL_RATE_LIMIT = 1 << 33
    """The wider global request limit applies (http.md, Request limits)."""

    DELETED = 1 << 34
    """The account is erased; only a nameless stand-in is left."""

    SELF_DELETED = 1 << 36
    """The account holder asked for deletion."""

    DISABLED = 1 << 38
    """Nobody can sign in; set by a ban and by the account holder."""

    HAS_SESSION_STARTED = 1 << 39
    """The gateway has started a session for the account at least once."""

    RATE_LIMIT_BYPASS = 1 << 47
    """No request limit applies (http.md, Request limits)."""

    REPORT_BANNED = 1 << 48
    """May not report anything."""

    VERIFIED_NOT_UNDERAGE = 1 << 49
    """Found to be old enough after a doubt."""

    ACCOUNT_LIMITED = 1 << 50
    """A set of operations answers ACCOUNT_LIMITED (access.md, Account gates)."""

    HAS_DISMISSED_PREMIUM_ONBOARDING = 1 << 51
    """Has closed the introduction to premium."""

    APP_STORE_REVIEWER = 1 << 53
    """Belongs to an app store's reviewers."""

    STAFF_HIDDEN = 1 << 57
    """STAFF is not shown to others."""

    AGE_VERIFIED_ADULT = 1 << 60
    """Verified to be an adult."""

    LIMIT_EXEMPT = 1 << 62
    """Automatic limits do not touch the account."""


PUBLIC_USER_FLAGS: Final = (
    UserFlag.STAFF
    | UserFlag.PARTNER
    | UserFlag.BUG_HUNTER
    | UserFlag.FRIENDLY_BOT
    | UserFlag.FRIENDLY_BOT_MANUAL_APPROVAL
    | UserFlag.SPAMMER
)
"""Bits that others see in `flags`; STAFF only without STAFF_HIDDEN (accounts.md, User objects)."""


class PremiumFlag(enum.IntFlag):
    """Bits of an account's 32-bit `premium_flags` (administration.md, Account flags)."""

    DISCRIMINATOR = 1 << 0
    """Chose the discriminator by means of premium."""

    BADGE_HIDDEN = 1 << 1
    """The badge is not shown."""

    BADGE_MASKED = 1 << 2
    """The badge does not tell which kind it is."""

    BADGE_TIMESTAMP_HIDDEN = 1 << 3
    """The badge does not tell since when."""

    BADGE_SEQUENCE_HIDDEN = 1 << 4
    """The badge does not tell its number."""

    PERKS_SANITIZED = 1 << 5
    """What premium allowed was taken back after it ended."""

    PURCHASE_DISABLED = 1 << 6
    """May not buy premium."""

    ENABLED_OVERRIDE = 1 << 7
    """Counts as premium whatever was bought."""

    PERKS_DISABLED = 1 << 8
    """Counts as not premium whatever was bought."""


class PremiumType(enum.IntEnum):
    """What kind of premium an account has (administration.md, Account flags)."""

    NONE = 0
    """No premium."""

    SUBSCRIPTION = 1
    """Paid for by the period."""

    LIFETIME = 2
    """Paid for once and for all."""


class AuthenticatorType(enum.IntEnum):
    """Second factors of an account (accounts.md, User objects); 1 is unassigned."""

    TOTP = 0
    """One-time codes from an authenticator."""

    WEBAUTHN = 2
    """Passkeys, while chosen as a second factor."""


class MentionFlag(enum.IntFlag):
    """How an account or a member wants to be answered (accounts.md, User objects)."""

    PREFER_MENTION = 1 << 0
    """With a mention."""

    PREFER_NO_MENTION = 1 << 1
    """Without one."""
