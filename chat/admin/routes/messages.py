"""Operations that look single messages up, and delete them (administration.md, Messages and shreds)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat.admin import buckets
from chat.admin.acting import acting
from chat.admin.operation import AdminRoutes
from chat.api.fields import Length, Range, Snowflake
from chat.api.operation import Request
from chat.api.schemas.administration.administration import ENTRY_CHANNEL
from chat.api.schemas.messages.messages import MESSAGE
from chat.api.schemas.shapes import NOTHING, listed, record
from chat.domain.administration.administered_messages import MessageSelector
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.messages.message_reading import Page
from chat.errors import FieldError, InvalidFormBody
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction

routes = AdminRoutes()

FOUND = record({"channel": ENTRY_CHANNEL, "message": MESSAGE})


@attrs.frozen
class ListMessages:
    """The query of GET /v1/admin/channels/{channel_id}/messages; `around` counts before `after`, that before
    `before`."""

    around: Snowflake | None = None
    before: Snowflake | None = None
    after: Snowflake | None = None
    limit: Annotated[int, Range(1, 100)] = 50


@attrs.frozen
class FindMessage:
    """The query of GET /v1/admin/messages: one of these; `link` is the address of a message or of a file in one."""

    message_id: Snowflake | None = None
    attachment_id: Snowflake | None = None
    link: Annotated[str, Length(1, 2_048)] | None = None


@routes.admin_operation(
    "GET",
    "/v1/admin/channels/{channel_id}/messages",
    acls=[Acl.MESSAGE_LOOKUP],
    audit=AdminAction.LIST_CHANNEL_MESSAGES,
    bucket=buckets.LOOKUP,
    query=ListMessages,
    answers=record({"channel": ENTRY_CHANNEL, "messages": listed(MESSAGE, maximum=100)}),
)
async def list_channel_messages(
    request: Request, administration: AdministrationArea, channel_id: int, query: ListMessages
) -> object:
    """A page of a channel's messages."""
    page = Page(query.limit, query.before, query.after, query.around)
    return await administration.messages.page(acting(request), channel_id, page)


@routes.admin_operation(
    "GET",
    "/v1/admin/channels/{channel_id}/messages/{message_id}",
    acls=[Acl.MESSAGE_LOOKUP],
    audit=AdminAction.GET_MESSAGE,
    bucket=buckets.LOOKUP,
    answers=FOUND,
)
async def get_message(request: Request, administration: AdministrationArea, channel_id: int, message_id: int) -> object:
    """One message."""
    return await administration.messages.get(acting(request), channel_id, message_id)


@routes.admin_operation(
    "GET",
    "/v1/admin/messages",
    acls=[Acl.MESSAGE_LOOKUP],
    audit=AdminAction.LOOKUP_MESSAGE,
    bucket=buckets.LOOKUP,
    query=FindMessage,
    answers=record({"messages": listed(FOUND, maximum=1)}),
)
async def find_message(request: Request, administration: AdministrationArea, query: FindMessage) -> object:
    """The message with an id, with a file, or behind an address; or none."""
    if query.message_id is None and query.attachment_id is None and query.link is None:
        raise InvalidFormBody([FieldError("message_id", "INVALID_FORMAT")])
    selector = MessageSelector(query.message_id, query.attachment_id, query.link)
    return {"messages": await administration.messages.find(acting(request), selector)}


@routes.admin_operation(
    "DELETE",
    "/v1/admin/channels/{channel_id}/messages/{message_id}",
    acls=[Acl.MESSAGE_DELETE],
    audit=AdminAction.DELETE_MESSAGE,
    bucket=buckets.MESSAGE,
    answers=NOTHING,
)
async def delete_message(
    request: Request, administration: AdministrationArea, channel_id: int, message_id: int
) -> None:
    """Delete one message."""
    await administration.messages.delete(acting(request), channel_id, message_id)
