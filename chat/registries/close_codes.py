"""How the gateway ends a socket: the codes, and every reason that may stand beside them.

No other module makes up a reason.
"""

from __future__ import annotations

import enum
from typing import Final

from chat.classes import frozen


class CloseCode(enum.IntEnum):
    """Codes that the gateway puts into a close frame."""

    UNKNOWN_ERROR = 4000
    """Something failed on our side, or the socket is to be replaced by a new one."""

    UNKNOWN_OPCODE = 4001
    """The opcode is not one that a client may send, or it came without `d`."""

    DECODE_ERROR = 4002
    """Size, compression, JSON or a payload's members are wrong."""

    NOT_AUTHENTICATED = 4003
    """A command other than Heartbeat, Identify or Resume came before a session was attached."""

    AUTHENTICATION_FAILED = 4004
    """The token is invalid or revoked, or does not own the session that Resume names."""

    ALREADY_AUTHENTICATED = 4005
    """Identify came while a session was attached, or Identify or Resume came without `d`."""

    INVALID_SEQUENCE = 4007
    """The sequence of a Heartbeat or of a Resume is not one that the session accepts."""

    RATE_LIMITED = 4008
    """Too much of something: connections, sessions, payloads, unread output."""

    HEARTBEAT_TIMEOUT = 4009
    """No Heartbeat was acknowledged for longer than the deadline."""

    INVALID_SHARD = 4010
    """The shard pair is malformed."""

    SHARDING_REQUIRED = 4011
    """A bot's shard owns more guilds than one shard may."""

    INVALID_API_VERSION = 4012
    """The query does not ask for version 1."""


@frozen
class Close:
    """One way to end a socket: a code and the reason text that goes with it.

    The code is one of CloseCode; only a fault of the development routes and the second mount may name another.
    """

    code: int
    reason: str


FAILED_TO_START_SESSION: Final = Close(CloseCode.UNKNOWN_ERROR, "Failed to start session")
"""Session creation failed for a cause of no known kind."""

DRAIN_REQUESTED: Final = Close(CloseCode.UNKNOWN_ERROR, "Session drain requested; reconnect to continue")
"""Follows every Reconnect (gateway.md, Reconnect and Invalid Session)."""

SESSION_UNAVAILABLE: Final = Close(CloseCode.UNKNOWN_ERROR, "Session unavailable")
"""Resume could not reach the session (gateway.md, Resume)."""

UNKNOWN_OPCODE: Final = Close(CloseCode.UNKNOWN_OPCODE, "Unknown opcode")
"""An opcode that no client may send, or a payload without `d` (gateway.md, Order of inbound checks)."""

DECODE_FAILED: Final = Close(CloseCode.DECODE_ERROR, "Decode failed")
"""The message is not one JSON object in UTF-8 (gateway.md, Order of inbound checks)."""

INVALID_PAYLOAD: Final = Close(CloseCode.DECODE_ERROR, "Invalid payload")
"""The object has no `op`, or one that is not an integer (gateway.md, Order of inbound checks)."""

PAYLOAD_TOO_LARGE: Final = Close(CloseCode.DECODE_ERROR, "Payload too large")
"""The message is too long on the wire or after decompression (gateway.md, Message sizes)."""

DECOMPRESSION_FAILED: Final = Close(CloseCode.DECODE_ERROR, "Decompression failed")
"""The message is not a continuation of the client's zstd stream (gateway.md, Message sizes)."""

INVALID_IDENTIFY_PAYLOAD: Final = Close(CloseCode.DECODE_ERROR, "Invalid identify payload")
"""Identify lacks a member or has one of the wrong type (gateway.md, Identify)."""

INVALID_RESUME_PAYLOAD: Final = Close(CloseCode.DECODE_ERROR, "Invalid resume payload")
"""Resume lacks a member or has one of the wrong type (gateway.md, Resume)."""

INVALID_PRESENCE_PAYLOAD: Final = Close(CloseCode.DECODE_ERROR, "Invalid presence payload")
"""Presence Update names no status or an unknown one (gateway.md, Presence Update)."""

COMPRESSION_FAILED: Final = Close(CloseCode.DECODE_ERROR, "Compression failed: zstd-stream")
"""The zstd implementation cannot be loaded when Hello is due (gateway.md, Compression)."""

ENCODE_FAILED: Final = Close(CloseCode.DECODE_ERROR, "Encode failed")
"""A payload of ours cannot be written down."""

NOT_AUTHENTICATED: Final = Close(CloseCode.NOT_AUTHENTICATED, "Not authenticated")
"""A command came before a session was attached (gateway.md, States)."""

INVALID_TOKEN: Final = Close(CloseCode.AUTHENTICATION_FAILED, "Invalid token")
"""The credential is invalid or revoked, or does not own the session (gateway.md, Identify)."""

ALREADY_AUTHENTICATED: Final = Close(CloseCode.ALREADY_AUTHENTICATED, "Already authenticated")
"""Identify with a session attached, or Identify or Resume without `d`."""

INVALID_SEQUENCE: Final = Close(CloseCode.INVALID_SEQUENCE, "Invalid sequence")
"""A sequence that the session does not accept or cannot confirm in time (gateway.md, Heartbeat)."""

RATE_LIMITED: Final = Close(CloseCode.RATE_LIMITED, "Rate limited")
"""More commands than the budget of a socket or of a session allows."""

TOO_MANY_CONNECTIONS: Final = Close(CloseCode.RATE_LIMITED, "Too many connections")
"""The address already holds as many connections as it may (gateway.md, States)."""

TOO_MANY_SESSIONS: Final = Close(CloseCode.RATE_LIMITED, "Too many sessions")
"""The user already has as many live sessions as one may have (gateway.md, Identify)."""

OUTBOX_FULL: Final = Close(CloseCode.RATE_LIMITED, "Outbox full")
"""The client does not read what it is sent; the session stays retained (gateway.md, Slow readers)."""

HEARTBEAT_TIMEOUT: Final = Close(CloseCode.HEARTBEAT_TIMEOUT, "Heartbeat timeout")
"""No Heartbeat was acknowledged in time (gateway.md, States)."""

INVALID_SHARD: Final = Close(CloseCode.INVALID_SHARD, "Invalid shard")
"""The shard pair is malformed (gateway.md, Shards)."""

SHARDING_REQUIRED: Final = Close(CloseCode.SHARDING_REQUIRED, "Sharding required")
"""The bot's shard owns more guilds than the ceiling (gateway.md, Shards)."""

INVALID_API_VERSION: Final = Close(CloseCode.INVALID_API_VERSION, "Invalid API version")
"""The query has no `v`, or another than 1 (gateway.md, Connecting)."""

CLOSES: Final[tuple[Close, ...]] = tuple(value for value in tuple(globals().values()) if isinstance(value, Close))
"""Every close from 4000 up that this gateway ever sends."""
