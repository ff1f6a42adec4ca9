"""Kinds of message, flags of messages, kinds of reference (messages.md, Message object)."""

from __future__ import annotations

import enum
from typing import Final


class MessageType(enum.IntEnum):
    """The `type` of a message object (messages.md, Message object)."""

    DEFAULT = 0
    """Written by someone."""

    RECIPIENT_ADD = 1
    """Someone was added to a group."""

    RECIPIENT_REMOVE = 2
    """Someone left a group or was taken out of it."""

    CALL = 3
    """A call was started."""

    CHANNEL_NAME_CHANGE = 4
    """A group got another name."""

    CHANNEL_ICON_CHANGE = 5
    """A group got another icon."""

    CHANNEL_PINNED_MESSAGE = 6
    """A message was pinned."""

    USER_JOIN = 7
    """Someone joined the guild."""

    CHANNEL_FOLLOW_ADD = 12
    """The channel now follows an announcement channel; Discord's number."""

    THREAD_CREATED = 18
    """A thread was started."""

    REPLY = 19
    """Written in answer to another message."""

    THREAD_STARTER_MESSAGE = 21
    """Stands first in a thread for the message it was started from."""

    POLL_RESULT = 46
    """A poll ended; Discord's number."""

    CLIENT_SYSTEM = 99
    """Shown by clients on their own account; the server never makes one."""


class MessageFlag(enum.IntFlag):
    """Bits of a message's `flags` (messages.md, Message object)."""

    CROSSPOSTED = 1 << 0
    """The message was published to the channels that follow its channel; Discord's bit."""

    IS_CROSSPOST = 1 << 1
    """The copy of a published message in a following channel."""

    SUPPRESS_EMBEDS = 1 << 2
    """Links in the text make no embeds."""

    SOURCE_MESSAGE_DELETED = 1 << 3
    """A copy whose original is gone."""

    HAS_THREAD = 1 << 5
    """A thread was started from the message."""

    EPHEMERAL = 1 << 6
    """An answer to an interaction that the person alone sees; it is in no history."""

    LOADING = 1 << 7
    """An application is at work on it."""

    FAILED_TO_MENTION_SOME_ROLES_IN_THREAD = 1 << 8
    """Not every mentioned role could be brought into the thread."""

    SUPPRESS_NOTIFICATIONS = 1 << 12
    """Nobody is notified."""

    VOICE_MESSAGE = 1 << 13
    """The attachment is speech."""

    IS_COMPONENTS_V2 = 1 << 15
    """Components stand in place of text and embeds."""

    COMPACT_ATTACHMENTS = 1 << 17
    """Attachments are shown small."""


SENDABLE_MESSAGE_FLAGS: Final = (
    MessageFlag.SUPPRESS_EMBEDS
    | MessageFlag.SUPPRESS_NOTIFICATIONS
    | MessageFlag.VOICE_MESSAGE
    | MessageFlag.IS_COMPONENTS_V2
    | MessageFlag.COMPACT_ATTACHMENTS
)
"""Bits that a client may set when it sends a message; others are dropped (messages.md, Message object)."""

SHOWING_MESSAGE_FLAGS: Final = (
    MessageFlag.SUPPRESS_EMBEDS
    | MessageFlag.VOICE_MESSAGE
    | MessageFlag.IS_COMPONENTS_V2
    | MessageFlag.COMPACT_ATTACHMENTS
)
"""Bits that say how a message is shown; copies of it have them too."""

WRITTEN_MESSAGE_TYPES: Final[frozenset[MessageType]] = frozenset({MessageType.DEFAULT, MessageType.REPLY})
"""What accounts and webhooks write; messages of all other types are the server's."""

THREAD_MESSAGE_TYPES: Final[frozenset[MessageType]] = frozenset(
    {MessageType.THREAD_CREATED, MessageType.THREAD_STARTER_MESSAGE}
)
"""Types that a user session without thread access never sees (gateway.md, Sessions without threads)."""

POINTING_MESSAGE_TYPES: Final[frozenset[MessageType]] = frozenset(
    {MessageType.CHANNEL_FOLLOW_ADD, MessageType.THREAD_CREATED}
)
"""Types whose `message_reference` names a channel and no message, as at Discord."""

THREAD_MESSAGE_FLAGS: Final = MessageFlag.HAS_THREAD | MessageFlag.FAILED_TO_MENTION_SOME_ROLES_IN_THREAD
"""Bits that are cleared for a user session without thread access (gateway.md, Sessions without threads)."""


class MessageReferenceType(enum.IntEnum):
    """What a message does with the one it refers to (messages.md, Message object)."""

    REPLY = 0
    """Answers it."""

    FORWARD = 1
    """Carries a copy of it."""


class AttachmentFlag(enum.IntFlag):
    """Bits of an attachment's `flags` (messages.md, Message object)."""

    IS_SPOILER = 1 << 3
    """Hidden until asked for."""

    CONTAINS_EXPLICIT_MEDIA = 1 << 4
    """Marked as explicit."""

    IS_ANIMATED = 1 << 5
    """A moving picture."""
