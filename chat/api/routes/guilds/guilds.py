"""Operations on guilds (guilds.md, Guild object), and reading their audit logs (guilds.md, Audit log)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import attrs

from chat import wire
from chat.api.fields import OMITTED, Exact, Items, Length, Maybe, Range, Snowflake, SudoFields, Timestamp, named_members
from chat.api.operation import Answer, Bucket, Policy, Request, Routes
from chat.api.schemas.shapes import NOTHING
from chat.classes import frozen
from chat.config.keeping import MOST_DAYS
from chat.domain.core import Core
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.guilds.guilds import GuildPage, GuildWish
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.scopes import Scope
from chat.store.standing.guild_audit_log import AuditLogPage

routes = Routes(policy=Policy.USER)

CREATE_GUILD: Final = Bucket("guild:create", limit=10, window_ms=60_000)
LIST_CURRENT_USER_GUILDS: Final = Bucket("guild:list", limit=40, window_ms=10_000)
GET_GUILD: Final = Bucket("guild:read::guild_id", limit=100, window_ms=10_000)
MODIFY_GUILD: Final = Bucket("guild:update::guild_id", limit=20, window_ms=10_000)
DELETE_GUILD: Final = Bucket("guild:delete::guild_id", limit=10, window_ms=60_000)
TRANSFER_OWNERSHIP: Final = Bucket("guild:transfer::guild_id", limit=5, window_ms=60_000)
GET_VANITY_URL: Final = Bucket("guild:vanity_url:get::guild_id", limit=100, window_ms=10_000)
CHANGE_VANITY_URL: Final = Bucket("guild:vanity_url:patch::guild_id", limit=10, window_ms=60_000)
LIST_GUILD_ROLES: Final = Bucket("guild:role:list::guild_id", limit=100, window_ms=10_000)
LIST_GUILD_CHANNELS: Final = Bucket("guild:channel:list::guild_id", limit=100, window_ms=10_000)
READ_AUDIT_LOG: Final = Bucket("guild:audit_log::guild_id", limit=40, window_ms=10_000)

INT32_MAXIMUM: Final = (1 << 31) - 1


@frozen
class CreateGuild:
    """The body of Create guild."""

    name: str
    empty_features: bool = False
    icon: Annotated[str, Exact()] | None = None
    template: dict[str, Any] | None = None  # Discord's JSON of a template, which is walked
    """Read by `chat.domain.guilds.guild_template`."""


@frozen(kw_only=True)
class ModifyGuild(SudoFields):
    """The body of Modify guild; what is not sent stays."""

    name: Maybe[str] = OMITTED
    system_channel_id: Maybe[Snowflake | None] = OMITTED
    system_channel_flags: Maybe[Annotated[int, Range(0, INT32_MAXIMUM)]] = OMITTED
    afk_channel_id: Maybe[Snowflake | None] = OMITTED
    afk_timeout: Maybe[Annotated[int, Range(60, 3_600)]] = OMITTED
    default_message_notifications: Maybe[Literal[0, 1]] = OMITTED
    verification_level: Maybe[Literal[0, 1, 2, 3, 4]] = OMITTED
    mfa_level: Maybe[Literal[0, 1]] = OMITTED
    nsfw_level: Maybe[Literal[0, 3]] = OMITTED
    nsfw: Maybe[bool] = OMITTED
    content_warning_level: Maybe[Annotated[int, Range(0, INT32_MAXIMUM)]] = OMITTED
    content_warning_text: Maybe[Annotated[str, Length(0, 200, FieldCode.STRING_LENGTH_INVALID)] | None] = OMITTED
    explicit_content_filter: Maybe[Literal[0, 1, 2]] = OMITTED
    splash_card_alignment: Maybe[Literal[0, 1, 2]] = OMITTED
    features: Maybe[Annotated[list[str], Items(0, 100)]] = OMITTED
    message_history_cutoff: Maybe[Timestamp | None] = OMITTED
    message_retention_days: Maybe[Annotated[int, Range(0, MOST_DAYS)] | None] = OMITTED
    icon: Maybe[Annotated[str, Exact()] | None] = OMITTED
    banner: Maybe[Annotated[str, Exact()] | None] = OMITTED
    splash: Maybe[Annotated[str, Exact()] | None] = OMITTED
    embed_splash: Maybe[Annotated[str, Exact()] | None] = OMITTED


@frozen(kw_only=True)
class TransferOwnership(SudoFields):
    """The body of POST /v1/guilds/{guild_id}/transfer-ownership."""

    new_owner_id: Snowflake


@frozen
class ChangeVanityUrl:
    """The body of PATCH /v1/guilds/{guild_id}/vanity-url: null gives the code up."""

    code: Annotated[str, Exact(), Length(1, 256, FieldCode.VANITY_URL_CODE_LENGTH_INVALID)] | None


SUDO_MEMBERS: Final = frozenset(field.name for field in attrs.fields(SudoFields))


@frozen
class ListGuilds:
    """The query of List current user guilds."""

    before: Snowflake | None = None
    after: Snowflake | None = None
    limit: Annotated[int, Range(1, 200)] = 200
    with_counts: bool = False


@frozen
class LeaveGuild:
    """The query of Leave guild."""

    delete_messages: bool = False


LEAVE: Final = Bucket("guild:leave::guild_id", limit=10, window_ms=10_000)
"""Leave guild and bulk-delete-mine share it (guilds.md, Leave guild)."""


def require_may_create(request: Request, *, guilds: GuildsArea) -> None:
    """What Create guild asks of the account before it looks at the body (guilds.md, Create guild)."""
    guilds.guilds.require_may_create(request.principal)


@routes.operation(
    "POST",
    "/v1/guilds",
    policy=Policy.USER_ONLY,
    bots_refused_with=ErrorCode.BOTS_CANNOT_CREATE_GUILDS,
    closed_to_limited=True,
    precondition=require_may_create,
    bucket=CREATE_GUILD,
    images=True,
)
async def create_guild(request: Request, guilds: GuildsArea, body: CreateGuild) -> wire.Guild:
    """Create guild."""
    wish = GuildWish(name=body.name, icon=body.icon, empty_features=body.empty_features, template=body.template)
    return await guilds.guilds.create(request.principal, wish)


@routes.operation("GET", "/v1/users/@me/guilds", scope=Scope.GUILDS, bucket=LIST_CURRENT_USER_GUILDS)
async def list_current_user_guilds(request: Request, guilds: GuildsArea, query: ListGuilds) -> list[wire.ListedGuild]:
    """List current user guilds."""
    page = GuildPage(query.before, query.after, query.limit, query.with_counts)
    return await guilds.guilds.of_account(request.principal, page)


@routes.operation("DELETE", "/v1/users/@me/guilds/{guild_id}", bucket=LEAVE)
async def leave_guild(request: Request, guilds: GuildsArea, guild_id: int, query: LeaveGuild, body: SudoFields) -> None:
    """Leave guild; sudo mode where one's messages go along."""
    principal = request.principal
    if not query.delete_messages:
        await guilds.memberships.leave(principal, guild_id)
        return
    await guilds.own_messages.leave(principal, guild_id, request.proof(body))


