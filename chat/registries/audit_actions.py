"""What a guild's audit log tells of (guilds.md, Audit log)."""

from __future__ import annotations

import enum


class AuditAction(enum.IntEnum):
    """The `action_type` of an audit log entry; the target is what the name says, unless noted."""

    GUILD_UPDATE = 1
    """The guild itself was changed."""

    CHANNEL_CREATE = 10
    """A channel was made."""

    CHANNEL_UPDATE = 11
    """A channel was changed."""

    CHANNEL_DELETE = 12
    """A channel was deleted."""

    CHANNEL_OVERWRITE_CREATE = 13
    """A channel got a permission overwrite; the target is the channel, options name the role or member."""

    CHANNEL_OVERWRITE_UPDATE = 14
    """An overwrite was changed."""

    CHANNEL_OVERWRITE_DELETE = 15
    """An overwrite was taken away."""

    MEMBER_KICK = 20
    """A member was removed."""

    MEMBER_PRUNE = 21
    """Inactive members were removed; there is no target."""

    MEMBER_BAN_ADD = 22
    """An account was banned."""

    MEMBER_BAN_REMOVE = 23
    """A ban was lifted."""

    MEMBER_UPDATE = 24
    """A member was changed: nickname, voice, time-out."""

    MEMBER_ROLE_UPDATE = 25
    """A member got or lost roles."""

    MEMBER_MOVE = 26
    """A member was moved to another voice channel."""

    MEMBER_DISCONNECT = 27
    """A member was taken out of voice."""

    BOT_ADD = 28
    """A bot came into the guild."""

    ROLE_CREATE = 30
    """A role was made."""

    ROLE_UPDATE = 31
    """A role was changed."""

    ROLE_DELETE = 32
    """A role was deleted."""

    INVITE_CREATE = 40
    """An invite was made; the target is absent, options tell of it."""

    INVITE_UPDATE = 41
    """An invite was changed."""

    INVITE_DELETE = 42
    """An invite was taken back."""

    WEBHOOK_CREATE = 50
    """A webhook was made."""

    WEBHOOK_UPDATE = 51
    """A webhook was changed."""

    WEBHOOK_DELETE = 52
    """A webhook was deleted."""

    EMOJI_CREATE = 60
    """An emoji was made."""

    EMOJI_UPDATE = 61
    """An emoji was changed."""

    EMOJI_DELETE = 62
    """An emoji was deleted."""

    MESSAGE_DELETE = 72
    """A message of somebody else was deleted; the target is its author."""

    MESSAGE_BULK_DELETE = 73
    """Several messages were deleted; the target is the channel."""

    MESSAGE_PIN = 74
    """A message was pinned; the target is its author."""

    MESSAGE_UNPIN = 75
    """A message was unpinned; the target is its author."""

    STICKER_CREATE = 90
    """A sticker was made."""

    STICKER_UPDATE = 91
    """A sticker was changed."""

    STICKER_DELETE = 92
    """A sticker was deleted."""

    THREAD_CREATE = 110
    """A thread was started."""

    THREAD_UPDATE = 111
    """A thread was changed."""

    THREAD_DELETE = 112
    """A thread was deleted."""

    APPLICATION_COMMAND_PERMISSION_UPDATE = 121
    """Who may use a command was set; the target is the command, or the application for all of its commands."""

    PLACEHOLDER_CLAIM = 1_000
    """A member became a person of an import; the target is the member, `placeholder_id` of the options the person."""

    PLACEHOLDER_RELEASE = 1_001
    """What a claim brought was given back; target and options are those of the claim."""


AUDIT_LOG_RETENTION_MS = 45 * 86_400_000
"""How long an entry is kept (guilds.md, Audit log)."""
