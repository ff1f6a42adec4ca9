"""What a client may ask of its session: members, watched guilds, counts, unreads (gateway.md, Request Guild Members).

A request that breaks a rule is abandoned without a word: it parses to None. None of these ever closes the socket, but
for opcode 28 with something else than an object, or from a client that knows no threads: that is for the caller to ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chat.classes import frozen
from chat.protocol.payload import parse_snowflake, parse_snowflakes
from chat.protocol.visible_text import without_nul
from chat.protocol.whole_numbers import whole
from chat.registries.limits import (
    CHANNEL_COUNTS_CHANNELS,
    COUNTS_NONCE_BYTES,
    FORUM_UNREADS_THREADS,
    GUILD_COUNTS_GUILDS,
    INBOUND_MESSAGE_BYTES,
    LAZY_MEMBERS,
    LAZY_RANGE_END,
    LAZY_RANGE_SPAN,
    LAZY_RANGES,
    LAZY_THREAD_MEMBER_LISTS,
    MEMBERS_NONCE_BYTES,
    MEMBERS_QUERY_LIMIT_DEFAULT,
    MEMBERS_QUERY_LIMIT_MAXIMUM,
    MEMBERS_USER_IDS,
)

MemberRange = tuple[int, int]
"""First and last position of a part of a member list, both included."""


@frozen
class MemberRequest:
    """Opcode 8. With `user_ids` neither `query` nor `limit` counts."""

    guild_ids: tuple[int, ...]
    query: str
    limit: int
    user_ids: tuple[int, ...]
    presences: bool
    nonce: str | None
    """Echoed; None for a request that names several guilds."""

    @property
    def whole_list(self) -> bool:
        """Whether every member is asked for: no names, no query, no limit."""
        return not self.user_ids and self.query == "" and self.limit == 0


@frozen
class GuildSubscription:
    """One guild of opcode 14, its members in the order in which they are applied; None leaves things as they are."""

    guild_id: int
    active: bool | None = None
    sync: bool | None = None
    member_list_channels: Mapping[int, tuple[MemberRange, ...]] | None = None
    members: tuple[int, ...] | None = None
    typing: bool | None = None
    threads: bool | None = None
    thread_member_lists: tuple[int, ...] | None = None


@frozen
class LazyRequest:
    """Opcode 14."""

    subscriptions: tuple[GuildSubscription, ...]


@frozen
class GuildCountsRequest:
    """Opcode 15."""

    guild_ids: tuple[int, ...]
    nonce: str | None


@frozen
class ChannelMemberCountsRequest:
    """Opcode 16."""

    guild_id: int
    channel_ids: tuple[int, ...]
    nonce: str | None


@frozen
class ForumUnreadsRequest:
    """Opcode 28: for each thread the last message that the client has read in it, if any."""

    guild_id: int
    channel_id: int
    threads: tuple[tuple[int, int | None], ...]


def parse_member_request(d: Any, is_bot: bool) -> MemberRequest | None:
    """Read opcode 8; a bot may name one guild only."""
    if type(d) is not dict:
        return None
    guild_ids = _requested_guilds(d)
    user_ids = () if d.get("user_ids") is None else parse_snowflakes(d["user_ids"], MEMBERS_USER_IDS)
    if guild_ids is None or user_ids is None or (is_bot and len(guild_ids) > 1):
        return None
    query = d.get("query")
    query = query if type(query) is str else ""
    return MemberRequest(
        guild_ids=guild_ids,
        query=query,
        limit=_member_limit(d.get("limit"), query),
        user_ids=user_ids,
        presences=d.get("presences") is True,
        nonce=_nonce(d, MEMBERS_NONCE_BYTES) if len(guild_ids) == 1 else None,
    )


def _requested_guilds(d: Mapping[str, Any]) -> tuple[int, ...] | None:
    if d.get("guild_ids"):
        return parse_snowflakes(d["guild_ids"], INBOUND_MESSAGE_BYTES)  # no limit of its own: the message's
    return parse_snowflakes([d.get("guild_id")], 1)


def _member_limit(value: Any, query: str) -> int:
    asked = whole(value)
    limit = asked if type(asked) is int else 0
    limit = max(0, min(limit, MEMBERS_QUERY_LIMIT_MAXIMUM))
    return MEMBERS_QUERY_LIMIT_DEFAULT if limit == 0 and query != "" else limit


def _nonce(d: Mapping[str, Any], maximum: int) -> str | None:
    value = d.get("nonce")
    return without_nul(value) if type(value) is str and 1 <= len(value.encode()) <= maximum else None


def parse_guild_counts(d: Any) -> GuildCountsRequest | None:
    """Read opcode 15."""
    if type(d) is not dict:
        return None
    guild_ids = parse_snowflakes(d.get("guild_ids"), GUILD_COUNTS_GUILDS)
    return None if guild_ids is None else GuildCountsRequest(guild_ids, _nonce(d, COUNTS_NONCE_BYTES))


def parse_channel_member_counts(d: Any) -> ChannelMemberCountsRequest | None:
    """Read opcode 16, which names several channels of a guild, or one."""
    if type(d) is not dict:
        return None
    guild_id = parse_snowflake(d.get("guild_id"))
    named = d["channel_ids"] if d.get("channel_ids") is not None else [d.get("channel_id")]
    channel_ids = parse_snowflakes(named, CHANNEL_COUNTS_CHANNELS)
    if guild_id is None or channel_ids is None:
        return None
    return ChannelMemberCountsRequest(guild_id, channel_ids, _nonce(d, COUNTS_NONCE_BYTES))


def parse_forum_unreads(d: Any) -> ForumUnreadsRequest | None:
    """Read opcode 28."""
    if type(d) is not dict:
        return None
    guild_id, channel_id = parse_snowflake(d.get("guild_id")), parse_snowflake(d.get("channel_id"))
    value = d.get("threads")
    if guild_id is None or channel_id is None or type(value) is not list or len(value) > FORUM_UNREADS_THREADS:
        return None
    threads = []
    for entry in value:
        thread_id = parse_snowflake(entry.get("thread_id")) if type(entry) is dict else None
        if thread_id is None:
            return None
        threads.append((thread_id, parse_snowflake(entry.get("ack_message_id"))))
    return ForumUnreadsRequest(guild_id, channel_id, tuple(threads))


def parse_lazy_request(d: Any) -> LazyRequest | None:
    """Read opcode 14; an entry whose key is no guild is passed over."""
    if type(d) is not dict or type(d.get("subscriptions")) is not dict:
        return None
    subscriptions = []
    for key, value in d["subscriptions"].items():
        guild_id = parse_snowflake(key)
        if guild_id is not None and type(value) is dict:
            subscriptions.append(_subscription(guild_id, value))
    return LazyRequest(tuple(subscriptions))


def _subscription(guild_id: int, value: Mapping[str, Any]) -> GuildSubscription:
    active, sync = value.get("active"), value.get("sync")
    if active is not None and type(active) is not bool:
        return GuildSubscription(guild_id)  # the rest is abandoned
    if sync is not None and type(sync) is not bool:
        return GuildSubscription(guild_id, active)
    return GuildSubscription(
        guild_id,
        active,
        sync,
        member_list_channels=_member_list_channels(value.get("member_list_channels")),
        members=parse_snowflakes(value.get("members"), LAZY_MEMBERS),
        typing=_boolean(value.get("typing")),
        threads=_boolean(value.get("threads")),
        thread_member_lists=parse_snowflakes(value.get("thread_member_lists"), LAZY_THREAD_MEMBER_LISTS),
    )


def _boolean(value: Any) -> bool | None:
    return value if type(value) is bool else None


def _member_list_channels(value: Any) -> dict[int, tuple[MemberRange, ...]] | None:
    if type(value) is not dict:
        return None
    watched = {}
    for key, entry in value.items():
        channel_id, ranges = parse_snowflake(key), _ranges(entry)
        if channel_id is not None and ranges is not None:
            watched[channel_id] = ranges
    return watched


def _ranges(value: Any) -> tuple[MemberRange, ...] | None:
    if type(value) is not list or len(value) > LAZY_RANGES:
        return None
    ranges = []
    for entry in value:
        if type(entry) is not list or len(entry) != 2:
            return None
        start, end = map(whole, entry)
        if type(start) is not int or type(end) is not int:
            return None
        if not 0 <= start <= end <= LAZY_RANGE_END or end - start > LAZY_RANGE_SPAN:
            return None
        ranges.append((start, end))
    return tuple(ranges)
