"""Operations on background work: its ledger (administration.md, Jobs), one change for many accounts or guilds
(administration.md, Bulk jobs), and archives of accounts and guilds (administration.md, Archives)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat import wire
from chat.admin import buckets
from chat.admin.operation import AdminRoutes, acting
from chat.admin.routes.account_access import DAYS, DAYS_MAXIMUM, REASON_LENGTH, wish_of
from chat.api.fields import FlagBits, Items, Length, Range, Snowflake
from chat.api.operation import Request
from chat.classes import frozen
from chat.domain.administration.assemble import AdministrationArea
from chat.errors import InvalidFormBody
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import FieldCode
from chat.registries.guild_features import GuildFeature
from chat.registries.jobs import ArchiveSubject, JobStatus, JobType
from chat.registries.reports import DeletionReason

routes = AdminRoutes()


@frozen
class ListJobs:
    """The query of GET /v1/admin/jobs."""

    status: JobStatus | None = None
    task_type: JobType | None = None
    before: Snowflake | None = None
    limit: Annotated[int, Range(1, 200)] = 50


@routes.admin_operation("GET", "/v1/admin/jobs", [Acl.JOBS_VIEW], audit=None)
async def list_jobs(request: Request, administration: AdministrationArea, query: ListJobs) -> wire.AdminListJobsAnswer:
    """Jobs, the newest first."""
    ledger = administration.ledger
    page = await ledger.page(status=query.status, task_type=query.task_type, before=query.before, limit=query.limit)
    return {"jobs": page}


@routes.admin_operation("GET", "/v1/admin/jobs/{job_id}", [Acl.JOBS_VIEW], audit=None)
async def get_job(request: Request, administration: AdministrationArea, job_id: int) -> wire.Job:
    """One job."""
    return administration.ledger.get(job_id)


@routes.admin_operation("POST", "/v1/admin/jobs/{job_id}/cancel", [Acl.JOBS_CANCEL], audit=None)
async def cancel_job(request: Request, administration: AdministrationArea, job_id: int) -> wire.Job:
    """End a job."""
    return await administration.ledger.cancel(acting(request), job_id)


ITEMS_MAXIMUM: Final = 1_000
"""Accounts, or guilds, of one job (administration.md, Bulk jobs)."""

FLAGS_MAXIMUM: Final = 64

Ids = Annotated[list[Snowflake], Items(1, ITEMS_MAXIMUM)]
Flags = Annotated[list[FlagBits], Items(0, FLAGS_MAXIMUM)]
Features = Annotated[list[GuildFeature], Items(0, FLAGS_MAXIMUM)]


@frozen
class UpdateUserFlags:
    """The body of POST …/update-user-flags."""

    user_ids: Ids
    add_flags: Flags = attrs.field(factory=list)
    remove_flags: Flags = attrs.field(factory=list)


@frozen
class UpdateGuildFeatures:
    """The body of POST …/update-guild-features."""

    guild_ids: Ids
    add_features: Features = attrs.field(factory=list)
    remove_features: Features = attrs.field(factory=list)


@frozen
class AddGuildMembers:
    """The body of POST …/add-guild-members."""

    guild_id: Snowflake
    user_ids: Ids


@frozen(kw_only=True)
class ScheduleUserDeletions:
    """The body of POST …/schedule-user-deletions: as that of PUT …/deletion, for many."""

    user_ids: Ids
    reason_code: DeletionReason
    public_reason: Annotated[str, Length(0, REASON_LENGTH)] | None = None
    days_until_deletion: Annotated[int, Range(1, DAYS_MAXIMUM)] = DAYS
    notify_user: bool = True


@routes.admin_operation(
    "POST", "/v1/admin/bulk-jobs/update-user-flags", [Acl.BULK_UPDATE_USER_FLAGS], AdminAction.BULK_UPDATE_USER_FLAGS
)
async def order_user_flags(request: Request, administration: AdministrationArea, body: UpdateUserFlags) -> wire.Job:
    """Set and clear flags of up to 1,000 accounts."""
    bulk = administration.bulk_jobs
    return await bulk.order_user_flags(acting(request), body.user_ids, body.add_flags, body.remove_flags)


@routes.admin_operation(
    "POST",
    "/v1/admin/bulk-jobs/update-guild-features",
    [Acl.BULK_UPDATE_GUILD_FEATURES],
    AdminAction.BULK_UPDATE_GUILD_FEATURES,
    bucket=buckets.GUILD_MODIFY,
)
async def order_guild_features(
    request: Request, administration: AdministrationArea, body: UpdateGuildFeatures
) -> wire.Job:
    """Give features to up to 1,000 guilds, and take others away."""
    bulk = administration.bulk_jobs
    add, remove = [str(feature) for feature in body.add_features], [str(feature) for feature in body.remove_features]
    return await bulk.order_guild_features(acting(request), body.guild_ids, add, remove)


@routes.admin_operation(
    "POST",
    "/v1/admin/bulk-jobs/add-guild-members",
    [Acl.BULK_ADD_GUILD_MEMBERS],
    AdminAction.BULK_ADD_GUILD_MEMBERS,
    bucket=buckets.GUILD_MODIFY,
)
async def order_guild_members(request: Request, administration: AdministrationArea, body: AddGuildMembers) -> wire.Job:
    """Make up to 1,000 accounts members of a guild."""
    return await administration.bulk_jobs.order_guild_members(acting(request), body.guild_id, body.user_ids)


@routes.admin_operation(
    "POST", "/v1/admin/bulk-jobs/schedule-user-deletions", [Acl.BULK_DELETE_USERS], AdminAction.BULK_SCHEDULE_DELETION
)
async def order_user_deletions(
    request: Request, administration: AdministrationArea, body: ScheduleUserDeletions
) -> wire.Job:
    """Schedule the erasure of up to 1,000 accounts."""
    return await administration.bulk_jobs.order_user_deletions(acting(request), body.user_ids, wish_of(body))


ANY_ARCHIVE_ACL: Final = (Acl.ARCHIVE_VIEW_ALL, Acl.ARCHIVE_TRIGGER_USER, Acl.ARCHIVE_TRIGGER_GUILD)
"""Who may order archives sees their own; only with `archive:view_all` those of others too."""


@frozen
class OrderArchive:
    """The body of POST …/archives."""

    include_attachments: bool = False


@frozen
class ListArchives:
    """The query of GET /v1/admin/archives."""

    subject_type: ArchiveSubject | None = None
    subject_id: Snowflake | None = None
    requested_by: Snowflake | None = None
    limit: Annotated[int, Range(1, 200)] = 50
    include_expired: bool = False


@routes.admin_operation(
    "POST",
    "/v1/admin/users/{user_id}/archives",
    [Acl.ARCHIVE_TRIGGER_USER],
    AdminAction.TRIGGER_USER_ARCHIVE,
    bucket=buckets.LOOKUP,
)
async def order_user_archive(
    request: Request, administration: AdministrationArea, user_id: int, body: OrderArchive
) -> wire.Archive:
    """Order an archive of an account."""
    return await administration.archives.order(
        acting(request), ArchiveSubject.USER, user_id, include_attachments=body.include_attachments
    )


@routes.admin_operation(
    "POST",
    "/v1/admin/guilds/{guild_id}/archives",
    [Acl.ARCHIVE_TRIGGER_GUILD],
    AdminAction.TRIGGER_GUILD_ARCHIVE,
    bucket=buckets.LOOKUP,
)
async def order_guild_archive(
    request: Request, administration: AdministrationArea, guild_id: int, body: OrderArchive
) -> wire.Archive:
    """Order an archive of a guild."""
    return await administration.archives.order(
        acting(request), ArchiveSubject.GUILD, guild_id, include_attachments=body.include_attachments
    )


@routes.admin_operation(
    "GET",
    "/v1/admin/archives",
    [ANY_ARCHIVE_ACL],
    audit=None,
)
async def list_archives(
    request: Request, administration: AdministrationArea, query: ListArchives
) -> wire.AdminListArchivesAnswer:
    """Archives, the newest first."""
    page = await administration.archives.page(
        acting(request),
        kind=query.subject_type,
        subject_id=query.subject_id,
        requested_by=query.requested_by,
        include_expired=query.include_expired,
        limit=query.limit,
    )
    return {"archives": page}


@routes.admin_operation(
    "GET",
    "/v1/admin/archives/{subject_type}/{subject_id}/{archive_id}",
    [ANY_ARCHIVE_ACL],
    audit=None,
)
async def get_archive(
    request: Request, administration: AdministrationArea, subject_type: str, subject_id: int, archive_id: int
) -> wire.AdminGetArchiveAnswer:
    """One archive."""
    archives = administration.archives
    return {"archive": archives.find(acting(request), _kind(subject_type), subject_id, archive_id)}


@routes.admin_operation(
    "GET",
    "/v1/admin/archives/{subject_type}/{subject_id}/{archive_id}/download",
    [ANY_ARCHIVE_ACL],
    audit=None,
)
async def download_archive(
    request: Request, administration: AdministrationArea, subject_type: str, subject_id: int, archive_id: int
) -> wire.ArchiveAddress:
    """An address under which the archive can be downloaded for a while."""
    archives = administration.archives
    return await archives.address(acting(request), _kind(subject_type), subject_id, archive_id)


def _kind(text: str) -> ArchiveSubject:
    try:
        return ArchiveSubject(text)
    except ValueError:
        raise InvalidFormBody.at("subject_type", FieldCode.INVALID_FORMAT) from None
