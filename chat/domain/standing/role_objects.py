"""Role objects as the wire has them (guilds.md, Roles)."""

from __future__ import annotations

from typing import Any

from chat.domain.standing.permissions import without_thread_bits
from chat.store.guilds.roles import Role


def role_object(role: Role, *, threads: bool) -> dict[str, Any]:
    """The role object; without `threads` its mask loses the thread bits (guilds.md, Guild object)."""
    data: dict[str, Any] = {
        "id": str(role.id),
        "name": role.name,
        "color": role.color,
        "position": role.position,
        "hoist_position": role.hoist_position,
        "permissions": str(role.permissions if threads else without_thread_bits(role.permissions)),
        "hoist": role.hoist,
        "mentionable": role.mentionable,
    }
    if role.unicode_emoji is not None:
        data["unicode_emoji"] = role.unicode_emoji
    return data
