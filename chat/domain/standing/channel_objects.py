"""Channel objects as the wire has them (guilds.md, Channels): a member that a type does not own is absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from chat import wire
from chat.clock import optional_timestamp
from chat.domain.standing.permissions import without_thread_bits
from chat.registries.channel_types import THREAD_ONLY_CHANNEL_TYPES, ChannelType
from chat.store.guilds.channels import NO_FORUM, Channel, Forum, ForumTag, Overwrite

VOICE_CONNECTION_LIMIT: Final = 5
"""Shown where none is stored (guilds.md, Channels)."""


def channel_object(channel: Channel, *, last_message_id: int | None, threads: bool = True) -> wire.GuildChannel:
    """The object of a guild's channel.

    `last_message_id` is given apart, for it moves on with every message. On the gateway, sessions without thread access
    get overwrites without thread bits and nothing of what belongs to threads (`threads=False`; gateway.md, Sessions
    without threads); over HTTP overwrites keep them (guilds.md, Channels).
    """
    common: wire.ChannelOfGuild[Any] = {
        "id": str(channel.id),
        "guild_id": str(channel.guild_id),
        "type": channel.type,
        "name": cast(str, channel.name),  # only conversations go without
        "position": channel.position,
        "permission_overwrites": [_overwrite_object(overwrite, threads) for overwrite in channel.overwrites],
        "nsfw": channel.nsfw,
        "nsfw_override": channel.nsfw_override,
        "content_warning_level": channel.content_warning_level,
        "content_warning_text": channel.content_warning_text,
    }
    if channel.type == ChannelType.GUILD_CATEGORY:
        category: wire.CategoryChannel = {**common}
        return category
    parent_id = None if channel.parent_id is None else str(channel.parent_id)
    if channel.type == ChannelType.GUILD_LINK:
        return {**common, "parent_id": parent_id, "url": channel.url}
    topical: wire.ChannelWithTopic = {
        "parent_id": parent_id,
        "topic": channel.topic,
        "rate_limit_per_user": channel.rate_limit_per_user,
        "message_retention_days": channel.message_retention_days,
    }
    if channel.type in THREAD_ONLY_CHANNEL_TYPES:
        defaults = _thread_defaults(channel, threads)
        return {
            **common,
            **topical,
            **defaults,
            **_FORUM_START,
            **(forum_object(channel) if threads else _NO_FORUM_SETTINGS),
        }
    messages: wire.ChannelOfMessages = {
        "last_message_id": None if last_message_id is None else str(last_message_id),
        "last_pin_timestamp": optional_timestamp(channel.last_pin_timestamp),
    }
    if channel.type != ChannelType.GUILD_VOICE:
        return {**common, **topical, **_thread_defaults(channel, threads), **messages}
    limit = VOICE_CONNECTION_LIMIT if channel.voice_connection_limit is None else channel.voice_connection_limit
    return {
        **common,
        **topical,
        **messages,
        "bitrate": channel.bitrate or 0,
        "user_limit": channel.user_limit or 0,
        "voice_connection_limit": limit,
        "rtc_region": channel.rtc_region,
        **_NO_THREADS,
        **_DIRECT_VOICE,
    }


_NO_FORUM_SETTINGS: Final[wire.ForumSettings] = {}
_FORUM_START: Final[wire.ForumStart] = {}
_NO_THREADS: Final[wire.ThreadDefaults] = {}
_DIRECT_VOICE: Final[wire.DirectVoice] = {}


def _thread_defaults(channel: Channel, threads: bool) -> wire.ThreadDefaults:
    """What threads below the channel begin with; `threads` adds the channel's own switches."""
    data: wire.ThreadDefaults = {"flags": channel.flags} if threads else {}
    data["default_auto_archive_duration"] = channel.default_auto_archive_duration
    data["default_thread_rate_limit_per_user"] = channel.default_thread_rate_limit_per_user
    return data


def channel_without_threads(data: Mapping[str, Any]) -> Mapping[str, object]:
    """A copy of a channel object for sessions without thread access: without `flags`, and without thread permissions in
    its overwrites."""
    shown = {name: value for name, value in data.items() if name != "flags"}
    shown["permission_overwrites"] = [
        {
            **overwrite,
            "allow": str(without_thread_bits(int(overwrite["allow"]))),
            "deny": str(without_thread_bits(int(overwrite["deny"]))),
        }
        for overwrite in data.get("permission_overwrites", ())
    ]
    return shown


def partial_channel_object(channel: Channel) -> wire.InviteChannel:
    """The channel inside an invite."""
    return {"id": str(channel.id), "name": channel.name, "type": channel.type}


def forum_object(channel: Channel) -> wire.ForumSettings:
    """What only forums and media channels show; the layout belongs to forums alone."""
    forum: Forum = channel.forum or NO_FORUM
    reaction = forum.default_reaction
    data: wire.ForumSettings = {
        "available_tags": [tag_object(tag) for tag in forum.tags],
        "default_reaction_emoji": None if reaction is None else _emoji(reaction.emoji_id, reaction.emoji_name),
        "default_sort_order": forum.default_sort_order,
        "default_tag_setting": forum.default_tag_setting,
    }
    if channel.type == ChannelType.GUILD_FORUM:
        data["default_forum_layout"] = forum.default_layout
    return data


def tag_object(tag: ForumTag) -> wire.ForumTag:
    return {"id": str(tag.id), "name": tag.name, "moderated": tag.moderated, **_emoji(tag.emoji_id, tag.emoji_name)}


def _emoji(emoji_id: int | None, name: str | None) -> wire.DefaultReactionEmoji:
    return {"emoji_id": None if emoji_id is None else str(emoji_id), "emoji_name": name}


def _overwrite_object(overwrite: Overwrite, threads: bool) -> wire.PermissionOverwrite:
    allow, deny = overwrite.allow, overwrite.deny
    if not threads:
        allow, deny = without_thread_bits(allow), without_thread_bits(deny)
    return {"id": str(overwrite.target_id), "type": overwrite.type, "allow": str(allow), "deny": str(deny)}
