"""How names of channels are written (guilds.md, Channel names).

Without flexible names the channels that hold text go in lower case with hyphens for white space; letters, marks,
digits, emoji, `-` and `_` stay, other punctuation goes. Voice channels, categories and links are called as one likes.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from chat.protocol.visible_text import tidy, visible
from chat.registries.channel_types import ChannelType

PLAIN_NAMED_TYPES: Final = frozenset(
    {ChannelType.GUILD_TEXT, ChannelType.GUILD_ANNOUNCEMENT, ChannelType.GUILD_FORUM, ChannelType.GUILD_MEDIA}
)
"""Types whose names are plain unless the guild has flexible names."""

RENAMED_TYPES: Final = frozenset({ChannelType.GUILD_TEXT, ChannelType.GUILD_ANNOUNCEMENT})
"""Types that are renamed at once when a guild loses flexible names; forums and media keep theirs until the next
change (guilds.md, Modify guild)."""

_WHITE_SPACE: Final = re.compile(r"\s+")
_KEPT_CATEGORIES: Final = ("L", "M", "N", "So", "Sk", "Cf")
"""Letters, marks, digits; what emoji are made of, joiners and skin tones included."""


def plain_name(name: str) -> str:
    """The name as it is without flexible names; may be empty."""
    hyphenated = _WHITE_SPACE.sub("-", tidy(name).lower())
    return visible("".join(character for character in hyphenated if _is_kept(character)))


def channel_name(name: str, channel_type: int, *, flexible: bool) -> str:
    """The name of a channel of this type as it is stored; may be empty."""
    return tidy(name) if flexible or channel_type not in PLAIN_NAMED_TYPES else plain_name(name)


def _is_kept(character: str) -> bool:
    return character in "-_" or unicodedata.category(character).startswith(_KEPT_CATEGORIES)
