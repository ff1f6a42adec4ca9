"""What a draft refers to, looked up before the message is written: the message that it answers, whom it names
(messages.md, Mentions), its emojis and stickers, the message that it forwards. A draft that refers to nothing costs
no statement.

A text names whom the web client shows as named (`chat.markdown`). A mention counts that exists, that the draft allows
and that the author may make.

A forward carries a copy that is made once, of what the sender may read (messages.md, Forwarding). Its files are rows of
their own with the bytes of the original, so that the copy stays whole when the original goes. The forward of a forward
carries the same. A forward holds nothing that its sender may not send: files need ATTACH_FILES and embeds EMBED_LINKS
where it goes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Mapping, Sequence
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.classes import frozen
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.messages.message_drafts import AllowedMentions, AttachmentDraft, Forward, MessageDraft, ReplyTo, Sender
from chat.domain.messages.message_objects import account_ids
from chat.domain.messages.message_reading import StoredMessages, accounts_by_id, require_message, with_context
from chat.domain.standing.access import Access, ChannelAccess, GuildChannelAccess
from chat.domain.standing.guild_objects import EMOJIS, STICKERS
from chat.domain.standing.permissions import VIEW_CHANNEL, channel_permissions, guild_permissions
from chat.errors import ApiError, InvalidFormBody
from chat.markdown.inline import mentions_in
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.guild_features import UNAVAILABLE_GUILD_FEATURES
from chat.registries.guild_values import DisabledOperation
from chat.registries.message_types import (
    SHOWING_MESSAGE_FLAGS,
    WRITTEN_MESSAGE_TYPES,
    MessageFlag,
    MessageReferenceType,
)
from chat.registries.permissions import Permission
from chat.snowflake import SnowflakeGenerator, snowflake_time_ms
from chat.store.accounts.accounts import Account, ShownAccount
from chat.store.guilds import expressions, guilds, members
from chat.store.guilds.expressions import ExpressionPlace
from chat.store.messages import attachments, messages
from chat.store.messages.messages import Message, MessageExtra, MessageReference

MENTIONED_USERS: Final = 100
"""Accounts that one message names at most; further ones are plain text."""

MENTIONED_ROLES: Final = 100
"""How many roles a message may name."""

MENTIONED_CHANNELS: Final = 100
"""How many channels a message may name."""

_MOST: Final = {"user": MENTIONED_USERS, "role": MENTIONED_ROLES, "channel": MENTIONED_CHANNELS}
MENTION_EVERYONE: Final = Permission.MENTION_EVERYONE.value
EVERYONE_MENTIONS: Final = DisabledOperation.EVERYONE_MENTIONS.value
USE_EXTERNAL_EMOJIS: Final = Permission.USE_EXTERNAL_EMOJIS.value


@frozen
class ParsedMentions:
    """The names in a text, in the order of first appearance, whether or not the author may mention them."""

    user_ids: tuple[int, ...] = ()
    role_ids: tuple[int, ...] = ()
    everyone: bool = False
    here: bool = False
    channel_ids: tuple[int, ...] = ()
    emoji_ids: tuple[int, ...] = ()


NO_MENTIONS: Final = ParsedMentions()


def parse_mentions(content: str) -> ParsedMentions:
    """Find the mentions in a text: `<@id>`, `<@!id>`, `<@&id>`, `@everyone`, `@here`, `<#id>`, `<:name:id>` and
    `<a:name:id>`."""
    if "@" not in content and "<" not in content:
        return NO_MENTIONS
    found: dict[str, dict[int, None]] = {"user": {}, "role": {}, "channel": {}, "emoji": {}}
    named: set[str] = set()
    for mention in mentions_in(content):
        kind = mention.kind
        if kind == "all":
            named.add(mention.value)
        elif len(found[kind]) < _MOST.get(kind, len(content)):
            found[kind][int(mention.value.rpartition(":")[2])] = None
    return ParsedMentions(
        tuple(found["user"]),
        tuple(found["role"]),
        "everyone" in named,
        "here" in named,
        tuple(found["channel"]),
        tuple(found["emoji"]),
    )


def without_emojis(content: str, emoji_ids: Container[int]) -> str:
    """The text with these custom emojis as plain `:name:`. No new emoji comes of what stands around one: `<` before it
    and `1>` behind it."""
    pieces, start = [], 0
    for mention in mentions_in(content):
        name, _, digits = mention.value.rpartition(":")
        if mention.kind == "emoji" and int(digits) in emoji_ids:
            gap = " " if content[mention.end : mention.end + 1].isdecimal() else ""
            pieces.append(f"{content[start : mention.start]}:{name}:{gap}")
            start = mention.end
    return "".join([*pieces, content[start:]])


@frozen
class CountedMentions:
    """The mentions of a message, ids ascending. `here` excludes `everyone`, which says more."""

    users: tuple[Account | ShownAccount, ...] = ()
    user_ids: tuple[int, ...] = ()
    role_ids: tuple[int, ...] = ()
    everyone: bool = False
    here: bool = False

    def notified_user_ids(self, access: ChannelAccess) -> list[int]:
        """Accounts named one by one that see the channel and did not name themselves."""
        return [user_id for user_id in self.user_ids if user_id != access.user_id and access.sees(user_id)]


NOTHING_COUNTED: Final = CountedMentions()


def count_mentions(
    access: ChannelAccess,
    parsed: ParsedMentions,
    allowed: AllowedMentions,
    accounts: Mapping[int, Account],
    replied_to: Account | ShownAccount | None = None,
) -> CountedMentions:
    """Judge what a text names. `accounts` holds those of the named accounts that exist.

    `replied_to` is the author of the message that this one answers, mentioned by that alone if the draft lets it count.
    Roles that are not mentionable, everyone and here need MENTION_EVERYONE; without it they are plain text.
    """
    replied = replied_to if allowed.replied_user and replied_to is not None else None
    if parsed is NO_MENTIONS and replied is None:
        return NOTHING_COUNTED
    named = (user_id for user_id in parsed.user_ids if user_id in accounts and allowed.users(user_id))
    users: dict[int, Account | ShownAccount] = {user_id: accounts[user_id] for user_id in named}
    if replied is not None:
        users[replied.id] = replied
    may_mention_all = access.may(MENTION_EVERYONE)
    role_ids = (
        role_id
        for role_id in parsed.role_ids
        if access.role_that_may_be_mentioned(role_id, any_role=may_mention_all) and allowed.roles(role_id)
    )
    all_count = may_mention_all and "everyone" in allowed.parse and not access.disables(EVERYONE_MENTIONS)
    user_ids = tuple(sorted(users))
    return CountedMentions(
        users=tuple(users[user_id] for user_id in user_ids),
        user_ids=user_ids,
        role_ids=tuple(sorted(role_ids)),
        everyone=parsed.everyone and all_count,
        here=parsed.here and all_count and not parsed.everyone,
    )


@frozen
class JudgedText:
    """A text as it is sent, with what the message keeps of the channels and emojis in it."""

    content: str
    mention_channels: tuple[wire.MentionedChannel, ...] = ()
    nsfw_emojis: tuple[str, ...] = ()

    @property
    def extra(self) -> Mapping[str, Sequence[object]]:
        """The members of a message's `extra`."""
        return {"mention_channels": self.mention_channels, "nsfw_emojis": self.nsfw_emojis}


