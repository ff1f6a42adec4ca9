"""What readers do with messages (wire facts 5.3, 5.4)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.shapes import BOOLEAN, SNOWFLAKE, listed, nullable, record
from chat.api.schemas.users import PARTIAL_USER

REACTION_USERS: Final = record({"items": listed(PARTIAL_USER), "has_more": BOOLEAN, "next_after": nullable(SNOWFLAKE)})
