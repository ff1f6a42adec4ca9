"""Operations on messages: looked up, deleted and shredded (administration.md, Messages and shreds), and sent by the
instance itself (administration.md, Messages from the instance)."""

from __future__ import annotations

from typing import Annotated, Final

from chat import wire
from chat.admin import buckets
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import Items, Length, Range, Snowflake
from chat.api.operation import Request
from chat.classes import frozen
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.administration.messages import MessageSelector, NamedMessage
from chat.domain.messages.message_reading import MessagePage
from chat.errors import FieldError, InvalidFormBody
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import FieldCode

routes = AdminRoutes(bucket_of_changes=buckets.MESSAGE)


@frozen
class ListMessages:
    """The query of GET /v1/admin/channels/{channel_id}/messages; `around` counts before `after`, that before
    `before`."""

    around: Snowflake | None = None
    before: Snowflake | None = None
    after: Snowflake | None = None
    limit: Annotated[int, Range(1, 100)] = 50


@frozen
class FindMessage:
    """The query of GET /v1/admin/messages: one of these; `link` is the address of a message or of a file in one."""

    message_id: Snowflake | None = None
    attachment_id: Snowflake | None = None
    link: Annotated[str, Length(1, 2_048)] | None = None


@routes.admin_operation(
    "GET",
    "/v1/admin/channels/{channel_id}/messages",
    [Acl.MESSAGE_LOOKUP],
    AdminAction.LIST_CHANNEL_MESSAGES,
)
async def list_channel_messages(
    request: Request, administration: AdministrationArea, channel_id: int, query: ListMessages
) -> wire.AdminListChannelMessagesAnswer:
    """A page of a channel's messages."""
    page = MessagePage(query.limit, query.before, query.after, query.around)
    return await administration.messages.page(acting(request), channel_id, page)


@routes.admin_operation(
    "GET",
    "/v1/admin/channels/{channel_id}/messages/{message_id}",
    [Acl.MESSAGE_LOOKUP],
    AdminAction.GET_MESSAGE,
)
async def get_message(
    request: Request, administration: AdministrationArea, channel_id: int, message_id: int
) -> wire.FoundMessage:
    """One message."""
    return await administration.messages.get(acting(request), channel_id, message_id)


@routes.admin_operation(
    "GET",
    "/v1/admin/messages",
    [Acl.MESSAGE_LOOKUP],
    AdminAction.LOOKUP_MESSAGE,
)
async def find_message(
    request: Request, administration: AdministrationArea, query: FindMessage
) -> wire.AdminFindMessageAnswer:
    """The message with an id, with a file, or behind an address; or none."""
    if query.message_id is None and query.attachment_id is None and query.link is None:
        raise InvalidFormBody([FieldError("message_id", FieldCode.INVALID_FORMAT)])
    selector = MessageSelector(query.message_id, query.attachment_id, query.link)
    return {"messages": await administration.messages.find(acting(request), selector)}


@routes.admin_operation(
    "DELETE", "/v1/admin/channels/{channel_id}/messages/{message_id}", [Acl.MESSAGE_DELETE], AdminAction.DELETE_MESSAGE
)
async def delete_message(
    request: Request, administration: AdministrationArea, channel_id: int, message_id: int
) -> None:
    """Delete one message."""
    await administration.messages.delete(acting(request), channel_id, message_id)


FALSE: Final = frozenset({"false", "False", "0"})
"""What makes a run more than a dry one (administration.md, Messages and shreds)."""

ENTRIES_MAXIMUM: Final = 1_000


@frozen
class DeleteMessages:
    """The query of DELETE …/messages: text, so that all but a clear word leaves a dry run."""

    dry_run: str = "true"


@frozen
class ShredEntry:
    """A message shred entry."""

    channel_id: Snowflake
    message_id: Snowflake


@frozen
class OrderShred:
    """The body of POST …/message-shreds."""

    entries: Annotated[list[ShredEntry], Length(1, ENTRIES_MAXIMUM)]


@routes.admin_operation(
    "DELETE",
    "/v1/admin/users/{user_id}/messages",
    [Acl.MESSAGE_DELETE_ALL],
    AdminAction.DELETE_ALL_USER_MESSAGES,
)
async def delete_messages(
    request: Request, administration: AdministrationArea, user_id: int, query: DeleteMessages
) -> wire.AllMessages:
    """Count what an account wrote, or delete it all."""
    shreds = administration.shreds
    return await shreds.delete_all(acting(request), user_id, dry_run=query.dry_run.strip() not in FALSE)


@routes.admin_operation(
    "POST",
    "/v1/admin/users/{user_id}/message-shreds",
    [Acl.MESSAGE_SHRED],
    AdminAction.QUEUE_MESSAGE_SHRED,
)
async def order_shred(
    request: Request, administration: AdministrationArea, user_id: int, body: OrderShred
) -> wire.MessageShredOrdered:
    """Order the deletion of listed messages."""
    entries = [NamedMessage(entry.channel_id, entry.message_id) for entry in body.entries]
    return await administration.shreds.order(acting(request), user_id, entries)


@routes.admin_operation(
    "GET", "/v1/admin/messages/shreds/{job_id}", [Acl.MESSAGE_SHRED], audit=None, bucket=buckets.MESSAGE
)
async def get_shred(request: Request, administration: AdministrationArea, job_id: int) -> wire.MessageShred:
    """How far a shred is."""
    return administration.shreds.status(job_id)


@frozen(kw_only=True)
class SendSystemDm:
    """The body of POST /v1/admin/system-dms: to these accounts, or to everyone."""

    content: str
    user_ids: Annotated[list[Snowflake], Items(1, 1_000)] | None = None
    everyone: bool = False


@routes.admin_operation("POST", "/v1/admin/system-dms", [Acl.SYSTEM_DM_SEND], AdminAction.SEND_SYSTEM_DM)
async def send_system_dm(
    request: Request, administration: AdministrationArea, body: SendSystemDm
) -> wire.SystemDmOrdered:
    """Send a message from the instance; it is delivered after this has answered."""
    if (body.user_ids is None) is not body.everyone:
        raise InvalidFormBody(
            [FieldError("user_ids", FieldCode.INVALID_FORMAT), FieldError("everyone", FieldCode.INVALID_FORMAT)]
        )
    return await administration.system_dms.order(acting(request), body.content, body.user_ids)
