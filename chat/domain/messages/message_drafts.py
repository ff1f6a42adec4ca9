"""What someone asks to be sent or to be made of a message, and what can be said of it without looking anything up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.errors import ApiError, InvalidFormBody
from chat.registries.channel_types import PRIVATE_CHANNEL_TYPES, THREAD_CHANNEL_TYPES, ChannelType
from chat.registries.message_types import MessageFlag
from chat.store.guilds.channels import Channel
from chat.store.messages.attachments import Attachment

VOICE_MESSAGE: Final = MessageFlag.VOICE_MESSAGE.value

MESSAGE_CHANNEL_TYPES: Final = frozenset(
    {
        ChannelType.GUILD_TEXT,
        ChannelType.GUILD_VOICE,
        ChannelType.GUILD_ANNOUNCEMENT,
        *PRIVATE_CHANNEL_TYPES,
        *THREAD_CHANNEL_TYPES,
    }
)
"""Channels that hold messages of their own."""


@attrs.frozen
class AllowedMentions:
    """Which mentions in the text shall count (messages.md, Mentions).

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
class Forward:
    """The message that a draft carries on. None carries all of its files or embeds; a list those that it names."""

    message_id: int
    channel_id: int | None = None
    attachment_ids: tuple[int, ...] | None = None
    embed_indices: tuple[int, ...] | None = None


@attrs.frozen
class AttachmentDraft:
    """A file that is on the disk and shall become part of the message. `is_promised` tells that its row is there
    already, from an upload before."""

    attachment: Attachment
    is_promised: bool
    origin_id: int | None = None
    """The attachment that it is a copy of, sharing its bytes: one of a forwarded message, or a favourite meme."""


@attrs.frozen
class MessageDraft:
    """A message to be sent. `embeds` are as they are stored (`chat.domain.policy.embed_objects`)."""

    content: str = ""
    nonce: str | None = None
    tts: bool = False
    flags: int = 0
    reply_to: ReplyTo | None = None
    allowed_mentions: AllowedMentions = ALL_MENTIONS
    attachments: tuple[AttachmentDraft, ...] = ()
    embeds: tuple[Mapping[str, Any], ...] = ()
    sticker_ids: tuple[int, ...] = ()
    forward: Forward | None = None

    @property
    def is_wordless(self) -> bool:
        """Whether the message needs no text, since there is something else."""
        return bool(self.attachments or self.embeds or self.sticker_ids or self.forward)


@attrs.frozen
class KeptAttachment:
    """What an edit says of a file that stays; None leaves its words as they are."""

    title: str | None = None
    description: str | None = None


@attrs.frozen
class MessageEdit:
    """Changes to a message; None keeps what is there. `kept_attachments` are those that stay, by id; `attachments` are
    new ones; `removed_attachment` is the one that goes, whatever the others are. `attachment_order` names by their ids
    where those that stay are to stand, and by None where the next new one is; further new ones come last."""

    content: str | None = None
    flags: int | None = None
    allowed_mentions: AllowedMentions = ALL_MENTIONS
    kept_attachments: Mapping[int, KeptAttachment] | None = None
    attachments: tuple[AttachmentDraft, ...] = ()
    attachment_order: tuple[int | None, ...] = ()
    embeds: tuple[Mapping[str, Any], ...] | None = None
    removed_attachment: int | None = None

    @property
    def changes_flags_alone(self) -> bool:
        """Whether the edit leaves everything that the author wrote."""
        written = self.content is not None or self.embeds is not None or self.kept_attachments is not None
        return self.flags is not None and not (written or self.attachments)


def require_message_channel(channel: Channel) -> None:
    """Raise CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL for a channel that holds no messages of its own."""
    if channel.type not in MESSAGE_CHANNEL_TYPES:
        raise ApiError("CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL")


def require_whole(draft: MessageDraft) -> None:
    """Check what parts of a message go together: a forward carries nothing of its own, and a voice message is one
    recording with its length and loudness, and nothing else.

    :raises InvalidFormBody: at `message_reference.type` or `flags`.
    """
    own = draft.content or draft.attachments or draft.embeds or draft.sticker_ids
    if draft.forward is not None and own:
        raise InvalidFormBody.at("message_reference.type", "INVALID_FORMAT")
    if draft.flags & VOICE_MESSAGE:
        files = [file.attachment for file in draft.attachments]
        is_recording = len(files) == 1 and is_recorded(files[0])
        if not is_recording or draft.content or draft.embeds or draft.sticker_ids or draft.forward:
            raise InvalidFormBody.at("flags", "INVALID_FORMAT")


def is_recorded(file: Attachment) -> bool:
    """Whether a file is sound of which the sender says how long and how loud it is."""
    return file.content_type.startswith("audio/") and file.duration is not None and file.waveform is not None


def require_content(content: str, maximum: int, *, needed: bool = True) -> None:
    """Check a message's text against the limit of its author, in characters; `needed` unless there is something else.

    :raises ApiError: CANNOT_SEND_EMPTY_MESSAGE for nothing but white space.
    :raises InvalidFormBody: CONTENT_EXCEEDS_MAX_LENGTH at `content`.
    """
    if len(content) > maximum:
        raise InvalidFormBody.at("content", "CONTENT_EXCEEDS_MAX_LENGTH")
    if needed and (not content or content.isspace()):
        raise ApiError("CANNOT_SEND_EMPTY_MESSAGE")
