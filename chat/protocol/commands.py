"""What a client says before it has a session: the query of its connection, Heartbeat, Identify with its shard, Resume;
and what a session may be asked (gateway.md, Connecting; gateway.md, Identify; gateway.md, Resume).

A command that exists is valid. The members of the commands that only a session understands are read by `presence`,
`voice` and `requests`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import attrs

from chat.classes import frozen
from chat.protocol.payload import parse_snowflake
from chat.protocol.presence import InitialPresence, parse_initial_presence
from chat.protocol.whole_numbers import whole
from chat.registries.close_codes import (
    FAILED_TO_START_SESSION,
    INVALID_IDENTIFY_PAYLOAD,
    INVALID_RESUME_PAYLOAD,
    INVALID_SHARD,
    Close,
)
from chat.registries.limits import (
    COORDINATE_CHARACTERS,
    IGNORED_EVENTS_MAXIMUM,
    SHARD_COUNT_MAXIMUM,
    SHARD_COUNT_MINIMUM,
)
from chat.registries.opcodes import Opcode

API_VERSION: Final = "1"
"""The exact text of `v`: neither `01` nor `1.0` is a version (gateway.md, Connecting)."""

ZSTD_STREAM: Final = "zstd-stream"
"""The one value of `compress` that compresses."""

QUERIES_KEPT: Final = 32
"""Clients send few different ones."""

STREAM_VALUES: Final = frozenset({"1", "true"})
"""The values of `stream` that let `compress` take effect."""


@frozen
class ConnectionQuery:
    """Whether the version is ours, and whether both directions are one zstd stream each."""

    version_accepted: bool
    compressed: bool


@functools.lru_cache(maxsize=QUERIES_KEPT)
def parse_connection_query(query_string: str) -> ConnectionQuery:
    """Read the text after the question mark, percent-encoded as it stood in the request line; never raises.

    A repeated parameter counts by its first value, an unknown one counts for nothing, and `encoding` is not even read:
    every value of it selects JSON (gateway.md, Connecting).
    """
    first: dict[str, str] = {}
    for name, value in parse_qsl(query_string, keep_blank_values=True):
        first.setdefault(name, value)
    return ConnectionQuery(
        version_accepted=first.get("v") == API_VERSION,
        compressed=first.get("compress") == ZSTD_STREAM and first.get("stream") in STREAM_VALUES,
    )


@frozen
class Heartbeat:
    """Opcode 1; `sequence` is what stood in `d`, of any type: without a session it is not looked at."""

    sequence: Any


@frozen
class IdentifyProperties:
    """What the client says it runs on; `mobile` counts only where no presence was given."""

    os: str
    browser: str
    device: str
    e2ee_capable: bool = False
    mobile: bool = False
    latitude: str | None = None
    longitude: str | None = None


@frozen
class Identify:
    """Opcode 2."""

    token: str = attrs.field(repr=False)
    properties: IdentifyProperties
    presence: InitialPresence | None = None
    ignored_events: frozenset[str] = frozenset()
    flags: int = 0
    initial_guild_id: int | None = None
    shard: Shard | None = None
    d: Any = attrs.field(default=None, repr=False, eq=False)
    """The payload that it was read from, for a node that passes it on."""


@frozen
class Resume:
    """Opcode 6; `seq` may lie anywhere, its bounds are the session's."""

    token: str = attrs.field(repr=False)
    session_id: str
    seq: int


@frozen
class SessionCommand:
    """Any of `SESSION_COMMANDS`, its members not yet read."""

    opcode: Opcode
    d: Any


class _Refused(Exception):
    """A member breaks its rule."""

    def __init__(self, close: Close) -> None:
        super().__init__(close.reason)
        self.close = close


def parse_resume(d: Any) -> Resume | Close:
    """Read Resume's `d`: a missing field or a wrong type closes 4002 `Invalid resume payload` (Resume 3)."""
    if type(d) is not dict:
        return INVALID_RESUME_PAYLOAD
    token, session_id, seq = d.get("token"), d.get("session_id"), whole(d.get("seq"))
    if type(token) is not str or type(session_id) is not str or type(seq) is not int:
        return INVALID_RESUME_PAYLOAD
    return Resume(token, session_id, seq)


