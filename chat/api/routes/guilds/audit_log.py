"""Reading a guild's audit log (guilds.md, Audit log)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat.api.fields import Range, Snowflake
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.schemas.guilds.guilds import AUDIT_LOG
from chat.domain.core import Core
from chat.store.standing.guild_audit_log import AuditLogPage

routes = Routes()


@attrs.frozen(kw_only=True)
class ReadAuditLog:
    """The query of GET /v1/guilds/{guild_id}/audit-logs."""

    user_id: Snowflake | None = None
    action_type: Annotated[int, Range(1, 255)] | None = None
    before: Snowflake | None = None
    after: Snowflake | None = None
    limit: Annotated[int, Range(1, 100)] = 50


@routes.operation(
    "GET",
    "/v1/guilds/{guild_id}/audit-logs",
    policy=Policy.USER,
    bucket=Bucket("guild:audit_log::guild_id", limit=40, window_ms=10_000),
    query=ReadAuditLog,
    answers=AUDIT_LOG,
)
async def read_audit_log(request: Request, core: Core, guild_id: int, query: ReadAuditLog) -> object:
    """A page of the guild's audit log."""
    page = AuditLogPage(query.limit, query.before, query.after, query.user_id, query.action_type)
    return await core.audit_log.read(request.principal, guild_id, page)
