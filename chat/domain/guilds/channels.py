"""Channels, as those see them who are in them."""

from __future__ import annotations

from typing import Any

import attrs

from chat.auth.principal import Principal
from chat.domain.standing.access import Access, ChannelAccess


@attrs.define(eq=False)
class Channels:
    """The operations on channels."""

    _access: Access

    async def get(self, principal: Principal, channel_id: int) -> dict[str, Any]:
        """One channel.

        :raises ApiError: as `Access.channel`.
        """
        return self._access.channel(principal, channel_id).channel_object()

    def seen(self, principal: Principal, channel_id: int) -> ChannelAccess:
        """A channel of any kind that the caller sees.

        :raises ApiError: as `Access.channel`.
        """
        return self._access.channel(principal, channel_id)

    async def of_guild(self, principal: Principal, guild_id: int) -> list[dict[str, Any]]:
        """The channels of a guild that the caller sees, by position.

        :raises ApiError: as `Access.guild`.
        """
        state = self._access.guild(principal, guild_id).state
        return state.channel_objects(state.visible_channels(principal.user_id), threads=True)
