"""Operations on channels and on their permission overwrites (guilds.md, Channels; guilds.md, Permission overwrites)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Final, Literal

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import (
    OMITTED,
    Exact,
    Items,
    Length,
    Maybe,
    Omitted,
    Pattern,
    PermissionBits,
    Range,
    Schema,
    Snowflake,
    named_members,
)
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.thread_bodies import THREAD_FIELDS, AppliedTags, ArchiveMinutes, ForumFields, forum_fields, thread_change
from chat.classes import frozen
from chat.config.keeping import MOST_DAYS
from chat.domain.core import Core
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.guilds.guild_channels import ChannelMove
from chat.domain.guilds.permission_overwrites import OVERWRITES_MAXIMUM
from chat.domain.messages.assemble import MessagesArea
from chat.domain.people.assemble import PeopleArea
from chat.domain.presence.assemble import PresenceArea
from chat.domain.threads.assemble import ThreadsArea
from chat.errors import InvalidFormBody
from chat.protocol.whole_numbers import whole
from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.error_codes import FieldCode
from chat.store.guilds.channels import Overwrite

routes = Routes(policy=Policy.USER)

GET_CHANNEL: Final = Bucket("channel:read::channel_id", limit=100, window_ms=10_000)
START_TYPING: Final = Bucket("channel:typing::channel_id", limit=20, window_ms=10_000)

INT32_MAXIMUM: Final = (1 << 31) - 1
URL_LENGTH: Final = 1_024
TOPIC_CHARACTERS: Final = 4_096
"""Beyond any limit of an instance."""

GROUP_FIELDS: Final = frozenset({"name", "icon", "owner_id", "nicks"})
"""Members of a change that a group has."""

NICKS_MAXIMUM: Final = 1_000
"""More than a group has members."""

CREATE: Final = Bucket("guild:channel:create::guild_id", limit=20, window_ms=60_000)
ORDER: Final = Bucket("guild:channel:order::guild_id", limit=20, window_ms=60_000)
CHANGE: Final = Bucket("channel:update::channel_id", limit=20, window_ms=10_000)
DELETE: Final = Bucket("channel:delete::channel_id", limit=20, window_ms=60_000)
REGIONS: Final = Bucket("channel:rtc_regions::channel_id", limit=60, window_ms=10_000)
OVERWRITES: Final = Bucket("channel:permissions::channel_id", limit=20, window_ms=10_000)

_OVERWRITE_TYPES: Final = {"role": 0, "member": 1}


class _OverwriteType:
    """0 or `role`, 1 or `member`."""

    schema: Final[Schema] = {"enum": [0, 1, "role", "member"]}

    def read(self, value: object) -> int:
        number = _OVERWRITE_TYPES.get(value) if isinstance(value, str) else whole(value)
        if type(number) is not int or number not in (0, 1):
            raise ValueError("neither a role nor a member")
        return number


ChannelName = Annotated[str, Length(1, 100, FieldCode.STRING_LENGTH_INVALID)]
Number = Annotated[int, Range(0, INT32_MAXIMUM)]
WarningText = Annotated[str, Length(0, 200, FieldCode.STRING_LENGTH_INVALID)]
Url = Annotated[str, Length(1, URL_LENGTH), Pattern(re.compile(r"https?://[^\s]+"))]


@frozen(kw_only=True)
class OverwriteEntry:
    """An overwrite inside a channel's body."""

    id: Snowflake
    type: Annotated[int, _OverwriteType()]
    allow: PermissionBits | None = None
    deny: PermissionBits | None = None


@frozen(kw_only=True)
class PutOverwrite:
    """The body of PUT /v1/channels/{channel_id}/permissions/{target_id}."""

    type: Annotated[int, _OverwriteType()]
    allow: PermissionBits | None = None
    deny: PermissionBits | None = None