def judge_text(
    access: ChannelAccess, content: str, parsed: ParsedMentions, emojis: Mapping[int, ExpressionPlace]
) -> JudgedText:
    """Judge the channels and emojis that a text names. `emojis` holds those of the named emojis that exist.

    Emojis of elsewhere need USE_EXTERNAL_EMOJIS; without it they are their names as plain text.
    """
    if not parsed.channel_ids and not parsed.emoji_ids:
        return JudgedText(content)
    if parsed.emoji_ids and not access.may(USE_EXTERNAL_EMOJIS):
        own = {emoji_id: place for emoji_id, place in emojis.items() if place.guild_id == access.guild_id}
        foreign = set(parsed.emoji_ids) - own.keys()
        if foreign:
            content, emojis = without_emojis(content, foreign), own
    return JudgedText(
        content,
        _mentioned_channels(access, parsed),
        tuple(str(emoji_id) for emoji_id in parsed.emoji_ids if emoji_id in emojis and emojis[emoji_id].nsfw),
    )


def _mentioned_channels(access: ChannelAccess, parsed: ParsedMentions) -> tuple[wire.MentionedChannel, ...]:
    """The named channels that everyone in the guild sees, so that their names are no secret."""
    if not isinstance(access, GuildChannelAccess):
        return ()
    state = access.state
    mask = guild_permissions(state.roles, state.id, ())
    named = (state.channels.get(channel_id) for channel_id in parsed.channel_ids)
    return tuple(
        {"id": str(channel.id), "name": channel.name or "", "type": channel.type}
        for channel in named
        if channel is not None and channel_permissions(mask, channel, state.id, 0, frozenset()) & VIEW_CHANNEL
    )


