"""Operations on reminders of messages (messages.md, Reminders)."""

from __future__ import annotations

from typing import Annotated

from chat import wire
from chat.api import buckets
from chat.api.fields import Snowflake, Timestamp
from chat.api.operation import Policy, Request, Routes
from chat.classes import frozen
from chat.domain.messages.assemble import MessagesArea
from chat.registries.limits import REMINDERS

routes = Routes(policy=Policy.USER_ONLY)


@frozen(kw_only=True)
class PutReminder:
    """The body of PUT /v1/users/@me/reminders/{message_id}."""

    channel_id: Snowflake
    remind_at: Timestamp


@routes.operation("GET", "/v1/users/@me/reminders", bucket=buckets.REMINDERS)
async def list_reminders(
    request: Request, messages: MessagesArea
) -> Annotated[list[wire.Reminder], wire.items(REMINDERS)]:
    """The caller's reminders by their moments, the earliest first; also those that it was told of."""
    return await messages.reminders.of_user(request.principal)


@routes.operation("GET", "/v1/users/@me/reminders/{message_id}", bucket=buckets.REMINDERS)
async def get_reminder(request: Request, messages: MessagesArea, message_id: int) -> wire.Reminder:
    """The caller's reminder of one message."""
    return await messages.reminders.get(request.principal, message_id)


@routes.operation("PUT", "/v1/users/@me/reminders/{message_id}", bucket=buckets.REMINDERS_CHANGE)
async def put_reminder(request: Request, messages: MessagesArea, message_id: int, body: PutReminder) -> wire.Reminder:
    """Remind the caller of a message at a moment, up to 365 days ahead."""
    return await messages.reminders.put(request.principal, body.channel_id, message_id, body.remind_at)


@routes.operation("DELETE", "/v1/users/@me/reminders/{message_id}", bucket=buckets.REMINDERS_CHANGE)
async def delete_reminder(request: Request, messages: MessagesArea, message_id: int) -> None:
    """Remind the caller of a message no longer."""
    await messages.reminders.delete(request.principal, message_id)
