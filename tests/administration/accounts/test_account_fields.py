"""The field groups of an account, one operation each: what changes, who is told, what the audit log keeps."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio.testing

from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.audit import audit_log

Case = tuple[str, str, dict[str, Any] | None, str, dict[str, str]]

CASES: list[Case] = [
    (
        "PATCH",
        "username",
        {"username": " bobby ", "discriminator": "7"},
        "change_username",
        {"old_username": "bob", "new_username": "bobby", "discriminator": "7"},
    ),
    (
        "PATCH",
        "email",
        {"email": "Bobby@example.com"},
        "change_email",
        {"old_email": "bob@example.com", "new_email": "Bobby@example.com"},
    ),
    ("PUT", "email-verification", None, "verify_email", {"email": "bob@example.com"}),
    (
        "PATCH",
        "date-of-birth",
        {"date_of_birth": "1999-12-31"},
        "change_dob",
        {"old_dob": "1990-01-01", "new_dob": "1999-12-31"},
    ),
    ("DELETE", "profile-fields", {"fields": ["bio", "avatar", "bio"]}, "clear_fields", {"fields": "bio,avatar"}),
    ("PUT", "bot-status", {"bot": True}, "set_bot_status", {"bot": "true"}),
    ("PUT", "system-status", {"system": False}, "set_system_status", {"system": "false"}),
    (
        "PUT",
        "acls",
        {"acls": ["user:lookup", "admin:authenticate", "user:lookup"]},
        "set_acls",
        {"acls": "user:lookup,admin:authenticate"},
    ),
    ("PUT", "traits", {"traits": ["b", "a", "b"]}, "set_traits", {"traits": "a,b"}),
    ("PUT", "traits", {"traits": []}, "set_traits", {}),
    (
        "PATCH",
        "flags",
        {"add_flags": ["6", "9223372036854775808"], "remove_flags": ["2"]},
        "update_flags",
        {"add_flags": "6,9223372036854775808", "remove_flags": "2", "new_flags": "9223372036854775812"},
    ),
    (
        "PATCH",
        "premium-flags",
        {"add_flags": [3, 4294967295], "remove_flags": [1]},
        "update_premium_flags",
        {"add_flags": "3,4294967295", "remove_flags": "1", "new_flags": "4294967294"},
    ),
]


@pytest.mark.parametrize(("method", "path", "body", "action", "metadata"), CASES, ids=lambda case: json.dumps(case))
async def test_a_change_is_made_told_and_kept(
    chat_server: ChatServer,
    chat_world: World,
    autojump_clock: trio.testing.MockClock,
    method: str,
    path: str,
    body: dict[str, Any] | None,
    action: str,
    metadata: dict[str, str],
) -> None:
    world = chat_world
    bob = await world.bob.connect()
    reason = {"X-Audit-Log-Reason": "asked for"}
    answer = await world.admin.rest.request(
        method, f"/v1/admin/users/{world.bob.id}/{path}", json=... if body is None else body, headers=reason
    )
    user = answer.expect(200)["user"]
    assert user["id"] == world.bob.id
    assert (await bob.expect("USER_UPDATE")).data["id"] == world.bob.id
    [entry] = audit_log(chat_server)
    assert (entry.action, entry.target_type, entry.target_id) == (action, "user", world.bob.id)
    assert (entry.admin_user_id, entry.reason) == (int(world.admin.id), "asked for")
    assert entry.metadata == metadata
