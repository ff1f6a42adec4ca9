"""What a guild's channel is made of, by type: its name, which fields it owns, and what is stored of what was asked for
(guilds.md, Channels; guilds.md, Channel names; guilds.md, Guild features; guilds.md, Forum and media channels).

A field that a type does not own is ignored, as clients send whole forms. Without flexible names the channels that hold
text are named in lower case with hyphens for white space; letters, marks, digits, emoji, `-` and `_` stay, other
punctuation goes. The names of voice channels, categories and links are free.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from typing import Any, Final

import attrs

from chat.classes import frozen
from chat.config import Settings
from chat.config.limits import Limits
from chat.domain.policy.changes import Columns
from chat.domain.policy.message_ages import wrong_age
from chat.domain.standing.guild_objects import EMOJIS
from chat.domain.standing.guild_states import GuildState
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.protocol.visible_text import tidy, visible
from chat.registries.channel_types import (
    FLEXIBLE_NAME_CHANNEL_TYPES,
    GUILD_CHANNEL_TYPES,
    THREAD_CHANNEL_TYPES,
    THREAD_ONLY_CHANNEL_TYPES,
    ChannelFlag,
    ChannelType,
)
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.guild_features import GuildFeature
from chat.store.guilds.channels import NO_FORUM, Channel, Forum, ForumReaction, ForumTag

CREATABLE_TYPES: Final = GUILD_CHANNEL_TYPES - THREAD_CHANNEL_TYPES
"""Types that a guild's channel can be made as."""

_TEXT_LIKE: Final = FLEXIBLE_NAME_CHANNEL_TYPES | {ChannelType.GUILD_VOICE}
_VOICE: Final = frozenset({ChannelType.GUILD_VOICE})

FLAGS: Final[Mapping[ChannelType, int]] = {
    ChannelType.GUILD_FORUM: ChannelFlag.REQUIRE_TAG.value,
    ChannelType.GUILD_MEDIA: (ChannelFlag.REQUIRE_TAG | ChannelFlag.HIDE_MEDIA_DOWNLOAD_OPTIONS).value,
}
"""Bits of a channel's `flags` that may be set by hand."""

OWNERS: Final[Mapping[str, frozenset[ChannelType]]] = {
    "topic": _TEXT_LIKE,
    "rate_limit_per_user": _TEXT_LIKE,
    "message_retention_days": _TEXT_LIKE,
    "nsfw": CREATABLE_TYPES,
    "nsfw_override": CREATABLE_TYPES,
    "content_warning_level": CREATABLE_TYPES,
    "content_warning_text": CREATABLE_TYPES,
    "parent_id": CREATABLE_TYPES - {ChannelType.GUILD_CATEGORY},
    "default_auto_archive_duration": FLEXIBLE_NAME_CHANNEL_TYPES,
    "default_thread_rate_limit_per_user": FLEXIBLE_NAME_CHANNEL_TYPES,
    "flags": frozenset(FLAGS),
    "bitrate": _VOICE,
    "user_limit": _VOICE,
    "voice_connection_limit": _VOICE,
    "rtc_region": _VOICE,
    "url": frozenset({ChannelType.GUILD_LINK}),
}
"""The types of channel that have a field; every type has `name`."""

BITRATE_CAPS: Final[Mapping[GuildFeature, int]] = {
    GuildFeature.AUDIO_BITRATE_128_KBPS: 128_000,
    GuildFeature.AUDIO_BITRATE_256_KBPS: 256_000,
    GuildFeature.AUDIO_BITRATE_384_KBPS: 384_000,
}
"""The highest one that a guild holds wins (guilds.md, Guild features)."""


def bitrate_cap(features: Set[str], limits: Limits) -> int:
    """The highest bit rate of the guild's voice channels, in bits a second."""
    return max((cap for feature, cap in BITRATE_CAPS.items() if feature in features), default=limits.max_bitrate)


def voice_defaults(limits: Limits) -> dict[str, int]:
    """The values with which a voice channel begins."""
    return {
        "bitrate": limits.default_bitrate,
        "user_limit": 0,
        "voice_connection_limit": limits.default_voice_connection_limit,
    }


def stored_fields(kind: ChannelType, fields: Mapping[str, Any], state: GuildState, settings: Settings) -> Columns:
    """The columns that a channel of this type keeps of the fields, in the guild of `state`.

    Values are well-formed each for itself. A bit rate above the cap is stored at the cap.

    :raises InvalidFormBody: with every value beyond a limit of the instance, and every wrong field of a forum.
    """
    features, limits = state.guild.features, settings.limits
    columns = {name: value for name, value in fields.items() if kind in OWNERS.get(name, ())}
    errors: list[FieldError] = []
    if "name" in fields:
        flexible = GuildFeature.TEXT_CHANNEL_FLEXIBLE_NAMES in features
        columns["name"] = channel_name(fields["name"], kind, flexible=flexible)
        if not columns["name"]:
            errors.append(FieldError("name", FieldCode.CHANNEL_NAME_EMPTY_AFTER_NORMALIZATION))
    if columns.get("topic") is not None and len(columns["topic"]) > limits.max_topic_length:
        errors.append(FieldError("topic", FieldCode.CONTENT_EXCEEDS_MAX_LENGTH))
    for name, most in (
        ("rate_limit_per_user", limits.max_rate_limit_per_user),
        ("user_limit", limits.max_user_limit),
        ("voice_connection_limit", limits.max_voice_connection_limit),
    ):
        if columns.get(name) is not None and columns[name] > most:
            errors.append(FieldError(name, FieldCode.VALUE_MUST_BE_INTEGER_IN_RANGE))
    errors.extend(wrong_age(settings.retention, columns.get("message_retention_days")))
    errors.extend(_settle_voice(columns, features, limits))
    if columns.get("content_warning_text") is not None:
        columns["content_warning_text"] = columns["content_warning_text"].strip() or None
    if "flags" in columns:
        columns["flags"] = (columns["flags"] or 0) & FLAGS[kind]
    for name in ("rate_limit_per_user", "default_thread_rate_limit_per_user", "nsfw", "content_warning_level"):
        if name in columns and columns[name] is None:
            columns[name] = 0
    if kind in THREAD_ONLY_CHANNEL_TYPES and fields.keys() & FORUM_FIELDS:
        errors += _forum_errors(fields, {emoji.id for emoji in state.expressions(EMOJIS)})
    if errors:
        raise InvalidFormBody(errors)
    return columns