@frozen(kw_only=True)
class ChannelFields(ForumFields):
    """What both making and changing a channel take."""

    topic: Maybe[Annotated[str, Length(0, TOPIC_CHARACTERS)] | None] = OMITTED
    url: Maybe[Url | None] = OMITTED
    parent_id: Maybe[Snowflake | None] = OMITTED
    bitrate: Maybe[Number | None] = OMITTED
    user_limit: Maybe[Number | None] = OMITTED
    voice_connection_limit: Maybe[Number | None] = OMITTED
    rate_limit_per_user: Maybe[Number | None] = OMITTED
    message_retention_days: Maybe[Annotated[int, Range(0, MOST_DAYS)] | None] = OMITTED
    nsfw: Maybe[bool | None] = OMITTED
    nsfw_override: Maybe[bool | None] = OMITTED
    content_warning_level: Maybe[Annotated[int, Range(0, 2)] | None] = OMITTED
    content_warning_text: Maybe[WarningText | None] = OMITTED
    rtc_region: Maybe[Annotated[str, Length(1, 64)] | None] = OMITTED
    permission_overwrites: Maybe[Annotated[list[OverwriteEntry], Items(0, OVERWRITES_MAXIMUM)] | None] = OMITTED


@frozen(kw_only=True)
class CreateChannel(ChannelFields):
    """The body of POST /v1/guilds/{guild_id}/channels."""

    type: Literal[0, 2, 4, 5, 15, 16, 998] = 0
    name: ChannelName


@frozen(kw_only=True)
class ChangeChannel(ChannelFields):
    """The body of PATCH /v1/channels/{channel_id}; `icon`, `owner_id` and `nicks` are for groups, other members for
    threads."""

    icon: Maybe[Annotated[str, Exact()] | None] = attrs.field(default=OMITTED, repr=False)
    owner_id: Maybe[Snowflake | None] = OMITTED
    nicks: Maybe[Annotated[dict[Snowflake, str | None], Items(0, NICKS_MAXIMUM)] | None] = OMITTED
    archived: bool | None = None
    locked: bool | None = None
    auto_archive_duration: ArchiveMinutes | None = None
    invitable: bool | None = None
    applied_tags: AppliedTags | None = None
    type: Maybe[Literal[0, 2, 4, 5, 15, 16, 998]] = OMITTED
    name: Maybe[ChannelName | None] = OMITTED


@frozen(kw_only=True)
class MoveEntry:
    """One entry of the body of PATCH /v1/guilds/{guild_id}/channels."""

    id: Snowflake
    position: Annotated[int, Range(0, 10_000)] | None = None
    parent_id: Maybe[Snowflake | None] = OMITTED
    preceding_sibling_id: Snowflake | None = None
    lock_permissions: bool = False


@routes.operation("POST", "/v1/guilds/{guild_id}/channels", bucket=CREATE)
async def create_channel(request: Request, guilds: GuildsArea, guild_id: int, body: CreateChannel) -> wire.GuildChannel:
    """Make a channel."""
    return await guilds.guild_channels.create(
        request.principal,
        guild_id,
        ChannelType(body.type),
        _fields(body),
        _overwrites(body.permission_overwrites) or (),
        request.audit_log_reason,
    )


@routes.operation("PATCH", "/v1/guilds/{guild_id}/channels", bucket=ORDER)
async def reorder_channels(
    request: Request, guilds: GuildsArea, guild_id: int, body: Annotated[list[MoveEntry], Items(0, 500)]
) -> None:
    """Move channels."""
    moves = {
        entry.id: ChannelMove(
            position=entry.position,
            parent=entry.parent_id is not OMITTED,
            parent_id=None if isinstance(entry.parent_id, Omitted) else entry.parent_id,
            after_id=entry.preceding_sibling_id,
            lock_permissions=entry.lock_permissions,
        )
        for entry in body
    }
    if len(moves) != len(body):
        raise InvalidFormBody.at("root", FieldCode.INVALID_FORMAT)
    await guilds.guild_channels.reorder(request.principal, guild_id, moves, request.audit_log_reason)


@frozen
class Departure:
    """The query of DELETE: `silent` leaves the system message out when the caller leaves a group."""

    silent: bool = False


