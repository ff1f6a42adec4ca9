"""The limits of an instance (settings.md, Limits; `limits.<key>`).

A key with a twin ending in `_premium` holds for accounts without premium, the twin for those with it; who that is says
`Settings.limits_for`. When only the first is set, it holds for all.
"""

from __future__ import annotations

from typing import Final

from chat.classes import frozen
from chat.config.declare import setting
from chat.registries.limits import BIO_CHARACTERS

KIBIBYTE: Final = 1_024
MEBIBYTE: Final = 1_048_576


def _count(default: int, help: str, *, minimum: int = 0, unit: str | None = None, follows: str | None = None) -> int:
    value: int = setting(default, help, minimum=minimum, unit=unit, follows=follows)
    return value


def _bytes(default: int, help: str, *, follows: str | None = None) -> int:
    return _count(default, help, unit="bytes", follows=follows)


ORDERED: Final = (
    ("min_bitrate", "default_bitrate"),
    ("default_bitrate", "max_bitrate"),
    ("default_voice_connection_limit", "max_voice_connection_limit"),
)
"""Limits of which the first may not be above the second."""


@frozen(kw_only=True)
class Limits:
    """How many, how long, how large."""

    max_guilds: int = _count(100, "guilds that an account may be in")
    max_guilds_premium: int = _count(200, "the same with premium", follows="max_guilds")
    max_message_length: int = _count(2_000, "a message's text", unit="characters", minimum=1)
    max_message_length_premium: int = _count(
        4_000, "the same with premium", unit="characters", minimum=1, follows="max_message_length"
    )
    max_attachments_per_message: int = _count(10, "files in one message")
    max_embeds_per_message: int = _count(10, "embeds in one message")
    max_pins_per_channel: int = _count(250, "pinned messages of one channel")
    max_reactions_per_message: int = _count(30, "different reactions to one message")
    max_users_per_reaction: int = _count(1_000_000, "accounts that may react alike to one message")

    max_guild_channels: int = _count(500, "channels of a guild")
    max_channels_per_category: int = _count(50, "channels in one category")
    max_guild_roles: int = _count(250, "roles of a guild")
    max_guild_emojis: int = _count(500, "emojis of a guild, animated ones included")
    max_guild_stickers: int = _count(500, "stickers of a guild")
    max_guild_invites: int = _count(1_000, "invites of a guild")
    max_guild_members: int = _count(1_000_000, "members of a guild", minimum=1)
    max_guild_members_very_large: int = _count(10_000_000, "members of a guild with VERY_LARGE_GUILD", minimum=1)
    max_webhooks_per_channel: int = _count(15, "webhooks of a channel")
    max_webhooks_per_guild: int = _count(1_000, "webhooks of a guild")

    max_topic_length: int = _count(1_024, "a channel's topic", unit="characters", minimum=1)
    max_rate_limit_per_user: int = _count(21_600, "the longest slow mode", unit="seconds")
    min_bitrate: int = _count(8_000, "the lowest bit rate of a voice channel", unit="bits per second", minimum=1)
    default_bitrate: int = _count(64_000, "a new voice channel's bit rate", unit="bits per second", minimum=1)
    max_bitrate: int = _count(96_000, "the highest bit rate of a voice channel", unit="bits per second", minimum=1)
    max_user_limit: int = _count(99, "the highest user limit of a voice channel")
    default_voice_connection_limit: int = _count(5, "connections of one account to a voice channel", minimum=1)
    max_voice_connection_limit: int = _count(100, "the highest such limit that a channel may set", minimum=1)

    max_relationships: int = _count(1_000, "relationships of an account")
    max_group_dm_recipients: int = _count(50, "members of a group conversation", minimum=1)
    max_private_channels: int = _count(250, "private conversations of an account")
    max_group_dms: int = _count(150, "group conversations of an account")
    max_bookmarks: int = _count(50, "bookmarks of an account")
    max_bookmarks_premium: int = _count(300, "the same with premium", follows="max_bookmarks")
    max_favorite_memes: int = _count(50, "favourite memes of an account")
    max_favorite_memes_premium: int = _count(500, "the same with premium", follows="max_favorite_memes")
    max_bio_length: int = _count(BIO_CHARACTERS, "an account's bio", unit="characters", minimum=1)

    feature_custom_discriminator: int = _count(0, "above zero: an account may choose its discriminator")
    feature_custom_discriminator_premium: int = _count(
        1, "the same with premium", follows="feature_custom_discriminator"
    )

    avatar_max_size: int = _bytes(10 * MEBIBYTE, "an avatar, icon or banner")
    emoji_max_size: int = _bytes(384 * KIBIBYTE, "the image of an emoji")
    sticker_max_size: int = _bytes(512 * KIBIBYTE, "the image of a sticker")
    attachment_max_size: int = _bytes(25 * MEBIBYTE, "one attached file")
    attachment_max_size_premium: int = _bytes(500 * MEBIBYTE, "the same with premium", follows="attachment_max_size")
    attachment_max_size_bot: int = _bytes(50 * MEBIBYTE, "the same for bots", follows="attachment_max_size")
    user_storage: int = _bytes(20_480 * MEBIBYTE, "files that an account has uploaded, all together")

    max_applications_per_user: int = _count(25, "applications of an account")
    max_redirect_uris_per_application: int = _count(10, "redirect addresses of an application")
