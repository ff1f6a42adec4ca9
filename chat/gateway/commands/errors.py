"""Gateway Error (gateway.md, Gateway Error): why a command failed, as a code; neither numbered nor replayed."""

from __future__ import annotations

import orjson

from chat.gateway.session import GatewaySession
from chat.registries.opcodes import GatewayErrorCode, Opcode

_MESSAGES = {
    GatewayErrorCode.VOICE_P2P_CONSENT_REQUIRED: "Peer-to-peer voice needs your consent.",
    GatewayErrorCode.VOICE_P2P_UNAVAILABLE: "There is no peer-to-peer voice here.",
    GatewayErrorCode.VOICE_CHANNEL_FULL: "This voice channel has no room left.",
}


def send_error(session: GatewaySession, code: GatewayErrorCode) -> None:
    """Tell the socket that holds the session, if there is one."""
    if session.receiver is not None:
        d = {"code": code, "message": _MESSAGES[code]}
        session.receiver.send_payload(orjson.dumps({"op": Opcode.GATEWAY_ERROR, "d": d}))
