"""Operations on what is in guilds: members, audit log, emojis, stickers (administration.md, Administered guilds)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.admin import buckets
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import Length, Range, Snowflake
from chat.api.operation import Request
from chat.api.schemas.administration.moderation import (
    ADMIN_EMOJI,
    ADMIN_GUILD_MEMBER,
    ADMIN_GUILD_MEMBERS,
    ADMIN_STICKER,
)
from chat.api.schemas.guilds.guilds import AUDIT_LOG, BAN
from chat.api.schemas.shapes import NOTHING, listed, record
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.guilds.bans import NewBan
from chat.domain.standing.guild_objects import EMOJIS, STICKERS
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.store.standing.guild_audit_log import AuditLogPage

routes = AdminRoutes()


@attrs.frozen(kw_only=True)
class ReadGuildAuditLog:
    """The query of GET …/audit-logs, as the guild's own operation has it."""

    user_id: Snowflake | None = None
    action_type: Annotated[int, Range(1, 255)] | None = None
    before: Snowflake | None = None
    after: Snowflake | None = None
    limit: Annotated[int, Range(1, 100)] = 50


@routes.admin_operation(
    "GET",
    "/v1/admin/guilds/{guild_id}/audit-logs",
    acls=[Acl.GUILD_AUDIT_LOG_VIEW],
    audit=AdminAction.LIST_GUILD_AUDIT_LOG,
    bucket=buckets.AUDIT_LOG,
    answers=AUDIT_LOG,
)
async def read_guild_audit_log(
    request: Request, administration: AdministrationArea, guild_id: int, query: ReadGuildAuditLog
) -> object:
    """A page of a guild's own audit log."""
    page = AuditLogPage(query.limit, query.before, query.after, query.user_id, query.action_type)
    return await administration.guild_contents.audit_log(acting(request), guild_id, page)


@routes.admin_operation(
    "GET",
    "/v1/admin/guilds/{guild_id}/emojis",
    acls=[(Acl.GUILD_LOOKUP, Acl.ASSET_PURGE)],
    audit=AdminAction.LIST_GUILD_EMOJIS,
    bucket=buckets.LOOKUP,
    answers=record({"emojis": listed(ADMIN_EMOJI)}),
)
async def list_guild_emojis(request: Request, administration: AdministrationArea, guild_id: int) -> object:
    """A guild's emojis."""
    contents = administration.guild_contents
    return {"emojis": await contents.expressions(acting(request), guild_id, EMOJIS)}


@routes.admin_operation(
    "GET",
    "/v1/admin/guilds/{guild_id}/stickers",
    acls=[(Acl.GUILD_LOOKUP, Acl.ASSET_PURGE)],
    audit=AdminAction.LIST_GUILD_STICKERS,
    bucket=buckets.LOOKUP,
    answers=record({"stickers": listed(ADMIN_STICKER)}),
)
async def list_guild_stickers(request: Request, administration: AdministrationArea, guild_id: int) -> object:
    """A guild's stickers."""
    contents = administration.guild_contents
    return {"stickers": await contents.expressions(acting(request), guild_id, STICKERS)}


@routes.admin_operation(
    "DELETE",
    "/v1/admin/guilds/{guild_id}/emojis/{emoji_id}",
    acls=[Acl.ASSET_PURGE],
    audit=AdminAction.PURGE_GUILD_EMOJI,
    bucket=buckets.GUILD_MODIFY,
    answers=NOTHING,
)
async def purge_guild_emoji(request: Request, administration: AdministrationArea, guild_id: int, emoji_id: int) -> None:
    """Delete an emoji and its image."""
    await administration.guild_contents.purge(acting(request), guild_id, EMOJIS, emoji_id)


@routes.admin_operation(
    "DELETE",
    "/v1/admin/guilds/{guild_id}/stickers/{sticker_id}",
    acls=[Acl.ASSET_PURGE],
    audit=AdminAction.PURGE_GUILD_STICKER,
    bucket=buckets.GUILD_MODIFY,
    answers=NOTHING,
)
async def purge_guild_sticker(
    request: Request, administration: AdministrationArea, guild_id: int, sticker_id: int
) -> None:
    """Delete a sticker and its image."""
    await administration.guild_contents.purge(acting(request), guild_id, STICKERS, sticker_id)


