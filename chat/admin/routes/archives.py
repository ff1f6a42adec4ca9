"""Operations on archives of accounts and guilds (administration.md, Archives)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.admin import buckets
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import Range, Snowflake
from chat.api.operation import Request
from chat.api.schemas.administration.administration import ARCHIVE, ARCHIVE_ADDRESS
from chat.api.schemas.shapes import listed, nullable, record
from chat.domain.administration.assemble import AdministrationArea
from chat.errors import InvalidFormBody
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import FieldCode
from chat.registries.jobs import ArchiveSubject

routes = AdminRoutes()

ANY_ARCHIVE_ACL: Final = (Acl.ARCHIVE_VIEW_ALL, Acl.ARCHIVE_TRIGGER_USER, Acl.ARCHIVE_TRIGGER_GUILD)
"""Who may order archives sees their own; only with `archive:view_all` those of others too."""


@attrs.frozen
class OrderArchive:
    """The body of POST …/archives."""

    include_attachments: bool = False


@attrs.frozen
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
    acls=[Acl.ARCHIVE_TRIGGER_USER],
    audit=AdminAction.TRIGGER_USER_ARCHIVE,
    bucket=buckets.LOOKUP,
    answers=ARCHIVE,
)
async def order_user_archive(
    request: Request, administration: AdministrationArea, user_id: int, body: OrderArchive
) -> object:
    """Order an archive of an account."""
    return await administration.archives.order(
        acting(request), ArchiveSubject.USER, user_id, include_attachments=body.include_attachments
    )


@routes.admin_operation(
    "POST",
    "/v1/admin/guilds/{guild_id}/archives",
    acls=[Acl.ARCHIVE_TRIGGER_GUILD],
    audit=AdminAction.TRIGGER_GUILD_ARCHIVE,
    bucket=buckets.LOOKUP,
    answers=ARCHIVE,
)
async def order_guild_archive(
    request: Request, administration: AdministrationArea, guild_id: int, body: OrderArchive
) -> object:
    """Order an archive of a guild."""
    return await administration.archives.order(
        acting(request), ArchiveSubject.GUILD, guild_id, include_attachments=body.include_attachments
    )


@routes.admin_operation(
    "GET",
    "/v1/admin/archives",
    acls=[ANY_ARCHIVE_ACL],
    audit=None,
    bucket=buckets.LOOKUP,
    answers=record({"archives": listed(ARCHIVE, maximum=200)}),
)
async def list_archives(request: Request, administration: AdministrationArea, query: ListArchives) -> object:
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
    acls=[ANY_ARCHIVE_ACL],
    audit=None,
    bucket=buckets.LOOKUP,
    answers=record({"archive": nullable(ARCHIVE)}),
)
async def get_archive(
    request: Request, administration: AdministrationArea, subject_type: str, subject_id: int, archive_id: int
) -> object:
    """One archive."""
    archives = administration.archives
    return {"archive": archives.find(acting(request), _kind(subject_type), subject_id, archive_id)}


@routes.admin_operation(
    "GET",
    "/v1/admin/archives/{subject_type}/{subject_id}/{archive_id}/download",
    acls=[ANY_ARCHIVE_ACL],
    audit=None,
    bucket=buckets.LOOKUP,
    answers=ARCHIVE_ADDRESS,
)
async def download_archive(
    request: Request, administration: AdministrationArea, subject_type: str, subject_id: int, archive_id: int
) -> object:
    """An address under which the archive can be downloaded for a while."""
    archives = administration.archives
    return await archives.address(acting(request), _kind(subject_type), subject_id, archive_id)


def _kind(text: str) -> ArchiveSubject:
    try:
        return ArchiveSubject(text)
    except ValueError:
        raise InvalidFormBody.at("subject_type", FieldCode.INVALID_FORMAT) from None
