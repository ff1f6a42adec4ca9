"""Operations on read states (messages.md, Read states)."""

from __future__ import annotations

from typing import Annotated, Final

from chat.api.buckets import READ_STATE, READ_STATES
from chat.api.fields import Items, Range, Snowflake
from chat.api.operation import Policy, Request, Routes
from chat.classes import frozen
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.read_states import ReadUpTo

routes = Routes(policy=Policy.USER_ONLY)

MENTION_COUNT_MAXIMUM: Final = (1 << 31) - 1
ACKNOWLEDGED_AT_ONCE: Final = 100

MentionCount = Annotated[int, Range(0, MENTION_COUNT_MAXIMUM)]


@frozen
class AcknowledgeMessage:
    """How many mentions are left unread, and whether the place was chosen by hand."""

    mention_count: MentionCount | None = None
    manual: bool | None = None


@frozen
class AcknowledgedChannel:
    """How far one channel was read."""

    channel_id: Snowflake
    message_id: Snowflake
    mention_count: MentionCount | None = None
    manual: bool | None = None


@frozen
class AcknowledgeChannels:
    """How far several channels were read."""

    read_states: Annotated[list[AcknowledgedChannel], Items(1, ACKNOWLEDGED_AT_ONCE)]


@routes.operation("POST", "/v1/channels/{channel_id}/messages/{message_id}/ack", bucket=READ_STATE)
async def acknowledge_message(
    request: Request, messages: MessagesArea, channel_id: int, message_id: int, body: AcknowledgeMessage
) -> None:
    """Note how far the caller has read."""
    wish = ReadUpTo(channel_id, message_id, body.mention_count, bool(body.manual))
    await messages.read_states.acknowledge(request.principal, wish)


@routes.operation("DELETE", "/v1/channels/{channel_id}/messages/ack", bucket=READ_STATE)
async def forget_read_state(request: Request, messages: MessagesArea, channel_id: int) -> None:
    """Forget how far the caller has read."""
    await messages.read_states.forget(request.principal, channel_id)


@routes.operation("POST", "/v1/read-states/ack", bucket=READ_STATES)
async def acknowledge_channels(request: Request, messages: MessagesArea, body: AcknowledgeChannels) -> None:
    """Note how far the caller has read in several channels."""
    await messages.read_states.acknowledge_many(request.principal, _wishes(body))


@routes.operation("POST", "/v1/read-states/ack-bulk", bucket=READ_STATES)
async def acknowledge_channels_in_bulk(request: Request, messages: MessagesArea, body: AcknowledgeChannels) -> None:
    """Mark several channels as read; another address of POST /v1/read-states/ack."""
    await messages.read_states.acknowledge_many(request.principal, _wishes(body))


def _wishes(body: AcknowledgeChannels) -> list[ReadUpTo]:
    return [
        ReadUpTo(read.channel_id, read.message_id, read.mention_count, bool(read.manual)) for read in body.read_states
    ]
