"""Message objects as the wire has them (messages.md, Message object).

`stored_message_object` shows a whole message. What few messages have comes out of `Message.extra` (`_add_extra`); what
other tables hold (reactions, threads) comes as `parts` (`chat.domain.messages.message_reading`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from chat.clock import iso_timestamp
from chat.domain.policy.embeds import Addresses, embed_objects
from chat.domain.standing.user_objects import partial_user
from chat.registries.message_types import POINTING_MESSAGE_TYPES, MessageFlag
from chat.registries.user_flags import UserFlag
from chat.snowflake import snowflake_time_ms
from chat.store.accounts.accounts import Account, ShownAccount
from chat.store.messages.attachments import Attachment
from chat.store.messages.messages import Message, MessageExtra, MessageReference, MessageRow
from chat.store.messages.reactions import Emoji, ReactionView

Parts = Mapping[int, Mapping[str, Any]]
"""Further members of message objects, by the message's id."""

NO_PARTS: Final[Parts] = {}

Accounts = Mapping[int, Account | ShownAccount]
"""The accounts that messages name, by id."""


def message_object(
    message: Message, *, author: Mapping[str, Any], mentions: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """A message that has neither files nor anything else but text; `author` and `mentions` are partial users."""
    data: dict[str, Any] = {
        "id": str(message.id),
        "channel_id": str(message.channel_id),
        "author": author,
        "type": message.type,
        "flags": message.flags,
        "content": message.content,
        "timestamp": iso_timestamp(snowflake_time_ms(message.id)),
        "edited_timestamp": None if message.edited_at is None else iso_timestamp(message.edited_at),
        "pinned": message.pinned_at is not None,
        "mention_everyone": message.mention_everyone,
        "tts": message.tts,
        "mentions": mentions,
        "mention_roles": list(map(str, message.mentioned_role_ids)),
        "embeds": [],
        "attachments": [],
        "stickers": [],
    }
    if message.webhook_id is not None:
        data["webhook_id"] = str(message.webhook_id)
    if message.nonce is not None:
        data["nonce"] = message.nonce
    if message.reference is not None:
        data["message_reference"] = reference_object(message.reference)
    return data


def plain_message_object(row: MessageRow, channel_id: str, author: Mapping[str, Any]) -> dict[str, Any]:
    """A message that is nothing but text and mentions no one, out of its columns; the same as `message_object`."""
    message_id, _, _, kind, content, flags, _, edited_at, pinned_at, everyone, tts, nonce, _, _, _ = row
    data: dict[str, Any] = {
        "id": str(message_id),
        "channel_id": channel_id,
        "author": author,
        "type": kind,
        "flags": flags,
        "content": content,
        "timestamp": iso_timestamp(snowflake_time_ms(message_id)),
        "edited_timestamp": None if edited_at is None else iso_timestamp(edited_at),
        "pinned": pinned_at is not None,
        "mention_everyone": bool(everyone),
        "tts": bool(tts),
        "mentions": [],
        "mention_roles": [],
        "embeds": [],
        "attachments": [],
        "stickers": [],
    }
    if nonce is not None:
        data["nonce"] = nonce
    return data


def whole_message_object(
    message: Message,
    *,
    author: Mapping[str, Any],
    mentions: Sequence[Mapping[str, Any]],
    accounts: Accounts,
    addresses: Addresses,
) -> dict[str, Any]:
    """The message with its files and its `extra`, without the one it answers."""
    data = message_object(message, author=author, mentions=mentions)
    if message.extra is not None:
        _add_extra(data, message, message.extra, accounts, addresses)
    return data


def stored_message_object(
    message: Message,
    referenced: Message | None,
    accounts: Accounts,
    addresses: Addresses,
    parts: Parts = NO_PARTS,
) -> dict[str, Any]:
    """The message with, where it refers to one that it does not carry, `referenced_message`: that message, or null when
    it is gone.

    `accounts` holds the authors and the mentioned of both; an account that is missing there is shown as a deleted one.
    """
    data = referenced_message_object(message, accounts, addresses, parts)
    if message.reference is not None and not _only_points(message):
        data["referenced_message"] = (
            None if referenced is None else referenced_message_object(referenced, accounts, addresses, parts)
        )
    return data


def _attachment_object(attachment: Attachment, addresses: Addresses) -> dict[str, Any]:
    address = addresses.attachment(attachment)
    data: dict[str, Any] = {
        "id": str(attachment.id),
        "filename": attachment.filename,
        "title": attachment.title,
        "description": attachment.description,
        "content_type": attachment.content_type,
        "content_hash": attachment.content_hash,
        "size": attachment.size,
        "url": address,
        "proxy_url": address,
        "flags": attachment.flags,
        "expires_at": iso_timestamp(addresses.attachments_until()),
    }
    if attachment.width is not None and attachment.height is not None:
        data.update(width=attachment.width, height=attachment.height)
    for name in ("duration", "waveform", "placeholder"):
        value = getattr(attachment, name)
        if value is not None:
            data[name] = value
    return data


def attachment_objects(files: Iterable[Attachment], addresses: Addresses) -> list[dict[str, Any]]:
    """Attachments of a message, in order."""
    return [_attachment_object(attachment, addresses) for attachment in files]


def webhook_author(webhook_id: int, name: str, avatar: str | None) -> dict[str, Any]:
    """The author of a webhook's message (messages.md, Message object)."""
    return {
        "id": str(webhook_id),
        "username": name,
        "discriminator": "0000",
        "global_name": None,
        "avatar": avatar,
        "avatar_color": None,
        "flags": 0,
        "bot": True,
    }


def author_object(user_id: int, account: Account | ShownAccount | None) -> dict[str, Any]:
    """The partial user; without an account, the placeholder of a deleted one."""
    if account is None:
        account = ShownAccount(user_id, flags=UserFlag.DELETED)
    return partial_user(account)


def account_ids(messages: Sequence[Message]) -> set[int]:
    """The ids of the accounts that wrote these messages or are named in them."""
    ids = {message.author_id for message in messages if message.webhook_id is None}
    for message in messages:
        ids.update(message.mentioned_user_ids)
        if message.extra is not None:
            ids.update(_named_in(message.extra))
    return ids


def _only_points(message: Message) -> bool:
    """Whether the message is shown without the one it refers to: it carries that already, or tells where something
    is."""
    if message.type in POINTING_MESSAGE_TYPES or message.flags & MessageFlag.IS_CROSSPOST.value:
        return True
    return message.extra is not None and bool(message.extra.snapshots)


def reference_object(reference: MessageReference) -> dict[str, Any]:
    """The `message_reference` of a message."""
    data: dict[str, Any] = {"channel_id": str(reference.channel_id), "type": reference.type}
    if reference.message_id:  # what tells of a thread or of a followed channel refers to no message in it
        data["message_id"] = str(reference.message_id)
    if reference.guild_id is not None:
        data["guild_id"] = str(reference.guild_id)
    return data


def referenced_message_object(
    message: Message, accounts: Accounts, addresses: Addresses, parts: Parts = NO_PARTS
) -> dict[str, Any]:
    """A message as it is shown in another one that refers to it: without the one that it refers to itself."""
    mentions = [author_object(user_id, accounts.get(user_id)) for user_id in message.mentioned_user_ids]
    data = whole_message_object(
        message, author=_author(message, accounts), mentions=mentions, accounts=accounts, addresses=addresses
    )
    if parts and message.id in parts:
        data.update(parts[message.id])
    return data


def _author(message: Message, accounts: Accounts) -> dict[str, Any]:
    if message.webhook_id is None:
        return author_object(message.author_id, accounts.get(message.author_id))
    spoken = message.extra
    name = "" if spoken is None or spoken.webhook_name is None else spoken.webhook_name
    return webhook_author(message.webhook_id, name, None if spoken is None else spoken.webhook_avatar)


def _add_extra(
    data: dict[str, Any], message: Message, extra: MessageExtra, accounts: Accounts, addresses: Addresses
) -> None:
    files = message.attachments
    if not message.flags & MessageFlag.SUPPRESS_EMBEDS.value and (extra.embeds or extra.link_embeds):
        data["embeds"] = embed_objects((*extra.embeds, *extra.link_embeds), files, addresses)
    for name in ("stickers", "mention_channels", "nsfw_emojis"):
        value = getattr(extra, name)
        if value:
            data[name] = list(value)
    if extra.call is not None:
        data["call"] = extra.call
    if extra.snapshots:
        data["message_snapshots"] = [_snapshot_object(extra.snapshots[0], message, addresses), *extra.snapshots[1:]]
    elif files:
        data["attachments"] = attachment_objects(message.attachments, addresses)
    if extra.snapshots or extra.call is not None:
        named = sorted(set(_named_in(extra)))
        if named:
            data["users"] = [author_object(user_id, accounts.get(user_id)) for user_id in named]


def _snapshot_object(snapshot: Mapping[str, Any], message: Message, addresses: Addresses) -> dict[str, Any]:
    """The snapshot that a forward carries, with the forward's files."""
    shown = dict(snapshot)
    if "embeds" in snapshot:
        shown["embeds"] = embed_objects(snapshot["embeds"], message.attachments, addresses)
    if message.attachments:
        shown["attachments"] = attachment_objects(message.attachments, addresses)
    return shown


def _named_in(extra: MessageExtra) -> Iterator[int]:
    """Accounts of which the message object gives the ids alone."""
    for snapshot in extra.snapshots:
        yield from (int(user_id) for user_id in snapshot.get("mentions", ()))
    if extra.call is not None:
        yield from (int(user_id) for user_id in extra.call.get("participants", ()))


def emoji_object(emoji: Emoji, *, whole: bool = True) -> dict[str, Any]:
    """The emoji of a reaction; a Unicode one has no id. `whole` adds whether one of a guild moves."""
    data: dict[str, Any] = {"name": emoji.name}
    if emoji.id is not None:
        data["id"] = str(emoji.id)
        if whole:
            data["animated"] = emoji.animated
    return data


def reaction_objects(reactions: Iterable[ReactionView]) -> list[dict[str, Any]]:
    """The `reactions` of a message object; `me` tells whether the reader is among those who reacted."""
    return [
        {"emoji": emoji_object(reaction.emoji), "count": reaction.user_count, "me": reaction.me}
        for reaction in reactions
    ]
