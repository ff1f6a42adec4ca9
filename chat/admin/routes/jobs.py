"""Operations on the ledger of background work (administration.md, Jobs)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat.admin import buckets
from chat.admin.acting import acting
from chat.admin.operation import AdminRoutes
from chat.api.fields import Range, Snowflake
from chat.api.operation import Request
from chat.api.schemas.administration.administration import JOB
from chat.api.schemas.shapes import listed, record
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import Acl
from chat.registries.jobs import JobStatus, JobType

routes = AdminRoutes()


@attrs.frozen
class ListJobs:
    """The query of GET /v1/admin/jobs."""

    status: JobStatus | None = None
    task_type: JobType | None = None
    before: Snowflake | None = None
    limit: Annotated[int, Range(1, 200)] = 50


@routes.admin_operation(
    "GET",
    "/v1/admin/jobs",
    acls=[Acl.JOBS_VIEW],
    audit=None,
    bucket=buckets.LOOKUP,
    query=ListJobs,
    answers=record({"jobs": listed(JOB)}),
)
async def list_jobs(request: Request, administration: AdministrationArea, query: ListJobs) -> object:
    """Jobs, the newest first."""
    ledger = administration.ledger
    page = await ledger.page(status=query.status, task_type=query.task_type, before=query.before, limit=query.limit)
    return {"jobs": page}


@routes.admin_operation(
    "GET", "/v1/admin/jobs/{job_id}", acls=[Acl.JOBS_VIEW], audit=None, bucket=buckets.LOOKUP, answers=JOB
)
async def get_job(request: Request, administration: AdministrationArea, job_id: int) -> object:
    """One job."""
    return administration.ledger.get(job_id)


@routes.admin_operation(
    "POST",
    "/v1/admin/jobs/{job_id}/cancel",
    acls=[Acl.JOBS_CANCEL],
    audit=None,
    bucket=buckets.MODIFY,
    answers=JOB,
)
async def cancel_job(request: Request, administration: AdministrationArea, job_id: int) -> object:
    """End a job."""
    return await administration.ledger.cancel(acting(request), job_id)
