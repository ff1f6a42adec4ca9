"""What every conversation's script shares: the world that it is told, and how it tells what it did."""

from __future__ import annotations

import json
import sys
from typing import Any, Final

WORLD: Final[dict[str, Any]] = json.loads(sys.argv[1])
"""What `chat dev --json` printed."""

BASE_URL: Final[str] = WORLD["base_url"]
MOUNT_URL: Final = BASE_URL.removesuffix("/v1") + "/api/v10"
GATEWAY_URL: Final[str] = WORLD["gateway_url"]
BOT_TOKEN: Final[str] = WORLD["bot"]["token"]
GUILD_ID: Final = int(WORLD["guild_id"])
CHANNEL_ID: Final = int(WORLD["channel_id"])
ALICE_ID: Final = int(WORLD["users"][0]["id"])


def report(step: str, **members: Any) -> None:
    """One line of JSON for the test."""
    print(json.dumps({"step": step, **members}), flush=True)
