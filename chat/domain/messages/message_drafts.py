"""Drafts of messages and of their edits, with their senders and files; what can be checked of them by themselves."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.classes import frozen
from chat.config import Settings
from chat.domain.messages.message_objects import webhook_author
from chat.domain.policy.instance_policy import require_room
from chat.domain.standing.user_objects import partial_user
from chat.errors import ApiError, InvalidFormBody
from chat.registries.components import ComponentPlace
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.message_types import MessageFlag
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.messages import attachments
from chat.store.messages.attachments import Attachment
from chat.store.messages.messages import Message, MessageExtra
from chat.store.webhooks.webhooks import Webhook


@frozen
class AllowedMentions:
    """Which mentions in the text shall count (messages.md, Mentions).

    `parse` holds `users`, `roles` or `everyone`; `user_ids` and `role_ids` name single ones; `replied_user` is the
    author of the message that is answered.
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


SECOND_FORM: Final = MessageFlag.IS_COMPONENTS_V2.value
VOICE_MESSAGE: Final = MessageFlag.VOICE_MESSAGE.value

ALL_MENTIONS: Final = AllowedMentions(parse=frozenset({"users", "roles", "everyone"}), replied_user=True)
"""The mentions that count if a draft has no `allowed_mentions`."""


@frozen
class ReplyTo:
    """The message that a draft answers. Without `required` the draft is sent as an ordinary message when it is gone."""

    message_id: int
    channel_id: int | None = None
    required: bool = True


@frozen
class Forward:
    """The message that a draft carries on. None carries all of its files or embeds; a list those that it names."""

    message_id: int
    channel_id: int | None = None
    attachment_ids: tuple[int, ...] | None = None
    embed_indices: tuple[int, ...] | None = None


@frozen
class AttachmentDraft:
    """A file on the disk that becomes part of the message. `is_promised` where an earlier upload left its row."""

    attachment: Attachment
    is_promised: bool
    origin_id: int | None = None
    """The attachment whose file it shares: one of a forwarded message, or of a favourite meme."""


@frozen
class PollDraft:
    """A poll to be asked: `asked` as it is stored, without its end; how many hours it is open."""

    asked: Mapping[str, Any]
    hours: int

    @property
    def text(self) -> str:
        """All that people read in it."""
        answers = (answer["poll_media"].get("text", "") for answer in self.asked["answers"])
        return "\n".join((self.asked["question"]["text"], *answers))


@frozen
class MessageDraft:
    """A message to be sent. `embeds` and `components` are as they are stored (`chat.domain.policy.embeds`,
    `chat.domain.policy.component_trees`)."""

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
    components: tuple[Mapping[str, Any], ...] = ()
    poll: PollDraft | None = None
    is_deferred: bool = False
    """Whether the application is still at work on it, so that it has nothing in it."""

    @property
    def is_wordless(self) -> bool:
        """Whether the message needs no text, since there is something else."""
        others = self.components or self.sticker_ids or self.forward or self.poll or self.is_deferred
        return bool(self.attachments or self.embeds or others)


@frozen
class KeptAttachment:
    """Changes to a file that stays with an edited message; None keeps a value."""

    title: str | None = None
    description: str | None = None


@frozen
class MessageEdit:
    """Changes to a message; None keeps what is there. `kept_attachments` are those that stay, by id; `attachments` are
    new ones; `removed_attachment` takes a single one away. `attachment_order` places those that stay by their ids, and
    the next new one by None; further new ones come last."""

    content: str | None = None
    flags: int | None = None
    allowed_mentions: AllowedMentions = ALL_MENTIONS
    kept_attachments: Mapping[int, KeptAttachment] | None = None
    attachments: tuple[AttachmentDraft, ...] = ()
    attachment_order: tuple[int | None, ...] = ()
    embeds: tuple[Mapping[str, Any], ...] | None = None
    components: tuple[Mapping[str, Any], ...] | None = None
    removed_attachment: int | None = None

    @property
    def changes_flags_alone(self) -> bool:
        """Whether the edit leaves everything that the author wrote."""
        written = (self.content, self.embeds, self.components, self.kept_attachments)
        return self.flags is not None and not (self.attachments or any(part is not None for part in written))


