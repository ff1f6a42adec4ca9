"""Invite objects as the wire has them (guilds.md, Invites)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chat import wire
from chat.clock import iso_timestamp
from chat.domain.standing.channel_objects import partial_channel_object
from chat.domain.standing.guild_objects import partial_guild_object
from chat.domain.standing.guild_states import GuildState
from chat.domain.standing.user_objects import partial_user
from chat.store.accounts.accounts import Account
from chat.store.guilds.invites import Invite
from chat.store.standing.private_channels import PrivateChannel


def invite_object(
    invite: Invite,
    state: GuildState,
    inviter: Account | None,
    *,
    placeholder: Account | None = None,
    presence_count: int,
) -> wire.Invite:
    """The invite as all see it who know its code; its channel must be in `state`. `placeholder` is whom the newcomer
    becomes."""
    place: wire.InvitePlace = {
        "guild": partial_guild_object(state.guild),
        "channel": partial_channel_object(state.channels[invite.channel_id]),
    }
    shown = _invite_object(invite, place, inviter, members=state.member_count, online=presence_count)
    if placeholder is not None:
        shown["placeholder"] = partial_user(placeholder)
    return shown


def stranger_view(account: Account) -> wire.NamedRecipient:
    """A member of a group, for strangers to it: the display name, which is all that clients read there."""
    return {"username": account.global_name or account.username}


def group_invite_object(
    invite: Invite,
    private: PrivateChannel,
    recipients: Sequence[Account],
    inviter: Account | None,
    *,
    presence_count: int,
    view: Callable[[Account], wire.PartialUser | wire.NamedRecipient] = partial_user,
) -> wire.Invite:
    """An invite into a group, with all its accounts, each as `view` shows it."""
    channel: wire.InviteChannel = {
        **partial_channel_object(private.channel),
        "icon": private.channel.icon,
        "recipients": [view(account) for account in recipients],
    }
    return _invite_object(
        invite, {"channel": channel}, inviter, members=len(private.recipient_ids), online=presence_count
    )


def with_metadata(invite: Invite, shown: wire.Invite) -> wire.InviteWithMetadata:
    """An invite that is `shown` like that as those who manage it see it. `max_age` is seconds."""
    return {
        **shown,
        "created_at": iso_timestamp(invite.created_at),
        "uses": invite.uses,
        "max_uses": invite.max_uses,
        "max_age": invite.max_age,
    }


def _invite_object(
    invite: Invite, place: wire.InvitePlace, inviter: Account | None, *, members: int, online: int
) -> wire.Invite:
    maker: wire.InviteMaker = {} if inviter is None else {"inviter": partial_user(inviter)}
    return {
        "code": invite.code,
        "type": invite.type,
        **place,
        "member_count": members,
        "presence_count": online,
        "expires_at": None if invite.expires_at is None else iso_timestamp(invite.expires_at),
        "temporary": invite.temporary,
        **maker,
    }
