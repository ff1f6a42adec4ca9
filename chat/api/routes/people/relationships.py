"""Operations on relationships (people.md, Relationships), and reading profiles (accounts.md, Profiles)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from chat import wire
from chat.api import buckets
from chat.api.fields import OMITTED, Length, Maybe, Range, Snowflake, named_members
from chat.api.operation import Policy, Request, Routes
from chat.api.routes.accounts.accounts import Discriminator
from chat.classes import frozen
from chat.domain.people.assemble import PeopleArea
from chat.errors import InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode

routes = Routes(policy=Policy.USER_ONLY)

NICKNAME_LENGTH: Final = 256
AGE_SECONDS_MAXIMUM: Final = (1 << 31) - 1
BLOCK: Final = 2
"""The `type` with which PUT blocks instead of accepting."""


@frozen(kw_only=True)
class RequestByTag:
    """The body of POST /v1/users/@me/relationships."""

    username: Annotated[str, Length(1, 32)]
    discriminator: Discriminator | None = None


@frozen(kw_only=True)
class Decide:
    """The body of PUT /v1/users/@me/relationships/{user_id}: `type` 2 to block, anything else to accept."""

    type: Literal[1, 2, 3, 4] | None = None


@frozen(kw_only=True)
class ChangeFriendship:
    """The body of PATCH /v1/users/@me/relationships/{user_id}; one member at least."""

    nickname: Maybe[Annotated[str, Length(1, NICKNAME_LENGTH)] | None] = OMITTED
    share_voice_activity: Maybe[bool] = OMITTED


@frozen(kw_only=True)
class Ignore:
    """The body of POST /v1/users/@me/relationships/bulk-ignore: which requests to turn down."""

    filter: Literal["all", "new_accounts"] = "all"
    max_account_age_seconds: Annotated[int, Range(1, AGE_SECONDS_MAXIMUM)] | None = None


@routes.operation("GET", "/v1/users/@me/relationships", bucket=buckets.RELATIONSHIPS)
async def list_relationships(request: Request, people: PeopleArea) -> list[wire.Relationship]:
    """The caller's relationships."""
    return people.friendships.of_account(request.principal)


@routes.operation(
    "POST",
    "/v1/users/@me/relationships",
    bots_refused_with=ErrorCode.BOTS_CANNOT_SEND_FRIEND_REQUESTS,
    bucket=buckets.FRIEND_REQUESTS,
    closed_to_limited=True,
)
async def request_friendship_by_tag(request: Request, people: PeopleArea, body: RequestByTag) -> wire.Relationship:
    """Ask the account with this tag to be friends; the username suffices where only one account has it."""
    return await people.friendships.request_by_tag(request.principal, body.username, body.discriminator)


@routes.operation(
    "POST",
    "/v1/users/@me/relationships/bulk-ignore",
    bucket=buckets.REQUESTS_IGNORED,
)
async def ignore_requests(request: Request, people: PeopleArea, body: Ignore) -> wire.IgnoreRequestsAnswer:
    """Turn down the requests that the caller was sent, all or those of new accounts."""
    age = body.max_account_age_seconds if body.filter == "new_accounts" else None
    return {"ignored_count": await people.friendships.ignore(request.principal, age)}


@routes.operation(
    "POST",
    "/v1/users/@me/relationships/{user_id}",
    bots_refused_with=ErrorCode.BOTS_CANNOT_SEND_FRIEND_REQUESTS,
    bucket=buckets.FRIEND_REQUESTS,
    closed_to_limited=True,
)
async def request_friendship(request: Request, people: PeopleArea, user_id: int) -> wire.Relationship:
    """Ask an account to be friends."""
    return await people.friendships.request(request.principal, user_id)


@routes.operation("PUT", "/v1/users/@me/relationships/{user_id}", bucket=buckets.RELATIONSHIP_CHANGE)
async def decide_on_account(request: Request, people: PeopleArea, user_id: int, body: Decide) -> wire.Relationship:
    """Accept an account's request, or block the account."""
    friendships = people.friendships
    if body.type == BLOCK:
        return await friendships.block(request.principal, user_id)
    return await friendships.accept(request.principal, user_id)


@routes.operation("PATCH", "/v1/users/@me/relationships/{user_id}", bucket=buckets.RELATIONSHIP_CHANGE)
async def change_friendship(
    request: Request, people: PeopleArea, user_id: int, body: ChangeFriendship
) -> wire.Relationship:
    """Give a friend a nickname, or say whether it hears where the caller speaks."""
    changes = named_members(body)
    if not changes:
        raise InvalidFormBody.at("nickname", FieldCode.INVALID_FORMAT)
    return await people.friendships.change(request.principal, user_id, changes)


@routes.operation("DELETE", "/v1/users/@me/relationships/{user_id}", bucket=buckets.RELATIONSHIP_CHANGE)
async def end_relationship(request: Request, people: PeopleArea, user_id: int) -> None:
    """End what the caller has with an account."""
    await people.friendships.remove(request.principal, user_id)


@frozen
class WantedProfile:
    """The query of a profile: also as a member of which guild, and whether with what the two have in common."""

    guild_id: Snowflake | None = None
    with_mutual_friends: bool = False
    with_mutual_guilds: bool = False


@routes.operation("GET", "/v1/users/{user_id}/profile", policy=Policy.USER, bucket=buckets.USER_PROFILE)
async def get_profile(request: Request, people: PeopleArea, user_id: int, query: WantedProfile) -> wire.Profile:
    """What an account shows of itself to the caller."""
    return people.user_profiles.get(
        request.principal,
        user_id,
        guild_id=query.guild_id,
        with_mutual_friends=query.with_mutual_friends,
        with_mutual_guilds=query.with_mutual_guilds,
    )
