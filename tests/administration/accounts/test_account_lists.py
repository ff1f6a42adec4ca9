"""What administrators read around an account, and that each reading is kept."""

from __future__ import annotations

from typing import Any

import pytest
import trio.testing

from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.audit import audit_log

READS: list[tuple[str, str, str, dict[str, str]]] = [
    ("", "users", "get_user", {"found": "true"}),
    (
        "/guilds?limit=3&with_counts=1",
        "guilds",
        "list_user_guilds",
        {"limit": "3", "with_counts": "true", "guild_count": "1"},
    ),
    ("/dm-channels", "channels", "list_user_dm_channels", {"type": "dm", "channel_count": "1", "limit": "50"}),
    ("/dm-channels?type=group_dm", "channels", "list_user_dm_channels", {"type": "group_dm", "channel_count": "0"}),
    ("/applications", "applications", "list_user_applications", {"application_count": "1"}),
    (
        "/relationships",
        "friends",
        "list_user_relationships",
        {"friend_count": "1", "incoming_request_count": "0", "outgoing_request_count": "0", "blocked_count": "0"},
    ),
    ("/sessions", "sessions", "list_user_sessions", {"session_count": "1"}),
    ("/change-log?limit=2", "entries", "list_user_change_log", {"limit": "2", "entry_count": "0"}),
    ("/webauthn-credentials", "", "list_webauthn_credentials", {"credential_count": "0"}),
]


@pytest.mark.parametrize(("path", "member", "action", "metadata"), READS, ids=[read[0] or "get" for read in READS])
async def test_a_reading_is_answered_and_kept(
    chat_server: ChatServer,
    chat_world: World,
    autojump_clock: trio.testing.MockClock,
    path: str,
    member: str,
    action: str,
    metadata: dict[str, str],
) -> None:
    world = chat_world
    alice = world.alice
    await world.anyone.post("/v1/_dev/relationships", {"user_id": alice.id, "target_user_id": world.bob.id, "type": 1})
    (await alice.rest.post("/v1/users/@me/channels", {"recipient_id": world.bob.id})).expect(200)
    answer = (await world.admin.rest.get(f"/v1/admin/users/{alice.id}{path}")).expect(200)
    listed: Any = answer[member] if member else answer
    counts = [int(value) for key, value in metadata.items() if key.endswith("_count")]
    assert len(listed) == (max(counts) if counts else 1)
    [entry] = audit_log(chat_server)
    assert (entry.action, entry.target_id, entry.metadata) == (action, alice.id, metadata)
    refused = await world.admin.rest.get(f"/v1/admin/users/1{path}")
    assert refused.status == (200 if action in {"get_user", "list_user_change_log"} else 404)
    assert len(audit_log(chat_server)) == (2 if refused.status == 200 else 1)
