"""Invite objects as the wire has them (guilds.md, Invites)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

from chat.clock import iso_timestamp
from chat.domain.standing.channel_objects import partial_channel_object
from chat.domain.standing.guild_objects import partial_guild_object
from chat.domain.standing.guild_states import GuildState
from chat.domain.standing.user_objects import partial_user
from chat.store.accounts.accounts import Account
from chat.store.guilds.invites import Invite
from chat.store.standing.private_channels import PrivateChannel


class InviteType(enum.IntEnum):
    """What an invite leads into (guilds.md, Invites)."""

    GUILD = 0
    """A guild."""

    GROUP_DM = 1
    """A conversation of several accounts."""

    EMOJI_PACK = 2
    """A collection of emojis."""

    STICKER_PACK = 3
    """A collection of stickers."""


def invite_object(invite: Invite, state: GuildState, inviter: Account | None, *, presence_count: int) -> dict[str, Any]:
    """The invite as whoever knows its code sees it; its channel must be in `state`."""
    data: dict[str, Any] = {
        "code": invite.code,
        "type": invite.type,
        "guild": partial_guild_object(state.guild),
        "channel": partial_channel_object(state.channels[invite.channel_id]),
        "member_count": state.member_count,
        "presence_count": presence_count,
        "expires_at": None if invite.expires_at is None else iso_timestamp(invite.expires_at),
        "temporary": invite.temporary,
    }
    if inviter is not None:
        data["inviter"] = partial_user(inviter)
    return data


def stranger_view(account: Account) -> dict[str, Any]:
    """Somebody in a group, for those who may not be in it: the display name, which is all that clients read there."""
    return {"username": account.global_name or account.username}


def group_invite_object(
    invite: Invite,
    private: PrivateChannel,
    recipients: Sequence[Account],
    inviter: Account | None,
    *,
    presence_count: int,
    view: Callable[[Account], dict[str, Any]] = partial_user,
) -> dict[str, Any]:
    """An invite into a group, with everybody in it, each as `view` shows them."""
    data: dict[str, Any] = {
        "code": invite.code,
        "type": invite.type,
        "channel": {
            "id": str(private.channel.id),
            "name": private.channel.name,
            "type": private.channel.type,
            "icon": private.channel.icon,
            "recipients": [view(account) for account in recipients],
        },
        "member_count": len(private.recipient_ids),
        "presence_count": presence_count,
        "expires_at": None if invite.expires_at is None else iso_timestamp(invite.expires_at),
        "temporary": invite.temporary,
    }
    if inviter is not None:
        data["inviter"] = partial_user(inviter)
    return data


def group_invite_with_metadata(
    invite: Invite,
    private: PrivateChannel,
    recipients: Sequence[Account],
    inviter: Account | None,
    *,
    presence_count: int,
) -> dict[str, Any]:
    """An invite into a group as those who are in it see it."""
    shown = group_invite_object(invite, private, recipients, inviter, presence_count=presence_count)
    return {**shown, **_metadata(invite)}


def invite_with_metadata(
    invite: Invite, state: GuildState, inviter: Account | None, *, presence_count: int
) -> dict[str, Any]:
    """The invite as those who manage it see it. `max_age` is seconds."""
    return {
        **invite_object(invite, state, inviter, presence_count=presence_count),
        **_metadata(invite),
    }


def _metadata(invite: Invite) -> dict[str, Any]:
    return {
        "created_at": iso_timestamp(invite.created_at),
        "uses": invite.uses,
        "max_uses": invite.max_uses,
        "max_age": invite.max_age,
    }
