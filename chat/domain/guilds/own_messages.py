"""Deleting the caller's own messages in a guild or a channel, on their own or on the way out of the guild (guilds.md,
Deletion of own messages)."""

from __future__ import annotations

from chat.auth.principal import Principal
from chat.classes import define
from chat.domain.guilds.memberships import Memberships
from chat.domain.messages.author_messages import AuthorsMessages
from chat.domain.signing_in.sudo import SudoMode, SudoProof
from chat.domain.standing.access import Access


@define(kw_only=True, eq=False)
class OwnMessages:
    """The operations that delete what the caller wrote in a guild or a channel, and Leave guild with
    `delete_messages`."""

    _access: Access
    _authors_messages: AuthorsMessages
    _sudo: SudoMode
    _memberships: Memberships

    async def leave(self, principal: Principal, guild_id: int, proof: SudoProof) -> None:
        """Leave guild with `delete_messages`: what the caller wrote there goes first, all of it, then the membership.

        :raises ApiError: UNKNOWN_GUILD, MISSING_PERMISSIONS (not a member), SINGLE_COMMUNITY_CANNOT_LEAVE,
            SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: for a wrong proof; CANNOT_LEAVE_GUILD_AS_OWNER at `guild_id`.
        """
        self._memberships.require_may_leave(principal, guild_id, as_owner=True)
        await self._sudo.require(principal.account, proof)
        self._memberships.require_may_leave(principal, guild_id)
        await self._authors_messages.delete_all(guild_id, principal.user_id, leaves=True, guard=principal.guard)

    async def delete_in_guild(self, principal: Principal, guild_id: int, proof: SudoProof) -> None:
        """Delete every message that the caller wrote in the guild; returns once they are gone.

        :raises ApiError: as `Access.guild`; SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: for a wrong proof.
        """
        self._access.guild(principal, guild_id)
        await self._sudo.require(principal.account, proof)
        await self._authors_messages.delete_all(guild_id, principal.user_id, guard=principal.guard)

    async def delete_in_channel(self, principal: Principal, channel_id: int, proof: SudoProof) -> None:
        """Delete every message that the caller wrote in the channel; returns once they are gone.

        :raises ApiError: as `Access.channel`; SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: for a wrong proof.
        """
        access = self._access.channel(principal, channel_id)
        await self._sudo.require(principal.account, proof)
        await self._authors_messages.delete_in_channel(access, principal.guard)