@routes.operation(
    "POST", "/v1/users/@me/guilds/{guild_id}/messages/bulk-delete-mine", bucket=LEAVE, answers={202: NOTHING}
)
async def delete_own_messages_in_guild(request: Request, guilds: GuildsArea, guild_id: int, body: SudoFields) -> Answer:
    """Delete every message that the caller wrote in the guild; sudo mode."""
    await guilds.own_messages.delete_in_guild(request.principal, guild_id, request.proof(body))
    return Answer(202)


@routes.operation(
    "GET",
    "/v1/guilds/{guild_id}",
    scope=Scope.GUILDS,
    bucket=GET_GUILD,
    kept=("roles", "emojis", "stickers", "channels"),
)
async def get_guild(request: Request, guilds: GuildsArea, guild_id: int) -> wire.GuildWithCollections:
    """Get guild."""
    return await guilds.guilds.get(request.principal, guild_id)


@routes.operation("PATCH", "/v1/guilds/{guild_id}", bucket=MODIFY_GUILD, images=True)
async def modify_guild(request: Request, guilds: GuildsArea, guild_id: int, body: ModifyGuild) -> wire.Guild:
    """Modify guild; sudo mode where `mfa_level` changes."""
    fields = {name: value for name, value in named_members(body).items() if name not in SUDO_MEMBERS}
    return await guilds.guild_changes.modify(
        request.principal, guild_id, fields, request.proof(body), request.audit_log_reason
    )


