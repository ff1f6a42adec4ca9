"""What a draft refers to, looked up before the message is written: whom it answers and names, its emojis and stickers,
what it carries on. A draft that refers to nothing costs no statement."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat.domain.core import Core
from chat.domain.messages.mention_parsing import ParsedMentions, parse_mentions
from chat.domain.messages.message_drafts import MessageDraft, ReplyTo
from chat.domain.messages.message_forwarding import Carried, ForwardSource, carry, read_source
from chat.domain.messages.message_mentions import NOTHING_COUNTED, CountedMentions, count_mentions
from chat.domain.messages.message_reading import StoredMessages, accounts_by_id, with_context
from chat.domain.messages.message_senders import Sender
from chat.domain.messages.message_texts import JudgedText, judge_text
from chat.domain.standing.access import ChannelAccess
from chat.domain.standing.expression_objects import EMOJIS, STICKERS
from chat.errors import ApiError, InvalidFormBody
from chat.registries.guild_features import UNAVAILABLE_GUILD_FEATURES
from chat.registries.message_types import THREAD_MESSAGE_TYPES
from chat.registries.permissions import Permission
from chat.store.accounts.accounts import Account
from chat.store.guilds import expressions, guilds, members
from chat.store.guilds.expressions import ExpressionPlace
from chat.store.messages import messages
from chat.store.messages.messages import Message

USE_EXTERNAL_STICKERS: Final = Permission.USE_EXTERNAL_STICKERS.value

NO_ACCOUNTS: Final[Mapping[int, Account]] = {}


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
        if self.carried is None and not self.stickers and not self.text.keeps_something:
            return {}
        members: dict[str, Any] = {**self.text.extra, "stickers": self.stickers}
        if self.carried is not None:
            members["snapshots"] = (self.carried.snapshot,)
        return {name: value for name, value in members.items() if value}


@attrs.frozen
class _Found:
    stored: StoredMessages
    named: Mapping[int, Account]
    emojis: Mapping[int, ExpressionPlace]
    stickers: tuple[dict[str, Any], ...]
    forwarded: Message | None
    shown: Mapping[int, Account]


@attrs.define(kw_only=True, eq=False)
class MessageContexts:
    """Looks up what drafts refer to."""

    _core: Core

    async def of(
        self, sender: Sender, access: ChannelAccess, draft: MessageDraft, source: ForwardSource | None
    ) -> MessageContext:
        """What the draft refers to, if anything.

        :raises ApiError: UNKNOWN_MESSAGE, UNKNOWN_STICKER, MISSING_PERMISSIONS.
        :raises InvalidFormBody: as `carry`; for an answered message elsewhere, or one that tells of a thread.
        """
        content = draft.content
        parsed = parse_mentions(content)
        looks_up = draft.reply_to is not None or source is not None or draft.sticker_ids
        if not (looks_up or parsed.user_ids or parsed.emoji_ids):
            counted = count_mentions(access, parsed, draft.allowed_mentions, {})
            return MessageContext(judge_text(access, content, parsed, {}), counted)
        found = await self._core.database.read(
            lambda connection: _find(connection, sender, access, draft, parsed, source)
        )
        stored = found.stored
        answered = stored.messages[0] if stored.messages else None
        if answered is None and draft.reply_to is not None and draft.reply_to.required:
            raise ApiError("UNKNOWN_MESSAGE")
        carried = None
        if found.forwarded is not None and source is not None:
            carried = carry(found.forwarded, source, access, sender.id, self._core.snowflakes)
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
        raise InvalidFormBody.at("message_reference.message_id", "INVALID_FORMAT")
    forwarded = None if source is None else read_source(connection, source)
    return _Found(
        with_context(connection, [] if answered is None else [answered], referenced=False),
        accounts_by_id(connection, parsed.user_ids) if parsed.user_ids else {},
        expressions.places(connection, EMOJIS, parsed.emoji_ids) if parsed.emoji_ids else {},
        _stickers(connection, sender, access, draft.sticker_ids),
        forwarded,
        {} if forwarded is None else with_context(connection, [forwarded], referenced=False).accounts,
    )


def _answered_id(access: ChannelAccess, reply_to: ReplyTo) -> int | None:
    """The id of the answered message, if it can be one that the caller may read. It must be in the same channel."""
    if reply_to.channel_id is not None and reply_to.channel_id != access.channel.id:
        raise InvalidFormBody.at("message_reference.channel_id", "INVALID_FORMAT")
    floor = access.history_floor()
    return None if floor is None or reply_to.message_id < floor else reply_to.message_id


def _stickers(
    connection: sqlite3.Connection, sender: Sender, access: ChannelAccess, sticker_ids: Sequence[int]
) -> tuple[dict[str, Any], ...]:
    """The stickers as the message shows them: of this guild, or with USE_EXTERNAL_STICKERS of another one that the
    sender is in."""
    return tuple(_sticker(connection, sender, access, sticker_id) for sticker_id in sticker_ids)


def _sticker(connection: sqlite3.Connection, sender: Sender, access: ChannelAccess, sticker_id: int) -> dict[str, Any]:
    sticker = expressions.by_id(connection, STICKERS, sticker_id)
    guild = None if sticker is None else guilds.by_id(connection, sticker.guild_id)
    if sticker is None or guild is None:
        raise ApiError("UNKNOWN_STICKER")
    if guild.id != access.guild_id:
        if guild.features & UNAVAILABLE_GUILD_FEATURES or not members.exists(connection, guild.id, sender.id):
            raise ApiError("UNKNOWN_STICKER")
        access.require(USE_EXTERNAL_STICKERS)
    shown: dict[str, Any] = {"id": str(sticker.id), "name": sticker.name, "animated": sticker.animated}
    return {**shown, "nsfw": True} if guild.nsfw else shown