NO_ACCOUNTS: Final[Mapping[int, Account]] = {}


@frozen
class ForwardSource:
    """A message that is to be forwarded, in a channel whose history the sender may read."""

    reference: MessageReference
    forward: Forward


@frozen
class Carried:
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
    :raises InvalidFormBody: at `message_reference.message_id` for one that the server wrote, or that has a poll.
    """
    message = require_message(connection, source.reference.channel_id, source.reference.message_id)
    if message.type not in WRITTEN_MESSAGE_TYPES:  # what the server says is about the place where it stands
        raise InvalidFormBody.at("message_reference.message_id", FieldCode.INVALID_FORMAT)
    if message.extra is not None and message.extra.poll is not None:  # its votes could not come along
        raise InvalidFormBody.at("message_reference.message_id", FieldCode.POLL_NOT_ALLOWED_HERE)
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
    if not (files or embeds or any(snapshot.get(name) for name in ("content", "stickers", "components"))):
        raise ApiError(ErrorCode.CANNOT_SEND_EMPTY_MESSAGE)
    return Carried(source.reference, snapshot, files)


def require_still_there(connection: sqlite3.Connection, carried: Carried) -> None:
    """In the unit that writes the forward: check that the original and its files still exist.

    :raises ApiError: UNKNOWN_MESSAGE.
    """
    source = carried.source
    if not messages.exists(connection, source.channel_id, source.message_id):
        raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
    if carried.files:
        kept = {file.id for file in attachments.of_messages(connection, [source.message_id]).get(source.message_id, ())}
        if not {file.origin_id for file in carried.files} <= kept:
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)


# `dict[str, Any]`: JSON of a column; what a forward leaves out is taken from it.
def _snapshot(message: Message) -> dict[str, Any]:
    extra = message.extra or MessageExtra()
    if extra.snapshots:
        return dict(extra.snapshots[0])
    snapshot: dict[str, object] = {
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
    if extra.components:
        snapshot["components"] = list(extra.components)
    return snapshot


def _selected_embeds(
    embeds: Sequence[Mapping[str, object]], indices: Sequence[int] | None
) -> list[Mapping[str, object]]:
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


@frozen
class MessageContext:
    """What a draft refers to, as it is stored."""

    text: JudgedText
    files: tuple[AttachmentDraft, ...]
    """The message's own files, or those that it carries on."""
    extra: MessageExtra | None
    counted: CountedMentions
    stored: StoredMessages | None = None
    answered: Message | None = None
    carried: Carried | None = None
    reference: MessageReference | None = None
    """The message that this one answers or forwards."""
    accounts: Mapping[int, Account] = NO_ACCOUNTS
    """Accounts that what is carried on names."""


