"""What a draft refers to, looked up before the message is written: the message that it answers, whom it names, its
emojis and stickers, the message that it forwards. A draft that refers to nothing costs no statement.

A forward carries a copy that is made once, of what the sender may read (messages.md, Forwarding). Its files are rows of
their own with the bytes of the original, so that the copy stays whole when the original goes. The forward of a forward
carries the same. A forward holds nothing that its sender may not send: files need ATTACH_FILES and embeds EMBED_LINKS
where it goes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat.auth.principal import Principal
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.messages.mentions import (
    NOTHING_COUNTED,
    CountedMentions,
    JudgedText,
    ParsedMentions,
    count_mentions,
    judge_text,
    parse_mentions,
)
from chat.domain.messages.message_drafts import AttachmentDraft, Forward, MessageDraft, ReplyTo, Sender
from chat.domain.messages.message_objects import account_ids
from chat.domain.messages.message_reading import StoredMessages, accounts_by_id, require_message, with_context
from chat.domain.standing.access import Access, ChannelAccess
from chat.domain.standing.guild_objects import EMOJIS, STICKERS
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.guild_features import UNAVAILABLE_GUILD_FEATURES
from chat.registries.message_types import (
    SHOWING_MESSAGE_FLAGS,
    THREAD_MESSAGE_TYPES,
    WRITTEN_MESSAGE_TYPES,
    MessageFlag,
    MessageReferenceType,
)
from chat.registries.permissions import Permission
from chat.snowflake import SnowflakeGenerator, snowflake_time_ms
from chat.store.accounts.accounts import Account
from chat.store.guilds import expressions, guilds, members
from chat.store.guilds.expressions import ExpressionPlace
from chat.store.messages import attachments, messages
from chat.store.messages.messages import Message, MessageExtra, MessageReference

NO_ACCOUNTS: Final[Mapping[int, Account]] = {}


@attrs.frozen
class ForwardSource:
    """A message that is to be forwarded, in a channel whose history the sender may read."""

    reference: MessageReference
    forward: Forward


@attrs.frozen
class Carried:
    """What a forward carries."""

    source: MessageReference
    snapshot: Mapping[str, Any]
    files: tuple[AttachmentDraft, ...]


def forward_source(principal: Principal, access: Access, here: ChannelAccess, forward: Forward) -> ForwardSource:
    """The message to be forwarded. Its channel is this one unless it names another.

    :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE for one that the sender may not read.
    """
    is_here = forward.channel_id is None or forward.channel_id == here.channel.id
    there = here if is_here else access.channel(principal, forward.channel_id or 0)
    if not there.reads(forward.message_id):
        raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
    reference = MessageReference(
        channel_id=there.channel.id,
        message_id=forward.message_id,
        guild_id=there.guild_id,
        type=MessageReferenceType.FORWARD.value,
    )
    return ForwardSource(reference, forward)


def _read_source(connection: sqlite3.Connection, source: ForwardSource) -> Message:
    """The message to be forwarded.

    :raises ApiError: UNKNOWN_MESSAGE.
    :raises InvalidFormBody: at `message_reference.message_id` for one that the server wrote.
    """
    message = require_message(connection, source.reference.channel_id, source.reference.message_id)
    if message.type not in WRITTEN_MESSAGE_TYPES:  # what the server says is about the place where it stands
        raise InvalidFormBody.at("message_reference.message_id", FieldCode.INVALID_FORMAT)
    return message


def _carry(
    message: Message, source: ForwardSource, access: ChannelAccess, user_id: int, snowflakes: SnowflakeGenerator
) -> Carried:
    """What of the message goes into the channel.

    :raises ApiError: MISSING_PERMISSIONS; CANNOT_SEND_EMPTY_MESSAGE where nothing of it is left.
    :raises InvalidFormBody: at `message_reference.attachment_ids` or `message_reference.embed_indices` for what the
        message does not have.
    """
    snapshot = _snapshot(message)
    embeds = _selected_embeds(snapshot.pop("embeds", ()), source.forward.embed_indices)
    if embeds:
        access.require(Permission.EMBED_LINKS.value)
        snapshot["embeds"] = embeds
    files = _copied_files(message, source.forward.attachment_ids, access.channel.id, user_id, snowflakes)
    if files:
        access.require(Permission.ATTACH_FILES.value)
    if not (files or embeds or snapshot.get("content") or snapshot.get("stickers")):
        raise ApiError(ErrorCode.CANNOT_SEND_EMPTY_MESSAGE)
    return Carried(source.reference, snapshot, files)


def require_still_there(connection: sqlite3.Connection, carried: Carried) -> None:
    """In the unit that writes the forward: the original and its files have not gone meanwhile.

    :raises ApiError: UNKNOWN_MESSAGE.
    """
    source = carried.source
    if not messages.exists(connection, source.channel_id, source.message_id):
        raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
    if carried.files:
        kept = {file.id for file in attachments.of_messages(connection, [source.message_id]).get(source.message_id, ())}
        if not {file.origin_id for file in carried.files} <= kept:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)


def _snapshot(message: Message) -> dict[str, Any]:
    extra = message.extra or MessageExtra()
    if extra.snapshots:
        return dict(extra.snapshots[0])
    snapshot: dict[str, Any] = {
        "content": message.content,
        "timestamp": iso_timestamp(snowflake_time_ms(message.id)),
        "edited_timestamp": None if message.edited_at is None else iso_timestamp(message.edited_at),
        "mentions": [str(user_id) for user_id in message.mentioned_user_ids],
        "mention_roles": [str(role_id) for role_id in message.mentioned_role_ids],
        "type": message.type,
        "flags": message.flags & int(SHOWING_MESSAGE_FLAGS),
    }
    if extra.mention_channels:
        snapshot["mention_channels"] = list(extra.mention_channels)
    if extra.stickers:
        snapshot["stickers"] = list(extra.stickers)
    if not message.flags & MessageFlag.SUPPRESS_EMBEDS:
        snapshot["embeds"] = [*extra.embeds, *extra.link_embeds]
    return snapshot


def _selected_embeds(embeds: Sequence[dict[str, Any]], indices: Sequence[int] | None) -> list[dict[str, Any]]:
    if indices is None:
        return list(embeds)
    if any(index >= len(embeds) for index in indices):
        raise InvalidFormBody.at("message_reference.embed_indices", FieldCode.INVALID_FORMAT)
    return [embed for index, embed in enumerate(embeds) if index in indices]


def _copied_files(
    message: Message,
    attachment_ids: Sequence[int] | None,
    channel_id: int,
    user_id: int,
    snowflakes: SnowflakeGenerator,
) -> tuple[AttachmentDraft, ...]:
    files = message.attachments
    if attachment_ids is not None:
        if not {file.id for file in files} >= set(attachment_ids):
            raise InvalidFormBody.at("message_reference.attachment_ids", FieldCode.INVALID_FORMAT)
        files = tuple(file for file in files if file.id in attachment_ids)
    return tuple(
        AttachmentDraft(
            file.copied(snowflakes(), channel_id, user_id, position=position), is_promised=False, origin_id=file.id
        )
        for position, file in enumerate(files)
    )


@attrs.frozen
class MessageContext:
    """What a draft refers to, as it is stored."""

    text: JudgedText
    counted: CountedMentions = NOTHING_COUNTED
    stored: StoredMessages | None = None
    answered: Message | None = None
    stickers: tuple[dict[str, Any], ...] = ()
    carried: Carried | None = None
    accounts: Mapping[int, Account] = NO_ACCOUNTS
    """Accounts that what is carried on names."""

    @property
    def extra(self) -> dict[str, Any]:
        """The members of the message's `extra` that have a value."""
        snapshots = () if self.carried is None else (self.carried.snapshot,)
        members = {**self.text.extra, "stickers": self.stickers, "snapshots": snapshots}
        return {name: value for name, value in members.items() if value}


