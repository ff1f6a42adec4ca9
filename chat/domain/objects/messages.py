"""Message objects as the wire has them (wire facts 5.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chat.clock import iso_timestamp
from chat.domain.objects.users import partial_user
from chat.registries.user_flags import UserFlag
from chat.snowflake import snowflake_time_ms
from chat.store.accounts import Account
from chat.store.messages import Message, MessageReference


def message_object(
    message: Message, *, author: Mapping[str, Any], mentions: Sequence[Mapping[str, Any]]
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
        "attachments": [],
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
    message: Message, referenced: Message | None, accounts: Mapping[int, Account]
) -> dict[str, Any]:
    """The message with, where it answers one, `referenced_message`: that message, or null when it is gone.

    `accounts` holds the authors and the mentioned of both; whoever is missing there is shown as a deleted account.
    """
    data = _plain(message, accounts)
    if message.reference is not None:
        data["referenced_message"] = None if referenced is None else _plain(referenced, accounts)
    return data


def author_object(user_id: int, account: Account | None) -> dict[str, Any]:
    """The partial user; without an account, the placeholder of a deleted one."""
    if account is None:
        account = Account(id=user_id, username="", discriminator=0, flags=UserFlag.DELETED)
    return partial_user(account)


def account_ids(messages: Sequence[Message]) -> set[int]:
    """Whom these messages are by and whom they mention."""
    ids = {message.author_id for message in messages}
    for message in messages:
        ids.update(message.mentioned_user_ids)
    return ids


def _plain(message: Message, accounts: Mapping[int, Account]) -> dict[str, Any]:
    return message_object(
        message,
        author=author_object(message.author_id, accounts.get(message.author_id)),
        mentions=[author_object(user_id, accounts.get(user_id)) for user_id in message.mentioned_user_ids],
    )


def _reference_object(reference: MessageReference) -> dict[str, Any]:
    data: dict[str, Any] = {
        "channel_id": str(reference.channel_id),
        "message_id": str(reference.message_id),
        "type": reference.type,
    }
    if reference.guild_id is not None:
        data["guild_id"] = str(reference.guild_id)
    return data
