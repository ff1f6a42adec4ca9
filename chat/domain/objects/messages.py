"""Message objects as the wire has them (wire facts 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chat.clock import iso_timestamp
from chat.domain.objects.users import partial_user
from chat.registries.user_flags import UserFlag
from chat.snowflake import snowflake_time_ms
from chat.store.accounts import Account
from chat.store.attachments import Attachment
from chat.store.messages import Message, MessageReference

AddressOf = Callable[[Attachment], str]
"""Gives the address under which an attachment is found (`chat.media.signing`)."""


def message_object(
    message: Message,
    *,
    author: Mapping[str, Any],
    mentions: Sequence[Mapping[str, Any]],
    attachments: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The message without the one it answers; `author` and `mentions` are partial users."""
    data: dict[str, Any] = {
        "id": str(message.id),
        "channel_id": str(message.channel_id),
        "author": author,
        "type": message.type,
        "flags": message.flags,
        "content": message.content,
        "timestamp": iso_timestamp(snowflake_time_ms(message.id)),
        "edited_timestamp": None if message.edited_at is None else iso_timestamp(message.edited_at),
        "pinned": message.pinned,
        "mention_everyone": message.mention_everyone,
        "tts": message.tts,
        "mentions": mentions,
        "mention_roles": [str(role_id) for role_id in message.mentioned_role_ids],
        "embeds": [],
        "attachments": attachments or [],
        "stickers": [],
    }
    if message.webhook_id is not None:
        data["webhook_id"] = str(message.webhook_id)
    if message.nonce is not None:
        data["nonce"] = message.nonce
    if message.reference is not None:
        data["message_reference"] = _reference_object(message.reference)
    return data


def answering_message_object(
    message: Message, referenced: Message | None, accounts: Mapping[int, Account], address_of: AddressOf
) -> dict[str, Any]:
    """The message with, where it answers one, `referenced_message`: that message, or null when it is gone.

    `accounts` holds the authors and the mentioned of both; whoever is missing there is shown as a deleted account.
    """
    data = _plain(message, accounts, address_of)
    if message.reference is not None:
        data["referenced_message"] = None if referenced is None else _plain(referenced, accounts, address_of)
    return data


def attachment_object(attachment: Attachment, address_of: AddressOf) -> dict[str, Any]:
    """An attachment (wire facts 5.3)."""
    address = address_of(attachment)
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
        "expires_at": None,
    }
    if attachment.width is not None and attachment.height is not None:
        data.update(width=attachment.width, height=attachment.height)
    return data


def attachment_objects(message: Message, address_of: AddressOf) -> list[dict[str, Any]]:
    """The attachments of a message, in order."""
    return [attachment_object(attachment, address_of) for attachment in message.attachments]


def webhook_author(webhook_id: int, name: str, avatar: str | None) -> dict[str, Any]:
    """The author of a webhook's message (wire facts 5.2)."""
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


def author_object(user_id: int, account: Account | None) -> dict[str, Any]:
    """The partial user; without an account, the placeholder of a deleted one."""
    if account is None:
        account = Account(id=user_id, username="", discriminator=0, flags=UserFlag.DELETED)
    return partial_user(account)


def account_ids(messages: Sequence[Message]) -> set[int]:
    """Whom these messages are by and whom they mention."""
    ids = {message.author_id for message in messages if message.webhook_id is None}
    for message in messages:
        ids.update(message.mentioned_user_ids)
    return ids


def _plain(message: Message, accounts: Mapping[int, Account], address_of: AddressOf) -> dict[str, Any]:
    return message_object(
        message,
        author=_author(message, accounts),
        mentions=[author_object(user_id, accounts.get(user_id)) for user_id in message.mentioned_user_ids],
        attachments=attachment_objects(message, address_of) if message.attachments else (),
    )


def _author(message: Message, accounts: Mapping[int, Account]) -> dict[str, Any]:
    if message.webhook_id is None:
        return author_object(message.author_id, accounts.get(message.author_id))
    spoken = message.extra
    name = "" if spoken is None or spoken.webhook_name is None else spoken.webhook_name
    return webhook_author(message.webhook_id, name, None if spoken is None else spoken.webhook_avatar)


def _reference_object(reference: MessageReference) -> dict[str, Any]:
    data: dict[str, Any] = {
        "channel_id": str(reference.channel_id),
        "message_id": str(reference.message_id),
        "type": reference.type,
    }
    if reference.guild_id is not None:
        data["guild_id"] = str(reference.guild_id)
    return data
