"""Figures of the instance and of its gateway (administration.md, Figures)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.shapes import ASSET, COUNT, SNOWFLAKE, TEXT, TIMESTAMP, listed, nullable, record, wire_object

_LIFE: Final = {"started_at": TIMESTAMP, "uptime_seconds": COUNT, "memory_bytes": nullable(COUNT)}

INSTANCE_FIGURES: Final = wire_object(
    "InstanceFigures",
    {
        **_LIFE,
        "version": TEXT,
        "accounts": record({"people": COUNT, "bots": COUNT, "deleted": COUNT}),
        "guilds": COUNT,
        "channels": COUNT,
        "messages": COUNT,
        "storage": record({"upload_bytes": COUNT, "database_bytes": COUNT}),
        "jobs_waiting": COUNT,
        "sessions": COUNT,
        "online": COUNT,
    },
    description="What there is of everything; counts of the store may be some seconds old.",
)

GATEWAY_FIGURES: Final = wire_object(
    "GatewayFigures",
    {
        **_LIFE,
        "connections": COUNT,
        "sessions": record({"total": COUNT, "attached": COUNT, "retained": COUNT, "bots": COUNT}),
        "guilds_in_memory": COUNT,
        "presences": COUNT,
        "voice_connections": COUNT,
        "backlog": COUNT,
    },
    description="The gateway of the node; `memory_bytes` is the whole process.",
)

GATEWAY_GUILDS: Final = record(
    {
        "guilds": listed(
            wire_object(
                "GatewayGuild",
                {
                    "guild_id": SNOWFLAKE,
                    "name": TEXT,
                    "icon": nullable(ASSET),
                    "member_count": COUNT,
                    "session_count": COUNT,
                    "presence_count": COUNT,
                    "memory_bytes": COUNT,
                },
                description="A guild in memory; `memory_bytes` is an estimate.",
            ),
            maximum=200,
        )
    }
)
