"""What a session may ask about."""

from __future__ import annotations

from chat.domain.guilds.member_lists import SEE_VIEWERS
from chat.gateway.hub import Hub
from chat.gateway.rooms import GuildRoom
from chat.gateway.session import GatewaySession


def open_room(hub: Hub, session: GatewaySession, guild_id: int) -> GuildRoom | None:
    """The room of a guild that the session is connected to and that is available to it; None otherwise."""
    if session.ended or guild_id not in session.guild_ids:
        return None
    room = hub.rooms.get(guild_id)
    return None if room is None or room.state.unavailable_for(session.is_staff) else room


def may_see_viewers(room: GuildRoom, session: GatewaySession, channel_id: int) -> bool:
    """Whether the session's account may be told who sees the channel: VIEW_CHANNEL and VIEW_CHANNEL_MEMBERS there."""
    if channel_id not in room.state.channels:
        return False
    return room.state.permissions(session.user_id, channel_id) & SEE_VIEWERS == SEE_VIEWERS
