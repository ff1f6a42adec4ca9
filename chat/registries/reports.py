"""What can be reported (instance.md, Reports), and why accounts are deleted (administration.md, Scheduled deletion)."""

from __future__ import annotations

import enum
from typing import Final


class ReportKind(enum.StrEnum):
    """What a report is about."""

    USER = "user"
    MESSAGE = "message"
    GUILD = "guild"


class ReportStatus(enum.StrEnum):
    """How a report stands."""

    PENDING = "pending"
    RESOLVED = "resolved"


class ReportCategory(enum.StrEnum):
    """What somebody finds wrong."""

    SPAM = "spam"
    HARASSMENT = "harassment"
    HATE_SPEECH = "hate_speech"
    VIOLENCE = "violence"
    SEXUAL_CONTENT = "sexual_content"
    CHILD_SAFETY = "child_safety"
    UNDERAGE_USER = "underage_user"
    SELF_HARM = "self_harm"
    SCAM = "scam"
    MALWARE = "malware"
    IMPERSONATION = "impersonation"
    PRIVACY_VIOLATION = "privacy_violation"
    ILLEGAL_ACTIVITY = "illegal_activity"
    SPAM_ACCOUNT = "spam_account"
    INAPPROPRIATE_PROFILE = "inappropriate_profile"
    VIOLENT_CONTENT = "violent_content"
    NSFW_VIOLATION = "nsfw_violation"
    DOXXING = "doxxing"
    MALICIOUS_LINKS = "malicious_links"
    MALWARE_DISTRIBUTION = "malware_distribution"
    RAID_COORDINATION = "raid_coordination"
    EXTREMIST_COMMUNITY = "extremist_community"
    OTHER = "other"


class DeletionReason(enum.IntEnum):
    """The registered reasons; what follows from each is told in the operation that schedules a deletion."""

    USER_REQUESTED = 1
    """The holder wants it: the shortest delay, and none of what follows from misconduct."""

    OTHER = 2
    SPAM = 3
    CHEATING_OR_EXPLOITATION = 4
    """Cheats, or the abuse of a defect."""

    COORDINATED_RAIDING = 5
    AUTOMATION_OR_SELFBOT = 6
    """A program that used a person's account."""

    NONCONSENSUAL_SEXUAL_CONTENT = 7
    SCAM_OR_SOCIAL_ENGINEERING = 8
    CHILD_SEXUAL_CONTENT = 9
    PRIVACY_VIOLATION_OR_DOXXING = 10
    HARASSMENT_OR_BULLYING = 11
    PAYMENT_FRAUD = 12
    CHILD_SAFETY_VIOLATION = 13
    BILLING_DISPUTE_OR_ABUSE = 14
    UNSOLICITED_EXPLICIT_CONTENT = 15
    GRAPHIC_VIOLENCE = 16
    BAN_EVASION = 17
    """Another account of somebody who is banned."""

    TOKEN_OR_CREDENTIAL_SCAM = 18
    INACTIVITY = 19
    HATE_SPEECH_OR_EXTREMIST_CONTENT = 20
    MALICIOUS_LINKS_OR_MALWARE = 21
    IMPERSONATION_OR_FAKE_IDENTITY = 22


MINIMUM_DAYS_ON_REQUEST: Final = 14
"""Days between the wish of a holder (USER_REQUESTED) and the erasure at least."""

MINIMUM_DAYS: Final = 60
"""Days between any other scheduling and the erasure at least."""

KEPT_PENDING: Final = frozenset({ReportCategory.CHILD_SAFETY, ReportCategory.UNDERAGE_USER, ReportCategory.SELF_HARM})
"""Categories that somebody has to look at, whatever becomes of the account (administration.md, Scheduled deletion)."""

RESOLVED_BY_DELETION: Final = frozenset(
    {
        DeletionReason.SPAM,
        DeletionReason.CHEATING_OR_EXPLOITATION,
        DeletionReason.COORDINATED_RAIDING,
        DeletionReason.AUTOMATION_OR_SELFBOT,
        DeletionReason.SCAM_OR_SOCIAL_ENGINEERING,
        DeletionReason.HARASSMENT_OR_BULLYING,
        DeletionReason.BAN_EVASION,
        DeletionReason.TOKEN_OR_CREDENTIAL_SCAM,
        DeletionReason.HATE_SPEECH_OR_EXTREMIST_CONTENT,
        DeletionReason.MALICIOUS_LINKS_OR_MALWARE,
        DeletionReason.IMPERSONATION_OR_FAKE_IDENTITY,
    }
)
"""Reasons for a deletion that answer the pending reports against the account as well (administration.md, Scheduled
deletion)."""