DAY_SECONDS: Final = 86_400
DELETED_SECONDS_MAXIMUM: Final = 7 * DAY_SECONDS
DURATION_SECONDS_MAXIMUM: Final = 10 * 365 * DAY_SECONDS


@attrs.frozen
class SearchMembers:
    """The query of GET …/members."""

    q: Annotated[str, Length(0, 100)] = ""
    limit: Annotated[int, Range(1, 200)] = 50
    offset: Annotated[int, Range(0, 100_000)] = 0


@attrs.frozen(kw_only=True)
class BanMember:
    """The body of PUT …/bans/{user_id}, as the guild's own operation has it; a duration of 0 is for good."""

    reason: Annotated[str, Length(1, 512)] | None = None
    delete_message_seconds: Annotated[int, Range(0, DELETED_SECONDS_MAXIMUM)] = 0
    ban_duration_seconds: Annotated[int, Range(0, DURATION_SECONDS_MAXIMUM)] | None = None


@routes.admin_operation(
    "GET",
    "/v1/admin/guilds/{guild_id}/members",
    acls=[Acl.GUILD_LIST_MEMBERS],
    audit=AdminAction.LIST_GUILD_MEMBERS,
    bucket=buckets.LOOKUP,
    answers=ADMIN_GUILD_MEMBERS,
)
async def list_guild_members(
    request: Request, administration: AdministrationArea, guild_id: int, query: SearchMembers
) -> object:
    """A guild's members, all or those of a name."""
    members = administration.guild_members
    return await members.search(acting(request), guild_id, query.q, query.limit, query.offset)


@routes.admin_operation(
    "PUT",
    "/v1/admin/guilds/{guild_id}/members/{user_id}",
    acls=[Acl.GUILD_FORCE_ADD_MEMBER],
    audit=AdminAction.FORCE_ADD_MEMBER,
    bucket=buckets.GUILD_MODIFY,
    answers=record({"member": ADMIN_GUILD_MEMBER}),
)
async def force_add_member(request: Request, administration: AdministrationArea, guild_id: int, user_id: int) -> object:
    """Make an account a member."""
    return {"member": await administration.guild_members.add(acting(request), guild_id, user_id)}


@routes.admin_operation(
    "DELETE",
    "/v1/admin/guilds/{guild_id}/members/{user_id}",
    acls=[Acl.GUILD_KICK_MEMBER],
    audit=AdminAction.KICK_MEMBER,
    bucket=buckets.GUILD_MODIFY,
    answers=NOTHING,
)
async def kick_guild_member(request: Request, administration: AdministrationArea, guild_id: int, user_id: int) -> None:
    """Remove a member."""
    await administration.guild_members.kick(acting(request), guild_id, user_id)


@routes.admin_operation(
    "PUT",
    "/v1/admin/guilds/{guild_id}/bans/{user_id}",
    acls=[Acl.GUILD_BAN_MEMBER],
    audit=AdminAction.BAN_MEMBER,
    bucket=buckets.GUILD_MODIFY,
    answers=record({"ban": BAN}),
)
async def ban_guild_member(
    request: Request, administration: AdministrationArea, guild_id: int, user_id: int, body: BanMember
) -> object:
    """Keep an account out of a guild."""
    new = NewBan(body.reason, body.delete_message_seconds, body.ban_duration_seconds or None)
    return {"ban": await administration.guild_members.ban(acting(request), guild_id, user_id, new)}


@routes.admin_operation(
    "DELETE",
    "/v1/admin/guilds/{guild_id}/bans/{user_id}",
    acls=[Acl.GUILD_BAN_MEMBER],
    audit=AdminAction.UNBAN_MEMBER,
    bucket=buckets.GUILD_MODIFY,
    answers=NOTHING,
)
async def lift_guild_ban(request: Request, administration: AdministrationArea, guild_id: int, user_id: int) -> None:
    """Lift a guild's ban of an account."""
    await administration.guild_members.lift(acting(request), guild_id, user_id)
