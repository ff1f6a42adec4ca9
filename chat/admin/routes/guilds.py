"""Operations on guilds, and on what is in them: members, audit log, emojis, stickers (administration.md, Administered
guilds)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import attrs

from chat import wire
from chat.admin import buckets
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import OMITTED, Exact, Items, Length, Maybe, Omitted, Range, Snowflake
from chat.api.operation import Request
from chat.classes import frozen
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.administration.guilds import GuildSearch, GuildWishes
from chat.domain.guilds.bans import NewBan
from chat.domain.standing.guild_objects import EMOJIS, STICKERS, emoji_object, sticker_object
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import FieldCode
from chat.registries.guild_features import GuildFeature
from chat.registries.guild_values import DisabledOperation
from chat.store.standing.guild_audit_log import AuditLogPage

routes = AdminRoutes(bucket_of_changes=buckets.GUILD_MODIFY)

INT32_MAXIMUM: Final = (1 << 31) - 1
EVERY_DISABLED_OPERATION: Final = sum(operation.value for operation in DisabledOperation)

CHANGING: Final = (
    Acl.GUILD_UPDATE_NAME,
    Acl.GUILD_UPDATE_VANITY,
    Acl.GUILD_TRANSFER_OWNERSHIP,
    Acl.GUILD_UPDATE_FEATURES,
    Acl.GUILD_UPDATE_SETTINGS,
)
"""One of these opens the operation that changes a guild; each field asks for its own."""

Features = Annotated[list[GuildFeature], Items(0, 64)]


@frozen
class SearchGuilds:
    """The query of GET /v1/admin/guilds."""

    q: Annotated[str, Length(0, 1_024)] = ""
    sort_by: Literal["created_at", "name", "member_count"] = "created_at"
    sort_order: Literal["asc", "desc"] = "desc"
    limit: Annotated[int, Range(1, 200)] = 50
    offset: Annotated[int, Range(0, 100_000)] = 0


@frozen(kw_only=True)
class GuildSettings:
    """Settings of a guild; what is not sent stays."""

    verification_level: Maybe[Literal[0, 1, 2, 3, 4]] = OMITTED
    mfa_level: Maybe[Literal[0, 1]] = OMITTED
    nsfw: Maybe[bool] = OMITTED
    nsfw_level: Maybe[Literal[0, 3]] = OMITTED
    content_warning_level: Maybe[Annotated[int, Range(0, INT32_MAXIMUM)]] = OMITTED
    content_warning_text: Maybe[Annotated[str, Length(0, 200, FieldCode.STRING_LENGTH_INVALID)] | None] = OMITTED
    explicit_content_filter: Maybe[Literal[0, 1, 2]] = OMITTED
    default_message_notifications: Maybe[Literal[0, 1]] = OMITTED
    disabled_operations: Maybe[Annotated[int, Range(0, EVERY_DISABLED_OPERATION)]] = OMITTED

    def named(self) -> dict[str, object]:
        """Those that were sent."""
        values = {field.name: getattr(self, field.name) for field in attrs.fields(GuildSettings)}
        return {name: value for name, value in values.items() if not isinstance(value, Omitted)}


@frozen(kw_only=True)
class ChangeGuild(GuildSettings):
    """The body of PATCH /v1/admin/guilds/{guild_id}; settings stand in it themselves or below `settings`."""

    name: str | None = None
    vanity_url_code: Maybe[Annotated[str, Exact(), Length(1, 256, FieldCode.VANITY_URL_CODE_LENGTH_INVALID)] | None] = (
        OMITTED
    )
    new_owner_id: Snowflake | None = None
    add_features: Features | None = None
    remove_features: Features | None = None
    fields: Annotated[list[Literal["icon", "banner", "splash", "embed_splash"]], Items(0, 10)] | None = None
    settings: GuildSettings | None = None

    def wishes(self) -> GuildWishes:
        """What is to be different."""
        code = self.vanity_url_code
        below = {} if self.settings is None else self.settings.named()
        return GuildWishes(
            name=self.name,
            changes_vanity=not isinstance(code, Omitted),
            vanity_url_code=None if isinstance(code, Omitted) else code,
            new_owner_id=self.new_owner_id,
            changes_features=self.add_features is not None or self.remove_features is not None,
            add_features=frozenset(map(str, self.add_features or ())),
            remove_features=frozenset(map(str, self.remove_features or ())),
            cleared=None if self.fields is None else tuple(dict.fromkeys(self.fields)),
            settings={**below, **self.named()},
        )


@routes.admin_operation("GET", "/v1/admin/guilds", [Acl.GUILD_LOOKUP], AdminAction.SEARCH_GUILDS)
async def search_guilds(request: Request, administration: AdministrationArea, query: SearchGuilds) -> wire.GuildsFound:
    """Guilds by name, custom invite code or id."""
    wanted = GuildSearch(query.q, query.sort_by, query.sort_order == "desc", query.limit, query.offset)
    return await administration.guilds.search(acting(request), wanted)


@routes.admin_operation("GET", "/v1/admin/guilds/{guild_id}", [Acl.GUILD_LOOKUP], AdminAction.GET_GUILD)
async def get_guild(request: Request, administration: AdministrationArea, guild_id: int) -> wire.AdminGuildAnswer:
    """One guild with its roles and channels."""
    return {"guild": await administration.guilds.get(acting(request), guild_id)}


@routes.admin_operation("PATCH", "/v1/admin/guilds/{guild_id}", [CHANGING], AdminAction.UPDATE_SETTINGS)
async def change_guild(
    request: Request, administration: AdministrationArea, guild_id: int, body: ChangeGuild
) -> wire.AdminGuildAnswer:
    """Change what is named; each field asks for its own ACL, and the audit log knows each kind of change by itself."""
    guilds = administration.guilds
    return {"guild": await guilds.change(acting(request), guild_id, body.wishes())}


@routes.admin_operation("DELETE", "/v1/admin/guilds/{guild_id}", [Acl.GUILD_DELETE], AdminAction.DELETE_GUILD)
async def delete_guild(request: Request, administration: AdministrationArea, guild_id: int) -> None:
    """Delete a guild."""
    await administration.guilds.delete(acting(request), guild_id)


@routes.admin_operation("POST", "/v1/admin/guilds/{guild_id}/reload", [Acl.GUILD_RELOAD], AdminAction.RELOAD_GUILD)
async def reload_guild(request: Request, administration: AdministrationArea, guild_id: int) -> None:
    """Read the guild's state from the store again; its sessions stay."""
    await administration.guilds.reload(acting(request), guild_id)