def require_whole(draft: MessageDraft) -> None:
    """Check that the parts of a message go together: a forward carries nothing of its own, and a voice message is one
    recording with its length and loudness, and nothing else.

    :raises InvalidFormBody: at `message_reference.type` or `flags`; POLL_NOT_ALLOWED_HERE at `poll`; as
        `require_form`.
    """
    require_form(draft.flags, draft.components, draft.content, draft.embeds or draft.sticker_ids)
    if draft.poll is not None and draft.flags & (SECOND_FORM | VOICE_MESSAGE):
        raise InvalidFormBody.at("poll", FieldCode.POLL_NOT_ALLOWED_HERE)
    own = draft.content or draft.attachments or draft.embeds or draft.components or draft.sticker_ids or draft.poll
    if draft.forward is not None and own:
        raise InvalidFormBody.at("message_reference.type", FieldCode.INVALID_FORMAT)
    if draft.flags & VOICE_MESSAGE:
        is_recording = len(draft.attachments) == 1 and _is_recording(draft.attachments[0].attachment)
        others = draft.content or draft.embeds or draft.components or draft.sticker_ids or draft.forward
        if not is_recording or others:
            raise InvalidFormBody.at("flags", FieldCode.INVALID_FORMAT)


def require_form(flags: int, components: Sequence[object], content: str, others: Sequence[object]) -> None:
    """Check that a message whose components stand in place of a text has some, and none beside them.

    :raises ApiError: CANNOT_SEND_EMPTY_MESSAGE.
    :raises InvalidFormBody: NOT_WITH_SECOND_FORM at `content` or `embeds`.
    """
    if not flags & SECOND_FORM:
        return
    if not components:
        raise ApiError(ErrorCode.CANNOT_SEND_EMPTY_MESSAGE)
    if content:
        raise InvalidFormBody.at("content", FieldCode.NOT_WITH_SECOND_FORM)
    if others:
        raise InvalidFormBody.at("embeds", FieldCode.NOT_WITH_SECOND_FORM)


def place_of_components(flags: int) -> ComponentPlace:
    """The form that the components of a message with these flags have."""
    return ComponentPlace.SECOND_FORM if flags & SECOND_FORM else ComponentPlace.FIRST_FORM


def _is_recording(file: Attachment) -> bool:
    return file.content_type.startswith("audio/") and file.duration is not None and file.waveform is not None


def require_content(content: str, maximum: int, *, needed: bool = True) -> None:
    """Check a message's text against the limit of its author, in characters; `needed` unless there is something else.

    :raises ApiError: CANNOT_SEND_EMPTY_MESSAGE for nothing but white space.
    :raises InvalidFormBody: CONTENT_EXCEEDS_MAX_LENGTH at `content`.
    """
    if len(content) > maximum:
        raise InvalidFormBody.at("content", FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)
    if needed and (not content or content.isspace()):
        raise ApiError(ErrorCode.CANNOT_SEND_EMPTY_MESSAGE)


@frozen
class Sender:
    id: int
    author: wire.PartialUser
    """The message's `author`."""
    keeps_read_state: bool
    """Whether what the sender writes counts as read by the sender."""
    webhook_id: int | None = None
    extra: MessageExtra | None = None
    """The name and avatar of a webhook, which the message keeps."""
    is_absent: bool = False
    """Whether the message goes out by itself: then the sender has not read what stands before it."""
    message_id: int | None = None
    """The id that the message gets; None for a new one."""
    named: Mapping[int, Account] = attrs.field(factory=dict)
    """Accounts that the message's `extra` names."""
    guard: Guard = attrs.field(kw_only=True, eq=False, repr=False)
    """The guard of the request that sends the message."""


def account_sender(principal: Principal, *, is_absent: bool = False) -> Sender:
    """The caller."""
    author = partial_user(principal.account)
    return Sender(principal.user_id, author, not principal.is_bot, is_absent=is_absent, guard=principal.guard)


def webhook_sender(webhook: Webhook, name: str, avatar: str | None, guard: Guard) -> Sender:
    """A webhook under this name and avatar, which need not be its own."""
    author, extra = webhook_author(webhook.id, name, avatar), MessageExtra(webhook_name=name, webhook_avatar=avatar)
    return Sender(webhook.id, author, False, webhook.id, extra, guard=guard)


def put_into_message(
    connection: sqlite3.Connection, message: Message, files: Sequence[AttachmentDraft], settings: Settings, now_ms: int
) -> None:
    """In the unit that writes a message: attach files to it.

    :raises ApiError: as `require_room`.
    :raises InvalidFormBody: for an upload that is gone, or part of another message.
    """
    for index, file in enumerate(files):
        has_bytes = file.origin_id is None or attachments.by_id(connection, file.origin_id) is not None
        attachment = attrs.evolve(file.attachment, message_id=message.id)
        if not has_bytes or not (
            attachments.put_into_message(connection, attachment, now_ms)
            if file.is_promised
            else attachments.insert(connection, attachment)
        ):
            raise InvalidFormBody.at(f"attachments.{index}", FieldCode.INVALID_FORMAT)
    require_room(attachments.usage(connection, files[0].attachment.user_id), settings)
