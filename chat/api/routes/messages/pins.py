"""Operations on pinned messages (messages.md, Pins)."""

from __future__ import annotations

from typing import Annotated, Final

from chat import wire
from chat.api import buckets
from chat.api.fields import Range, Timestamp
from chat.api.operation import Policy, Request, Routes
from chat.classes import frozen
from chat.domain.messages.assemble import MessagesArea

routes = Routes(policy=Policy.USER)

PINS_OF_A_PAGE: Final = 50


@frozen
class ListPins:
    """The query of the paged list; `before` is the `pinned_at` of the last pin of the page before."""

    limit: Annotated[int, Range(1, PINS_OF_A_PAGE)] = PINS_OF_A_PAGE
    before: Timestamp | None = None


@routes.operation("GET", "/v1/channels/{channel_id}/messages/pins", bucket=buckets.PINS)
async def page_pins(request: Request, messages: MessagesArea, channel_id: int, query: ListPins) -> wire.Pins:
    """Pinned messages, the one that was pinned last first."""
    return await messages.pins.page(request.principal, channel_id, query.limit, query.before)


@routes.operation("GET", "/v1/channels/{channel_id}/pins", bucket=buckets.PINS)
async def list_pins(request: Request, messages: MessagesArea, channel_id: int) -> list[wire.Message]:
    """Every pinned message, as older libraries expect them."""
    return await messages.pins.all(request.principal, channel_id)


@routes.operation("PUT", "/v1/channels/{channel_id}/pins/{message_id}", bucket=buckets.PIN_CHANGE)
async def pin_message(request: Request, messages: MessagesArea, channel_id: int, message_id: int) -> None:
    """Pin a message."""
    await messages.pins.pin(request.principal, channel_id, message_id, request.audit_log_reason)


@routes.operation("DELETE", "/v1/channels/{channel_id}/pins/{message_id}", bucket=buckets.PIN_CHANGE)
async def unpin_message(request: Request, messages: MessagesArea, channel_id: int, message_id: int) -> None:
    """Take a pin away."""
    await messages.pins.unpin(request.principal, channel_id, message_id, request.audit_log_reason)


@routes.operation("POST", "/v1/channels/{channel_id}/pins/ack", policy=Policy.USER_ONLY, bucket=buckets.PINS_ACK)
async def acknowledge_pins(request: Request, messages: MessagesArea, channel_id: int) -> None:
    """The caller has seen the channel's pins."""
    await messages.pins.acknowledge(request.principal, channel_id)