@routes.admin_operation(
    "POST", "/v1/admin/guilds/{guild_id}/shutdown", [Acl.GUILD_SHUTDOWN], AdminAction.SHUTDOWN_GUILD
)
async def shut_down_guild(request: Request, administration: AdministrationArea, guild_id: int) -> None:
    """Drop the guild's state from memory; where sessions need it, it is read from the store at once."""
    await administration.guilds.shut_down(acting(request), guild_id)


@frozen(kw_only=True)
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
    [Acl.GUILD_AUDIT_LOG_VIEW],
    AdminAction.LIST_GUILD_AUDIT_LOG,
    bucket=buckets.AUDIT_LOG,
)
async def read_guild_audit_log(
    request: Request, administration: AdministrationArea, guild_id: int, query: ReadGuildAuditLog
) -> wire.AuditLog:
    """A page of a guild's own audit log."""
    page = AuditLogPage(query.limit, query.before, query.after, query.user_id, query.action_type)
    return await administration.guild_contents.audit_log(acting(request), guild_id, page)


@routes.admin_operation(
    "GET",
    "/v1/admin/guilds/{guild_id}/emojis",
    [(Acl.GUILD_LOOKUP, Acl.ASSET_PURGE)],
    AdminAction.LIST_GUILD_EMOJIS,
)
async def list_guild_emojis(
    request: Request, administration: AdministrationArea, guild_id: int
) -> wire.AdminListGuildEmojisAnswer:
    """A guild's emojis."""
    contents = administration.guild_contents
    found = await contents.expressions(acting(request), guild_id, EMOJIS)
    return {"emojis": [{**emoji_object(expression), **made} for expression, made in found]}


@routes.admin_operation(
    "GET",
    "/v1/admin/guilds/{guild_id}/stickers",
    [(Acl.GUILD_LOOKUP, Acl.ASSET_PURGE)],
    AdminAction.LIST_GUILD_STICKERS,
)
async def list_guild_stickers(
    request: Request, administration: AdministrationArea, guild_id: int
) -> wire.AdminListGuildStickersAnswer:
    """A guild's stickers."""
    contents = administration.guild_contents
    found = await contents.expressions(acting(request), guild_id, STICKERS)
    return {"stickers": [{**sticker_object(expression), **made} for expression, made in found]}


