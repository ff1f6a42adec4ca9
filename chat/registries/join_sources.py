"""How a member came into a guild (guilds.md, Members)."""

from __future__ import annotations

import enum


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
