"""Why accounts are deleted (administration.md, Scheduled deletion)."""

from __future__ import annotations

import enum
from typing import Final


class DeletionReason(enum.IntEnum):
    """The registered reasons; what follows from each is told in the operation that schedules a deletion."""

    USER_REQUESTED = 1
    """The holder wants it: the shortest delay, and none of what follows from misconduct."""

    OTHER = 2
    """None of the other reasons."""

    SPAM = 3
    """Unwanted messages in numbers."""

    CHEATING_OR_EXPLOITATION = 4
    """Cheats, or the abuse of a defect."""

    COORDINATED_RAIDING = 5
    """Took part in a raid on a guild."""

    AUTOMATION_OR_SELFBOT = 6
    """A program that used a person's account."""

    NONCONSENSUAL_SEXUAL_CONTENT = 7
    """Intimate pictures of somebody who did not agree."""

    SCAM_OR_SOCIAL_ENGINEERING = 8
    """Tried to deceive people out of something."""

    CHILD_SEXUAL_CONTENT = 9
    """Sexual depictions of children."""

    PRIVACY_VIOLATION_OR_DOXXING = 10
    """Published what was somebody's own business."""

    HARASSMENT_OR_BULLYING = 11
    """Hounded somebody."""

    PAYMENT_FRAUD = 12
    """Paid with what was not theirs."""

    CHILD_SAFETY_VIOLATION = 13
    """Endangered a child."""

    BILLING_DISPUTE_OR_ABUSE = 14
    """Took payments back without reason."""

    UNSOLICITED_EXPLICIT_CONTENT = 15
    """Sent explicit content to people who had not asked for it."""

    GRAPHIC_VIOLENCE = 16
    """Depictions of cruelty."""

    BAN_EVASION = 17
    """Another account of somebody who is banned."""

    TOKEN_OR_CREDENTIAL_SCAM = 18
    """Was after the credentials of others."""

    INACTIVITY = 19
    """Nobody has used the account for long."""

    HATE_SPEECH_OR_EXTREMIST_CONTENT = 20
    """Hatred of people for what they are."""

    MALICIOUS_LINKS_OR_MALWARE = 21
    """Led people to harmful programs."""

    IMPERSONATION_OR_FAKE_IDENTITY = 22
    """Passed for somebody else."""


MINIMUM_DAYS_ON_REQUEST: Final = 14
"""Days between the wish of a holder (USER_REQUESTED) and the erasure at least."""

MINIMUM_DAYS: Final = 60
"""Days between any other scheduling and the erasure at least."""
