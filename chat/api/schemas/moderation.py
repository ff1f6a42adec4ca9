"""What moderators of the instance work with: blocklists, reports, applications for discovery (wire facts 7.7)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.shapes import (
    BOOLEAN,
    COUNT,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    listed,
    member_of,
    nullable,
    record,
    wire_object,
)
from chat.registries.blocklists import Blocklist

BLOCKED_VALUE: Final = wire_object(
    "BlockedValue",
    {
        "list": member_of(Blocklist),
        "value": TEXT,
        "reason": nullable(TEXT),
        "added_by": nullable(SNOWFLAKE),
        "added_at": TIMESTAMP,
    },
)
BLOCKLIST_PAGE: Final = record({"entries": listed(BLOCKED_VALUE), "total": COUNT, "next_after": nullable(TEXT)})
BLOCKLIST_ANSWER: Final = record({"banned": BOOLEAN, "entry": nullable(BLOCKED_VALUE)})
