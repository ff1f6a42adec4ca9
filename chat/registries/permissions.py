"""Permission bits and the masks made of them (permissions.md, Masks).

On the wire a mask is a decimal string. The masks below are plain integers, for arithmetic without enum overhead.
"""

from __future__ import annotations

import enum
from typing import Final


class Permission(enum.IntFlag):
    """What a role or an overwrite may allow; every other bit is unassigned (permissions.md, Masks)."""

    CREATE_INSTANT_INVITE = 1 << 0
    """Make invites."""

    KICK_MEMBERS = 1 << 1
    """Take members out of the guild."""

    BAN_MEMBERS = 1 << 2
    """Ban accounts from the guild."""

    ADMINISTRATOR = 1 << 3
    """Everything, whatever overwrites say."""

    MANAGE_CHANNELS = 1 << 4
    """Make, change and delete channels."""

    MANAGE_GUILD = 1 << 5
    """Change the guild itself."""

    ADD_REACTIONS = 1 << 6
    """Be the first to react with an emoji."""

    VIEW_AUDIT_LOG = 1 << 7
    """Read the audit log."""

    PRIORITY_SPEAKER = 1 << 8
    """Be heard above others."""

    STREAM = 1 << 9
    """Share video."""

    VIEW_CHANNEL = 1 << 10
    """See a channel."""

    SEND_MESSAGES = 1 << 11
    """Send messages."""

    SEND_TTS_MESSAGES = 1 << 12
    """Send messages that are read aloud."""

    MANAGE_MESSAGES = 1 << 13
    """Delete others' messages and reactions."""

    EMBED_LINKS = 1 << 14
    """Have links shown with a preview."""

    ATTACH_FILES = 1 << 15
    """Send files."""

    READ_MESSAGE_HISTORY = 1 << 16
    """Read what was written before."""

    MENTION_EVERYONE = 1 << 17
    """Mention everyone, here and every role."""

    USE_EXTERNAL_EMOJIS = 1 << 18
    """Use emojis of other guilds."""

    CONNECT = 1 << 20
    """Join voice."""

    SPEAK = 1 << 21
    """Speak in voice."""

    MUTE_MEMBERS = 1 << 22
    """Silence members in voice."""

    DEAFEN_MEMBERS = 1 << 23
    """Keep members in voice from hearing."""

    MOVE_MEMBERS = 1 << 24
    """Move members between voice channels."""

    USE_VAD = 1 << 25
    """Speak without holding a key."""

    CHANGE_NICKNAME = 1 << 26
    """Change one's own nickname."""

    MANAGE_NICKNAMES = 1 << 27
    """Change others' nicknames."""

    MANAGE_ROLES = 1 << 28
    """Make, change, delete and give roles below one's own."""

    MANAGE_WEBHOOKS = 1 << 29
    """Make, change and delete webhooks."""

    MANAGE_EXPRESSIONS = 1 << 30
    """Change and delete any emoji or sticker."""

    MANAGE_THREADS = 1 << 34
    """Moderate threads."""

    CREATE_PUBLIC_THREADS = 1 << 35
    """Start threads that all may read."""

    CREATE_PRIVATE_THREADS = 1 << 36
    """Start threads for those invited."""

    USE_EXTERNAL_STICKERS = 1 << 37
    """Use stickers of other guilds."""

    SEND_MESSAGES_IN_THREADS = 1 << 38
    """Send messages in threads."""

    MODERATE_MEMBERS = 1 << 40
    """Time members out."""

    CREATE_EXPRESSIONS = 1 << 43
    """Make emojis and stickers, and change one's own."""

    PIN_MESSAGES = 1 << 51
    """Pin messages."""

    BYPASS_SLOWMODE = 1 << 52
    """Send without waiting."""

    UPDATE_RTC_REGION = 1 << 53
    """Choose a channel's voice region."""

    VIEW_CHANNEL_MEMBERS = 1 << 54
    """See who can see a channel."""


FULL_MASK: Final = 2**64 - 1
"""What the owner and administrators hold: every one of 64 bits, unassigned ones too (permissions.md, Masks)."""

ALL_DEFINED: Final[int] = sum(permission.value for permission in Permission)
"""Every bit of the registry; bits outside it are dropped on write (permissions.md, Masks)."""

THREAD_PERMISSIONS: Final[int] = (
    Permission.MANAGE_THREADS
    | Permission.CREATE_PUBLIC_THREADS
    | Permission.CREATE_PRIVATE_THREADS
    | Permission.SEND_MESSAGES_IN_THREADS
).value
"""The thread bits, taken out of masks shown to callers without channel_threads (permissions.md, Masks; guilds.md, Guild
object)."""

DEFAULT_THREAD_PERMISSIONS: Final[int] = (
    Permission.CREATE_PUBLIC_THREADS | Permission.CREATE_PRIVATE_THREADS | Permission.SEND_MESSAGES_IN_THREADS
).value
"""The thread bits that everyone gets in a new guild (guilds.md, Create guild)."""

DEFAULT_PERMISSIONS: Final[int] = (
    Permission.CREATE_INSTANT_INVITE
    | Permission.ADD_REACTIONS
    | Permission.STREAM
    | Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.READ_MESSAGE_HISTORY
    | Permission.USE_EXTERNAL_EMOJIS
    | Permission.CONNECT
    | Permission.SPEAK
    | Permission.USE_VAD
    | Permission.CHANGE_NICKNAME
    | Permission.USE_EXTERNAL_STICKERS
    | Permission.VIEW_CHANNEL_MEMBERS
).value
"""The default permission set without its thread bits (permissions.md, Masks)."""

DEFAULT_EVERYONE: Final[int] = DEFAULT_PERMISSIONS | DEFAULT_THREAD_PERMISSIONS
"""What the everyone role of a new guild allows (guilds.md, Create guild; permissions.md, Masks)."""

ELEVATED: Final[int] = (
    Permission.KICK_MEMBERS
    | Permission.BAN_MEMBERS
    | Permission.ADMINISTRATOR
    | Permission.MANAGE_CHANNELS
    | Permission.MANAGE_GUILD
    | Permission.MANAGE_MESSAGES
    | Permission.MANAGE_ROLES
    | Permission.MANAGE_WEBHOOKS
    | Permission.MANAGE_THREADS
    | Permission.MODERATE_MEMBERS
).value
"""Bits that need a second factor while a guild's MFA level is ELEVATED (guilds.md, MFA levels; permissions.md,
Masks)."""

MEMBER_REQUEST_PERMISSIONS: Final[int] = (
    Permission.MANAGE_ROLES | Permission.KICK_MEMBERS | Permission.BAN_MEMBERS
).value
"""All of these are needed by a user who asks the gateway for a guild's whole member list (gateway.md, Request Guild
Members)."""
