"""Policy and limits of the instance as administrators see them (administration.md, Instance configuration)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.administration.administration import USER_SUMMARY
from chat.api.schemas.shapes import BOOLEAN, COUNT, SNOWFLAKE, TEXT, TIMESTAMP, choice, listed, mapped, nullable, record

INSTANCE_CONFIG: Final = record(
    {
        "config": record(
            {
                "registration": choice("open", "approval", "closed"),
                "email_verification_required": BOOLEAN,
                "single_community_enabled": BOOLEAN,
                "single_community_guild_id": nullable(SNOWFLAKE),
                "direct_messages_disabled": BOOLEAN,
            }
        ),
        "overridden": listed(TEXT),
        "setup": record({"configured": BOOLEAN}),
    }
)

LIMIT_CONFIG: Final = record({"limits": mapped(COUNT), "defaults": mapped(COUNT), "overridden": listed(TEXT)})

REGISTRATIONS: Final = record(
    {
        "registrations": listed(
            record(
                {
                    "user": USER_SUMMARY,
                    "email": nullable(TEXT),
                    "client_ip": nullable(TEXT),
                    "registered_at": TIMESTAMP,
                }
            )
        )
    }
)
