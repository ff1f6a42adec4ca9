"""What readers do with messages (wire facts 5.3, 5.4)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.messages import MESSAGE
from chat.api.schemas.shapes import (
    BOOLEAN,
    COUNT,
    SNOWFLAKE,
    TIMESTAMP,
    choice,
    listed,
    mapped,
    nullable,
    record,
    wire_object,
)
from chat.api.schemas.users import PARTIAL_USER

REACTION_USERS: Final = record({"items": listed(PARTIAL_USER), "has_more": BOOLEAN, "next_after": nullable(SNOWFLAKE)})

PINS: Final = record({"items": listed(record({"message": MESSAGE, "pinned_at": TIMESTAMP})), "has_more": BOOLEAN})

CHANNELS_MESSAGES: Final = record({"channels": listed(record({"channel_id": SNOWFLAKE, "messages": listed(MESSAGE)}))})

NEWEST_MESSAGES: Final = mapped(nullable(MESSAGE), names=SNOWFLAKE)
"""By the channel's id."""

PURGED: Final = record({"deleted_count": COUNT})

SLOWMODE: Final = record(
    {
        "rate_limit_per_user": COUNT,
        "retry_after_ms": COUNT,
        "next_send_allowed_at": nullable(TIMESTAMP),
        "can_bypass": BOOLEAN,
    }
)

SAVED_MESSAGE: Final = wire_object(
    "SavedMessage",
    {
        "id": SNOWFLAKE,
        "channel_id": SNOWFLAKE,
        "message_id": SNOWFLAKE,
        "status": choice("available", "missing_permissions"),
        "message": nullable(MESSAGE),
    },
    description="A message that an account keeps; null where it may not read it at present.",
)
