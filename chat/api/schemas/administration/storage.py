"""The shapes of what takes the room (administration.md, Storage)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.shapes import BOOLEAN, COUNT, SNOWFLAKE, TEXT, TIMESTAMP, listed, nullable, wire_object

STORAGE: Final = wire_object(
    "Storage",
    {
        "counted_at": TIMESTAMP,
        "disk": wire_object(
            "StorageDisk",
            {"total_bytes": COUNT, "free_bytes": COUNT, "warn_bytes": COUNT, "is_low": BOOLEAN},
            description="The disk of the data directory.",
        ),
        "parts": listed(
            wire_object("StoragePart", {"part": TEXT, "bytes": COUNT, "files": COUNT}, description="Files of one kind.")
        ),
        "guilds": listed(
            wire_object(
                "StorageGuild",
                {"guild_id": SNOWFLAKE, "name": nullable(TEXT), "icon": nullable(TEXT), "bytes": COUNT, "files": COUNT},
                description="Files of messages in a guild; guild 0 stands for private conversations.",
            )
        ),
        "accounts": listed(
            wire_object(
                "StorageAccount",
                {
                    "user_id": SNOWFLAKE,
                    "username": nullable(TEXT),
                    "discriminator": nullable(TEXT),
                    "bytes": COUNT,
                    "files": COUNT,
                },
                description="Files that an account has uploaded.",
            )
        ),
        "backup": nullable(
            wire_object(
                "StorageBackup",
                {
                    "directory": TEXT,
                    "tried_at": TIMESTAMP,
                    "failure": nullable(TEXT),
                    "made_at": nullable(TIMESTAMP),
                    "bytes": COUNT,
                    "new_bytes": COUNT,
                    "files": COUNT,
                    "kept": COUNT,
                    "remarks": listed(TEXT),
                },
                description="The last attempt to back the instance up, and the last backup that is whole.",
            )
        ),
    },
    description="What takes the room; counts may be half a minute old.",
)
