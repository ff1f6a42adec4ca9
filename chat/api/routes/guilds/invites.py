"""Operations on invites (guilds.md, Invites)."""

from __future__ import annotations

from typing import Annotated, Final

from chat import wire
from chat.api.fields import Range, Snowflake
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.classes import frozen
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.guilds.invites import InviteTerms

routes = Routes(policy=Policy.USER)

CREATE_INVITE: Final = Bucket("channel:invite:create::channel_id", limit=10, window_ms=60_000)
LIST_CHANNEL_INVITES: Final = Bucket("channel:invite:list::channel_id", limit=40, window_ms=10_000)
LIST_GUILD_INVITES: Final = Bucket("guild:invite:list::guild_id", limit=40, window_ms=10_000)
GET_INVITE: Final = Bucket("invite:read", limit=100, window_ms=60_000)
ACCEPT_INVITE: Final = Bucket("invite:accept", limit=10, window_ms=60_000)
DELETE_INVITE: Final = Bucket("invite:delete", limit=20, window_ms=60_000)

MAX_AGE_SECONDS: Final = 604_800
MAX_USES: Final = 100


@frozen
class CreateInvite:
    """The body of an invite to be: `max_age` in seconds, 0 for ever; `max_uses` 0 without limit. One that names a
    placeholder works once."""

    max_uses: Annotated[int, Range(0, MAX_USES)] = 0
    max_age: Annotated[int, Range(0, MAX_AGE_SECONDS)] = 0
    unique: bool = False
    temporary: bool = False
    placeholder_id: Snowflake | None = None


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/invites",
    bucket=CREATE_INVITE,
    closed_to_limited=True,
)
async def create_invite(
    request: Request, guilds: GuildsArea, channel_id: int, body: CreateInvite
) -> wire.InviteWithMetadata:
    """Make an invite that leads to a channel."""
    terms = InviteTerms(body.max_age, body.max_uses, body.unique, body.temporary, body.placeholder_id)
    return await guilds.invites.create(request.principal, channel_id, terms, request.audit_log_reason)


@routes.operation("GET", "/v1/channels/{channel_id}/invites", bucket=LIST_CHANNEL_INVITES)
async def list_channel_invites(request: Request, guilds: GuildsArea, channel_id: int) -> list[wire.InviteWithMetadata]:
    """The invites that lead to a channel."""
    return await guilds.invites.of_channel(request.principal, channel_id)


@routes.operation("GET", "/v1/guilds/{guild_id}/invites", bucket=LIST_GUILD_INVITES)
async def list_guild_invites(request: Request, guilds: GuildsArea, guild_id: int) -> list[wire.InviteWithMetadata]:
    """The invites of a guild."""
    return await guilds.invites.of_guild(request.principal, guild_id)


@routes.operation("GET", "/v1/invites/{invite_code}", policy=Policy.NONE, bucket=GET_INVITE)
async def get_invite(request: Request, guilds: GuildsArea, invite_code: str) -> wire.Invite:
    """One invite, without a credential."""
    return await guilds.invites.get(invite_code)


@routes.operation(
    "POST",
    "/v1/invites/{invite_code}",
    policy=Policy.USER_ONLY,
    bucket=ACCEPT_INVITE,
    closed_to_limited=True,
)
async def accept_invite(request: Request, guilds: GuildsArea, invite_code: str) -> wire.Invite:
    """Join what an invite leads to; a body is neither needed nor read."""
    return await guilds.invites.accept(request.principal, invite_code, request.address)


@routes.operation("DELETE", "/v1/invites/{invite_code}", bucket=DELETE_INVITE)
async def delete_invite(request: Request, guilds: GuildsArea, invite_code: str) -> None:
    """Delete an invite."""
    await guilds.invites.delete(request.principal, invite_code, request.audit_log_reason)
