"""Gateway sessions as a test sees them from outside (development.md, Development routes)."""

from __future__ import annotations

from typing import Any

import trio

from chat.gateway.session import GatewaySession
from chat.registries.statuses import Status


def session_object(session: GatewaySession) -> dict[str, Any]:
    """One live session, attached or retained.

    `status` is the one the session selected, or offline since it counts as such.
    """
    numbering = session.numbering
    offline = session.offline_at is not None and session.offline_at <= trio.current_time()
    return {
        "id": session.id,
        "user_id": str(session.user_id),
        "bot": session.bot,
        "shard": None if session.shard is None else session.shard.as_pair(),
        "sequence": numbering.sequence,
        "acknowledged": numbering.acknowledged,
        "replay_floor": numbering.replay_floor,
        "retained_dispatches": numbering.retained_count,
        "attached": session.receiver is not None,
        "address": session.address,
        "status": Status.OFFLINE if offline else session.presence.status,
    }
