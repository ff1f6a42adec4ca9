"""Presence Update (gateway.md, Presence Update): the session selects a presence; what the account has saved stays."""

from __future__ import annotations

from typing import Any

from chat.clock import Clock
from chat.domain.presence.presences import Presences, SessionPresence
from chat.gateway.commands.budgets import SocketWork
from chat.gateway.session import GatewaySession
from chat.protocol.custom_status import choose_custom_status
from chat.protocol.presence import parse_presence_update
from chat.registries.close_codes import Close


class PresenceCommands:
    """Carries out opcode 3. `rate_limited` False leaves its budget out (development.md, Development routes)."""

    def __init__(self, presences: Presences, clock: Clock, *, rate_limited: bool) -> None:
        self._presences = presences
        self._clock = clock
        self._rate_limited = rate_limited

    def handle(self, session: GatewaySession, work: SocketWork, d: Any) -> Close | None:
        """Select; a payload without a known status closes, a valid one beyond the budget is dropped."""
        update = parse_presence_update(d)
        if isinstance(update, Close):
            return update
        if self._rate_limited and not work.presences.spend():
            return None
        session.presence = SessionPresence(
            update.status,
            update.afk,
            update.mobile,
            choose_custom_status(update.custom_status, session.presence.custom_status, self._clock.now_ms()),
        )
        self._presences.session_selected(session.user_id, session.id, session.presence)
        return None
