"""Operations on threads and their members (threads.md, Thread object; access.md, Thread routes)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from chat import wire
from chat.api import buckets
from chat.api.fields import SNOWFLAKE, Length, Range, Refusal, Schema, Snowflake, Timestamp
from chat.api.message_bodies import CreateMessage, message_draft, received_fields, received_post
from chat.api.operation import PAYLOAD_JSON, Answer, Policy, Request, Routes
from chat.api.thread_bodies import AppliedTags, ArchiveMinutes, Slowmode, ThreadName
from chat.classes import frozen
from chat.clock import iso_timestamp
from chat.domain.messages.assemble import MessagesArea
from chat.domain.threads.assemble import ThreadsArea
from chat.domain.threads.threads import NewThread
from chat.registries.channel_types import ChannelType
from chat.registries.limits import APPLIED_TAGS, THREAD_SEARCH_OFFSET, THREAD_SEARCH_THREADS
from chat.store.threads import ThreadQuery

routes = Routes(policy=Policy.THREADS)

CREATED: Final = 201
INT32_MAXIMUM: Final = (1 << 31) - 1
MEMBER_FLAGS_MAXIMUM: Final = 0b1111
"""HAS_INTERACTED, ALL_MESSAGES, ONLY_MENTIONS, NO_MESSAGES (threads.md, Thread object)."""


@frozen(kw_only=True)
class StartFromMessage:
    """The body of POST /v1/channels/{channel_id}/messages/{message_id}/threads."""

    name: ThreadName
    auto_archive_duration: ArchiveMinutes | None = None
    rate_limit_per_user: Slowmode | None = None


@frozen(kw_only=True)
class Start(StartFromMessage):
    """The body of POST /v1/channels/{channel_id}/threads; `message` and `applied_tags` are those of a post."""

    type: Literal[10, 11, 12] | None = None
    invitable: bool = True
    message: CreateMessage | None = None
    applied_tags: AppliedTags | None = None


@frozen(kw_only=True)
class MembersPage:
    """The query of GET /v1/channels/{thread_id}/thread-members."""

    after: Snowflake = 0
    limit: Annotated[int, Range(1, 100)] = 100


@frozen(kw_only=True)
class ArchivedPage:
    """The query of the lists of archived threads; `before` is a moment."""

    before: Timestamp | None = None
    limit: Annotated[int, Range(1, 100)] = 50


@frozen(kw_only=True)
class JoinedPage:
    """The query of the list of the caller's archived private threads; `before` is a thread's id."""

    before: Snowflake | None = None
    limit: Annotated[int, Range(1, 100)] = 50


class _Ids:
    """Up to APPLIED_TAGS ids, divided by commas."""

    schema: Final[Schema] = {"type": "string", "pattern": "^[0-9]+(, *[0-9]+)*$"}

    def read(self, value: object) -> list[int]:
        if type(value) is not str:
            raise Refusal
        parts = value.split(",")
        if len(parts) > APPLIED_TAGS:
            raise Refusal
        return [SNOWFLAKE.read(part.strip()) for part in parts]


@frozen(kw_only=True)
class SearchThreads:
    """The query of GET /v1/channels/{channel_id}/threads/search."""

    name: Annotated[str, Length(0, 100)] | None = None
    tag: Annotated[list[int], _Ids()] | None = None
    tag_setting: Literal["match_all", "match_some"] = "match_some"
    archived: bool | None = None
    sort_by: Literal["last_message_time", "archive_time", "relevance", "creation_time"] = "last_message_time"
    sort_order: Literal["asc", "desc"] = "desc"
    limit: Annotated[int, Range(1, THREAD_SEARCH_THREADS)] = THREAD_SEARCH_THREADS
    offset: Annotated[int, Range(0, THREAD_SEARCH_OFFSET)] = 0
    min_id: Snowflake = 0
    max_id: Snowflake = SNOWFLAKE.maximum


@frozen(kw_only=True)
class ThreadsMuteConfig:
    """How long a thread is muted."""

    end_time: Timestamp | None = None
    selected_time_window: Annotated[int, Range(-1, INT32_MAXIMUM)] = -1


@frozen(kw_only=True)
class MemberSettings:
    """The body of PATCH /v1/channels/{thread_id}/thread-members/@me/settings."""

    flags: Annotated[int, Range(0, MEMBER_FLAGS_MAXIMUM)] | None = None
    muted: bool | None = None
    mute_config: ThreadsMuteConfig | None = None


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/threads",
    bucket=buckets.THREAD_START,
    closed_to_limited=True,
    body=Start,
    multipart=True,
    empty_strings_are_null=False,
    answers=lambda: {201: wire.Thread | wire.Post},
)
async def start_thread(
    request: Request, messages: MessagesArea, threads: ThreadsArea, channel_id: int, body: Start | None
) -> Answer[wire.Thread | wire.Post]:
    """Start a thread below a channel; in a forum make a post, whose files come with it in a form or were uploaded
    before."""
    principal, reason = request.principal, request.audit_log_reason
    if not threads.posts.takes_posts(principal, channel_id):
        if body is None:
            body = await received_fields(request, Start)  # only posts have files
        return Answer(CREATED, await threads.threads.start(principal, channel_id, _new_thread(body), reason))
    if body is not None and body.message is not None and not body.message.attachments:
        draft = message_draft(body.message, ())
        return Answer(CREATED, await threads.posts.create(principal, channel_id, _new_thread(body), draft, reason))
    owner = messages.uploads.owner(principal, channel_id)
    async with received_post(request, owner, Start, body, messages.uploads) as (post, message, attachments):
        draft = message_draft(message, attachments)
        made = await threads.posts.create(principal, channel_id, _new_thread(post), draft, reason)
    return Answer(CREATED, made)


def _new_thread(body: Start) -> NewThread:
    return NewThread(
        name=body.name,
        type=None if body.type is None else ChannelType(body.type),
        auto_archive_duration=body.auto_archive_duration,
        rate_limit_per_user=body.rate_limit_per_user,
        invitable=body.invitable,
        applied_tags=tuple(dict.fromkeys(body.applied_tags or ())),
    )


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/messages/{message_id}/threads",
    bucket=buckets.THREAD_START,
    closed_to_limited=True,
    payload_field=PAYLOAD_JSON,
    answers=lambda: {201: wire.Thread},
)
async def start_thread_from_message(
    request: Request, threads: ThreadsArea, channel_id: int, message_id: int, body: StartFromMessage
) -> Answer[wire.Thread]:
    """Start the thread of a message."""
    new = NewThread(
        name=body.name, auto_archive_duration=body.auto_archive_duration, rate_limit_per_user=body.rate_limit_per_user
    )
    made = await threads.threads.start_from_message(
        request.principal, channel_id, message_id, new, request.audit_log_reason
    )
    return Answer(CREATED, made)


@routes.operation("GET", "/v1/guilds/{guild_id}/threads/active", bucket=buckets.THREADS)
async def list_active_threads(request: Request, threads: ThreadsArea, guild_id: int) -> wire.Threads:
    """The guild's active threads; bots only."""
    return await threads.thread_lists.active_of_guild(request.principal, guild_id)


