"""Request Forum Unreads (gateway.md, Request Forum Unreads)."""

from __future__ import annotations

from typing import Any

from chat.gateway.commands.budgets import SocketWork
from chat.gateway.commands.visibility import open_room
from chat.gateway.guild_payloads import GuildPayloads
from chat.gateway.hub import Hub
from chat.gateway.session import GatewaySession
from chat.protocol.requests import ForumUnreadsRequest, parse_forum_unreads
from chat.registries.close_codes import UNKNOWN_OPCODE, Close
from chat.registries.events import EventName
from chat.registries.limits import FORUM_UNREAD_COUNT_MAXIMUM


class ForumUnreadsCommands:
    """Answers opcode 28."""

    def __init__(self, hub: Hub, guild_payloads: GuildPayloads) -> None:
        self._hub = hub
        self._guild_payloads = guild_payloads

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
        wanted = dict(request.threads)
        counts = self._guild_payloads.unread_below(
            room.state, session, request.channel_id, wanted, FORUM_UNREAD_COUNT_MAXIMUM
        )
        threads = [
            {"thread_id": str(thread_id), "count": counts[thread_id]}
            if thread_id in counts
            else {"thread_id": str(thread_id), "missing": True}
            for thread_id in wanted
        ]
        data = {"guild_id": str(request.guild_id), "channel_id": str(request.channel_id), "threads": threads}
        self._hub.send((session,), EventName.FORUM_UNREADS, data)
