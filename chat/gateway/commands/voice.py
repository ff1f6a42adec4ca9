"""Voice State Update and Voice Signal (gateway.md, Voice State Update).

The first two voice commands of a second are applied at once. What comes faster waits in a queue, of which one is
applied every 500 ms; the order is kept, so nothing overtakes a command that waits. To enter a call takes time, for it
may have to be started: that goes through the queue too, without its pause. Why a command failed is told as a code,
neither numbered nor replayed (gateway.md, Gateway Error).
"""

from __future__ import annotations

import collections
from collections.abc import Awaitable, Callable
from typing import Any, Final

import orjson
import trio

from chat.classes import define
from chat.domain.presence.voice_connections import VoiceCaller, VoiceRefusal
from chat.domain.presence.voice_states import VoiceStates, enters_call
from chat.gateway.commands.budgets import SocketWork
from chat.gateway.session import GatewaySession
from chat.protocol.voice import VoiceStateCommand, parse_voice_state
from chat.registries.limits import VOICE_QUEUE_COMMANDS, VOICE_QUEUE_DRAIN_MS
from chat.registries.opcodes import GatewayErrorCode, Opcode

DRAIN_SECONDS: Final = VOICE_QUEUE_DRAIN_MS / 1000

PrepareCall = Callable[[VoiceCaller, int], Awaitable[VoiceRefusal | None]]
"""Makes sure that a conversation has a call that a session may enter, or gives the error for the caller."""


_MESSAGES: Final = {
    GatewayErrorCode.VOICE_P2P_CONSENT_REQUIRED: "Peer-to-peer voice needs your consent.",
    GatewayErrorCode.VOICE_P2P_UNAVAILABLE: "There is no peer-to-peer voice here.",
    GatewayErrorCode.VOICE_CHANNEL_FULL: "This voice channel has no room left.",
}


@define(eq=False)
class VoiceCommands:
    """Carries out opcode 4. `start_soon` runs a task beside the sockets; without `prepare_call` there are no calls."""

    _voice_states: VoiceStates
    _start_soon: Callable[..., None]
    _prepare_call: PrepareCall | None = None

    def handle(self, session: GatewaySession, work: SocketWork, d: Any) -> None:
        """Apply the command, or let it wait; beyond the queue's limit it is dropped."""
        command = parse_voice_state(d)
        if command is None:
            return
        waiting = work.voice_waiting
        at_once = not waiting and work.voice.spend()
        if at_once and not self._takes_time(command):
            self._apply(session, command)
        elif len(waiting) < VOICE_QUEUE_COMMANDS:
            waiting.append(command)
            if len(waiting) == 1:
                self._start_soon(self._drain, session, waiting, at_once)

    async def _drain(
        self, session: GatewaySession, waiting: collections.deque[VoiceStateCommand], at_once: bool
    ) -> None:
        # The command stays in the queue while its time runs: until then nothing may be applied at once.
        while waiting:
            if not at_once:
                await trio.sleep(DRAIN_SECONDS)
            at_once = False
            if waiting:
                await self._carry_out(session, waiting[0])
            if waiting:  # the socket may be gone, and the queue with it
                waiting.popleft()

    async def _carry_out(self, session: GatewaySession, command: VoiceStateCommand) -> None:
        if self._prepare_call is None or not enters_call(command) or command.channel_id is None or session.ended:
            self._apply(session, command)
            return
        caller, channel_id = _caller(session), command.channel_id
        refusal = await self._prepare_call(caller, channel_id)
        if session.ended:
            return
        if refusal is None:
            self._voice_states.enter_call(caller, command, channel_id)
        else:
            self._voice_states.refuse(caller, command, refusal)

    def _takes_time(self, command: VoiceStateCommand) -> bool:
        return self._prepare_call is not None and enters_call(command)

    def _apply(self, session: GatewaySession, command: VoiceStateCommand) -> None:
        if session.ended:
            return
        if self._voice_states.apply(_caller(session), command) is VoiceRefusal.CHANNEL_FULL:
            send_error(session, GatewayErrorCode.VOICE_CHANNEL_FULL)


def _caller(session: GatewaySession) -> VoiceCaller:
    return VoiceCaller(session.user_id, session.id, session.is_staff, session.e2ee_capable)


def refuse_signal(session: GatewaySession) -> None:
    """Refuse a Voice Signal: no channel has peer-to-peer voice."""
    send_error(session, GatewayErrorCode.VOICE_P2P_UNAVAILABLE)


def send_error(session: GatewaySession, code: GatewayErrorCode) -> None:
    """Tell the socket that holds the session, if there is one."""
    if session.receiver is not None:
        d = {"code": code, "message": _MESSAGES[code]}
        session.receiver.send_payload(orjson.dumps({"op": Opcode.GATEWAY_ERROR, "d": d}))