@routes.operation("GET", "/v1/channels/{channel_id}/threads/archived/public", bucket=buckets.THREADS_ARCHIVED)
async def list_archived_threads(
    request: Request, threads: ThreadsArea, channel_id: int, query: ArchivedPage
) -> wire.Threads:
    """Archived threads that everyone who sees the channel may read."""
    return await threads.thread_lists.archived(
        request.principal, channel_id, private=False, before=query.before, limit=query.limit
    )


@routes.operation("GET", "/v1/channels/{channel_id}/threads/archived/private", bucket=buckets.THREADS_ARCHIVED)
async def list_private_archived_threads(
    request: Request, threads: ThreadsArea, channel_id: int, query: ArchivedPage
) -> wire.Threads:
    """Archived private threads, for those who manage threads."""
    return await threads.thread_lists.archived(
        request.principal, channel_id, private=True, before=query.before, limit=query.limit
    )


@routes.operation(
    "GET",
    "/v1/channels/{channel_id}/users/@me/threads/archived/private",
    bucket=buckets.THREADS_ARCHIVED,
)
async def list_joined_archived_threads(
    request: Request, threads: ThreadsArea, channel_id: int, query: JoinedPage
) -> wire.Threads:
    """Archived private threads that the caller is in."""
    return await threads.thread_lists.archived_and_joined(
        request.principal, channel_id, before=query.before, limit=query.limit
    )


