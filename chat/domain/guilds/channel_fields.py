"""What a guild's channel is made of, by type: which fields it owns, and what is stored of what was asked for
(guilds.md, Channels; guilds.md, Guild features).

A field that a type does not own is ignored, as clients send whole forms.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, Final

from chat.config.limits import Limits
from chat.domain.standing.channel_names import channel_name
from chat.domain.standing.forum_fields import FLAGS
from chat.errors import FieldError
from chat.registries.channel_types import ChannelType
from chat.registries.guild_features import GuildFeature

CREATABLE_TYPES: Final = frozenset(
    {
        ChannelType.GUILD_TEXT,
        ChannelType.GUILD_VOICE,
        ChannelType.GUILD_CATEGORY,
        ChannelType.GUILD_ANNOUNCEMENT,
        ChannelType.GUILD_FORUM,
        ChannelType.GUILD_MEDIA,
        ChannelType.GUILD_LINK,
    }
)
"""Types that a guild's channel can be made as."""

CONVERTIBLE_TYPES: Final = frozenset({ChannelType.GUILD_TEXT, ChannelType.GUILD_ANNOUNCEMENT})
"""Types that turn into each other."""

_TEXT_LIKE: Final = frozenset(
    {
        ChannelType.GUILD_TEXT,
        ChannelType.GUILD_VOICE,
        ChannelType.GUILD_ANNOUNCEMENT,
        ChannelType.GUILD_FORUM,
        ChannelType.GUILD_MEDIA,
    }
)
_EVERY: Final = CREATABLE_TYPES
_ABOVE_THREADS: Final = _TEXT_LIKE - {ChannelType.GUILD_VOICE}
_VOICE: Final = frozenset({ChannelType.GUILD_VOICE})

OWNERS: Final[Mapping[str, frozenset[ChannelType]]] = {
    "topic": _TEXT_LIKE,
    "rate_limit_per_user": _TEXT_LIKE,
    "nsfw": _EVERY,
    "nsfw_override": _EVERY,
    "content_warning_level": _EVERY,
    "content_warning_text": _EVERY,
    "parent_id": _EVERY - {ChannelType.GUILD_CATEGORY},
    "default_auto_archive_duration": _ABOVE_THREADS,
    "default_thread_rate_limit_per_user": _ABOVE_THREADS,
    "flags": frozenset(FLAGS),
    "bitrate": _VOICE,
    "user_limit": _VOICE,
    "voice_connection_limit": _VOICE,
    "rtc_region": _VOICE,
    "url": frozenset({ChannelType.GUILD_LINK}),
}
"""Which types own a field; `name` belongs to all."""

BITRATE_CAPS: Final[Mapping[GuildFeature, int]] = {
    GuildFeature.AUDIO_BITRATE_128_KBPS: 128_000,
    GuildFeature.AUDIO_BITRATE_256_KBPS: 256_000,
    GuildFeature.AUDIO_BITRATE_384_KBPS: 384_000,
}
"""The highest one that a guild holds wins (guilds.md, Guild features)."""


def bitrate_cap(features: Set[str], limits: Limits) -> int:
    """The highest bit rate of the guild's voice channels, in bits a second."""
    return max((cap for feature, cap in BITRATE_CAPS.items() if feature in features), default=limits.max_bitrate)


def voice_defaults(limits: Limits) -> dict[str, Any]:
    """What a voice channel begins with."""
    return {
        "bitrate": limits.default_bitrate,
        "user_limit": 0,
        "voice_connection_limit": limits.default_voice_connection_limit,
    }


def stored_fields(
    kind: ChannelType, fields: Mapping[str, Any], features: Set[str], limits: Limits
) -> tuple[dict[str, Any], list[FieldError]]:
    """The columns that a channel of this type keeps of the fields, and what is wrong with them.

    Values are well-formed each for itself; what lies beyond a limit of the instance is wrong, a bit rate above the cap
    is stored at the cap.
    """
    columns = {name: value for name, value in fields.items() if kind in OWNERS.get(name, ())}
    errors: list[FieldError] = []
    if "name" in fields:
        flexible = GuildFeature.TEXT_CHANNEL_FLEXIBLE_NAMES in features
        columns["name"] = channel_name(fields["name"], kind, flexible=flexible)
        if not columns["name"]:
            errors.append(FieldError("name", "CHANNEL_NAME_EMPTY_AFTER_NORMALIZATION"))
    if columns.get("topic") is not None and len(columns["topic"]) > limits.max_topic_length:
        errors.append(FieldError("topic", "CONTENT_EXCEEDS_MAX_LENGTH"))
    for name, most in (
        ("rate_limit_per_user", limits.max_rate_limit_per_user),
        ("user_limit", limits.max_user_limit),
        ("voice_connection_limit", limits.max_voice_connection_limit),
    ):
        if columns.get(name) is not None and columns[name] > most:
            errors.append(FieldError(name, "VALUE_MUST_BE_INTEGER_IN_RANGE"))
    errors.extend(_settle_voice(columns, features, limits))
    if columns.get("content_warning_text") is not None:
        columns["content_warning_text"] = columns["content_warning_text"].strip() or None
    if "flags" in columns:
        columns["flags"] = (columns["flags"] or 0) & FLAGS[kind]
    for name in ("rate_limit_per_user", "default_thread_rate_limit_per_user", "nsfw", "content_warning_level"):
        if name in columns and columns[name] is None:
            columns[name] = 0
    return columns, errors


def _settle_voice(columns: dict[str, Any], features: Set[str], limits: Limits) -> list[FieldError]:
    """Null gives a voice field its default back; a bit rate is kept within the guild's cap."""
    for name, default in voice_defaults(limits).items():
        if name in columns and columns[name] is None:
            columns[name] = default
    if "bitrate" not in columns:
        return []
    if columns["bitrate"] < limits.min_bitrate:
        return [FieldError("bitrate", "VALUE_MUST_BE_INTEGER_IN_RANGE")]
    columns["bitrate"] = min(columns["bitrate"], bitrate_cap(features, limits))
    return []
