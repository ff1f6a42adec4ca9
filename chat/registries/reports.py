"""What can be reported, and as what (instance.md, Reports)."""

from __future__ import annotations

import enum
from typing import Final

from chat.registries.deletion_reasons import DeletionReason


class ReportKind(enum.StrEnum):
    """What a report is about."""

    USER = "user"
    """An account."""

    MESSAGE = "message"
    """A message."""

    GUILD = "guild"
    """A guild."""


class ReportStatus(enum.StrEnum):
    """How a report stands."""

    PENDING = "pending"
    """Nobody has decided on it."""

    RESOLVED = "resolved"
    """An administrator has."""


class ReportCategory(enum.StrEnum):
    """What somebody finds wrong."""

    SPAM = "spam"
    """Advertising, or the same again and again."""

    HARASSMENT = "harassment"
    """Bullying, or following somebody about."""

    HATE_SPEECH = "hate_speech"
    """Hatred of a group of people."""

    VIOLENCE = "violence"
    """Violence, or a threat of it."""

    SEXUAL_CONTENT = "sexual_content"
    """Sexual content where it does not belong."""

    CHILD_SAFETY = "child_safety"
    """A danger to children."""

    UNDERAGE_USER = "underage_user"
    """Somebody too young for the instance."""

    SELF_HARM = "self_harm"
    """Somebody who may harm themselves."""

    SCAM = "scam"
    """An attempt to cheat people."""

    MALWARE = "malware"
    """Software that does harm, or a link to it."""

    IMPERSONATION = "impersonation"
    """Somebody who pretends to be somebody else."""

    PRIVACY_VIOLATION = "privacy_violation"
    """What is private, made known."""

    ILLEGAL_ACTIVITY = "illegal_activity"
    """What the law forbids."""

    SPAM_ACCOUNT = "spam_account"
    """An account made for spam."""

    INAPPROPRIATE_PROFILE = "inappropriate_profile"
    """A name, a picture or a text about oneself that does not belong there."""

    VIOLENT_CONTENT = "violent_content"
    """Violent or graphic content."""

    NSFW_VIOLATION = "nsfw_violation"
    """Content for adults where it does not belong."""

    DOXXING = "doxxing"
    """Somebody's address, name or the like, made known."""

    MALICIOUS_LINKS = "malicious_links"
    """Links that do harm."""

    MALWARE_DISTRIBUTION = "malware_distribution"
    """A guild that hands out software that does harm."""

    RAID_COORDINATION = "raid_coordination"
    """A guild in which attacks on others are arranged."""

    EXTREMIST_COMMUNITY = "extremist_community"
    """A guild of extremists."""

    OTHER = "other"
    """Anything else."""


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
