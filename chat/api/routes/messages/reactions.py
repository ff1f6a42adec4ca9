"""Operations on reactions (messages.md, Reactions)."""

from __future__ import annotations

from typing import Annotated, Final

from chat import wire
from chat.api.buckets import REACTION_CHANGE, REACTION_LIST
from chat.api.fields import Length, Range, Snowflake
from chat.api.operation import Policy, Request, Routes
from chat.classes import frozen
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.reactions import ReactionUsers, parse_emoji

routes = Routes(policy=Policy.USER)

USERS_MAXIMUM: Final = 100
USERS_DEFAULT: Final = 25
SESSION_ID_CHARACTERS: Final = 64


@frozen
class ChangeReaction:
    """The query of a change to reactions: the gateway session that shows it already, which a guild leaves out."""

    session_id: Annotated[str, Length(1, SESSION_ID_CHARACTERS)] | None = None


@frozen
class ListReactionUsers:
    """The query of the lists of accounts that reacted with one emoji."""

    limit: Annotated[int, Range(1, USERS_MAXIMUM)] = USERS_DEFAULT
    after: Snowflake | None = None


@routes.operation(
    "PUT", "/v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me", bucket=REACTION_CHANGE
)
async def add_reaction(
    request: Request, messages: MessagesArea, channel_id: int, message_id: int, emoji: str, query: ChangeReaction
) -> None:
    """React to a message."""
    await messages.reactions.add(request.principal, channel_id, message_id, parse_emoji(emoji), query.session_id)


@routes.operation(
    "DELETE", "/v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me", bucket=REACTION_CHANGE
)
async def remove_own_reaction(
    request: Request, messages: MessagesArea, channel_id: int, message_id: int, emoji: str, query: ChangeReaction
) -> None:
    """Take one's own reaction away."""
    principal = request.principal
    await messages.reactions.remove(
        principal, channel_id, message_id, parse_emoji(emoji), principal.user_id, query.session_id
    )


@routes.operation(
    "DELETE", "/v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/{user_id}", bucket=REACTION_CHANGE
)
async def remove_reaction(
    request: Request,
    messages: MessagesArea,
    channel_id: int,
    message_id: int,
    emoji: str,
    user_id: int,
    query: ChangeReaction,
) -> None:
    """Take an account's reaction away."""
    await messages.reactions.remove(
        request.principal, channel_id, message_id, parse_emoji(emoji), user_id, query.session_id
    )


@routes.operation("DELETE", "/v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}", bucket=REACTION_CHANGE)
async def remove_emoji(request: Request, messages: MessagesArea, channel_id: int, message_id: int, emoji: str) -> None:
    """Take all reactions with one emoji away."""
    await messages.reactions.remove_emoji(request.principal, channel_id, message_id, parse_emoji(emoji))


@routes.operation("DELETE", "/v1/channels/{channel_id}/messages/{message_id}/reactions", bucket=REACTION_CHANGE)
async def remove_all_reactions(request: Request, messages: MessagesArea, channel_id: int, message_id: int) -> None:
    """Take every reaction off a message."""
    await messages.reactions.remove_all(request.principal, channel_id, message_id)


@routes.operation(
    "GET",
    "/v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}",
    bucket=REACTION_LIST,
)
async def list_reaction_users(
    request: Request, messages: MessagesArea, channel_id: int, message_id: int, emoji: str, query: ListReactionUsers
) -> Annotated[list[wire.PartialUser], wire.items(100)]:
    """Who reacted with an emoji, in order of ids."""
    return (await _users(request, messages, channel_id, message_id, emoji, query)).items


@routes.operation(
    "GET",
    "/v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/users",
    bucket=REACTION_LIST,
)
async def page_reaction_users(
    request: Request, messages: MessagesArea, channel_id: int, message_id: int, emoji: str, query: ListReactionUsers
) -> wire.ReactionUsers:
    """The same with what is needed to go on."""
    users = await _users(request, messages, channel_id, message_id, emoji, query)
    next_after = users.items[-1]["id"] if users.has_more else None
    return {"items": users.items, "has_more": users.has_more, "next_after": next_after}


async def _users(
    request: Request, messages: MessagesArea, channel_id: int, message_id: int, emoji: str, query: ListReactionUsers
) -> ReactionUsers:
    parsed, after = parse_emoji(emoji), query.after or 0
    return await messages.reactions.users(
        request.principal, channel_id, message_id, parsed, limit=query.limit, after=after
    )