def _extra(sender: Sender, draft: MessageDraft, files: int, **of_context: Sequence[object]) -> MessageExtra | None:
    # `dict[str, Any]`: fields of MessageExtra, each with a type of its own.
    members: dict[str, Any] = {
        "embeds": draft.embeds,
        "components": draft.components,
        "attachments": files,
        **of_context,
    }
    members = {name: value for name, value in members.items() if value}
    return attrs.evolve(sender.extra or MessageExtra(), **members) if members else sender.extra


@frozen
class _FoundContext:
    stored: StoredMessages
    named: Mapping[int, Account]
    emojis: Mapping[int, ExpressionPlace]
    stickers: tuple[wire.StickerItem, ...]
    forwarded: Message | None
    shown: Mapping[int, Account]


async def find_context(
    core: Core, sender: Sender, access: ChannelAccess, draft: MessageDraft, source: ForwardSource | None
) -> MessageContext:
    """What the draft refers to, if anything.

    :raises ApiError: UNKNOWN_MESSAGE, UNKNOWN_STICKER; for what is forwarded as `_carry`.
    :raises InvalidFormBody: as `_carry`; for an answered message elsewhere, or one that the server wrote.
    """
    content = draft.content
    parsed = parse_mentions(content)
    looks_up = draft.reply_to is not None or source is not None or draft.sticker_ids
    if not (looks_up or parsed.user_ids or parsed.emoji_ids):
        counted, files = count_mentions(access, parsed, draft.allowed_mentions, {}), draft.attachments
        text = judge_text(access, content, parsed, {})
        return MessageContext(text, files, _extra(sender, draft, len(files), **text.extra), counted)
    found = await core.database.read(lambda connection: _find(connection, sender, access, draft, parsed, source))
    stored = found.stored
    answered = stored.messages[0] if stored.messages else None
    if answered is None and draft.reply_to is not None and draft.reply_to.required:
        raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
    reference = None if answered is None else answered.as_reference(access.guild_id)
    carried, files = None, draft.attachments
    if found.forwarded is not None and source is not None:
        carried = _carry(found.forwarded, source, access, sender.id, core.snowflakes)
        reference, files = carried.source, carried.files
    replied_to = None if answered is None else stored.accounts.get(answered.author_id)
    text = judge_text(access, content, parsed, found.emojis)
    snapshots = () if carried is None else (carried.snapshot,)
    return MessageContext(
        text,
        files,
        _extra(sender, draft, len(files), **text.extra, stickers=found.stickers, snapshots=snapshots),
        count_mentions(access, parsed, draft.allowed_mentions, found.named, replied_to),
        stored,
        answered,
        carried,
        reference,
        found.shown,
    )


def _find(
    connection: sqlite3.Connection,
    sender: Sender,
    access: ChannelAccess,
    draft: MessageDraft,
    parsed: ParsedMentions,
    source: ForwardSource | None,
) -> _FoundContext:
    answered_id = None if draft.reply_to is None else _answered_id(access, draft.reply_to)
    answered = None if answered_id is None else messages.by_id(connection, access.channel.id, answered_id)
    if answered is not None and answered.type not in WRITTEN_MESSAGE_TYPES:  # as with a forward, see `_read_source`
        raise InvalidFormBody.at("message_reference.message_id", FieldCode.INVALID_FORMAT)
    forwarded = None if source is None else _read_source(connection, source)
    return _FoundContext(
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


def _sticker(
    connection: sqlite3.Connection, sender: Sender, access: ChannelAccess, sticker_id: int
) -> wire.StickerItem:
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
    shown: wire.StickerItem = {"id": str(sticker.id), "name": sticker.name, "animated": sticker.animated}
    if guild.nsfw:
        shown["nsfw"] = True
    return shown
