"""Reading profiles (accounts.md, Profiles)."""

from __future__ import annotations

import attrs

from chat.api import buckets
from chat.api.fields import Snowflake
from chat.api.operation import Policy, Request, Routes
from chat.api.schemas.people.profiles import PROFILE
from chat.domain.people.assemble import PeopleArea

routes = Routes()


@attrs.frozen
class WantedProfile:
    """The query of a profile: also as a member of which guild, and whether with what the two have in common."""

    guild_id: Snowflake | None = None
    with_mutual_friends: bool = False
    with_mutual_guilds: bool = False


@routes.operation(
    "GET",
    "/v1/users/{user_id}/profile",
    policy=Policy.USER,
    bucket=buckets.USER_PROFILE,
    query=WantedProfile,
    answers=PROFILE,
)
async def get_profile(request: Request, people: PeopleArea, user_id: int, query: WantedProfile) -> object:
    """What an account shows of itself to the caller."""
    return people.user_profiles.get(
        request.principal,
        user_id,
        guild_id=query.guild_id,
        with_mutual_friends=query.with_mutual_friends,
        with_mutual_guilds=query.with_mutual_guilds,
    )
