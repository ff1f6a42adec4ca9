"""Audit log entries as the wire has them (guilds.md, Audit log)."""

from __future__ import annotations

from typing import Any

from chat.store.standing.guild_audit_log import AuditLogEntry


def audit_log_entry_object(entry: AuditLogEntry) -> dict[str, Any]:
    """One entry; `reason`, `options` and `changes` are there only where there is something to tell."""
    data: dict[str, Any] = {
        "id": str(entry.id),
        "action_type": entry.action_type,
        "user_id": str(entry.user_id),
        "target_id": entry.target_id,
    }
    if entry.reason is not None:
        data["reason"] = entry.reason
    if entry.options:
        data["options"] = dict(entry.options)
    if entry.changes:
        data["changes"] = [dict(change) for change in entry.changes]
    return data
