"""Guild features (guilds.md, Guild features)."""

from __future__ import annotations

import enum
from typing import Final


class GuildFeature(enum.StrEnum):
    """Values of a guild's `features`: what it may do and how it stands (guilds.md, Guild features)."""

    ANIMATED_ICON = "ANIMATED_ICON"
    """The icon may move."""

    ANIMATED_BANNER = "ANIMATED_BANNER"
    """The banner may move."""

    BANNER = "BANNER"
    """There may be a banner."""

    INVITE_SPLASH = "INVITE_SPLASH"
    """There may be pictures behind invites."""

    ANNOUNCEMENT_CHANNELS_DISABLED = "ANNOUNCEMENT_CHANNELS_DISABLED"
    """Crossposting and following are switched off by an administrator."""

    AUDIO_BITRATE_128_KBPS = "AUDIO_BITRATE_128_KBPS"
    """Voice may reach 128,000 bits a second."""

    AUDIO_BITRATE_256_KBPS = "AUDIO_BITRATE_256_KBPS"
    """Voice may reach 256,000 bits a second."""

    AUDIO_BITRATE_384_KBPS = "AUDIO_BITRATE_384_KBPS"
    """Voice may reach 384,000 bits a second."""

    CLONE_EMOJI_ENABLED = "CLONE_EMOJI_ENABLED"
    """Others may copy the guild's emojis."""

    CLONE_STICKER_ENABLED = "CLONE_STICKER_ENABLED"
    """Others may copy the guild's stickers."""

    CLONE_EMOJI_DISABLED = "CLONE_EMOJI_DISABLED"
    """Deprecated: shown where it is held, without effect."""

    CLONE_STICKER_DISABLED = "CLONE_STICKER_DISABLED"
    """Deprecated: shown where it is held, without effect."""

    DETACHED_BANNER = "DETACHED_BANNER"
    """The banner is a picture of its own, apart from the splash."""

    INVITES_DISABLED = "INVITES_DISABLED"
    """Nobody comes in by an invite."""

    TEXT_CHANNEL_FLEXIBLE_NAMES = "TEXT_CHANNEL_FLEXIBLE_NAMES"
    """Names of text-like channels stay as they are written."""

    HIDE_OWNER_CROWN = "HIDE_OWNER_CROWN"
    """The owner is not marked."""

    RAID_DETECTED = "RAID_DETECTED"
    """A raid is on; invites are restricted."""

    MORE_EMOJI = "MORE_EMOJI"
    """A marker that limit filters may name."""

    MORE_STICKERS = "MORE_STICKERS"
    """A marker that limit filters may name."""

    LARGE_GUILD_OVERRIDE = "LARGE_GUILD_OVERRIDE"
    """A marker that limit filters may name."""

    UNLIMITED_EMOJI = "UNLIMITED_EMOJI"
    """Emoji slots reach the fixed ceiling whatever the instance allows."""

    UNLIMITED_STICKERS = "UNLIMITED_STICKERS"
    """Sticker slots reach the fixed ceiling whatever the instance allows."""

    EXPRESSION_PURGE_ALLOWED = "EXPRESSION_PURGE_ALLOWED"
    """Deleting an emoji or a sticker may purge its file."""

    VANITY_URL = "VANITY_URL"
    """There may be a custom invite code."""

    DISCOVERABLE = "DISCOVERABLE"
    """Listed in public discovery, and never below verification level LOW."""

    PARTNERED = "PARTNERED"
    """A mark of standing."""

    VERIFIED = "VERIFIED"
    """A mark of standing."""

    VISIONARY = "VISIONARY"
    """A mark of standing."""

    VIP_VOICE = "VIP_VOICE"
    """May use the voice regions kept for VIP guilds."""

    VOICE_E2EE = "VOICE_E2EE"
    """Voice channels can be encrypted from end to end."""

    UNAVAILABLE_FOR_EVERYONE = "UNAVAILABLE_FOR_EVERYONE"
    """Closed to every account, the owner's too."""

    UNAVAILABLE_FOR_EVERYONE_BUT_STAFF = "UNAVAILABLE_FOR_EVERYONE_BUT_STAFF"
    """Closed to every account without the STAFF flag."""

    UNAVAILABLE_HIDDEN = "UNAVAILABLE_HIDDEN"
    """While closed, the gateway marks the guild's stub as hidden."""

    VERY_LARGE_GUILD = "VERY_LARGE_GUILD"
    """The default ceiling of members is ten times higher."""


TOGGLEABLE_GUILD_FEATURES: Final[frozenset[GuildFeature]] = frozenset(
    {
        GuildFeature.CLONE_EMOJI_ENABLED,
        GuildFeature.CLONE_STICKER_ENABLED,
        GuildFeature.DETACHED_BANNER,
        GuildFeature.INVITES_DISABLED,
        GuildFeature.TEXT_CHANNEL_FLEXIBLE_NAMES,
        GuildFeature.HIDE_OWNER_CROWN,
    }
)
"""What Modify guild may add or take away (guilds.md, Guild features)."""

NEW_GUILD_FEATURES: Final[frozenset[GuildFeature]] = frozenset(
    {GuildFeature.ANIMATED_ICON, GuildFeature.ANIMATED_BANNER, GuildFeature.BANNER, GuildFeature.INVITE_SPLASH}
)
"""What a guild starts with unless it was created with empty_features (guilds.md, Create guild)."""

UNAVAILABLE_GUILD_FEATURES: Final[frozenset[GuildFeature]] = frozenset(
    {GuildFeature.UNAVAILABLE_FOR_EVERYONE, GuildFeature.UNAVAILABLE_FOR_EVERYONE_BUT_STAFF}
)
"""Either of these closes a guild; UNAVAILABLE_HIDDEN alone does not (guilds.md, Guild features)."""
