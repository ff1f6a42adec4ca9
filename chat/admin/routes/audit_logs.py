"""Operations that read the administrative audit log (administration.md, Audit entries)."""

from __future__ import annotations

from typing import Annotated, Literal

import attrs

from chat.admin import buckets
from chat.admin.operation import AdminRoutes
from chat.api.fields import Length, Range, Snowflake
from chat.api.operation import Request
from chat.api.schemas.administration.administration import AUDIT_LOG_ENTRIES, AUDIT_LOG_ENTRY
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminTarget
from chat.store.administration.admin_audit_log import EntriesWanted

routes = AdminRoutes()


@attrs.frozen
class SearchEntries:
    """The query of GET /v1/admin/audit-logs."""

    q: Annotated[str, Length(1, 1_024)] | None = None
    admin_user_id: Snowflake | None = None
    target_type: AdminTarget | None = None
    target_id: Annotated[str, Length(1, 1_024)] | None = None
    sort_by: Literal["createdAt", "relevance"] = "createdAt"
    sort_order: Literal["asc", "desc"] = "desc"
    limit: Annotated[int, Range(1, 200)] = 50
    offset: Annotated[int, Range(0, 100_000)] = 0


@routes.admin_operation(
    "GET",
    "/v1/admin/audit-logs",
    acls=[Acl.AUDIT_LOG_VIEW],
    audit=None,
    bucket=buckets.AUDIT_LOG,
    answers=AUDIT_LOG_ENTRIES,
)
async def search_audit_log(request: Request, administration: AdministrationArea, query: SearchEntries) -> object:
    """Entries of the audit log."""
    wanted = EntriesWanted(
        text=query.q,
        admin_user_id=query.admin_user_id,
        target_type=query.target_type,
        target_id=query.target_id,
        sort=(query.sort_by, query.sort_order),
        limit=query.limit,
        offset=query.offset,
    )
    return await administration.audit_reading.search(wanted)


@routes.admin_operation(
    "GET",
    "/v1/admin/audit-logs/{log_id}",
    acls=[Acl.AUDIT_LOG_VIEW],
    audit=None,
    bucket=buckets.AUDIT_LOG,
    answers=AUDIT_LOG_ENTRY,
)
async def get_audit_log_entry(request: Request, administration: AdministrationArea, log_id: int) -> object:
    """One entry of the audit log."""
    return await administration.audit_reading.get(log_id)
