"""A request for every administrative operation that would do something, and what is done about those unknown here."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from chat.admin.operation import AdminOperation
from chat.admin.routes import ADMIN_ROUTES
from chat.testing.world import World

LATER: Final = "2100-01-01T00:00:00.000Z"
SHA: Final = "a" * 64

BOB: Final = "(bob)"
"""Stands for bob's snowflake."""

BODIES: Final[dict[str, Any]] = {
    "change_username": {"username": "robert"},
    "change_email": {"email": "robert@example.com"},
    "change_dob": {"date_of_birth": "1999-01-02"},
    "clear_fields": {"fields": ["bio"]},
    "set_bot_status": {"bot": True},
    "set_system_status": {"system": False},
    "set_acls": {"acls": ["admin:authenticate"]},
    "set_traits": {"traits": ["a"]},
    "update_flags": {"add_flags": ["2"]},
    "update_premium_flags": {"add_flags": [2]},
    "temp_ban": {"duration_hours": 1},
    "annotate_ban": {"ban_audit_log_id": "1", "note": "n"},
    "schedule_deletion": {"reason_code": 2},
    "cancel_deletion": {"expected_pending_deletion_at": LATER},
    "queue_message_shred": {"entries": [{"channel_id": "1", "message_id": "1"}]},
    "bulk_update_user_flags": {"user_ids": ["1"], "add_flags": ["2"]},
    "bulk_update_guild_features": {"guild_ids": ["1"], "add_features": ["VERIFIED"]},
    "bulk_add_guild_members": {"guild_id": "1", "user_ids": ["1"]},
    "bulk_schedule_deletion": {"user_ids": ["1"], "reason_code": 2},
    "remove_relationship": {"category": "friend"},
    "remove_relationships_by_category": {"category": "friend"},
    "transfer_ownership": {"new_owner_id": BOB},
    "send_system_dm": {"content": "Good morning", "user_ids": [BOB]},
    "POST /v1/admin/api-keys": {"name": "Key", "acls": []},
    "PATCH /v1/admin/guilds/{guild_id}": {"name": "Renamed"},
}
"""By the action of the audit log, or where there is none by method and path."""

VALUES: Final = {
    "email": "somebody@example.com",
    "ip": "8.8.8.8",
    "phrase": "a blocked phrase",
    "url": "https://bad.example/page",
    "url_domain": "bad.example",
    "file_sha": SHA,
    "avatar_hash": "abcdef01",
    "profile_substring": "bad words",
}
"""What can stand on each blocklist."""


def operations() -> list[AdminOperation]:
    """Every administrative operation that is declared."""
    return [
        operation for routes in ADMIN_ROUTES for operation in routes.operations if isinstance(operation, AdminOperation)
    ]


def body_of(operation: AdminOperation, world: World) -> Any:
    """The body of a request for it."""
    if operation.body is None:
        return ...
    listed = re.match(r"/v1/admin/blocklists/(\w+)", operation.path)
    if listed is not None:
        return {"value": VALUES.get(listed[1], "x")}
    name = f"{operation.method} {operation.path}"
    body = BODIES.get(name, BODIES.get(str(operation.audit), {}))
    return json.loads(json.dumps(body).replace(BOB, world.bob.id))


def path_of(operation: AdminOperation, world: World, user_id: str | None = None, *, path: str | None = None) -> str:
    """Its path (or the one given), about bob and the seeded guild; what else a path names does not exist."""
    known = {
        "user_id": world.bob.id if user_id is None else user_id,
        "guild_id": world.guild_id,
        "channel_id": world.channel_id,
        "application_id": world.bot.application_id,
        "target_user_id": world.carol.id,
        "subject_type": "user",
    }
    return re.sub(r"{(\w+)}", lambda match: known.get(match[1], "1"), operation.path if path is None else path)
