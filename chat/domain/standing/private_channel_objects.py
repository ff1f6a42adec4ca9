"""Channel objects of conversations outside of guilds as the wire has them (people.md, Private channels)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chat.clock import iso_timestamp
from chat.registries.channel_types import ChannelType
from chat.store.standing.private_channels import PrivateChannel


def private_channel_object(
    private: PrivateChannel, user_id: int, users: Mapping[int, Mapping[str, Any]]
) -> dict[str, Any]:
    """The conversation as one of its accounts sees it; `users` holds the partial users of the others.

    Without anybody else there is no member `recipients`, and a group without a name has no `name`.
    """
    channel = private.channel
    pinned_at = channel.last_pin_timestamp
    data: dict[str, Any] = {
        "id": str(channel.id),
        "type": channel.type,
        "last_message_id": None if channel.last_message_id is None else str(channel.last_message_id),
        "last_pin_timestamp": None if pinned_at is None else iso_timestamp(pinned_at),
    }
    others = [users[other] for other in private.recipient_ids if other != user_id]
    if others:
        data["recipients"] = others
    if channel.type == ChannelType.GROUP_DM:
        if channel.name is not None:
            data["name"] = channel.name
        data["icon"] = channel.icon
        data["owner_id"] = None if channel.owner_id is None else str(channel.owner_id)
        if private.nicks:
            data["nicks"] = nicks_object(private.nicks)
    return data


def nicks_object(nicks: Mapping[int, str]) -> dict[str, str]:
    """The names that accounts have in a group."""
    return {str(user_id): nick for user_id, nick in nicks.items()}
