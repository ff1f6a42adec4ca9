"""Voice State Update and Voice Signal (wire facts 1.3, opcodes 4 and 13).

The first two voice commands of a second are applied at once. Whatever comes faster waits in a queue, of which one is
applied every 500 ms; the order is kept, so nothing overtakes a command that waits.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, Final

import trio

from chat.domain.voice_states import VoiceCaller, VoiceRefusal, VoiceStates
from chat.gateway.commands.budgets import SocketWork
from chat.gateway.commands.errors import send_error
from chat.gateway.session import GatewaySession
from chat.protocol.voice import VoiceStateCommand, parse_voice_state
from chat.registries.limits import VOICE_QUEUE_COMMANDS, VOICE_QUEUE_DRAIN_MS
from chat.registries.opcodes import GatewayErrorCode

DRAIN_SECONDS: Final = VOICE_QUEUE_DRAIN_MS / 1000


class VoiceCommands:
    """Carries out opcode 4. `start_soon` runs a task beside the sockets."""

    def __init__(self, voice_states: VoiceStates, start_soon: Callable[..., None]) -> None:
        self._voice_states = voice_states
        self._start_soon = start_soon

    def handle(self, session: GatewaySession, work: SocketWork, d: Any) -> None:
        """Apply the command, or let it wait; beyond the queue's limit it is dropped."""
        command = parse_voice_state(d)
        if command is None:
            return
        waiting = work.voice_waiting
        if not waiting and work.voice.spend():
            self._apply(session, command)
        elif len(waiting) < VOICE_QUEUE_COMMANDS:
            waiting.append(command)
            if len(waiting) == 1:
                self._start_soon(self._drain, session, waiting)

    async def _drain(self, session: GatewaySession, waiting: collections.deque[VoiceStateCommand]) -> None:
        # The command stays in the queue while its time runs: until then nothing may be applied at once.
        while waiting:
            await trio.sleep(DRAIN_SECONDS)
            if waiting:
                self._apply(session, waiting[0])
                waiting.popleft()

    def _apply(self, session: GatewaySession, command: VoiceStateCommand) -> None:
        if session.ended:
            return
        caller = VoiceCaller(session.user_id, session.id, session.is_staff, session.e2ee_capable)
        if self._voice_states.apply(caller, command) is VoiceRefusal.CHANNEL_FULL:
            send_error(session, GatewayErrorCode.VOICE_CHANNEL_FULL)


def refuse_signal(session: GatewaySession) -> None:
    """Voice Signal: no channel has peer-to-peer voice."""
    send_error(session, GatewayErrorCode.VOICE_P2P_UNAVAILABLE)
