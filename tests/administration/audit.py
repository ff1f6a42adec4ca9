"""Reads the administrative audit log where the server keeps it."""

from __future__ import annotations

import attrs

from chat.store.administration.admin_audit_log import AdminAuditLogEntry
from chat.testing.server import ChatServer


def audit_log(server: ChatServer) -> list[AdminAuditLogEntry]:
    """Every entry, the oldest first."""
    names = ", ".join(field.name for field in attrs.fields(AdminAuditLogEntry))
    rows = server.database.reader.execute(f"SELECT {names} FROM admin_audit_log ORDER BY id")  # noqa: S608
    return [AdminAuditLogEntry(*row) for row in rows]
