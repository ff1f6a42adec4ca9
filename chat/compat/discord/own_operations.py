"""Operations that only the mount has: what libraries ask for and the documents have in another form, or not at all
(compat.md, Second mount)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from chat import wire
from chat.api import buckets
from chat.api.fields import Length, Range
from chat.api.operation import Policy, Request, Routes
from chat.api.routes.applications.applications import list_applications_or_get_own
from chat.api.routes.guilds import guild_channels, invites, members
from chat.api.routes.guilds import guilds as guild_routes
from chat.api.schemas.shapes import ANYTHING
from chat.classes import frozen
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.applications.assemble import ApplicationsArea
from chat.domain.core import Core
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.people.assemble import PeopleArea
from chat.domain.threads.assemble import ThreadsArea
from chat.store.guilds import guilds as guild_rows
from chat.store.guilds import members as member_rows

OWN: Final = "/ discord"
"""Where they lie. A request target holds no space, so that no request names it."""

FOUND_MAXIMUM: Final = 1_000
"""As many as some libraries always ask for."""

Empty = list[object] | dict[str, list[object]]
"""A list without entries, or an object whose list has none."""

EMPTY: Final[Mapping[str, Empty]] = {"list": [], "items": {"items": []}, "sticker_packs": {"sticker_packs": []}}

routes: Final = Routes(policy=Policy.USER, answers=ANYTHING)


@routes.operation("GET", f"{OWN}/gateway", name="mount_get_gateway", policy=Policy.NONE, bucket=buckets.DISCOVERY)
async def get_gateway(request: Request, administration: AdministrationArea) -> dict[str, str]:
    """Where the gateway is, for a library that asks before it has a token."""
    return {"url": administration.discovery.gateway_bot(request.headers.get("host"))["url"]}


@routes.operation("GET", OWN + "/empty/{shape}", name="mount_get_nothing", policy=Policy.NONE, bucket=buckets.DISCOVERY)
async def get_nothing(request: Request, shape: str) -> Empty:
    """What libraries ask for by themselves and this server has none of."""
    return EMPTY[shape]


class CountedApplication(wire.OwnApplication):
    """As libraries read it at their start."""

    approximate_guild_count: int
    """The number of guilds that its bot is in."""


@routes.operation("GET", f"{OWN}/application", bucket=buckets.APPLICATIONS, name="mount_get_own_application")
async def get_own_application(
    request: Request, core: Core, applications: ApplicationsArea
) -> list[wire.Application] | CountedApplication:
    """The caller's application with the number of guilds that its bot is in; for a person its applications."""
    found = await list_applications_or_get_own(request, applications)
    if isinstance(found, list):
        return found
    user_id = request.principal.user_id
    count = await core.database.read(lambda connection: guild_rows.count_of_user(connection, user_id))
    return {**found, "approximate_guild_count": count}


@frozen
class MemberNames:
    """The query of a search for members."""

    query: Annotated[str, Length(0, members.QUERY_LENGTH)] = ""
    limit: Annotated[int, Range(1, FOUND_MAXIMUM)] = 1


@routes.operation("GET", OWN + "/guilds/{guild_id}/members", bucket=members.SEARCH, name="mount_search_members")
async def search_members(
    request: Request, guilds: GuildsArea, guild_id: int, query: MemberNames
) -> list[wire.FoundMember]:
    """Members of a guild by the beginning of a name, as a bare list."""
    found = await guilds.member_searches.search(request.principal, guild_id, query.query, limit=query.limit, offset=0)
    return found["members"]


@routes.operation(
    "GET", OWN + "/guilds/{guild_id}/role-counts", bucket=guild_routes.LIST_GUILD_ROLES, name="mount_count_roles"
)
async def count_roles(request: Request, core: Core, guilds: GuildsArea, guild_id: int) -> dict[str, int]:
    """How many members have each role but @everyone, by the role's id."""
    of_guild = await guilds.guilds.roles(request.principal, guild_id)
    counts = await core.database.read(lambda connection: member_rows.counts_of_roles(connection, guild_id))
    return {role["id"]: counts.get(int(role["id"]), 0) for role in of_guild if role["id"] != str(guild_id)}


@routes.operation("DELETE", OWN + "/channels/{channel_id}", bucket=guild_channels.DELETE, name="mount_delete_channel")
async def delete_channel(
    request: Request, core: Core, threads: ThreadsArea, people: PeopleArea, guilds: GuildsArea, channel_id: int
) -> wire.Channel:
    """Delete a channel, and answer with what it was."""
    channel = await guild_channels.get_channel(request, core, channel_id)
    await guild_channels.delete_channel(request, threads, people, guilds, channel_id, guild_channels.Departure())
    return channel


@routes.operation("DELETE", OWN + "/invites/{invite_code}", bucket=invites.DELETE_INVITE, name="mount_delete_invite")
async def delete_invite(request: Request, guilds: GuildsArea, invite_code: str) -> wire.Invite:
    """Delete an invite, and answer with what it was."""
    invite = await guilds.invites.get(invite_code)
    await invites.delete_invite(request, guilds, invite_code)
    return invite
