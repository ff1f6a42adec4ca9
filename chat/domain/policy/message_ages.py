"""The ages at which messages are deleted: what guilds and channels may choose, and what comes of their choice."""

from __future__ import annotations

from typing import Final

from chat.config.keeping import MOST_DAYS, RetentionSettings
from chat.errors import FieldError
from chat.registries.error_codes import FieldCode

FIELD: Final = "message_retention_days"

FOR_EVER: Final = 0
"""What is chosen to keep messages without end."""


def wrong_age(retention: RetentionSettings, days: int | None) -> list[FieldError]:
    """What is wrong with the age that a guild or a channel chooses: out of the instance's bounds. None is no choice."""
    most = MOST_DAYS if retention.most_days is None else retention.most_days
    is_allowed = days is None or retention.least_days <= days <= most
    if is_allowed or (days == FOR_EVER and retention.most_days is None):
        return []
    return [FieldError(FIELD, FieldCode.VALUE_MUST_BE_INTEGER_IN_RANGE)]


def days_kept(retention: RetentionSettings, chosen: int | None) -> int | None:
    """For how many days messages are kept where this age was chosen, or none at all (None); None: for ever.

    What was chosen before the bounds were changed is kept within those of the present.
    """
    if chosen is None:
        return retention.messages_days
    if chosen == FOR_EVER:
        return retention.most_days
    return max(retention.least_days, chosen if retention.most_days is None else min(chosen, retention.most_days))
