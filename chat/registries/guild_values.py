"""What a guild's settings are made of (guilds.md, Guild values), how members came in (guilds.md, Members), and public
discovery (guilds.md, Discovery)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


class VerificationLevel(enum.IntEnum):
    """What a guild asks of a member who sends a message (guilds.md, Verification levels)."""

    NONE = 0
    """Nothing."""

    LOW = 1
    """A claimed account with a verified address."""

    MEDIUM = 2
    """LOW, and an account that is not brand new."""

    HIGH = 3
    """MEDIUM, and a membership that is not brand new."""


VERIFICATION_ACCOUNT_AGE_MS: Final = 300_000
"""MEDIUM asks for an account of at least this age (guilds.md, Verification levels)."""

VERIFICATION_MEMBERSHIP_AGE_MS: Final = 600_000
"""HIGH asks for a membership of at least this age (guilds.md, Verification levels)."""


class MfaLevel(enum.IntEnum):
    """Whether elevated permissions need a second factor (guilds.md, MFA levels)."""

    NONE = 0
    """They do not."""

    ELEVATED = 1
    """They do, of everyone but the owner."""


class SplashCardAlignment(enum.IntEnum):
    """Where an invite's card stands on the splash (guilds.md, Guild values)."""

    CENTER = 0
    """In the middle."""

    LEFT = 1
    """On the left."""

    RIGHT = 2
    """On the right."""


class GuildExplicitContentFilter(enum.IntEnum):
    """Whose media clients filter (guilds.md, Guild values)."""

    DISABLED = 0
    """Nobody's."""

    MEMBERS_WITHOUT_ROLES = 1
    """Those of members without a role."""

    ALL_MEMBERS = 2
    """Everybody's."""


class DefaultMessageNotifications(enum.IntEnum):
    """What members are notified of unless they choose for themselves (guilds.md, Guild values)."""

    ALL_MESSAGES = 0
    """Every message."""

    ONLY_MENTIONS = 1
    """What mentions them."""


class NsfwLevel(enum.IntEnum):
    """The older name of `nsfw`, from which it is derived (guilds.md, Guild values)."""

    SAFE = 0
    """Not marked."""

    AGE_RESTRICTED = 3
    """Marked as adult content."""


class ContentWarningLevel(enum.IntEnum):
    """Whether channels that say nothing themselves show a warning (guilds.md, Guild values)."""

    INHERIT = 0
    """They show none."""

    CONTENT_WARNING = 1
    """They show the guild's."""


class SystemChannelFlag(enum.IntFlag):
    """Bits of `system_channel_flags` (guilds.md, Guild values)."""

    SUPPRESS_JOIN_NOTIFICATIONS = 1 << 0
    """No message tells that someone joined."""


class DisabledOperation(enum.IntFlag):
    """Bits of `disabled_operations`: what an administrator switched off in a guild (guilds.md, Disabled operations)."""

    PUSH_NOTIFICATIONS = 1 << 0
    """Push notifications."""

    EVERYONE_MENTIONS = 1 << 1
    """Mentions of everyone and here."""

    TYPING_EVENTS = 1 << 2
    """Typing Start."""

    INSTANT_INVITES = 1 << 3
    """Invites."""

    SEND_MESSAGE = 1 << 4
    """Sending messages."""

    REACTIONS = 1 << 5
    """Reactions."""

    MEMBER_LIST_UPDATES = 1 << 6
    """Guild Member List Update."""


class JoinSource(enum.IntEnum):
    """The join source of a membership (guilds.md, Members); 5 is unassigned."""

    CREATOR = 0
    """Made the guild."""

    INSTANT_INVITE = 1
    """Used an ordinary invite."""

    VANITY_URL = 2
    """Used the guild's custom invite code."""

    BOT_INVITE = 3
    """A bot, added through its application's consent page."""

    ADMIN_FORCE_ADD = 4
    """Put there by an administrator."""

    DISCOVERY = 6
    """Joined from public discovery."""


class DiscoveryCategory(enum.IntEnum):
    """What a guild is about."""

    GAMING = 0
    MUSIC = 1
    ENTERTAINMENT = 2
    EDUCATION = 3
    SCIENCE_AND_TECHNOLOGY = 4
    CONTENT_CREATOR = 5
    ANIME_AND_MANGA = 6
    MOVIES_AND_TV = 7
    OTHER = 8


CATEGORY_NAMES: Final[Mapping[DiscoveryCategory, str]] = MappingProxyType(
    {
        DiscoveryCategory.GAMING: "Gaming",
        DiscoveryCategory.MUSIC: "Music",
        DiscoveryCategory.ENTERTAINMENT: "Entertainment",
        DiscoveryCategory.EDUCATION: "Education",
        DiscoveryCategory.SCIENCE_AND_TECHNOLOGY: "Science & Technology",
        DiscoveryCategory.CONTENT_CREATOR: "Content Creator",
        DiscoveryCategory.ANIME_AND_MANGA: "Anime & Manga",
        DiscoveryCategory.MOVIES_AND_TV: "Movies & TV",
        DiscoveryCategory.OTHER: "Other",
    }
)
"""What people are shown, in the order in which they are shown it."""


class DiscoveryStatus(enum.StrEnum):
    """How an application stands."""

    PENDING = "pending"
    """Nobody has decided on it."""

    APPROVED = "approved"
    """The guild was taken into discovery."""

    REJECTED = "rejected"
    """It was not; it may apply again."""

    REMOVED = "removed"
    """It was, and was taken out again; it may apply again."""
