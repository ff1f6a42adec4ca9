"""Invites into groups (people.md, Group invites): all in a group make and see them, its owner and an invite's maker
delete it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.guilds.invite_objects import group_invite_object, stranger_view, with_metadata
from chat.domain.people.groups import Groups
from chat.domain.standing.private_channels import PrivateChannelAccess
from chat.domain.standing.user_objects import partial_user
from chat.errors import ApiError
from chat.registries.channel_types import ChannelType
from chat.registries.error_codes import ErrorCode
from chat.registries.events import EventName
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.guilds import invites
from chat.store.guilds.invites import Invite, InviteType
from chat.store.standing import private_channels
from chat.store.standing.private_channels import PrivateChannel


@frozen
class _GroupInvite:
    """An invite that was asked for; not `is_new` if it existed before."""

    invite: Invite
    is_new: bool


@define(kw_only=True, eq=False)
class GroupInvites:
    """The operations on invites that lead into groups. `is_online` tells whether others see an account as online."""

    _core: Core
    _groups: Groups
    _is_online: Callable[[int], bool]

    async def create(
        self, access: PrivateChannelAccess, wanted: Invite, *, unique: bool, new_code: Callable[[], str], guard: Guard
    ) -> wire.InviteWithMetadata:
        """Make an invite; without `unique`, one that the caller made on the same terms is given again.

        :raises ApiError: UNKNOWN_CHANNEL (the caller has left meanwhile), MAX_INVITES.
        """
        wanted = attrs.evolve(wanted, type=InviteType.GROUP_DM.value, guild_id=None)

        def unit(connection: sqlite3.Connection) -> _GroupInvite | None:
            if not private_channels.is_in(connection, wanted.channel_id, access.user_id):
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
            similar = None if unique else invites.similar(connection, wanted, wanted.created_at)
            if similar is not None:
                return _GroupInvite(similar, is_new=False)
            invites.delete_dead_of_channel(connection, wanted.channel_id, wanted.created_at)
            if invites.count_of_channel(connection, wanted.channel_id) >= self._core.settings.limits.max_guild_invites:
                raise ApiError(ErrorCode.MAX_INVITES)
            return _GroupInvite(wanted, is_new=True) if invites.insert(connection, wanted) else None

        def then(made: _GroupInvite | None) -> None:
            if made is not None and made.is_new:
                data = self._with_metadata(made.invite, access.private)
                self._core.bus.publish(Event(EventName.INVITE_CREATE, data, ToAccounts(access.recipients)))

        made = await self._core.database.write(unit, then, guard=guard)
        while made is None:  # the code was taken
            wanted = attrs.evolve(wanted, code=new_code())
            made = await self._core.database.write(unit, then, guard=guard)
        return self._with_metadata(made.invite, access.private)

    def get(self, invite: Invite) -> wire.Invite:
        """The invite as all see it who know its code, account or none: the accounts of the group by name alone.

        :raises ApiError: UNKNOWN_INVITE.
        """
        return self._object(invite, stranger_view)

    async def accept(self, principal: Principal, invite: Invite) -> wire.Invite:
        """Join the group; who is in it already spends no use. Raises UNKNOWN_INVITE; otherwise as `Groups.join`."""
        code = invite.code

        def spend(connection: sqlite3.Connection) -> None:
            if invites.by_code(connection, code, self._core.clock.now_ms()) is None:
                raise ApiError(ErrorCode.UNKNOWN_INVITE)
            invites.add_use(connection, code)

        await self._groups.join(principal, invite.channel_id, spend)
        return self._object(invite, partial_user)

    async def delete(self, principal: Principal, invite: Invite) -> None:
        """Delete the invite.

        :raises ApiError: UNKNOWN_INVITE; MISSING_PERMISSIONS for callers who neither made it nor own the group.
        """
        user_id = principal.user_id

        def unit(connection: sqlite3.Connection) -> PrivateChannel:
            private = private_channels.by_id(connection, invite.channel_id)
            if private is None or private.channel.type != ChannelType.GROUP_DM:
                raise ApiError(ErrorCode.UNKNOWN_INVITE)
            if user_id not in private.recipient_ids or user_id not in (invite.inviter_id, private.channel.owner_id):
                raise ApiError(ErrorCode.MISSING_PERMISSIONS)
            if not invites.delete(connection, invite.code):
                raise ApiError(ErrorCode.UNKNOWN_INVITE)
            return private

        def then(private: PrivateChannel) -> None:
            data = {"code": invite.code, "channel_id": str(invite.channel_id)}
            self._core.bus.publish(Event(EventName.INVITE_DELETE, data, ToAccounts(private.recipient_ids)))

        await self._core.database.write(unit, then, guard=principal.guard)

    def of_channel(self, access: PrivateChannelAccess) -> list[wire.InviteWithMetadata]:
        """The invites into a group of the caller's, newest first."""
        found = invites.of_channel(self._core.database.reader, access.channel.id, self._core.clock.now_ms())
        return [self._with_metadata(invite, access.private) for invite in found]

    def _object(self, invite: Invite, view: Callable[[Account], wire.PartialUser | wire.NamedRecipient]) -> wire.Invite:
        private = private_channels.by_id(self._core.database.reader, invite.channel_id)
        if private is None or private.channel.type != ChannelType.GROUP_DM:
            raise ApiError(ErrorCode.UNKNOWN_INVITE)
        return self._shown(invite, private, view)

    def _with_metadata(self, invite: Invite, private: PrivateChannel) -> wire.InviteWithMetadata:
        return with_metadata(invite, self._shown(invite, private, partial_user))

    def _shown(
        self, invite: Invite, private: PrivateChannel, view: Callable[[Account], wire.PartialUser | wire.NamedRecipient]
    ) -> wire.Invite:
        reader = self._core.database.reader
        recipients = accounts.by_ids(reader, private.recipient_ids)
        inviter = None if invite.inviter_id is None else accounts.by_id(reader, invite.inviter_id)
        online = sum(self._is_online(user_id) for user_id in private.recipient_ids)
        return group_invite_object(invite, private, recipients, inviter, presence_count=online, view=view)