@routes.operation("POST", "/v1/guilds/{guild_id}/delete", bucket=DELETE_GUILD)
async def delete_guild(request: Request, guilds: GuildsArea, guild_id: int, body: SudoFields) -> None:
    """Delete guild; sudo mode."""
    await guilds.guild_deletion.delete(request.principal, guild_id, request.proof(body))


@routes.operation(
    "POST",
    "/v1/guilds/{guild_id}/transfer-ownership",
    policy=Policy.USER_ONLY,
    bucket=TRANSFER_OWNERSHIP,
)
async def transfer_ownership(
    request: Request, guilds: GuildsArea, guild_id: int, body: TransferOwnership
) -> wire.Guild:
    """Hand the guild over to another member; sudo mode."""
    return await guilds.guild_deletion.transfer(
        request.principal, guild_id, body.new_owner_id, request.proof(body), request.audit_log_reason
    )


@routes.operation("GET", "/v1/guilds/{guild_id}/vanity-url", bucket=GET_VANITY_URL)
async def get_vanity_url(request: Request, guilds: GuildsArea, guild_id: int) -> wire.VanityUrl:
    """The guild's custom invite code, and how often it was used."""
    return await guilds.vanity_urls.get(request.principal, guild_id)


@routes.operation("PATCH", "/v1/guilds/{guild_id}/vanity-url", bucket=CHANGE_VANITY_URL)
async def change_vanity_url(
    request: Request, guilds: GuildsArea, guild_id: int, body: ChangeVanityUrl
) -> wire.VanityUrl:
    """Take a custom invite code, or give it up."""
    return await guilds.vanity_urls.change(request.principal, guild_id, body.code, request.audit_log_reason)


@routes.operation("GET", "/v1/guilds/{guild_id}/roles", scope=Scope.GUILDS, bucket=LIST_GUILD_ROLES)
async def list_guild_roles(request: Request, guilds: GuildsArea, guild_id: int) -> list[wire.Role]:
    """The roles of a guild."""
    return await guilds.guilds.roles(request.principal, guild_id)


@routes.operation("GET", "/v1/guilds/{guild_id}/channels", bucket=LIST_GUILD_CHANNELS, kept=())
async def list_guild_channels(request: Request, guilds: GuildsArea, guild_id: int) -> list[wire.GuildChannel]:
    """The channels of a guild that the caller sees."""
    return await guilds.guilds.channels(request.principal, guild_id)


@frozen(kw_only=True)
class ReadAuditLog:
    """The query of GET /v1/guilds/{guild_id}/audit-logs."""

    user_id: Snowflake | None = None
    action_type: Annotated[int, Range(1, 255)] | None = None
    before: Snowflake | None = None
    after: Snowflake | None = None
    limit: Annotated[int, Range(1, 100)] = 50


@routes.operation("GET", "/v1/guilds/{guild_id}/audit-logs", bucket=READ_AUDIT_LOG)
async def read_audit_log(request: Request, core: Core, guild_id: int, query: ReadAuditLog) -> wire.AuditLog:
    """A page of the guild's audit log."""
    page = AuditLogPage(query.limit, query.before, query.after, query.user_id, query.action_type)
    return await core.audit_log.read(request.principal, guild_id, page)
