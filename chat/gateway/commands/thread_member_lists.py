"""Watched lists of thread members (gateway.md, Lazy Request).

A list is shown whole to a session when it begins to watch it, and when it was resumed; later, at most once a second,
when somebody came into the thread or left it.
"""

from __future__ import annotations

from typing import Any, Final

import structlog
import trio

from chat.bus.bus import Bus, Event, Turn
from chat.domain.presence.presences import Presences
from chat.errors import StorageUnavailable
from chat.gateway.commands.visibility import open_room
from chat.gateway.guild_payloads import GuildPayloads
from chat.gateway.hub import Hub
from chat.gateway.session import GatewaySession
from chat.gateway.subscriptions import Subscriptions
from chat.registries.events import EventName
from chat.registries.limits import THREAD_MEMBER_LIST_MEMBERS

UPDATE_SECONDS: Final = 1.0
"""A list is sent again no sooner after its last update."""

MEMBERS_PER_TURN: Final = 100
"""Members looked up before other tasks get a turn: about a millisecond."""

logger = structlog.get_logger(__name__)


class ThreadMemberLists:
    """Sends lists of thread members to those who watch them. Hears the bus."""

    def __init__(
        self, hub: Hub, subscriptions: Subscriptions, guild_payloads: GuildPayloads, presences: Presences, bus: Bus
    ) -> None:
        self._hub = hub
        self._subscriptions = subscriptions
        self._guild_payloads = guild_payloads
        self._presences = presences
        self._stale: dict[tuple[int, int], None] = {}
        self._wake = trio.Event()
        bus.subscribe_events((EventName.THREAD_MEMBERS_UPDATE,), self._members_changed, Turn.DELIVERY)

    def _members_changed(self, event: Event) -> None:
        if isinstance(event.data, dict):
            self._note(int(event.data["guild_id"]), int(event.data["id"]))

    def _note(self, guild_id: int, thread_id: int) -> None:
        if self._subscriptions.thread_watchers(guild_id, thread_id):
            self._stale[guild_id, thread_id] = None
            self._wake.set()

    async def run(self) -> None:
        """Send lists that changed, until cancelled."""
        while True:
            self._wake = trio.Event()
            stale, self._stale = self._stale, {}
            for guild_id, thread_id in stale:
                for session in self._subscriptions.thread_watchers(guild_id, thread_id):
                    try:
                        await self.show(session, guild_id, thread_id)
                    except StorageUnavailable:
                        logger.warning("thread members not updated: the store is unavailable", thread_id=thread_id)
                    except Exception:  # a defect met by one list; raised from here it would end every session
                        logger.exception("thread members not updated", thread_id=thread_id)
            await self._wake.wait()
            await trio.sleep(UPDATE_SECONDS)

    async def show(self, session: GatewaySession, guild_id: int, thread_id: int) -> None:
        """Send a session the members of a thread that it sees; nothing where it does not.

        Raises StorageUnavailable.
        """
        members: list[dict[str, Any]] = []
        after: int | None = 0
        while after is not None and len(members) < THREAD_MEMBER_LIST_MEMBERS:
            room = open_room(self._hub, session, guild_id)
            if room is None or not session.threads:
                return
            page = self._guild_payloads.thread_members(room.state, session, thread_id, after, MEMBERS_PER_TURN)
            if page is None:
                return
            members += ({**entry, "presence": self._presence(entry)} for entry in page)
            after = int(page[-1]["user_id"]) if len(page) == MEMBERS_PER_TURN else None
            await trio.lowlevel.checkpoint()
        data = {"guild_id": str(guild_id), "thread_id": str(thread_id), "members": members}
        self._hub.send((session,), EventName.THREAD_MEMBER_LIST_UPDATE, data)

    def _presence(self, entry: dict[str, Any]) -> dict[str, Any]:
        return self._presences.presence_object(int(entry["user_id"]))