@routes.admin_operation(
    "DELETE", "/v1/admin/guilds/{guild_id}/emojis/{emoji_id}", [Acl.ASSET_PURGE], AdminAction.PURGE_GUILD_EMOJI
)
async def purge_guild_emoji(request: Request, administration: AdministrationArea, guild_id: int, emoji_id: int) -> None:
    """Delete an emoji and its image."""
    await administration.guild_contents.purge(acting(request), guild_id, EMOJIS, emoji_id)


@routes.admin_operation(
    "DELETE", "/v1/admin/guilds/{guild_id}/stickers/{sticker_id}", [Acl.ASSET_PURGE], AdminAction.PURGE_GUILD_STICKER
)
async def purge_guild_sticker(
    request: Request, administration: AdministrationArea, guild_id: int, sticker_id: int
) -> None:
    """Delete a sticker and its image."""
    await administration.guild_contents.purge(acting(request), guild_id, STICKERS, sticker_id)


DAY_SECONDS: Final = 86_400
DELETED_SECONDS_MAXIMUM: Final = 7 * DAY_SECONDS
DURATION_SECONDS_MAXIMUM: Final = 10 * 365 * DAY_SECONDS


@frozen
class SearchMembers:
    """The query of GET …/members."""

    q: Annotated[str, Length(0, 100)] = ""
    limit: Annotated[int, Range(1, 200)] = 50
    offset: Annotated[int, Range(0, 100_000)] = 0


@frozen(kw_only=True)
class BanMember:
    """The body of PUT …/bans/{user_id}, as the guild's own operation has it; a duration of 0 is for good."""

    reason: Annotated[str, Length(1, 512)] | None = None
    delete_message_seconds: Annotated[int, Range(0, DELETED_SECONDS_MAXIMUM)] = 0
    ban_duration_seconds: Annotated[int, Range(0, DURATION_SECONDS_MAXIMUM)] | None = None


@routes.admin_operation(
    "GET",
    "/v1/admin/guilds/{guild_id}/members",
    [Acl.GUILD_LIST_MEMBERS],
    AdminAction.LIST_GUILD_MEMBERS,
)
async def list_guild_members(
    request: Request, administration: AdministrationArea, guild_id: int, query: SearchMembers
) -> wire.AdminGuildMembers:
    """A guild's members, all or those of a name."""
    members = administration.guild_members
    return await members.search(acting(request), guild_id, query.q, query.limit, query.offset)


@routes.admin_operation(
    "PUT",
    "/v1/admin/guilds/{guild_id}/members/{user_id}",
    [Acl.GUILD_FORCE_ADD_MEMBER],
    AdminAction.FORCE_ADD_MEMBER,
)
async def force_add_member(
    request: Request, administration: AdministrationArea, guild_id: int, user_id: int
) -> wire.AdminForceAddMemberAnswer:
    """Make an account a member."""
    return {"member": await administration.guild_members.add(acting(request), guild_id, user_id)}


@routes.admin_operation(
    "DELETE", "/v1/admin/guilds/{guild_id}/members/{user_id}", [Acl.GUILD_KICK_MEMBER], AdminAction.KICK_MEMBER
)
async def kick_guild_member(request: Request, administration: AdministrationArea, guild_id: int, user_id: int) -> None:
    """Remove a member."""
    await administration.guild_members.kick(acting(request), guild_id, user_id)


@routes.admin_operation(
    "PUT",
    "/v1/admin/guilds/{guild_id}/bans/{user_id}",
    [Acl.GUILD_BAN_MEMBER],
    AdminAction.BAN_MEMBER,
)
async def ban_guild_member(
    request: Request, administration: AdministrationArea, guild_id: int, user_id: int, body: BanMember
) -> wire.AdminBanGuildMemberAnswer:
    """Keep an account out of a guild."""
    new = NewBan(body.reason, body.delete_message_seconds, body.ban_duration_seconds or None)
    return {"ban": await administration.guild_members.ban(acting(request), guild_id, user_id, new)}


@routes.admin_operation(
    "DELETE", "/v1/admin/guilds/{guild_id}/bans/{user_id}", [Acl.GUILD_BAN_MEMBER], AdminAction.UNBAN_MEMBER
)
async def lift_guild_ban(request: Request, administration: AdministrationArea, guild_id: int, user_id: int) -> None:
    """Lift a guild's ban of an account."""
    await administration.guild_members.lift(acting(request), guild_id, user_id)
