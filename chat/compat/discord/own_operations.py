"""Operations that only the mount has: what libraries ask for and the documents have in another form, or not at all
(compat.md, Second mount)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, TypedDict

from chat import wire
from chat.api import buckets
from chat.api.fields import OMITTED, Exact, Items, Length, Maybe, Range, Snowflake, named_members
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.routes.applications.applications import REDIRECT_LENGTH, list_applications_or_get_own
from chat.api.routes.guilds import guild_channels, invites, members
from chat.api.routes.guilds import guilds as guild_routes
from chat.api.schemas.shapes import ANYTHING
from chat.classes import frozen
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.applications.assemble import ApplicationsArea
from chat.domain.core import Core
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.guilds.bans import NewBan
from chat.domain.people.assemble import PeopleArea
from chat.domain.threads.assemble import ThreadsArea
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.permissions import Permission
from chat.store.guilds import guilds as guild_rows
from chat.store.guilds import members as member_rows

OWN: Final = "/ discord"
"""Where they lie. A request target holds no space, so that no request names it."""

FOUND_MAXIMUM: Final = 1_000
"""As many as some libraries always ask for."""

Empty = list[object] | dict[str, list[object]]
"""A list without entries, or an object whose list has none."""

CHANGE_OWN_APPLICATION: Final = Bucket("application:own:change", 10, 60_000)
DESCRIPTION_LENGTH: Final = 400
BANNED_AT_ONCE: Final = 200

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


@frozen(kw_only=True)
class ChangeOwnApplication:
    """What a bot changes about its application."""

    description: Maybe[Annotated[str, Length(0, DESCRIPTION_LENGTH)] | None] = OMITTED
    interactions_endpoint_url: Maybe[Annotated[str, Exact(), Length(1, REDIRECT_LENGTH)] | None] = OMITTED


@routes.operation(
    "PATCH",
    f"{OWN}/application",
    policy=Policy.OWN_APPLICATION,
    bucket=CHANGE_OWN_APPLICATION,
    name="mount_change_own_application",
)
async def change_own_application(
    request: Request, core: Core, applications: ApplicationsArea, body: ChangeOwnApplication
) -> list[wire.Application] | CountedApplication:
    """Change the bot's own application, and answer with it."""
    application_id = int(applications.applications.of_bot(request.principal)["id"])
    await applications.applications.change(request.principal, application_id, named_members(body))
    return await get_own_application(request, core, applications)


class GuildPreview(TypedDict):
    """A guild as libraries show it to those who think of joining; here its members alone read it."""

    id: str
    name: str
    icon: str | None
    splash: str | None
    discovery_splash: None
    """No guild has one here."""
    description: None
    """No guild has one here."""
    features: list[str]
    emojis: list[wire.Emoji]
    stickers: list[wire.Sticker]
    approximate_member_count: int
    approximate_presence_count: int


@routes.operation(
    "GET", OWN + "/guilds/{guild_id}/preview", bucket=guild_routes.GET_GUILD, name="mount_get_guild_preview"
)
async def get_guild_preview(request: Request, guilds: GuildsArea, guild_id: int) -> GuildPreview:
    """What a guild looks like from outside."""
    guild = await guilds.guilds.get(request.principal, guild_id)
    return {
        "id": guild["id"],
        "name": guild["name"],
        "icon": guild["icon"],
        "splash": guild["splash"],
        "discovery_splash": None,
        "description": None,
        "features": guild["features"],
        "emojis": guild["emojis"],
        "stickers": guild["stickers"],
        "approximate_member_count": guild["member_count"],
        "approximate_presence_count": guild["online_count"],
    }


@frozen(kw_only=True)
class BanMany:
    """The accounts to ban, and of which time their messages are to go."""

    user_ids: Annotated[tuple[Snowflake, ...], Items(1, BANNED_AT_ONCE)]
    delete_message_seconds: Annotated[int, Range(0, members.DELETED_DAYS_MAXIMUM * members.DAY_SECONDS)] = 0


class BannedMany(TypedDict):
    """What became of each account."""

    banned_users: list[str]
    failed_users: list[str]
    """Unknown ones, and those who do not stand below the caller."""


@routes.operation("POST", OWN + "/guilds/{guild_id}/bulk-ban", bucket=members.CHANGE_BAN, name="mount_ban_many")
async def ban_many(request: Request, core: Core, guilds: GuildsArea, guild_id: int, body: BanMany) -> BannedMany:
    """Ban accounts one after the other, each whole in itself."""
    core.access.guild(request.principal, guild_id, Permission.BAN_MEMBERS)
    new, told = NewBan(delete_message_seconds=body.delete_message_seconds), BannedMany(banned_users=[], failed_users=[])
    for user_id in dict.fromkeys(body.user_ids):
        try:
            await guilds.bans.ban(request.principal, guild_id, user_id, new, request.audit_log_reason)
        except ApiError as error:
            if error.code not in (ErrorCode.UNKNOWN_USER, ErrorCode.MISSING_PERMISSIONS):
                raise
            told["failed_users"].append(str(user_id))
        else:
            told["banned_users"].append(str(user_id))
    return told


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
