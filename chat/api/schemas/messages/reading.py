"""What readers do with messages (messages.md, Read states)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.accounts.users import PARTIAL_USER
from chat.api.schemas.messages.messages import MESSAGE
from chat.api.schemas.shapes import (
    ADDRESS,
    BOOLEAN,
    COUNT,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    choice,
    listed,
    mapped,
    nullable,
    record,
    text,
    wire_object,
)

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

FAVORITE_MEME: Final = wire_object(
    "FavoriteMeme",
    {
        "id": SNOWFLAKE,
        "user_id": SNOWFLAKE,
        "name": text(100),
        "alt_text": nullable(TEXT),
        "tags": listed(TEXT),
        "attachment_id": SNOWFLAKE,
        "filename": TEXT,
        "content_type": TEXT,
        "content_hash": nullable(TEXT),
        "size": COUNT,
        "width": nullable(COUNT),
        "height": nullable(COUNT),
        "duration": nullable(COUNT),
        "url": ADDRESS,
        "is_gifv": BOOLEAN,
    },
    description="A picture, a film or a sound that an account keeps at hand.",
)
