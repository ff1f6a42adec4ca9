"""Operations on the instance: policy and limits (administration.md, Instance configuration), the administrative audit
log (administration.md, Audit entries), and figures (administration.md, Figures), which the console asks for so often
that reading them leaves no entry in the audit log."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import attrs

from chat import wire
from chat.admin import buckets
from chat.admin.operation import AdminRoutes, acting
from chat.api.fields import OMITTED, Items, Length, Maybe, Omitted, Range, Snowflake
from chat.api.operation import Request
from chat.classes import frozen
from chat.config.loading import POLICY
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction, AdminTarget
from chat.store.administration.admin_audit_log import EntriesWanted

routes = AdminRoutes()

NAME_LENGTH: Final = 64
DESCRIPTION_LENGTH: Final = 500
CODE_LENGTH: Final = 64

LARGEST: Final = (1 << 53) - 1
"""What JSON holds exactly."""


@frozen(kw_only=True)
class ChangeInstanceConfig:
    """The body of PATCH /v1/admin/instance/config; what is not sent stays, `reset` names what is to be again as the
    settings say."""

    service_name: Maybe[Annotated[str, Length(1, NAME_LENGTH)]] = OMITTED
    service_description: Maybe[Annotated[str, Length(1, DESCRIPTION_LENGTH)] | None] = OMITTED
    welcome_invite: Maybe[Annotated[str, Length(1, CODE_LENGTH)] | None] = OMITTED
    registration: Maybe[Literal["open", "approval", "closed"]] = OMITTED
    email_verification_required: Maybe[bool] = OMITTED
    single_community_enabled: Maybe[bool] = OMITTED
    single_community_guild_id: Maybe[Snowflake | None] = OMITTED
    direct_messages_disabled: Maybe[bool] = OMITTED
    reset: Annotated[
        list[
            Literal[
                "service_name",
                "service_description",
                "welcome_invite",
                "registration",
                "email_verification_required",
                "single_community_enabled",
                "single_community_guild_id",
                "direct_messages_disabled",
            ]
        ],
        Items(0, 16),
    ] = attrs.Factory(list)


@frozen
class ChangeLimitConfig:
    """The body of PATCH /v1/admin/instance/limit-config: limits by name; `reset` names what is to be again as the
    settings say."""

    limits: Annotated[dict[str, Annotated[int, Range(0, LARGEST)]], Items(0, 128)] | None = None
    reset: Annotated[list[Annotated[str, Length(1, 64)]], Items(0, 128)] = attrs.Factory(list)


@routes.admin_operation(
    "GET",
    "/v1/admin/instance/config",
    [Acl.INSTANCE_CONFIG_VIEW],
    AdminAction.GET_INSTANCE_CONFIG,
)
async def read_instance_config(request: Request, administration: AdministrationArea) -> wire.InstanceConfig:
    """The policy that is in force."""
    return await administration.configuration.policy(acting(request))


@routes.admin_operation(
    "PATCH",
    "/v1/admin/instance/config",
    [Acl.INSTANCE_CONFIG_UPDATE],
    AdminAction.UPDATE_INSTANCE_CONFIG,
)
async def change_instance_config(
    request: Request, administration: AdministrationArea, body: ChangeInstanceConfig
) -> wire.InstanceConfig:
    """Change the policy of the instance."""
    sent = {name: getattr(body, name) for name in POLICY}
    chosen = {name: value for name, value in sent.items() if not isinstance(value, Omitted)}
    configuration = administration.configuration
    return await configuration.change_policy(acting(request), chosen, frozenset(body.reset) - chosen.keys())


@routes.admin_operation(
    "GET",
    "/v1/admin/instance/limit-config",
    [Acl.INSTANCE_LIMIT_CONFIG_VIEW],
    AdminAction.GET_LIMIT_CONFIG,
)
async def read_limit_config(request: Request, administration: AdministrationArea) -> wire.LimitConfig:
    """The limits that are in force."""
    return await administration.configuration.limits(acting(request))


@routes.admin_operation(
    "PATCH",
    "/v1/admin/instance/limit-config",
    [Acl.INSTANCE_LIMIT_CONFIG_UPDATE],
    AdminAction.UPDATE_LIMIT_CONFIG,
)
async def change_limit_config(
    request: Request, administration: AdministrationArea, body: ChangeLimitConfig
) -> wire.LimitConfig:
    """Change the limits of the instance."""
    return await administration.configuration.change_limits(acting(request), body.limits or {}, body.reset)


@frozen
class ListGatewayGuilds:
    """The query of GET /v1/admin/gateway/guilds."""

    limit: Annotated[int, Range(1, 200)] = 50


@frozen
class ReadHistory:
    """The query of GET /v1/admin/instance/figures/history."""

    period: Literal["day", "week"] = "day"


@frozen
class ReloadGuilds:
    """The body of POST /v1/admin/gateway/reload; without `guild_ids` all that are in memory."""

    guild_ids: Annotated[list[Snowflake], Items(0, 1_000)] | None = None


@routes.admin_operation(
    "GET",
    "/v1/admin/instance/figures",
    [(Acl.INSTANCE_CONFIG_VIEW, Acl.GATEWAY_MEMORY_STATS)],
    audit=None,
)
async def read_instance_figures(request: Request, administration: AdministrationArea) -> wire.InstanceFigures:
    """Count accounts, guilds, channels, messages and sessions."""
    return await administration.figures.instance()


@routes.admin_operation(
    "GET",
    "/v1/admin/instance/figures/history",
    [(Acl.INSTANCE_CONFIG_VIEW, Acl.GATEWAY_MEMORY_STATS)],
    audit=None,
)
async def read_figure_history(
    request: Request, administration: AdministrationArea, query: ReadHistory
) -> wire.FigureHistory:
    """What the server measured of itself over the last day or week."""
    return await administration.figures.history(query.period)


@routes.admin_operation("GET", "/v1/admin/gateway", [Acl.GATEWAY_MEMORY_STATS], audit=None)
async def read_gateway_figures(request: Request, administration: AdministrationArea) -> wire.GatewayFigures:
    """Sessions, guilds in memory, memory."""
    return administration.figures.gateway()


@routes.admin_operation("GET", "/v1/admin/gateway/guilds", [Acl.GATEWAY_MEMORY_STATS], audit=None)
async def list_gateway_guilds(
    request: Request, administration: AdministrationArea, query: ListGatewayGuilds
) -> wire.GatewayGuilds:
    """The guilds in memory, the largest first."""
    return {"guilds": administration.figures.guilds(query.limit)}


@routes.admin_operation("GET", "/v1/admin/gateway/nodes", [Acl.GATEWAY_MEMORY_STATS], audit=None)
async def list_gateway_nodes(request: Request, administration: AdministrationArea) -> wire.GatewayNodes:
    """The gateway nodes, and what each has in hand."""
    return administration.figures.gateway_nodes()


@routes.admin_operation(
    "POST",
    "/v1/admin/gateway/reload",
    [Acl.GATEWAY_RELOAD_ALL],
    AdminAction.RELOAD_GUILDS,
    bucket=buckets.GUILD_MODIFY,
)
async def reload_guilds(
    request: Request, administration: AdministrationArea, body: ReloadGuilds
) -> wire.AdminReloadGuildsAnswer:
    """Read guilds into memory afresh."""
    guild_ids = None if body.guild_ids is None else tuple(body.guild_ids)
    return {"reloaded_count": await administration.figures.reload(acting(request), guild_ids)}


@frozen
class SearchEntries:
    """The query of GET /v1/admin/audit-logs."""

    q: Annotated[str, Length(1, 1_024)] | None = None
    admin_user_id: Snowflake | None = None
    target_type: AdminTarget | None = None
    target_id: Annotated[str, Length(1, 1_024)] | None = None
    sort_by: Literal["createdAt", "relevance"] = "createdAt"
    sort_order: Literal["asc", "desc"] = "desc"
    limit: Annotated[int, Range(1, 200)] = 50
    offset: Annotated[int, Range(0, 100_000)] = 0


@routes.admin_operation("GET", "/v1/admin/audit-logs", [Acl.AUDIT_LOG_VIEW], audit=None, bucket=buckets.AUDIT_LOG)
async def search_audit_log(
    request: Request, administration: AdministrationArea, query: SearchEntries
) -> wire.AdminAuditLog:
    """Entries of the audit log."""
    members = attrs.asdict(query)
    sort = (members.pop("sort_by"), members.pop("sort_order"))
    return await administration.audit_reading.search(EntriesWanted(text=members.pop("q"), sort=sort, **members))


@routes.admin_operation(
    "GET",
    "/v1/admin/audit-logs/{log_id}",
    [Acl.AUDIT_LOG_VIEW],
    audit=None,
    bucket=buckets.AUDIT_LOG,
)
async def get_audit_log_entry(
    request: Request, administration: AdministrationArea, log_id: int
) -> wire.AdminAuditLogEntry:
    """One entry of the audit log."""
    return await administration.audit_reading.get(log_id)
