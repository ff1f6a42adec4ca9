"""Operations on polls (messages.md, Polls). A poll begins with its message, which is sent as any other."""

from __future__ import annotations

from typing import Annotated, Final

from chat import wire
from chat.api.buckets import POLL_VOTE, REACTION_LIST
from chat.api.fields import Items, Range, Snowflake
from chat.api.operation import Policy, Request, Routes
from chat.classes import frozen
from chat.domain.messages.assemble import MessagesArea
from chat.registries.limits import POLL_ANSWERS

routes = Routes(policy=Policy.USER)

VOTERS_MAXIMUM: Final = 100
VOTERS_DEFAULT: Final = 25


@frozen
class ListVoters:
    """The query of the list of accounts that gave an answer."""

    limit: Annotated[int, Range(1, VOTERS_MAXIMUM)] = VOTERS_DEFAULT
    after: Snowflake | None = None


@frozen(kw_only=True)
class VoteBody:
    """The answers that the caller gives, by their numbers; an empty list takes the vote back."""

    answer_ids: Annotated[list[Snowflake], Items(0, POLL_ANSWERS)]


@routes.operation(
    "PUT",
    "/v1/channels/{channel_id}/polls/{message_id}/answers/@me",
    bucket=POLL_VOTE,
    policy=Policy.USER_ONLY,
)
async def vote_in_poll(
    request: Request, messages: MessagesArea, channel_id: int, message_id: int, body: VoteBody
) -> None:
    """Vote in a poll, in place of what the caller voted before."""
    await messages.polls.vote(request.principal, channel_id, message_id, body.answer_ids)


@routes.operation("GET", "/v1/channels/{channel_id}/polls/{message_id}/answers/{answer_id}", bucket=REACTION_LIST)
async def list_poll_voters(
    request: Request, messages: MessagesArea, channel_id: int, message_id: int, answer_id: int, query: ListVoters
) -> wire.PollVoters:
    """Who gave an answer, in order of ids."""
    users = await messages.polls.voters(
        request.principal, channel_id, message_id, answer_id, limit=query.limit, after=query.after or 0
    )
    return {"users": users}


@routes.operation("POST", "/v1/channels/{channel_id}/polls/{message_id}/expire", bucket=POLL_VOTE)
async def end_poll(request: Request, messages: MessagesArea, channel_id: int, message_id: int) -> wire.Message:
    """End one's own poll before its time."""
    return await messages.polls.expire(request.principal, channel_id, message_id)
