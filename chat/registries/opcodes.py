"""The numbers that say what a gateway payload is (gateway-codes.md, Opcodes)."""

from __future__ import annotations

import enum
from typing import Final


class Opcode(enum.IntEnum):
    """The whole registry of gateway opcodes; every other number is undefined (gateway-codes.md, Opcodes)."""

    DISPATCH = 0
    """Server: an event, with its sequence and its name."""

    HEARTBEAT = 1
    """Both ways: the client names the last sequence it processed or null, the server asks with null."""

    IDENTIFY = 2
    """Client: starts a session with a raw token."""

    PRESENCE_UPDATE = 3
    """Client: selects a status and a custom status."""

    VOICE_STATE_UPDATE = 4
    """Client: joins, changes or leaves a voice channel."""

    VOICE_SERVER_PING = 5
    """Reserved: never sent, and from a client as good as undefined."""

    RESUME = 6
    """Client: takes up a session whose socket is gone."""

    RECONNECT = 7
    """Server: this socket is about to close, the session waits; has no `d`."""

    REQUEST_GUILD_MEMBERS = 8
    """Client: asks for members of a guild, answered in chunks."""

    INVALID_SESSION = 9
    """Server: there is no session here any more; `d` is always false."""

    HELLO = 10
    """Server: the first message, naming the heartbeat interval."""

    HEARTBEAT_ACK = 11
    """Server: a client's Heartbeat was accepted; has no `d`."""

    GATEWAY_ERROR = 12
    """Server: a command failed in a way that has a code; neither numbered nor replayed."""

    VOICE_SIGNAL = 13
    """Client: signalling between the peers of a voice call."""

    LAZY_REQUEST = 14
    """Client: says which guilds, member lists and members it watches."""

    REQUEST_GUILD_COUNTS = 15
    """Client: asks how many members of some guilds there are and are online."""

    REQUEST_CHANNEL_MEMBER_COUNTS = 16
    """Client: asks how many members can see some channels."""

    REQUEST_FORUM_UNREADS = 28
    """Client: asks how much is unread in some threads of a forum."""


SESSION_COMMANDS: Final[frozenset[Opcode]] = frozenset(
    {
        Opcode.PRESENCE_UPDATE,
        Opcode.VOICE_STATE_UPDATE,
        Opcode.REQUEST_GUILD_MEMBERS,
        Opcode.VOICE_SIGNAL,
        Opcode.LAZY_REQUEST,
        Opcode.REQUEST_GUILD_COUNTS,
        Opcode.REQUEST_CHANNEL_MEMBER_COUNTS,
        Opcode.REQUEST_FORUM_UNREADS,
    }
)
"""What a client may send once a session is attached, beside Heartbeat and Resume (gateway.md, Order of inbound
checks)."""


class IdentifyFlag(enum.IntFlag):
    """Bits of Identify's `flags`; others are ignored (gateway.md, Identify)."""

    DEBOUNCE_MESSAGE_REACTIONS = 1 << 1
    """Reactions in private channels come gathered."""

    CHANNEL_THREADS = 1 << 2
    """The client knows threads, forums and media channels."""


class GatewayErrorCode(enum.StrEnum):
    """The `code` of a Gateway Error (gateway.md, Gateway Error)."""

    VOICE_P2P_CONSENT_REQUIRED = "VOICE_P2P_CONSENT_REQUIRED"
    """Peer-to-peer voice was asked for without agreeing to it."""

    VOICE_P2P_UNAVAILABLE = "VOICE_P2P_UNAVAILABLE"
    """The channel has no peer-to-peer voice."""

    VOICE_CHANNEL_FULL = "VOICE_CHANNEL_FULL"
    """Nobody else may join the voice channel."""