def _settle_voice(columns: Columns, features: Set[str], limits: Limits) -> list[FieldError]:
    """Null gives a voice field its default back; a bit rate is kept within the guild's cap."""
    for name, default in voice_defaults(limits).items():
        if name in columns and columns[name] is None:
            columns[name] = default
    if "bitrate" not in columns:
        return []
    if columns["bitrate"] < limits.min_bitrate:
        return [FieldError("bitrate", FieldCode.VALUE_MUST_BE_INTEGER_IN_RANGE)]
    columns["bitrate"] = min(columns["bitrate"], bitrate_cap(features, limits))
    return []


_WHITE_SPACE: Final = re.compile(r"\s+")
_KEPT_CATEGORIES: Final = ("L", "M", "N", "So", "Sk", "Cf")
"""Letters, marks, digits; what emoji are made of, joiners and skin tones included."""


def plain_name(name: str) -> str:
    """The name as it is without flexible names; may be empty."""
    hyphenated = _WHITE_SPACE.sub("-", tidy(name).lower())
    return visible("".join(character for character in hyphenated if _is_kept(character)))


def channel_name(name: str, channel_type: int, *, flexible: bool) -> str:
    """The name of a channel of this type as it is stored; may be empty."""
    return tidy(name) if flexible or channel_type not in FLEXIBLE_NAME_CHANNEL_TYPES else plain_name(name)


def _is_kept(character: str) -> bool:
    return character in "-_" or unicodedata.category(character).startswith(_KEPT_CATEGORIES)


FORUM_FIELDS: Final = frozenset(
    {"available_tags", "default_reaction_emoji", "default_sort_order", "default_forum_layout", "default_tag_setting"}
)
"""Members of a channel's body that belong to forums and media channels alone."""


@frozen
class TagWish:
    """A tag as a body asks for it; `id` names one that exists."""

    id: int | None
    name: str
    moderated: bool = False
    emoji_id: int | None = None
    emoji_name: str | None = None


def _forum_errors(fields: Mapping[str, Any], emoji_ids: Collection[int]) -> list[FieldError]:
    errors = []
    seen: set[str] = set()
    for index, tag in enumerate(fields.get("available_tags") or ()):
        name = tag.name.strip()
        if not name or name.casefold() in seen:
            errors.append(FieldError(f"available_tags.{index}.name", FieldCode.INVALID_FORMAT))
        seen.add(name.casefold())
        errors += _emoji_errors(f"available_tags.{index}", tag, emoji_ids)
    reaction = fields.get("default_reaction_emoji")
    return errors if reaction is None else errors + _emoji_errors("default_reaction_emoji", reaction, emoji_ids)


def with_forum(channel: Channel, fields: Mapping[str, Any], new_id: Callable[[], int]) -> Channel:
    """The forum with those of the fields that only forums have; null restores a default.

    :raises ApiError: UNKNOWN_FORUM_TAG for a tag that it does not have.
    """
    if not fields.keys() & FORUM_FIELDS:
        return channel if channel.forum is not None else attrs.evolve(channel, forum=NO_FORUM)
    before = channel.forum or NO_FORUM
    changes: Columns = {}
    if "available_tags" in fields:
        changes["tags"] = _tags(before, fields["available_tags"] or (), new_id)
    if "default_reaction_emoji" in fields:
        changes["default_reaction"] = _reaction(fields["default_reaction_emoji"])
    if "default_sort_order" in fields:
        changes["default_sort_order"] = fields["default_sort_order"]
    if "default_forum_layout" in fields:
        changes["default_layout"] = fields["default_forum_layout"] or NO_FORUM.default_layout
    if "default_tag_setting" in fields:
        changes["default_tag_setting"] = fields["default_tag_setting"] or NO_FORUM.default_tag_setting
    return attrs.evolve(channel, forum=attrs.evolve(before, **changes))


def _emoji_errors(path: str, named: TagWish | ForumReaction, emoji_ids: Collection[int]) -> list[FieldError]:
    if named.emoji_id is None or named.emoji_id in emoji_ids:
        return []
    return [FieldError(f"{path}.emoji_id", FieldCode.INVALID_FORMAT)]


def _reaction(wished: ForumReaction | None) -> ForumReaction | None:
    if wished is None or (wished.emoji_id is None and wished.emoji_name is None):
        return None
    return ForumReaction(wished.emoji_id, None if wished.emoji_id is not None else wished.emoji_name)


def _tags(before: Forum, wished: Sequence[TagWish], new_id: Callable[[], int]) -> tuple[ForumTag, ...]:
    known = {tag.id for tag in before.tags}
    if any(tag.id is not None and tag.id not in known for tag in wished):
        raise ApiError(ErrorCode.UNKNOWN_FORUM_TAG)
    return tuple(
        ForumTag(
            id=new_id() if tag.id is None else tag.id,
            name=tag.name.strip(),
            moderated=tag.moderated,
            emoji_id=tag.emoji_id,
            emoji_name=None if tag.emoji_id is not None else tag.emoji_name,
        )
        for tag in wished
    )
