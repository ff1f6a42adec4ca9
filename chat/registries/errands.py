"""What requests leave to be finished, should the server end before they do it themselves
(`chat.domain.policy.errands`)."""

from __future__ import annotations

import enum


class ErrandKind(enum.StrEnum):
    """What is to be finished."""

    FORGET_GUILD = "forget_guild"
    """A guild was deleted: the settings of its members still know it."""

    DELETE_OWN_MESSAGES = "delete_own_messages"
    """Everything that an account has written, wherever that is."""

    DELETE_GUILD_MESSAGES = "delete_guild_messages"
    """What an author has written in a guild; perhaps the author leaves it then."""

    DELETE_CHANNEL_MESSAGES = "delete_channel_messages"
    """What an author has written in a channel."""

    PURGE = "purge"
    """Chosen messages of a channel, or everything in somebody's personal notes."""

    DELETE_APPLICATION = "delete_application"
    """An application, after its bot has left its guilds."""

    CLEAR_RELATIONSHIPS = "clear_relationships"
    """What an account has with others in one category."""

    RESOLVE_REPORTS = "resolve_reports"
    """The pending reports against an account that is to be deleted for misconduct."""
