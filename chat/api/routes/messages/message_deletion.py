"""Operations that delete several messages, or everything that an account has written (messages.md, Deleting messages;
Deletion of everything written)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import Items, Length, Range, Snowflake, SudoFields
from chat.api.operation import Answer, Policy, Request, Routes
from chat.api.schemas.shapes import NOTHING
from chat.classes import frozen
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.message_deletion import BATCH_MESSAGES, PURGED_DEFAULT, PURGED_MAXIMUM, Purge
from chat.errors import InvalidFormBody
from chat.registries.error_codes import FieldCode

routes = Routes()

PURGED_AUTHORS: Final = 100
CONTAINED_CHARACTERS: Final = 512

MessageIds = Annotated[list[Snowflake], Items(1, BATCH_MESSAGES)]


@frozen
class BulkDelete:
    """The body of POST .../messages/bulk-delete: the ids, under either name that clients use."""

    message_ids: MessageIds | None = None
    messages: MessageIds | None = None


@frozen
class PurgeMessages:
    """The body of POST .../messages/purge: which messages go, the newest first; all conditions have to hold. Personal
    notes are emptied without regard to them."""

    limit: Annotated[int, Range(1, PURGED_MAXIMUM)] = PURGED_DEFAULT
    before: Snowflake | None = None
    after: Snowflake | None = None
    user_ids: Annotated[list[Snowflake], Items(0, PURGED_AUTHORS)] = attrs.field(factory=list)
    contains: Annotated[str, Length(1, CONTAINED_CHARACTERS)] | None = None
    has: list[Literal["attachment", "embed", "sticker", "link", "forward"]] = attrs.field(factory=list)
    bots: bool | None = None
    pinned: bool = False


@frozen(kw_only=True)
class DeleteOwnMessages(SudoFields):
    """The body of both operations that delete everything written."""


@routes.operation(
    "POST", "/v1/channels/{channel_id}/messages/bulk-delete", policy=Policy.USER, bucket=buckets.MESSAGES_BULK_DELETE
)
async def bulk_delete_messages(request: Request, messages: MessagesArea, channel_id: int, body: BulkDelete) -> None:
    """Delete up to a hundred messages of a guild's channel by id."""
    message_ids = body.messages if body.message_ids is None else body.message_ids
    if message_ids is None:
        raise InvalidFormBody.at("message_ids", FieldCode.INVALID_FORMAT)
    await messages.deletion.delete_many(request.principal, channel_id, message_ids, request.audit_log_reason)


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/messages/purge",
    policy=Policy.USER,
    bucket=buckets.MESSAGES_PURGE,
)
async def purge_messages(request: Request, messages: MessagesArea, channel_id: int, body: PurgeMessages) -> wire.Purged:
    """Delete the newest messages of a guild's channel that fit, or everything in the caller's personal notes."""
    purge = Purge(
        limit=body.limit,
        before=body.before,
        after=body.after,
        user_ids=frozenset(body.user_ids),
        contains=body.contains,
        has=frozenset(body.has),
        bots=body.bots,
        pinned=body.pinned,
    )
    deleted = await messages.deletion.purge(request.principal, channel_id, purge, request.audit_log_reason)
    return {"deleted_count": deleted}


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/messages/bulk-delete-mine",
    policy=Policy.USER,
    bucket=buckets.MESSAGES_DELETE_MINE,
    answers={202: NOTHING},
)
async def delete_own_messages_in_channel(
    request: Request, guilds: GuildsArea, channel_id: int, body: SudoFields
) -> Answer:
    """Delete every message that the caller wrote in the channel; sudo mode."""
    await guilds.own_messages.delete_in_channel(request.principal, channel_id, request.proof(body))
    return Answer(202)


@routes.operation(
    "POST",
    "/v1/users/@me/messages/delete",
    policy=Policy.USER_ONLY,
    bucket=buckets.OWN_MESSAGES_DELETION,
)
async def schedule_own_message_deletion(
    request: Request, messages: MessagesArea, body: DeleteOwnMessages
) -> wire.PendingMessageDeletion:
    """Have everything that the caller has written deleted in a day from now; sudo mode."""
    return await messages.own_message_deletion.schedule(request.principal, request.proof(body))


@routes.operation(
    "DELETE", "/v1/users/@me/messages/delete", policy=Policy.USER_ONLY, bucket=buckets.OWN_MESSAGES_DELETION
)
async def cancel_own_message_deletion(request: Request, messages: MessagesArea) -> None:
    """Cancel that deletion of everything that the caller has written."""
    await messages.own_message_deletion.cancel(request.principal)


@routes.operation(
    "POST",
    "/v1/users/@me/messages/bulk-delete-mine",
    policy=Policy.USER_ONLY,
    bucket=buckets.OWN_MESSAGES_DELETION,
    answers={202: NOTHING},
)
async def delete_own_messages(request: Request, messages: MessagesArea, body: DeleteOwnMessages) -> Answer:
    """Delete everything that the caller has written, everywhere and at once; sudo mode."""
    await messages.own_message_deletion.delete_now(request.principal, request.proof(body))
    return Answer(202)
