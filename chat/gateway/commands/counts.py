"""Request Guild Counts and Request Channel Member Counts (gateway.md, Requests for counts)."""

from __future__ import annotations

from typing import Any

import trio

from chat.domain.guilds.member_lists import ChannelViewers
from chat.domain.presence.presences import Presences
from chat.domain.standing.rosters import MEMBERS_PER_TURN, Roster, Rosters
from chat.gateway.commands.visibility import may_see_viewers, open_room
from chat.gateway.hub import Hub
from chat.gateway.rooms import GuildRoom
from chat.gateway.session import GatewaySession
from chat.protocol.requests import ChannelMemberCountsRequest, GuildCountsRequest
from chat.registries.events import EventName


class CountsCommands:
    """Answers opcodes 15 and 16. What a session may not know of is left out of the answer."""

    def __init__(self, hub: Hub, presences: Presences, rosters: Rosters) -> None:
        self._hub = hub
        self._presences = presences
        self._rosters = rosters

    async def count_guilds(self, session: GatewaySession, request: GuildCountsRequest) -> None:
        """How many members the guilds have, and how many of them are online."""
        counts = []
        for guild_id in request.guild_ids:
            room = open_room(self._hub, session, guild_id)
            if room is not None:
                counts.append(
                    {
                        "guild_id": str(guild_id),
                        "member_count": room.state.member_count,
                        "online_count": self._presences.online_count(guild_id),
                    }
                )
        self._answer(session, EventName.GUILD_COUNTS_UPDATE, counts, request.nonce)
        await trio.lowlevel.checkpoint()

    async def count_channel_members(self, session: GatewaySession, request: ChannelMemberCountsRequest) -> None:
        """How many members see each channel, and how many of them are online.

        Raises StorageUnavailable.
        """
        room = open_room(self._hub, session, request.guild_id)
        counts = []
        if room is not None:
            roster = await self._rosters.get(request.guild_id)
            counts = [
                await self._count(room, channel_id, roster)
                for channel_id in request.channel_ids
                if may_see_viewers(room, session, channel_id)
            ]
        self._answer(session, EventName.CHANNEL_MEMBER_COUNTS_UPDATE, counts, request.nonce)

    async def _count(self, room: GuildRoom, channel_id: int, roster: Roster) -> dict[str, Any]:
        viewers = ChannelViewers(room.state, channel_id)
        members = online = 0
        for position, member in enumerate(roster, start=1):
            if viewers.include(member.user_id, member.role_ids):
                members += 1
                online += self._presences.is_online(member.user_id)
            if position % MEMBERS_PER_TURN == 0:
                await trio.lowlevel.checkpoint()
        return {
            "guild_id": str(room.guild_id),
            "channel_id": str(channel_id),
            "member_count": members,
            "online_count": online,
        }

    def _answer(
        self, session: GatewaySession, name: EventName, counts: list[dict[str, Any]], nonce: str | None
    ) -> None:
        data: dict[str, Any] = {"counts": counts}
        if nonce is not None:
            data["nonce"] = nonce
        self._hub.send((session,), name, data)