@attrs.frozen
class _Found:
    stored: StoredMessages
    named: Mapping[int, Account]
    emojis: Mapping[int, ExpressionPlace]
    stickers: tuple[dict[str, Any], ...]
    forwarded: Message | None
    shown: Mapping[int, Account]


async def find_context(
    core: Core, sender: Sender, access: ChannelAccess, draft: MessageDraft, source: ForwardSource | None
) -> MessageContext:
    """What the draft refers to, if anything.

    :raises ApiError: UNKNOWN_MESSAGE, UNKNOWN_STICKER; for what is forwarded as `_carry`.
    :raises InvalidFormBody: as `_carry`; for an answered message elsewhere, or one that tells of a thread.
    """
    content = draft.content
    parsed = parse_mentions(content)
    looks_up = draft.reply_to is not None or source is not None or draft.sticker_ids
    if not (looks_up or parsed.user_ids or parsed.emoji_ids):
        counted = count_mentions(access, parsed, draft.allowed_mentions, {})
        return MessageContext(judge_text(access, content, parsed, {}), counted)
    found = await core.database.read(lambda connection: _find(connection, sender, access, draft, parsed, source))
    stored = found.stored
    answered = stored.messages[0] if stored.messages else None
    if answered is None and draft.reply_to is not None and draft.reply_to.required:
        raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
    carried = None
    if found.forwarded is not None and source is not None:
        carried = _carry(found.forwarded, source, access, sender.id, core.snowflakes)
    replied_to = None if answered is None else stored.accounts.get(answered.author_id)
    return MessageContext(
        judge_text(access, content, parsed, found.emojis),
        count_mentions(access, parsed, draft.allowed_mentions, found.named, replied_to),
        stored,
        answered,
        found.stickers,
        carried,
        found.shown,
    )


