"""Request Forum Unreads (wire facts 1.3, opcode 28)."""

from __future__ import annotations

from typing import Any

from chat.gateway.commands.budgets import SocketWork
from chat.gateway.commands.visibility import open_room
from chat.gateway.hub import Hub
from chat.gateway.session import GatewaySession
from chat.protocol.requests import ForumUnreadsRequest, parse_forum_unreads
from chat.registries.close_codes import UNKNOWN_OPCODE, Close
from chat.registries.events import EventName


class ForumUnreadsCommands:
    """Answers opcode 28."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def handle(self, session: GatewaySession, work: SocketWork, d: Any) -> Close | None:
        """Without thread access, or with anything but an object, the opcode counts as unknown; beyond the budget it is
        dropped."""
        if not session.threads or type(d) is not dict:
            return UNKNOWN_OPCODE
        request = parse_forum_unreads(d)
        if request is not None and work.forum_unreads.spend():
            self._answer(session, request)
        return None

    def _answer(self, session: GatewaySession, request: ForumUnreadsRequest) -> None:
        room = open_room(self._hub, session, request.guild_id)
        if room is None or not room.state.can_view(session.user_id, request.channel_id):
            return
        # A thread is missing until it is found among the threads of the channel, of which there are none yet.
        threads = [{"thread_id": str(thread_id), "missing": True} for thread_id, _ in request.threads]
        data = {"guild_id": str(request.guild_id), "channel_id": str(request.channel_id), "threads": threads}
        self._hub.send((session,), EventName.FORUM_UNREADS, data)
