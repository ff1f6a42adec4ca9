"""Operations on relationships (wire facts 6.5, appendices A and B)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import attrs

from chat.api import buckets
from chat.api.fields import Length
from chat.api.operation import Policy, Request, Routes
from chat.api.routes.accounts import Discriminator
from chat.api.schemas.shapes import NOTHING, listed
from chat.api.schemas.users import RELATIONSHIP

routes = Routes()

NICKNAME_LENGTH: Final = 32
BLOCK: Final = 2
"""The `type` with which PUT blocks instead of accepting."""


@attrs.frozen(kw_only=True)
class RequestByTag:
    """The body of POST /v1/users/@me/relationships."""

    username: Annotated[str, Length(1, 32)]
    discriminator: Discriminator = 0


@attrs.frozen(kw_only=True)
class Decide:
    """The body of PUT /v1/users/@me/relationships/{user_id}: nothing to accept, `type` 2 to block."""

    type: Literal[2] | None = None


@attrs.frozen(kw_only=True)
class Rename:
    """The body of PATCH /v1/users/@me/relationships/{user_id}."""

    nickname: Annotated[str, Length(1, NICKNAME_LENGTH)] | None = None


@routes.operation(
    "GET",
    "/v1/users/@me/relationships",
    policy=Policy.USER_ONLY,
    bucket=buckets.RELATIONSHIPS,
    answers=listed(RELATIONSHIP),
)
async def list_relationships(request: Request) -> object:
    """The caller's relationships."""
    return request.services.friendships.of_account(request.principal)


@routes.operation(
    "POST",
    "/v1/users/@me/relationships",
    policy=Policy.USER_ONLY,
    bots_refused_with="BOTS_CANNOT_SEND_FRIEND_REQUESTS",
    bucket=buckets.FRIEND_REQUESTS,
    body=RequestByTag,
    answers=RELATIONSHIP,
)
async def request_friendship_by_tag(request: Request, body: RequestByTag) -> object:
    """Ask the account with this tag to be friends."""
    return await request.services.friendships.request_by_tag(request.principal, body.username, body.discriminator)


@routes.operation(
    "POST",
    "/v1/users/@me/relationships/{user_id}",
    policy=Policy.USER_ONLY,
    bots_refused_with="BOTS_CANNOT_SEND_FRIEND_REQUESTS",
    bucket=buckets.FRIEND_REQUESTS,
    answers=RELATIONSHIP,
)
async def request_friendship(request: Request, user_id: int) -> object:
    """Ask an account to be friends."""
    return await request.services.friendships.request(request.principal, user_id)


@routes.operation(
    "PUT",
    "/v1/users/@me/relationships/{user_id}",
    policy=Policy.USER_ONLY,
    bucket=buckets.RELATIONSHIP_CHANGE,
    body=Decide,
    answers=RELATIONSHIP,
)
async def decide_on_account(request: Request, user_id: int, body: Decide) -> object:
    """Accept an account's request, or block the account."""
    friendships = request.services.friendships
    if body.type == BLOCK:
        return await friendships.block(request.principal, user_id)
    return await friendships.accept(request.principal, user_id)


@routes.operation(
    "PATCH",
    "/v1/users/@me/relationships/{user_id}",
    policy=Policy.USER_ONLY,
    bucket=buckets.RELATIONSHIP_CHANGE,
    body=Rename,
    answers=RELATIONSHIP,
)
async def rename_friend(request: Request, user_id: int, body: Rename) -> object:
    """Give a friend a nickname."""
    return await request.services.friendships.rename(request.principal, user_id, body.nickname)


@routes.operation(
    "DELETE",
    "/v1/users/@me/relationships/{user_id}",
    policy=Policy.USER_ONLY,
    bucket=buckets.RELATIONSHIP_CHANGE,
    answers=NOTHING,
)
async def end_relationship(request: Request, user_id: int) -> None:
    """End what the caller has with an account."""
    await request.services.friendships.remove(request.principal, user_id)
