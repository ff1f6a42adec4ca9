"""Deleting everything that one has written (messages.md, Deletion of everything written)."""

from __future__ import annotations

import attrs

from chat.api import buckets
from chat.api.answers import Answer
from chat.api.operation import Policy, Request, Routes
from chat.api.schemas.accounts.users import PENDING_MESSAGE_DELETION
from chat.api.schemas.shapes import NOTHING
from chat.api.sudo import SudoFields
from chat.domain.messages.assemble import MessagesArea

routes = Routes()


@attrs.frozen(kw_only=True)
class DeleteOwnMessages(SudoFields):
    """The body of both ways to it."""


@routes.operation(
    "POST",
    "/v1/users/@me/messages/delete",
    policy=Policy.USER_ONLY,
    bucket=buckets.OWN_MESSAGES_DELETION,
    body=DeleteOwnMessages,
    answers=PENDING_MESSAGE_DELETION,
)
async def schedule_own_message_deletion(request: Request, messages: MessagesArea, body: DeleteOwnMessages) -> object:
    """Have everything deleted that the caller has written by this time tomorrow; sudo mode."""
    return await messages.own_message_deletion.schedule(request.principal, request.proof(body))


@routes.operation(
    "DELETE",
    "/v1/users/@me/messages/delete",
    policy=Policy.USER_ONLY,
    bucket=buckets.OWN_MESSAGES_DELETION,
    answers=NOTHING,
)
async def cancel_own_message_deletion(request: Request, messages: MessagesArea) -> None:
    """Keep what is not deleted yet."""
    await messages.own_message_deletion.cancel(request.principal)


@routes.operation(
    "POST",
    "/v1/users/@me/messages/bulk-delete-mine",
    policy=Policy.USER_ONLY,
    bucket=buckets.OWN_MESSAGES_DELETION,
    body=DeleteOwnMessages,
    answers={202: NOTHING},
)
async def delete_own_messages(request: Request, messages: MessagesArea, body: DeleteOwnMessages) -> object:
    """Delete everything that the caller has written, everywhere and at once; sudo mode."""
    await messages.own_message_deletion.delete_now(request.principal, request.proof(body))
    return Answer(202)
