"""Operations on bans of accounts (administration.md, Account bans)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.admin import buckets
from chat.admin.acting import acting
from chat.admin.operation import AdminRoutes
from chat.api.fields import Length, Range, Snowflake
from chat.api.operation import Request
from chat.api.schemas.administration.administration import USER
from chat.api.schemas.shapes import NOTHING
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction

routes = AdminRoutes()

HOURS_MAXIMUM: Final = 8_760
REASON_LENGTH: Final = 512


@attrs.frozen
class Ban:
    """The body of PUT …/ban."""

    duration_hours: Annotated[int, Range(0, HOURS_MAXIMUM)]
    reason: Annotated[str, Length(0, REASON_LENGTH)] | None = None
    notify_user: bool = True


@attrs.frozen
class Unban:
    """The body of DELETE …/ban."""

    notify_user: bool = True
    public_reason: Annotated[str, Length(0, REASON_LENGTH)] | None = None


@attrs.frozen
class AnnotateBan:
    """The body of POST …/ban/notes."""

    ban_audit_log_id: Snowflake
    note: Annotated[str, Length(1, REASON_LENGTH)]


@routes.admin_operation(
    "PUT",
    "/v1/admin/users/{user_id}/ban",
    acls=[Acl.USER_TEMP_BAN],
    audit=AdminAction.TEMP_BAN,
    bucket=buckets.MODIFY,
    body=Ban,
    answers=USER,
)
async def ban_account(request: Request, administration: AdministrationArea, user_id: int, body: Ban) -> object:
    """Keep everybody out of an account, for a time or for good."""
    user = await administration.bans.ban(
        acting(request), user_id, hours=body.duration_hours, reason=body.reason, notify=body.notify_user
    )
    return {"user": user}


@routes.admin_operation(
    "DELETE",
    "/v1/admin/users/{user_id}/ban",
    acls=[Acl.USER_TEMP_BAN],
    audit=AdminAction.UNBAN,
    bucket=buckets.MODIFY,
    body=Unban,
    answers=USER,
)
async def unban_account(request: Request, administration: AdministrationArea, user_id: int, body: Unban) -> object:
    """Lift an account's ban."""
    user = await administration.bans.unban(
        acting(request), user_id, public_reason=body.public_reason, notify=body.notify_user
    )
    return {"user": user}


@routes.admin_operation(
    "POST",
    "/v1/admin/users/{user_id}/ban/notes",
    acls=[Acl.USER_TEMP_BAN],
    audit=AdminAction.ANNOTATE_BAN,
    bucket=buckets.MODIFY,
    body=AnnotateBan,
    answers=NOTHING,
)
async def annotate_ban(request: Request, administration: AdministrationArea, user_id: int, body: AnnotateBan) -> None:
    """Add a note to the ban that stands."""
    await administration.bans.annotate(acting(request), user_id, body.ban_audit_log_id, body.note)
