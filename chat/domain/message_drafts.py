"""What someone asks to be sent or to be made of a message, and what can be said of it without looking anything up."""

from __future__ import annotations

from typing import Final

import attrs

from chat.errors import ApiError, InvalidFormBody
from chat.registries.channel_types import THREAD_CHANNEL_TYPES, ChannelType
from chat.store.attachments import Attachment
from chat.store.channels import Channel

MESSAGE_CHANNEL_TYPES: Final = frozenset(
    {
        ChannelType.GUILD_TEXT,
        ChannelType.GUILD_VOICE,
        ChannelType.GUILD_ANNOUNCEMENT,
        ChannelType.DM,
        *THREAD_CHANNEL_TYPES,
    }
)
"""Channels that hold messages of their own."""


@attrs.frozen
class AllowedMentions:
    """Which mentions in the text shall count (wire facts 5.3).

    `None` in the place of the whole object lets everything count; an object lets count what it names. `parse` holds
    `users`, `roles` or `everyone`; `user_ids` and `role_ids` name single ones; `replied_user` is whoever wrote the
    message that is answered.
    """

    parse: frozenset[str] = frozenset()
    user_ids: frozenset[int] = frozenset()
    role_ids: frozenset[int] = frozenset()
    replied_user: bool = False

    def users(self, user_id: int) -> bool:
        """Whether a mention of this account counts."""
        return "users" in self.parse or user_id in self.user_ids

    def roles(self, role_id: int) -> bool:
        """Whether a mention of this role counts."""
        return "roles" in self.parse or role_id in self.role_ids


ALL_MENTIONS: Final = AllowedMentions(parse=frozenset({"users", "roles", "everyone"}), replied_user=True)
"""What counts when a draft says nothing."""


@attrs.frozen
class ReplyTo:
    """The message that a draft answers. `required` false sends the draft as an ordinary message when it is gone."""

    message_id: int
    channel_id: int | None = None
    required: bool = True


@attrs.frozen
class AttachmentDraft:
    """A file that is on the disk and shall become part of the message. `is_promised` tells that its row is there
    already, from an upload before."""

    attachment: Attachment
    is_promised: bool


@attrs.frozen
class MessageDraft:
    """A message to be sent."""

    content: str = ""
    nonce: str | None = None
    tts: bool = False
    flags: int = 0
    reply_to: ReplyTo | None = None
    allowed_mentions: AllowedMentions = ALL_MENTIONS
    attachments: tuple[AttachmentDraft, ...] = ()


@attrs.frozen
class MessageEdit:
    """Changes to a message; None keeps what is there. `kept_attachment_ids` are those that stay."""

    content: str | None = None
    flags: int | None = None
    allowed_mentions: AllowedMentions = ALL_MENTIONS
    kept_attachment_ids: frozenset[int] | None = None


def require_message_channel(channel: Channel) -> None:
    """Raise CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL for a channel that holds no messages of its own."""
    if channel.type not in MESSAGE_CHANNEL_TYPES:
        raise ApiError("CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL")


def require_content(content: str, maximum: int, *, needed: bool = True) -> None:
    """Check a message's text against the limit of its author, in characters; `needed` unless there is something else.

    :raises ApiError: CANNOT_SEND_EMPTY_MESSAGE for nothing but white space.
    :raises InvalidFormBody: CONTENT_EXCEEDS_MAX_LENGTH at `content`.
    """
    if len(content) > maximum:
        raise InvalidFormBody.at("content", "CONTENT_EXCEEDS_MAX_LENGTH")
    if needed and (not content or content.isspace()):
        raise ApiError("CANNOT_SEND_EMPTY_MESSAGE")
