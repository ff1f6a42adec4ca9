"""Passive Updates (wire facts 1.4, 1.8, 1.9): what passive sessions missed in a large guild, in brief, every 30 s."""

from __future__ import annotations

from typing import Final

import trio

from chat.bus.audience import ToChannel
from chat.bus.bus import Bus, Event, Signal
from chat.gateway.hub import Hub
from chat.gateway.rooms import GuildRoom
from chat.gateway.session import GatewaySession
from chat.registries.events import EventName
from chat.registries.limits import PASSIVE_GUILD_MEMBERS, PASSIVE_UPDATES_MS

UPDATE_SECONDS: Final = PASSIVE_UPDATES_MS / 1000
ACCOUNTS_PER_TURN: Final = 512
"""Accounts judged before other tasks get a turn."""


class PassiveUpdates:
    """Tells passive sessions where messages were written. Hears the bus."""

    def __init__(self, hub: Hub, bus: Bus) -> None:
        self._hub = hub
        self._written: dict[int, set[int]] = {}
        """Since the last round: for each large guild the channels with a new message."""
        bus.subscribe(self)

    def accept(self, signal: Signal) -> None:
        """Note where a message was written."""
        match signal:
            case Event(name=EventName.MESSAGE_CREATE, audience=ToChannel(guild_id, channel_id)):
                room = self._hub.rooms.get(guild_id)
                if room is not None and room.state.member_count > PASSIVE_GUILD_MEMBERS:
                    self._written.setdefault(guild_id, set()).add(channel_id)

    def backlog(self) -> int:
        """Nothing that anybody waits for."""
        return 0

    async def run(self) -> None:
        """Send a round every 30,000 ms; runs until cancelled."""
        while True:
            await trio.sleep(UPDATE_SECONDS)
            written, self._written = self._written, {}
            for guild_id, channel_ids in written.items():
                room = self._hub.rooms.get(guild_id)
                if room is not None and room.available_to_members:
                    await self._tell(room, channel_ids)

    async def _tell(self, room: GuildRoom, channel_ids: set[int]) -> None:
        addressed: dict[frozenset[int], list[GatewaySession]] = {}
        for position, (user_id, sessions) in enumerate(tuple(room.sessions_by_user.items()), start=1):
            passive = [session for session in sessions if _is_passive(session, room.guild_id)]
            visible = room.state.visible_channels(user_id) & channel_ids if passive else frozenset()
            if visible:
                addressed.setdefault(visible, []).extend(passive)
            if position % ACCOUNTS_PER_TURN == 0:
                await trio.lowlevel.checkpoint()
        for visible, receivers in addressed.items():
            last_message_ids = {
                str(channel_id): str(room.state.last_message_id(channel_id)) for channel_id in sorted(visible)
            }
            data = {"guild_id": str(room.guild_id), "channels": last_message_ids}
            self._hub.send(receivers, EventName.PASSIVE_UPDATES, data)


def _is_passive(session: GatewaySession, guild_id: int) -> bool:
    return not session.bot and not session.ended and guild_id not in session.active_guilds