@routes.operation("GET", "/v1/channels/{channel_id}/threads/search", bucket=buckets.THREAD_SEARCH)
async def search_threads(
    request: Request, threads: ThreadsArea, channel_id: int, query: SearchThreads
) -> wire.FoundThreads:
    """Threads of a channel by name and tags."""
    asked = ThreadQuery(
        name=query.name or "",
        tag_ids=tuple(query.tag or ()),
        every_tag=query.tag_setting == "match_all",
        archived=query.archived,
        sort_by=query.sort_by,
        ascending=query.sort_order == "asc",
        limit=query.limit,
        offset=query.offset,
        after_id=query.min_id,
        before_id=query.max_id,
    )
    return await threads.thread_lists.search(request.principal, channel_id, asked)


@routes.operation("GET", "/v1/channels/{thread_id}/thread-members", bucket=buckets.THREAD_MEMBERS)
async def list_thread_members(
    request: Request, threads: ThreadsArea, thread_id: int, query: MembersPage
) -> list[wire.ThreadMember]:
    """A page of a thread's members."""
    return await threads.threads.members_of(request.principal, thread_id, after=query.after, limit=query.limit)


@routes.operation("GET", "/v1/channels/{thread_id}/thread-members/@me", bucket=buckets.THREAD_MEMBERS)
async def get_own_thread_member(request: Request, threads: ThreadsArea, thread_id: int) -> wire.ThreadMember:
    """The caller's membership of a thread."""
    return await threads.threads.member(request.principal, thread_id, request.principal.user_id)


@routes.operation("PUT", "/v1/channels/{thread_id}/thread-members/@me", bucket=buckets.THREAD_MEMBER_CHANGE)
async def join_thread(request: Request, threads: ThreadsArea, thread_id: int) -> None:
    """Join a thread."""
    await threads.threads.add(request.principal, thread_id, request.principal.user_id)


@routes.operation("DELETE", "/v1/channels/{thread_id}/thread-members/@me", bucket=buckets.THREAD_MEMBER_CHANGE)
async def leave_thread(request: Request, threads: ThreadsArea, thread_id: int) -> None:
    """Leave a thread."""
    await threads.threads.remove(request.principal, thread_id, request.principal.user_id)


@routes.operation(
    "PATCH",
    "/v1/channels/{thread_id}/thread-members/@me/settings",
    bucket=buckets.THREAD_MEMBER_CHANGE,
)
async def change_thread_settings(
    request: Request, threads: ThreadsArea, thread_id: int, body: MemberSettings
) -> wire.ThreadMember:
    """Change what the caller hears of a thread."""
    return await threads.threads.change_settings(
        request.principal, thread_id, flags=body.flags, muted=body.muted, mute_config=_mute_config(body.mute_config)
    )


def _mute_config(body: ThreadsMuteConfig | None) -> wire.MuteConfig | None:
    if body is None:
        return None
    end_time = None if body.end_time is None else iso_timestamp(body.end_time)
    return {"end_time": end_time, "selected_time_window": body.selected_time_window}


@routes.operation("GET", "/v1/channels/{thread_id}/thread-members/{user_id}", bucket=buckets.THREAD_MEMBERS)
async def get_thread_member(request: Request, threads: ThreadsArea, thread_id: int, user_id: int) -> wire.ThreadMember:
    """One member of a thread."""
    return await threads.threads.member(request.principal, thread_id, user_id)


@routes.operation("PUT", "/v1/channels/{thread_id}/thread-members/{user_id}", bucket=buckets.THREAD_MEMBER_CHANGE)
async def add_thread_member(request: Request, threads: ThreadsArea, thread_id: int, user_id: int) -> None:
    """Bring a member of the guild into a thread."""
    await threads.threads.add(request.principal, thread_id, user_id)


@routes.operation("DELETE", "/v1/channels/{thread_id}/thread-members/{user_id}", bucket=buckets.THREAD_MEMBER_CHANGE)
async def remove_thread_member(request: Request, threads: ThreadsArea, thread_id: int, user_id: int) -> None:
    """Take an account out of a thread."""
    await threads.threads.remove(request.principal, thread_id, user_id)
