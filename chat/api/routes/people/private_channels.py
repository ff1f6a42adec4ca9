"""Operations on conversations outside of guilds (people.md, Private channels)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.api import buckets
from chat.api.fields import Items, Snowflake
from chat.api.operation import Policy, Request, Routes
from chat.api.schemas.guilds.channels import PRIVATE_CHANNEL
from chat.api.schemas.shapes import NOTHING, listed
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.people.assemble import PeopleArea
from chat.domain.standing.private_channels import PrivateChannelAccess
from chat.errors import ApiError, InvalidFormBody

routes = Routes()


RECIPIENTS_MAXIMUM: Final = 1_000
"""More than any instance lets into a group."""


@attrs.frozen(kw_only=True)
class OpenPrivateChannel:
    """The body of POST /v1/users/@me/channels: `recipient_id` for a conversation of two, `recipients` for a group."""

    recipient_id: Snowflake | None = None
    recipients: Annotated[list[Snowflake], Items(0, RECIPIENTS_MAXIMUM)] | None = None


@attrs.frozen
class Removal:
    """The query of taking somebody out of a group: `silent` leaves the system message out."""

    silent: bool = False


@routes.operation(
    "GET",
    "/v1/users/@me/channels",
    policy=Policy.USER,
    bucket=buckets.PRIVATE_CHANNELS,
    answers=listed(PRIVATE_CHANNEL),
)
async def list_private_channels(request: Request, people: PeopleArea) -> object:
    """The caller's conversations, the one with the newest message first."""
    return people.private_channels.of_account(request.principal.user_id)


@routes.operation(
    "POST",
    "/v1/users/@me/channels",
    policy=Policy.USER,
    bucket=buckets.PRIVATE_CHANNEL_OPEN,
    body=OpenPrivateChannel,
    answers=PRIVATE_CHANNEL,
)
async def open_private_channel(request: Request, people: PeopleArea, body: OpenPrivateChannel) -> object:
    """Open the conversation with an account, or make a group."""
    if (body.recipient_id is None) is (body.recipients is None):
        raise InvalidFormBody.at("recipient_id", "INVALID_FORMAT")
    if body.recipients is not None:
        request.limit(buckets.GROUPS_MADE, request.principal.user_id)
        return await people.groups.create(request.principal, body.recipients)
    assert body.recipient_id is not None, "one of the two was sent"  # noqa: S101
    return await people.private_channels.open(request.principal, body.recipient_id)


@routes.operation(
    "PUT",
    "/v1/users/@me/channels/{channel_id}/pin",
    policy=Policy.USER,
    bucket=buckets.PRIVATE_CHANNEL_PIN,
    answers=NOTHING,
)
async def pin_private_channel(request: Request, people: PeopleArea, guilds: GuildsArea, channel_id: int) -> None:
    """Put a conversation at the end of those that the caller has pinned."""
    access = guilds.channels.seen(request.principal, channel_id)
    await people.private_channels.pin(access, pinned=True)


@routes.operation(
    "DELETE",
    "/v1/users/@me/channels/{channel_id}/pin",
    policy=Policy.USER,
    bucket=buckets.PRIVATE_CHANNEL_PIN,
    answers=NOTHING,
)
async def unpin_private_channel(request: Request, people: PeopleArea, guilds: GuildsArea, channel_id: int) -> None:
    """Take a conversation away from those that the caller has pinned."""
    access = guilds.channels.seen(request.principal, channel_id)
    await people.private_channels.pin(access, pinned=False)


@routes.operation(
    "PUT",
    "/v1/channels/{channel_id}/recipients/{user_id}",
    policy=Policy.USER,
    bucket=buckets.GROUP_RECIPIENTS,
    answers=NOTHING,
)
async def add_recipient(
    request: Request, people: PeopleArea, guilds: GuildsArea, channel_id: int, user_id: int
) -> None:
    """Put an account into a group."""
    await people.groups.add(request.principal, _group(request, channel_id, guilds=guilds), user_id)


@routes.operation(
    "DELETE",
    "/v1/channels/{channel_id}/recipients/{user_id}",
    policy=Policy.USER,
    bucket=buckets.GROUP_RECIPIENTS,
    query=Removal,
    answers=NOTHING,
)
async def remove_recipient(
    request: Request, people: PeopleArea, guilds: GuildsArea, channel_id: int, user_id: int, query: Removal
) -> None:
    """Take an account out of a group: the caller itself, or, by the owner, another one."""
    group = _group(request, channel_id, guilds=guilds)
    await people.groups.remove(request.principal, group, user_id, silent=query.silent)


def _group(request: Request, channel_id: int, *, guilds: GuildsArea) -> PrivateChannelAccess:
    """A conversation of the caller; a channel of a guild, which has no recipients, is of the wrong type."""
    access = guilds.channels.seen(request.principal, channel_id)
    if not isinstance(access, PrivateChannelAccess):
        raise ApiError("INVALID_CHANNEL_TYPE")
    return access
