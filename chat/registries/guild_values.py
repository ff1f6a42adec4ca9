"""Numbers that a guild's settings are made of (document 001, Registries)."""

from __future__ import annotations

import enum
from typing import Final


class VerificationLevel(enum.IntEnum):
    """What a guild asks of a member who sends a message (document 001, Verification levels)."""

    NONE = 0
    """Nothing."""

    LOW = 1
    """A claimed account with a verified address."""

    MEDIUM = 2
    """LOW, and an account that is not brand new."""

    HIGH = 3
    """MEDIUM, and a membership that is not brand new."""


VERIFICATION_ACCOUNT_AGE_MS: Final = 300_000
"""MEDIUM asks for an account of at least this age (document 001, Verification levels)."""

VERIFICATION_MEMBERSHIP_AGE_MS: Final = 600_000
"""HIGH asks for a membership of at least this age (document 001, Verification levels)."""


class MfaLevel(enum.IntEnum):
    """Whether elevated permissions need a second factor (document 001, MFA levels)."""

    NONE = 0
    """They do not."""

    ELEVATED = 1
    """They do, of everyone but the owner."""


class SystemChannelFlag(enum.IntFlag):
    """Bits of `system_channel_flags` (document 001, System channel flags)."""

    SUPPRESS_JOIN_NOTIFICATIONS = 1 << 0
    """No message tells that someone joined."""


class DisabledOperation(enum.IntFlag):
    """Bits of `disabled_operations`: what an administrator switched off in a guild (document 001, Disabled guild
    operations)."""

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
