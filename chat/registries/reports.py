"""What can be reported, and as what (instance.md, Reports)."""

from __future__ import annotations

import enum
from typing import Final

from chat.registries.deletion_reasons import DeletionReason


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
