"""Operations that delete what accounts wrote (administration.md, Messages and shreds)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.admin import buckets
from chat.admin.acting import acting
from chat.admin.operation import AdminRoutes
from chat.api.fields import Length, Snowflake
from chat.api.operation import Request
from chat.api.schemas.administration.administration import ALL_MESSAGES, SHRED, SHRED_ORDERED
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.administration.message_shreds import Entry
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction

routes = AdminRoutes()

FALSE: Final = frozenset({"false", "False", "0"})
"""What makes a run more than a dry one (administration.md, Messages and shreds)."""

ENTRIES_MAXIMUM: Final = 1_000


@attrs.frozen
class DeleteMessages:
    """The query of DELETE …/messages: text, so that whatever is no clear word leaves a dry run."""

    dry_run: str = "true"


@attrs.frozen
class ShredEntry:
    """A message shred entry."""

    channel_id: Snowflake
    message_id: Snowflake


@attrs.frozen
class OrderShred:
    """The body of POST …/message-shreds."""

    entries: Annotated[list[ShredEntry], Length(1, ENTRIES_MAXIMUM)]


@routes.admin_operation(
    "DELETE",
    "/v1/admin/users/{user_id}/messages",
    acls=[Acl.MESSAGE_DELETE_ALL],
    audit=AdminAction.DELETE_ALL_USER_MESSAGES,
    bucket=buckets.MESSAGE,
    query=DeleteMessages,
    answers=ALL_MESSAGES,
)
async def delete_messages(
    request: Request, administration: AdministrationArea, user_id: int, query: DeleteMessages
) -> object:
    """Count what an account wrote, or delete it all."""
    shreds = administration.shreds
    return await shreds.delete_all(acting(request), user_id, dry_run=query.dry_run.strip() not in FALSE)


@routes.admin_operation(
    "POST",
    "/v1/admin/users/{user_id}/message-shreds",
    acls=[Acl.MESSAGE_SHRED],
    audit=AdminAction.QUEUE_MESSAGE_SHRED,
    bucket=buckets.MESSAGE,
    body=OrderShred,
    answers=SHRED_ORDERED,
)
async def order_shred(request: Request, administration: AdministrationArea, user_id: int, body: OrderShred) -> object:
    """Order the deletion of listed messages."""
    entries = [Entry(entry.channel_id, entry.message_id) for entry in body.entries]
    return await administration.shreds.order(acting(request), user_id, entries)


@routes.admin_operation(
    "GET",
    "/v1/admin/messages/shreds/{job_id}",
    acls=[Acl.MESSAGE_SHRED],
    audit=None,
    bucket=buckets.MESSAGE,
    answers=SHRED,
)
async def get_shred(request: Request, administration: AdministrationArea, job_id: int) -> object:
    """How far a shred is."""
    return administration.shreds.status(job_id)
