"""Operations that close accounts: bans, and scheduled erasures (administration.md, Account bans; administration.md,
Scheduled deletion)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.admin import buckets
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import Length, Range, Snowflake, Timestamp
from chat.api.operation import Request
from chat.api.schemas.administration.administration import USER
from chat.api.schemas.shapes import NOTHING
from chat.domain.administration.account_closing import DeletionWish
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.reports import DeletionReason

routes = AdminRoutes()

HOURS_MAXIMUM: Final = 8_760
DAYS_MAXIMUM: Final = 365
DAYS: Final = 60
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
    answers=USER,
)
async def ban_account(request: Request, administration: AdministrationArea, user_id: int, body: Ban) -> object:
    """Close an account, for a time or for good."""
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
    answers=NOTHING,
)
async def annotate_ban(request: Request, administration: AdministrationArea, user_id: int, body: AnnotateBan) -> None:
    """Add a note to the ban that stands."""
    await administration.bans.annotate(acting(request), user_id, body.ban_audit_log_id, body.note)


@attrs.frozen(kw_only=True)
class ScheduleDeletion:
    """The body of PUT …/deletion."""

    reason_code: DeletionReason
    public_reason: Annotated[str, Length(0, REASON_LENGTH)] | None = None
    days_until_deletion: Annotated[int, Range(1, DAYS_MAXIMUM)] = DAYS
    replace_pending_deletion_at: Timestamp | None = None
    notify_user: bool = True


@attrs.frozen(kw_only=True)
class CancelDeletion:
    """The body of DELETE …/deletion."""

    expected_pending_deletion_at: Timestamp
    notify_user: bool = False


@routes.admin_operation(
    "PUT",
    "/v1/admin/users/{user_id}/deletion",
    acls=[Acl.USER_DELETE],
    audit=AdminAction.SCHEDULE_DELETION,
    bucket=buckets.MODIFY,
    answers=USER,
)
async def schedule_deletion(
    request: Request, administration: AdministrationArea, user_id: int, body: ScheduleDeletion
) -> object:
    """Schedule an account's erasure, or replace the one that is pending."""
    wish = DeletionWish(
        reason=body.reason_code,
        days=body.days_until_deletion,
        public_reason=body.public_reason,
        replaces=body.replace_pending_deletion_at,
        notify=body.notify_user,
    )
    return {"user": await administration.deletions.schedule(acting(request), user_id, wish)}


@routes.admin_operation(
    "DELETE",
    "/v1/admin/users/{user_id}/deletion",
    acls=[Acl.USER_DELETE],
    audit=AdminAction.CANCEL_DELETION,
    bucket=buckets.MODIFY,
    answers=USER,
)
async def cancel_deletion(
    request: Request, administration: AdministrationArea, user_id: int, body: CancelDeletion
) -> object:
    """Take an account's pending erasure back."""
    user = await administration.deletions.cancel(
        acting(request), user_id, body.expected_pending_deletion_at, notify=body.notify_user
    )
    return {"user": user}


@routes.admin_operation(
    "DELETE",
    "/v1/admin/users/{user_id}/message-deletion",
    acls=[Acl.USER_CANCEL_BULK_MESSAGE_DELETION],
    audit=AdminAction.CANCEL_BULK_MESSAGE_DELETION,
    bucket=buckets.MODIFY,
    answers=USER,
)
async def cancel_message_deletion(request: Request, administration: AdministrationArea, user_id: int) -> object:
    """Take an account's own wish to have its messages deleted back."""
    deletions = administration.deletions
    return {"user": await deletions.cancel_messages(acting(request), user_id)}
