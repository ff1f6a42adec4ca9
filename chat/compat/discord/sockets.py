"""Sockets that ask for version 10 or 9 (compat.md, Gateway of the mount), at the server itself and at a gateway node.

Such a socket is a `Connection` like every other one. What a client says is put into our words when it is decoded, and
the payloads that are no Dispatches get the members that libraries insist on. Dispatches come translated, by the session
(`chat.compat.discord.session`). So nothing of the domain is needed here.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final
from urllib.parse import parse_qs

import attrs

from chat.classes import define
from chat.compat.discord.intents import read_intents
from chat.compat.discord.objects import CUSTOM_STATUS
from chat.compat.discord.tokens import without_scheme
from chat.gateway.compressed_connection import CompressedConnection, StreamCompressor
from chat.gateway.connection import Connection
from chat.gateway.parts import GatewayParts
from chat.gateway.session import MakeSession
from chat.port.transport import Transport
from chat.port.upgrade import UpgradeRequest
from chat.protocol import payload
from chat.protocol.commands import QUERIES_KEPT, ConnectionQuery
from chat.protocol.payload import Payload
from chat.protocol.zstd_stream import Compressor, zstd_available
from chat.registries.close_codes import Close
from chat.registries.opcodes import IdentifyFlag, Opcode

MOUNT: Final = "discord"
"""What the mount is called among sessions."""

VERSIONS: Final = frozenset({"10", "9", "8"})
IN_ORDER: Final = ConnectionQuery(version_accepted=True, compressed=False)

ZLIB_LEVEL: Final = 1
ZLIB_WINDOW_BITS: Final = 12
ZLIB_MEMORY_LEVEL: Final = 5
"""With a window of 4 KiB a stream costs 32 KiB of memory, an eighth of what the library takes by itself."""

HEADER_PROPERTIES: Final = ("os", "browser", "device")


class ZlibCompressor:
    """The server's stream as `compress=zlib-stream` has it: one zlib stream, flushed after each payload."""

    __slots__ = ("_stream",)

    def __init__(self) -> None:
        self._stream = zlib.compressobj(ZLIB_LEVEL, wbits=ZLIB_WINDOW_BITS, memLevel=ZLIB_MEMORY_LEVEL)

    def compress(self, data: bytes) -> bytes:
        """The next piece of the stream: all of this payload."""
        return self._stream.compress(data) + self._stream.flush(zlib.Z_SYNC_FLUSH)


def _compressor(asked: str) -> StreamCompressor | None:
    """What compresses for a socket that asked so; None for one that is sent plain text."""
    if asked == "zlib-stream":
        return ZlibCompressor()
    return Compressor() if asked == "zstd-stream" and zstd_available() else None


@functools.lru_cache(maxsize=QUERIES_KEPT)
def _asked_for(query_string: str) -> tuple[str, str]:
    """The version and the compression that a query names; empty where it names none."""
    query = parse_qs(query_string)
    return query.get("v", [""])[0], query.get("compress", [""])[0]


@functools.lru_cache(maxsize=16)
def _with_members(data: bytes) -> bytes:
    """A payload that is no Dispatch, with `s`, `t` and `d`."""
    nothing = b',"s":null,"t":null}' if b'"d":' in data else b',"d":null,"s":null,"t":null}'
    return data[:-1] + nothing


if TYPE_CHECKING:

    class _Socket(Connection):
        _make: MakeSession
else:
    _Socket = object


class _Mounted(_Socket):
    """What sockets of the mount do otherwise, compressed or not. Each kind has the attributes of its own."""

    __slots__ = ()

    mount: ClassVar[str] = MOUNT

    def send_payload(self, data: bytes) -> None:
        super().send_payload(_with_members(data))

    def _decode(self, data: bytes) -> Payload | Close:
        # Clients compress nothing, whatever the query says.
        decoded = payload.decode_payload(data)
        if isinstance(decoded, Close) or type(decoded.d) is not dict:
            return decoded
        if decoded.op == Opcode.IDENTIFY:
            intents = read_intents(decoded.d.get("intents"))
            if isinstance(intents, Close):
                return intents
            decoded = attrs.evolve(decoded, d={**decoded.d, "intents": intents})
        said = SAID.get(decoded.op)
        return decoded if said is None else attrs.evolve(decoded, d=said(decoded.d))

    @property
    def _make_session(self) -> MakeSession:
        return self._make


@define(eq=False, weakref_slot=False)
class MountedConnection(_Mounted, Connection):
    _make: MakeSession = attrs.field(kw_only=True)


@define(eq=False, weakref_slot=False)
class CompressedMountedConnection(_Mounted, CompressedConnection):
    _compressor: StreamCompressor | None = attrs.field(kw_only=True)
    _make: MakeSession = attrs.field(kw_only=True)


def mounted_connection(
    request: UpgradeRequest, transport: Transport, parts: GatewayParts, make: MakeSession
) -> tuple[Connection, ConnectionQuery] | None:
    """A socket of the mount, where the query asks for its version, and its query as one that is in order; else None.
    `make` makes its sessions, where they are made here and not by the core of a node."""
    version, compress = _asked_for(request.query_string)
    if version not in VERSIONS:
        return None
    compressor = _compressor(compress)
    if compressor is None:
        return MountedConnection(transport, request.address, parts, make=make), IN_ORDER
    return CompressedMountedConnection(transport, request.address, parts, compressor=compressor, make=make), IN_ORDER


def _identify(d: Mapping[str, Any]) -> Mapping[str, object]:
    said = {**_credential(d), "flags": int(IdentifyFlag.CHANNEL_THREADS)}
    properties = d.get("properties")
    if isinstance(properties, dict):
        # Older libraries write `$os`; what a library does not tell of itself is no reason to refuse it.
        told = {name: properties.get(name, properties.get(f"${name}", "")) for name in HEADER_PROPERTIES}
        said["properties"] = {name: str(value) for name, value in told.items()}
    if isinstance(d.get("presence"), dict):
        said["presence"] = _presence(d["presence"])
    return said


def _credential(d: Mapping[str, Any]) -> Mapping[str, object]:
    token = d.get("token")
    return {**d, "token": without_scheme(token)} if isinstance(token, str) else dict(d)


def _presence(d: Mapping[str, Any]) -> Mapping[str, object]:
    activities = d.get("activities")
    if not isinstance(activities, list):
        return dict(d)
    texts = [
        each.get("state")
        for each in activities
        if isinstance(each, dict) and each.get("type") == CUSTOM_STATUS and isinstance(each.get("state"), str)
    ]
    return {**d, "custom_status": {"text": texts[0]} if texts else None}


def _request_members(d: Mapping[str, Any]) -> Mapping[str, object]:
    """Some libraries name the guild in a list."""
    guild_ids = d.get("guild_id")
    return {**d, "guild_id": guild_ids[0]} if isinstance(guild_ids, list) and len(guild_ids) == 1 else d


SAID: Final[Mapping[int, Callable[[Mapping[str, Any]], Mapping[str, object]]]] = {
    Opcode.IDENTIFY: _identify,
    Opcode.RESUME: _credential,
    Opcode.PRESENCE_UPDATE: _presence,
    Opcode.REQUEST_GUILD_MEMBERS: _request_members,
}
"""What of a client's commands is put into our words."""