@routes.operation("PATCH", "/v1/channels/{channel_id}", bucket=CHANGE, images=True)
async def change_channel(
    request: Request, threads: ThreadsArea, people: PeopleArea, guilds: GuildsArea, channel_id: int, body: ChangeChannel
) -> wire.GuildChannel | wire.GroupChannel | wire.Thread:
    """Change a channel, or a group."""
    private = people.private_channels.find(request.principal.user_id, channel_id)
    if private is not None:
        fields = {name: value for name, value in named_members(body).items() if name in GROUP_FIELDS}
        return await people.groups.change(request.principal, private, fields)
    if body.name is None:
        raise InvalidFormBody.at("name", FieldCode.INVALID_FORMAT)
    if threads.thread_changes.is_thread(channel_id):
        return await threads.thread_changes.change(
            request.principal, channel_id, thread_change(body, _fields(body)), request.audit_log_reason
        )
    return await guilds.guild_channels.change(
        request.principal, channel_id, _fields(body), _overwrites(body.permission_overwrites), request.audit_log_reason
    )


@routes.operation("GET", "/v1/channels/{channel_id}/rtc-regions", bucket=REGIONS)
async def list_voice_regions(request: Request, presence: PresenceArea, channel_id: int) -> list[wire.VoiceRegion]:
    """The regions that a voice channel may ask for."""
    return presence.voice_regions.of_channel(request.principal, channel_id)


@routes.operation("DELETE", "/v1/channels/{channel_id}", bucket=DELETE)
async def delete_channel(
    request: Request, threads: ThreadsArea, people: PeopleArea, guilds: GuildsArea, channel_id: int, query: Departure
) -> None:
    """Delete a channel, leave a group, or close a conversation of two."""
    private = people.private_channels.find(request.principal.user_id, channel_id)
    if private is None:
        reason = request.audit_log_reason
        owner = threads.thread_changes if threads.thread_changes.is_thread(channel_id) else guilds.guild_channels
        await owner.delete(request.principal, channel_id, reason)
    elif private.is_group:
        user_id = request.principal.user_id
        await people.groups.remove(request.principal, private, user_id, silent=query.silent)
    else:
        await people.private_channels.close(private, request.principal.guard)


@routes.operation("PUT", "/v1/channels/{channel_id}/permissions/{target_id}", bucket=OVERWRITES)
async def put_overwrite(
    request: Request, guilds: GuildsArea, channel_id: int, target_id: int, body: PutOverwrite
) -> None:
    """Set what a channel allows and denies a role or a member."""
    wanted = Overwrite(target_id, OverwriteType(body.type), body.allow or 0, body.deny or 0)
    await guilds.permission_overwrites.put(request.principal, channel_id, wanted, request.audit_log_reason)


@routes.operation("DELETE", "/v1/channels/{channel_id}/permissions/{target_id}", bucket=OVERWRITES)
async def delete_overwrite(request: Request, guilds: GuildsArea, channel_id: int, target_id: int) -> None:
    """Take an overwrite away."""
    await guilds.permission_overwrites.delete(request.principal, channel_id, target_id, request.audit_log_reason)


def _fields(body: ChannelFields) -> dict[str, object]:
    fields = named_members(body)
    for name in ("permission_overwrites", "icon", "owner_id", "nicks", *THREAD_FIELDS):
        fields.pop(name, None)
    return {**fields, **forum_fields(body)}


def _overwrites(entries: Sequence[OverwriteEntry] | Omitted | None) -> tuple[Overwrite, ...] | None:
    """The overwrites of a body; None if it does not speak of them."""
    if entries is None or isinstance(entries, Omitted):
        return None
    return tuple(Overwrite(entry.id, entry.type, entry.allow or 0, entry.deny or 0) for entry in entries)


@routes.operation("GET", "/v1/channels/{channel_id}", bucket=GET_CHANNEL)
async def get_channel(request: Request, core: Core, channel_id: int) -> wire.Channel:
    """One channel."""
    return core.access.channel(request.principal, channel_id).channel_object()


@routes.operation("POST", "/v1/channels/{channel_id}/typing", bucket=START_TYPING)
async def start_typing(request: Request, messages: MessagesArea, channel_id: int) -> None:
    """Tell the channel that the caller writes."""
    await messages.typing.start(request.principal, channel_id)


@routes.operation("GET", "/v1/channels/{channel_id}/slowmode", bucket=buckets.SLOWMODE)
async def get_slowmode(request: Request, messages: MessagesArea, channel_id: int) -> wire.Slowmode:
    """How long the caller waits before the next message."""
    return messages.slowmode_status.of_channel(request.principal, channel_id)