def parse_identify(d: Any) -> Identify | Close:
    """Read Identify's `d`; a malformed shard pair is named last, after every fault of the payload itself."""
    if type(d) is not dict:
        return INVALID_IDENTIFY_PAYLOAD
    try:
        token = _token(d)
        properties = _properties(d)
        ignored_events = _ignored_events(d)
        flags = _flags(d)
    except _Refused as refused:
        return refused.close
    shard = parse_shard(d.get("shard"))
    if isinstance(shard, Close):
        return shard
    return Identify(
        token=token,
        properties=properties,
        presence=parse_initial_presence(d.get("presence")),
        ignored_events=ignored_events,
        flags=flags,
        initial_guild_id=parse_snowflake(d.get("initial_guild_id")),
        shard=shard,
        d=d,
    )


def _token(d: Mapping[str, Any]) -> str:
    token = d.get("token")
    if type(token) is not str or token == "":
        raise _Refused(INVALID_IDENTIFY_PAYLOAD)
    return token


def _properties(d: Mapping[str, Any]) -> IdentifyProperties:
    properties = d.get("properties")
    if type(properties) is not dict:
        raise _Refused(INVALID_IDENTIFY_PAYLOAD)
    return IdentifyProperties(
        os=_required_text(properties, "os"),
        browser=_required_text(properties, "browser"),
        device=_required_text(properties, "device"),
        e2ee_capable=properties.get("e2ee_capable") is True,
        mobile=properties.get("mobile") is True,
        latitude=_coordinate(properties, "latitude"),
        longitude=_coordinate(properties, "longitude"),
    )


def _required_text(properties: Mapping[str, Any], member: str) -> str:
    value = properties.get(member)
    if type(value) is not str:
        raise _Refused(INVALID_IDENTIFY_PAYLOAD)
    return value


def _coordinate(properties: Mapping[str, Any], member: str) -> str | None:
    value = properties.get(member)
    if value is None:
        return None
    if type(value) is str and 1 <= len(value) <= COORDINATE_CHARACTERS:
        return value
    raise _Refused(FAILED_TO_START_SESSION)  # this fails the start, not the payload


NO_EVENTS: Final[frozenset[str]] = frozenset()
"""One for all sessions: an empty set takes as much as one of four."""


def _ignored_events(d: Mapping[str, Any]) -> frozenset[str]:
    value = d.get("ignored_events")
    if value is None:
        return NO_EVENTS
    if type(value) is not list or len(value) > IGNORED_EVENTS_MAXIMUM:
        raise _Refused(INVALID_IDENTIFY_PAYLOAD)
    if any(type(name) is not str for name in value):
        raise _Refused(INVALID_IDENTIFY_PAYLOAD)
    return frozenset(name.upper() for name in value)


def _flags(d: Mapping[str, Any]) -> int:
    value = whole(d.get("flags", 0))
    if type(value) is not int or value < 0:
        raise _Refused(INVALID_IDENTIFY_PAYLOAD)
    return value


@frozen
class Shard:
    """One of `count` parts of an account's guilds; `id` counts from zero."""

    id: int
    count: int

    def owns(self, guild_id: int) -> bool:
        """Whether the guild falls to this shard."""
        return shard_of(guild_id, self.count) == self.id

    def as_pair(self) -> list[int]:
        """The pair as it stands in Identify and in Ready."""
        return [self.id, self.count]


def shard_of(guild_id: int, count: int) -> int:
    """The id of the shard that owns a guild, of `count` shards (gateway.md, Shards)."""
    return (guild_id >> 22) % count


def parse_shard(value: Any) -> Shard | Close | None:
    """Read Identify's `shard`: null means no sharding; anything but a pair in bounds closes 4010 `Invalid shard`."""
    if value is None:
        return None
    if type(value) is not list or len(value) != 2:
        return INVALID_SHARD
    shard_id, count = map(whole, value)
    if type(shard_id) is not int or type(count) is not int:
        return INVALID_SHARD
    if not SHARD_COUNT_MINIMUM <= count <= SHARD_COUNT_MAXIMUM or not 0 <= shard_id < count:
        return INVALID_SHARD
    return Shard(shard_id, count)
