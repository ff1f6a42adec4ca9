"""Operations on what the instance lets people do: policy, limits, registrations that wait (administration.md, Instance
configuration)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import attrs

from chat.admin import buckets
from chat.admin.acting import acting
from chat.admin.operation import AdminRoutes
from chat.api.fields import OMITTED, Items, Length, Maybe, Omitted, Range, Snowflake
from chat.api.operation import Request
from chat.api.schemas.administration.instance_configuration import INSTANCE_CONFIG, LIMIT_CONFIG, REGISTRATIONS
from chat.api.schemas.shapes import NOTHING
from chat.config.loading import POLICY
from chat.domain.administration.assemble import AdministrationArea
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction

routes = AdminRoutes()

LARGEST: Final = (1 << 53) - 1
"""What JSON holds exactly."""


@attrs.frozen(kw_only=True)
class ChangeInstanceConfig:
    """The body of PATCH /v1/admin/instance/config; what is not sent stays, `reset` names what is to be again as the
    settings say."""

    registration: Maybe[Literal["open", "approval", "closed"]] = OMITTED
    email_verification_required: Maybe[bool] = OMITTED
    single_community_enabled: Maybe[bool] = OMITTED
    single_community_guild_id: Maybe[Snowflake | None] = OMITTED
    direct_messages_disabled: Maybe[bool] = OMITTED
    reset: Annotated[
        list[
            Literal[
                "registration",
                "email_verification_required",
                "single_community_enabled",
                "single_community_guild_id",
                "direct_messages_disabled",
            ]
        ],
        Items(0, 16),
    ] = attrs.Factory(list)
    complete_setup: bool = False


@attrs.frozen
class ChangeLimitConfig:
    """The body of PATCH /v1/admin/instance/limit-config: limits by name; `reset` names what is to be again as the
    settings say."""

    limits: Annotated[dict[str, Annotated[int, Range(0, LARGEST)]], Items(0, 128)] | None = None
    reset: Annotated[list[Annotated[str, Length(1, 64)]], Items(0, 128)] = attrs.Factory(list)


@routes.admin_operation(
    "GET",
    "/v1/admin/instance/config",
    acls=[Acl.INSTANCE_CONFIG_VIEW],
    audit=AdminAction.GET_INSTANCE_CONFIG,
    bucket=buckets.LOOKUP,
    first_run=True,
    answers=INSTANCE_CONFIG,
)
async def read_instance_config(request: Request, administration: AdministrationArea) -> object:
    """The policy that is in force. Open to the first account while the instance is not set up."""
    return await administration.configuration.policy(acting(request))


@routes.admin_operation(
    "PATCH",
    "/v1/admin/instance/config",
    acls=[Acl.INSTANCE_CONFIG_UPDATE],
    audit=AdminAction.UPDATE_INSTANCE_CONFIG,
    bucket=buckets.MODIFY,
    body=ChangeInstanceConfig,
    first_run=True,
    answers=INSTANCE_CONFIG,
)
async def change_instance_config(
    request: Request, administration: AdministrationArea, body: ChangeInstanceConfig
) -> object:
    """Choose policy. While the instance is not set up the first account may do so and complete the setup, which gives
    it `*`."""
    sent = {name: getattr(body, name) for name in POLICY}
    chosen = {name: value for name, value in sent.items() if not isinstance(value, Omitted)}
    configuration = administration.configuration
    return await configuration.change_policy(
        acting(request), chosen, frozenset(body.reset) - chosen.keys(), completes_setup=body.complete_setup
    )


@routes.admin_operation(
    "GET",
    "/v1/admin/instance/limit-config",
    acls=[Acl.INSTANCE_LIMIT_CONFIG_VIEW],
    audit=AdminAction.GET_LIMIT_CONFIG,
    bucket=buckets.LOOKUP,
    answers=LIMIT_CONFIG,
)
async def read_limit_config(request: Request, administration: AdministrationArea) -> object:
    """The limits that are in force."""
    return await administration.configuration.limits(acting(request))


@routes.admin_operation(
    "PATCH",
    "/v1/admin/instance/limit-config",
    acls=[Acl.INSTANCE_LIMIT_CONFIG_UPDATE],
    audit=AdminAction.UPDATE_LIMIT_CONFIG,
    bucket=buckets.MODIFY,
    body=ChangeLimitConfig,
    answers=LIMIT_CONFIG,
)
async def change_limit_config(request: Request, administration: AdministrationArea, body: ChangeLimitConfig) -> object:
    """Choose limits."""
    return await administration.configuration.change_limits(acting(request), body.limits or {}, body.reset)


@routes.admin_operation(
    "GET",
    "/v1/admin/registrations",
    acls=[Acl.USER_LOOKUP],
    audit=AdminAction.LIST_REGISTRATIONS,
    bucket=buckets.LOOKUP,
    answers=REGISTRATIONS,
)
async def list_registrations(request: Request, administration: AdministrationArea) -> object:
    """Registrations that wait for a decision, the longest waiting first."""
    return await administration.registrations.waiting(acting(request))


@routes.admin_operation(
    "POST",
    "/v1/admin/registrations/{user_id}/approve",
    acls=[Acl.USER_UPDATE_FLAGS],
    audit=AdminAction.APPROVE_REGISTRATION,
    bucket=buckets.MODIFY,
    answers=NOTHING,
)
async def approve_registration(request: Request, administration: AdministrationArea, user_id: int) -> None:
    """From now on the account can sign in."""
    await administration.registrations.approve(acting(request), user_id)


@routes.admin_operation(
    "POST",
    "/v1/admin/registrations/{user_id}/reject",
    acls=[Acl.USER_UPDATE_FLAGS],
    audit=AdminAction.REJECT_REGISTRATION,
    bucket=buckets.MODIFY,
    answers=NOTHING,
)
async def reject_registration(request: Request, administration: AdministrationArea, user_id: int) -> None:
    """The account cannot sign in."""
    await administration.registrations.reject(acting(request), user_id)
