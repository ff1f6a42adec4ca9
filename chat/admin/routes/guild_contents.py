"""Operations on what guilds hold: audit log, emojis, stickers (administration.md, Administered guilds)."""

from __future__ import annotations

from typing import Annotated

import attrs

from chat.admin import buckets
from chat.admin.acting import acting
from chat.admin.operation import AdminRoutes
from chat.api.fields import Range, Snowflake
from chat.api.operation import Request
from chat.api.schemas.administration.administered_guilds import ADMIN_EMOJI, ADMIN_STICKER
from chat.api.schemas.guilds.guilds import AUDIT_LOG
from chat.api.schemas.shapes import NOTHING, listed, record
from chat.domain.administration.assemble import AdministrationArea
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
    query=ReadGuildAuditLog,
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
