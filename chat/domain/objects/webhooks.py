"""Webhook objects as the wire has them (wire facts 5.2)."""

from __future__ import annotations

from typing import Any

from chat.domain.objects.messages import author_object
from chat.store.accounts import Account
from chat.store.webhooks import Webhook


def webhook_object(webhook: Webhook, token: str, maker: Account | None) -> dict[str, Any]:
    """The webhook with its token; without `maker` there is no `user`, as in the view that the token gives."""
    data: dict[str, Any] = {
        "id": str(webhook.id),
        "type": webhook.type,
        "guild_id": str(webhook.guild_id),
        "channel_id": str(webhook.channel_id),
        "name": webhook.name,
        "avatar": webhook.avatar,
        "token": token,
    }
    if maker is not None:
        data["user"] = author_object(webhook.user_id, maker)
    return data