def _find(
    connection: sqlite3.Connection,
    sender: Sender,
    access: ChannelAccess,
    draft: MessageDraft,
    parsed: ParsedMentions,
    source: ForwardSource | None,
) -> _Found:
    answered_id = None if draft.reply_to is None else _answered_id(access, draft.reply_to)
    answered = None if answered_id is None else messages.by_id(connection, access.channel.id, answered_id)
    if answered is not None and answered.type in THREAD_MESSAGE_TYPES:
        # Sessions that know no threads would be shown it below the answer.
        raise InvalidFormBody.at("message_reference.message_id", FieldCode.INVALID_FORMAT)
    forwarded = None if source is None else _read_source(connection, source)
    return _Found(
        with_context(connection, [] if answered is None else [answered], referenced=False),
        accounts_by_id(connection, parsed.user_ids) if parsed.user_ids else {},
        expressions.places(connection, EMOJIS, parsed.emoji_ids) if parsed.emoji_ids else {},
        tuple(_sticker(connection, sender, access, sticker_id) for sticker_id in draft.sticker_ids),
        forwarded,
        {} if forwarded is None else accounts_by_id(connection, account_ids([forwarded])),
    )


def _answered_id(access: ChannelAccess, reply_to: ReplyTo) -> int | None:
    """The id of the answered message, if it can be one that the caller may read. It must be in the same channel."""
    if reply_to.channel_id is not None and reply_to.channel_id != access.channel.id:
        raise InvalidFormBody.at("message_reference.channel_id", FieldCode.INVALID_FORMAT)
    floor = access.history_floor()
    return None if floor is None or reply_to.message_id < floor else reply_to.message_id


def _sticker(connection: sqlite3.Connection, sender: Sender, access: ChannelAccess, sticker_id: int) -> dict[str, Any]:
    """A sticker as the message shows it: of this guild, or with USE_EXTERNAL_STICKERS of another one that the sender is
    in."""
    sticker = expressions.by_id(connection, STICKERS, sticker_id)
    guild = None if sticker is None else guilds.by_id(connection, sticker.guild_id)
    if sticker is None or guild is None:
        raise ApiError(ErrorCode.UNKNOWN_STICKER)
    if guild.id != access.guild_id:
        if guild.features & UNAVAILABLE_GUILD_FEATURES or not members.exists(connection, guild.id, sender.id):
            raise ApiError(ErrorCode.UNKNOWN_STICKER)
        access.require(Permission.USE_EXTERNAL_STICKERS.value)
    shown: dict[str, Any] = {"id": str(sticker.id), "name": sticker.name, "animated": sticker.animated}
    return {**shown, "nsfw": True} if guild.nsfw else shown
