"""Operations on threads and their members (wire facts 5.6; document 000, Thread routes)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import attrs

from chat.api import buckets
from chat.api.fields import Length, Range, Snowflake
from chat.api.operation import Answer, Policy, Request, Routes
from chat.api.schemas.channels import THREAD, THREAD_MEMBER, THREADS
from chat.api.schemas.shapes import NOTHING, listed
from chat.domain.threads import DEFAULT_AUTO_ARCHIVE_MINUTES, NewThread
from chat.registries.channel_types import ChannelType

routes = Routes()

CREATED: Final = 201
SLOWMODE_SECONDS_MAXIMUM: Final = 21_600
MEMBER_FLAGS_MAXIMUM: Final = 0b1111
"""HAS_INTERACTED, ALL_MESSAGES, ONLY_MENTIONS, NO_MESSAGES (wire facts 5.6)."""

ThreadName = Annotated[str, Length(1, 100)]
ArchiveMinutes = Literal[60, 1_440, 4_320, 10_080]
Slowmode = Annotated[int, Range(0, SLOWMODE_SECONDS_MAXIMUM)]


@attrs.frozen(kw_only=True)
class StartFromMessage:
    """The body of POST /v1/channels/{channel_id}/messages/{message_id}/threads."""

    name: ThreadName
    auto_archive_duration: ArchiveMinutes = DEFAULT_AUTO_ARCHIVE_MINUTES
    rate_limit_per_user: Slowmode = 0


@attrs.frozen(kw_only=True)
class Start(StartFromMessage):
    """The body of POST /v1/channels/{channel_id}/threads."""

    type: Literal[10, 11, 12] | None = None
    invitable: bool = True


@attrs.frozen(kw_only=True)
class MembersPage:
    """The query of GET /v1/channels/{thread_id}/thread-members."""

    after: Snowflake = 0
    limit: Annotated[int, Range(1, 100)] = 100


@attrs.frozen(kw_only=True)
class MemberSettings:
    """The body of PATCH /v1/channels/{thread_id}/thread-members/@me/settings."""

    flags: Annotated[int, Range(0, MEMBER_FLAGS_MAXIMUM)] | None = None
    muted: bool | None = None


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/threads",
    policy=Policy.THREADS,
    bucket=buckets.THREAD_START,
    body=Start,
    answers={201: THREAD},
)
async def start_thread(request: Request, channel_id: int, body: Start) -> object:
    """Start a thread below a channel."""
    new = NewThread(
        name=body.name,
        type=None if body.type is None else ChannelType(body.type),
        auto_archive_duration=body.auto_archive_duration,
        rate_limit_per_user=body.rate_limit_per_user,
        invitable=body.invitable,
    )
    return Answer(CREATED, await request.services.threads.start(request.principal, channel_id, new))


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/messages/{message_id}/threads",
    policy=Policy.THREADS,
    bucket=buckets.THREAD_START,
    body=StartFromMessage,
    answers={201: THREAD},
)
async def start_thread_from_message(
    request: Request, channel_id: int, message_id: int, body: StartFromMessage
) -> object:
    """Start the thread of a message."""
    new = NewThread(
        name=body.name,
        auto_archive_duration=body.auto_archive_duration,
        rate_limit_per_user=body.rate_limit_per_user,
    )
    made = await request.services.threads.start_from_message(request.principal, channel_id, message_id, new)
    return Answer(CREATED, made)


@routes.operation(
    "GET", "/v1/guilds/{guild_id}/threads/active", policy=Policy.THREADS, bucket=buckets.THREADS, answers=THREADS
)
async def list_active_threads(request: Request, guild_id: int) -> object:
    """The guild's active threads; bots only."""
    return await request.services.threads.active_of_guild(request.principal, guild_id)


@routes.operation(
    "GET",
    "/v1/channels/{thread_id}/thread-members",
    policy=Policy.THREADS,
    bucket=buckets.THREAD_MEMBERS,
    query=MembersPage,
    answers=listed(THREAD_MEMBER),
)
async def list_thread_members(request: Request, thread_id: int, query: MembersPage) -> object:
    """A page of a thread's members."""
    return await request.services.threads.members_of(request.principal, thread_id, after=query.after, limit=query.limit)


@routes.operation(
    "GET",
    "/v1/channels/{thread_id}/thread-members/@me",
    policy=Policy.THREADS,
    bucket=buckets.THREAD_MEMBERS,
    answers=THREAD_MEMBER,
)
async def get_own_thread_member(request: Request, thread_id: int) -> object:
    """The caller's membership of a thread."""
    return await request.services.threads.member(request.principal, thread_id, request.principal.user_id)


@routes.operation(
    "PUT",
    "/v1/channels/{thread_id}/thread-members/@me",
    policy=Policy.THREADS,
    bucket=buckets.THREAD_MEMBER_CHANGE,
    answers=NOTHING,
)
async def join_thread(request: Request, thread_id: int) -> None:
    """Join a thread."""
    await request.services.threads.add(request.principal, thread_id, request.principal.user_id)


@routes.operation(
    "DELETE",
    "/v1/channels/{thread_id}/thread-members/@me",
    policy=Policy.THREADS,
    bucket=buckets.THREAD_MEMBER_CHANGE,
    answers=NOTHING,
)
async def leave_thread(request: Request, thread_id: int) -> None:
    """Leave a thread."""
    await request.services.threads.remove(request.principal, thread_id, request.principal.user_id)


@routes.operation(
    "PATCH",
    "/v1/channels/{thread_id}/thread-members/@me/settings",
    policy=Policy.THREADS,
    bucket=buckets.THREAD_MEMBER_CHANGE,
    body=MemberSettings,
    answers=THREAD_MEMBER,
)
async def change_thread_settings(request: Request, thread_id: int, body: MemberSettings) -> object:
    """Change what the caller hears of a thread."""
    return await request.services.threads.change_settings(
        request.principal, thread_id, flags=body.flags, muted=body.muted
    )


@routes.operation(
    "GET",
    "/v1/channels/{thread_id}/thread-members/{user_id}",
    policy=Policy.THREADS,
    bucket=buckets.THREAD_MEMBERS,
    answers=THREAD_MEMBER,
)
async def get_thread_member(request: Request, thread_id: int, user_id: int) -> object:
    """One member of a thread."""
    return await request.services.threads.member(request.principal, thread_id, user_id)


@routes.operation(
    "PUT",
    "/v1/channels/{thread_id}/thread-members/{user_id}",
    policy=Policy.THREADS,
    bucket=buckets.THREAD_MEMBER_CHANGE,
    answers=NOTHING,
)
async def add_thread_member(request: Request, thread_id: int, user_id: int) -> None:
    """Bring a member of the guild into a thread."""
    await request.services.threads.add(request.principal, thread_id, user_id)


@routes.operation(
    "DELETE",
    "/v1/channels/{thread_id}/thread-members/{user_id}",
    policy=Policy.THREADS,
    bucket=buckets.THREAD_MEMBER_CHANGE,
    answers=NOTHING,
)
async def remove_thread_member(request: Request, thread_id: int, user_id: int) -> None:
    """Take somebody out of a thread."""
    await request.services.threads.remove(request.principal, thread_id, user_id)
