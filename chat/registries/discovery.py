"""Public discovery: what guilds are about, and how an application for being found stands (guilds.md, Discovery)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


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
