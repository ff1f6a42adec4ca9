"""Webhook objects as the wire has them (webhooks.md, Webhooks of channels)."""

from __future__ import annotations

from typing import Any

from chat.domain.messages.message_objects import author_object
from chat.store.accounts.accounts import Account
from chat.store.webhooks.crossposts import FollowedSource
from chat.store.webhooks.webhooks import CHANNEL_FOLLOWER, Webhook


def webhook_object(
    webhook: Webhook, token: str, maker: Account | None, source: FollowedSource | None = None
) -> dict[str, Any]:
    """The webhook with its token; without `maker` there is no `user`, as in the view that the token gives.

    One that follows a channel shows no token, and its `source` unless that is gone.
    """
    data: dict[str, Any] = {
        "id": str(webhook.id),
        "type": webhook.type,
        "guild_id": str(webhook.guild_id),
        "channel_id": str(webhook.channel_id),
        "name": webhook.name,
        "avatar": webhook.avatar,
    }
    if webhook.type != CHANNEL_FOLLOWER:
        data["token"] = token
    if source is not None:
        data["source_guild"] = {"id": str(source.guild_id), "name": source.guild_name, "icon": source.guild_icon}
        data["source_channel"] = {"id": str(source.channel_id), "name": source.channel_name}
    if maker is not None:
        data["user"] = author_object(webhook.user_id, maker)
    return data
