"""Operations on roles (permissions.md, Role hierarchy; guilds.md, Roles)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

from chat import wire
from chat.api.fields import OMITTED, Items, Length, Maybe, PermissionBits, Range, Snowflake, named_members
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.classes import frozen
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.guilds.roles import NewRole
from chat.errors import InvalidFormBody
from chat.registries.error_codes import FieldCode

routes = Routes(policy=Policy.USER)

COLOR_MAXIMUM: Final = 0xFFFFFF
POSITION_MAXIMUM: Final = 10_000
ROLES_AT_ONCE: Final = 251

CREATE: Final = Bucket("guild:role:create::guild_id", limit=20, window_ms=60_000)
CHANGE: Final = Bucket("guild:role:change::guild_id", limit=40, window_ms=60_000)
ORDER: Final = Bucket("guild:role:order::guild_id", limit=20, window_ms=60_000)
GIVE: Final = Bucket("guild:member:role::guild_id", limit=40, window_ms=10_000)

RoleName = Annotated[str, Length(1, 100, FieldCode.STRING_LENGTH_INVALID)]
Color = Annotated[int, Range(0, COLOR_MAXIMUM)]
Position = Annotated[int, Range(0, POSITION_MAXIMUM)]


@frozen(kw_only=True)
class CreateRole:
    """The body of POST /v1/guilds/{guild_id}/roles."""

    name: RoleName
    color: Color = 0
    permissions: PermissionBits = 0
    hoist: bool = False
    mentionable: bool = False


@frozen(kw_only=True)
class ChangeRole:
    """The body of PATCH /v1/guilds/{guild_id}/roles/{role_id}."""

    name: Maybe[RoleName] = OMITTED
    color: Maybe[Color] = OMITTED
    permissions: Maybe[PermissionBits] = OMITTED
    hoist: Maybe[bool] = OMITTED
    hoist_position: Maybe[Position | None] = OMITTED
    mentionable: Maybe[bool] = OMITTED


@frozen(kw_only=True)
class RolePosition:
    """One entry of the body of PATCH /v1/guilds/{guild_id}/roles; without `position` it stays where it is."""

    id: Snowflake
    position: Position | None = None


@frozen(kw_only=True)
class HoistPosition:
    """One entry of the body of PATCH /v1/guilds/{guild_id}/roles/hoist-positions."""

    id: Snowflake
    hoist_position: Position | None = None


Positions = Annotated[list[RolePosition], Items(0, ROLES_AT_ONCE)]
HoistPositions = Annotated[list[HoistPosition], Items(0, ROLES_AT_ONCE)]


@routes.operation("POST", "/v1/guilds/{guild_id}/roles", bucket=CREATE)
async def create_role(request: Request, guilds: GuildsArea, guild_id: int, body: CreateRole) -> wire.Role:
    """Make a role."""
    new = NewRole(body.name, body.color, body.permissions, body.hoist, body.mentionable)
    return await guilds.roles.create(request.principal, guild_id, new, request.audit_log_reason)


@routes.operation("PATCH", "/v1/guilds/{guild_id}/roles", bucket=ORDER)
async def reorder_roles(request: Request, guilds: GuildsArea, guild_id: int, body: Positions) -> None:
    """Give roles other positions."""
    positions = {entry.id: entry.position for entry in body if entry.position is not None}
    _require_distinct(entry.id for entry in body)
    await guilds.roles.reorder(request.principal, guild_id, positions, request.audit_log_reason)


@routes.operation("PATCH", "/v1/guilds/{guild_id}/roles/hoist-positions", bucket=ORDER)
async def place_hoisted_roles(request: Request, guilds: GuildsArea, guild_id: int, body: HoistPositions) -> None:
    """Say where in the member list roles are shown."""
    _require_distinct(entry.id for entry in body)
    places = {entry.id: entry.hoist_position for entry in body}
    if places:
        await guilds.roles.place_hoisted(request.principal, guild_id, places, request.audit_log_reason)


@routes.operation("DELETE", "/v1/guilds/{guild_id}/roles/hoist-positions", bucket=ORDER)
async def forget_hoist_positions(request: Request, guilds: GuildsArea, guild_id: int) -> None:
    """Show roles in the member list by their positions again."""
    await guilds.roles.place_hoisted(request.principal, guild_id, {}, request.audit_log_reason)


@routes.operation("PATCH", "/v1/guilds/{guild_id}/roles/{role_id}", bucket=CHANGE)
async def change_role(request: Request, guilds: GuildsArea, guild_id: int, role_id: int, body: ChangeRole) -> wire.Role:
    """Change a role."""
    return await guilds.roles.change(
        request.principal, guild_id, role_id, named_members(body), request.audit_log_reason
    )


@routes.operation("DELETE", "/v1/guilds/{guild_id}/roles/{role_id}", bucket=CHANGE)
async def delete_role(request: Request, guilds: GuildsArea, guild_id: int, role_id: int) -> None:
    """Delete a role."""
    await guilds.roles.delete(request.principal, guild_id, role_id, request.audit_log_reason)


@routes.operation("PUT", "/v1/guilds/{guild_id}/members/{user_id}/roles/{role_id}", bucket=GIVE)
async def give_role(request: Request, guilds: GuildsArea, guild_id: int, user_id: int, role_id: int) -> None:
    """Give a member a role."""
    await guilds.roles.give(request.principal, guild_id, user_id, role_id, reason=request.audit_log_reason)


@routes.operation("DELETE", "/v1/guilds/{guild_id}/members/{user_id}/roles/{role_id}", bucket=GIVE)
async def take_role(request: Request, guilds: GuildsArea, guild_id: int, user_id: int, role_id: int) -> None:
    """Take a role from a member."""
    await guilds.roles.give(request.principal, guild_id, user_id, role_id, take=True, reason=request.audit_log_reason)


def _require_distinct(role_ids: Iterable[int]) -> None:
    seen: set[int] = set()
    for index, role_id in enumerate(role_ids):
        if role_id in seen:
            raise InvalidFormBody.at(f"{index}.id", FieldCode.INVALID_ROLE_ID)
        seen.add(role_id)
