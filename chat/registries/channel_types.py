"""Kinds of channel (guilds.md, Channels), and how read states tell them apart (messages.md, Read states)."""

from __future__ import annotations

import enum
from typing import Final


class ChannelType(enum.IntEnum):
    """The `type` of a channel object (guilds.md, Channels)."""

    GUILD_TEXT = 0
    """Text in a guild."""

    DM = 1
    """A conversation of two accounts."""

    GUILD_VOICE = 2
    """Voice in a guild, with a text side of its own."""

    GROUP_DM = 3
    """A conversation of several accounts outside guilds."""

    GUILD_CATEGORY = 4
    """Holds other channels of a guild."""

    GUILD_ANNOUNCEMENT = 5
    """Text in a guild that other guilds may follow."""

    ANNOUNCEMENT_THREAD = 10
    """A thread below an announcement channel."""

    PUBLIC_THREAD = 11
    """A thread that whoever sees its parent may read."""

    PRIVATE_THREAD = 12
    """A thread for those invited to it."""

    GUILD_FORUM = 15
    """Holds threads only, as a list of posts."""

    GUILD_MEDIA = 16
    """Holds threads only, as a gallery."""

    GUILD_LINK = 998
    """An entry of a guild's channel list that leads to an address."""

    DM_PERSONAL_NOTES = 999
    """An account's conversation with itself; its id is the account's."""


TEMPLATE_STAGE_VOICE: Final = 13
"""A stage type of another platform: a template channel of this type creates a voice channel (guilds.md, Creation
template)."""

THREAD_CHANNEL_TYPES: Final[frozenset[ChannelType]] = frozenset(
    {ChannelType.ANNOUNCEMENT_THREAD, ChannelType.PUBLIC_THREAD, ChannelType.PRIVATE_THREAD}
)
"""Threads (threads.md, Thread object)."""

THREAD_ONLY_CHANNEL_TYPES: Final[frozenset[ChannelType]] = frozenset({ChannelType.GUILD_FORUM, ChannelType.GUILD_MEDIA})
"""Channels that hold threads and no messages of their own (guilds.md, Channels)."""

CHANNEL_THREADS_TYPES: Final[frozenset[ChannelType]] = THREAD_CHANNEL_TYPES | THREAD_ONLY_CHANNEL_TYPES
"""Types that a user session without the CHANNEL_THREADS flag never sees on the gateway (gateway.md, Sessions without
threads)."""

PRIVATE_CHANNEL_TYPES: Final[frozenset[ChannelType]] = frozenset(
    {ChannelType.DM, ChannelType.GROUP_DM, ChannelType.DM_PERSONAL_NOTES}
)
"""Channels outside guilds (guilds.md, Channels)."""

GUILD_CHANNEL_TYPES: Final[frozenset[ChannelType]] = frozenset(ChannelType) - PRIVATE_CHANNEL_TYPES
"""Channels that belong to a guild, threads included (guilds.md, Channels)."""

SYSTEM_CHANNEL_TYPES: Final[frozenset[ChannelType]] = frozenset(
    {ChannelType.GUILD_TEXT, ChannelType.GUILD_ANNOUNCEMENT}
)
"""Types that may receive a guild's system messages (guilds.md, System messages)."""

FLEXIBLE_NAME_CHANNEL_TYPES: Final[frozenset[ChannelType]] = SYSTEM_CHANNEL_TYPES | THREAD_ONLY_CHANNEL_TYPES
"""Types whose names TEXT_CHANNEL_FLEXIBLE_NAMES leaves as written (guilds.md, Guild features)."""

TEMPLATE_CHANNEL_TYPES: Final[frozenset[ChannelType]] = frozenset(
    {ChannelType.GUILD_TEXT, ChannelType.GUILD_VOICE, ChannelType.GUILD_CATEGORY, ChannelType.GUILD_ANNOUNCEMENT}
)
"""Types that a guild template creates as they are named (guilds.md, Creation template)."""


class OverwriteType(enum.IntEnum):
    """Whose permissions an overwrite changes (guilds.md, Channels)."""

    ROLE = 0
    """Those of every member with a role."""

    MEMBER = 1
    """Those of one member."""


class ChannelFlag(enum.IntFlag):
    """Bits of the `flags` of a channel or thread (guilds.md, Channels), with Discord's numbers."""

    PINNED = 1 << 1
    """A post that stands first in its forum."""

    REQUIRE_TAG = 1 << 4
    """A forum whose posts have a tag at least."""

    HIDE_MEDIA_DOWNLOAD_OPTIONS = 1 << 15
    """A media channel whose clients offer no download."""


class ForumSortOrder(enum.IntEnum):
    """How clients sort the posts of a forum (`default_sort_order`; guilds.md, Forum and media channels)."""

    LATEST_ACTIVITY = 0
    """What was written in last comes first."""

    CREATION_DATE = 1
    """The newest comes first."""


class ForumLayout(enum.IntEnum):
    """How clients show the posts of a forum (`default_forum_layout`; guilds.md, Forum and media channels)."""

    NOT_SET = 0
    """As the client likes."""

    LIST_VIEW = 1
    """One below the other."""

    GALLERY_VIEW = 2
    """As tiles."""


class ThreadMemberFlag(enum.IntFlag):
    """Bits of a thread member's `flags` (threads.md, Thread object)."""

    HAS_INTERACTED = 1 << 0
    """The member did something in the thread."""

    ALL_MESSAGES = 1 << 1
    """Is notified of every message."""

    ONLY_MENTIONS = 1 << 2
    """Is notified of mentions."""

    NO_MESSAGES = 1 << 3
    """Is notified of nothing."""


class ReadStateFlag(enum.IntFlag):
    """Bits of `flags`."""

    GUILD_CHANNEL = 1 << 0
    """A channel of a guild, or a thread below one."""

    THREAD = 1 << 1
    """A thread."""


def read_state_flags(channel_type: int) -> ReadStateFlag:
    """The flags of a channel of a guild."""
    if channel_type in THREAD_CHANNEL_TYPES:
        return ReadStateFlag.GUILD_CHANNEL | ReadStateFlag.THREAD
    return ReadStateFlag.GUILD_CHANNEL
