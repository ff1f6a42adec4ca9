"""Why accounts are deleted (administration.md, Scheduled deletion)."""

from __future__ import annotations

import enum
from typing import Final


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
