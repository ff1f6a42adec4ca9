"""At a node: which kind of socket an upgrade asks for."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from chat.classes import frozen
from chat.gateway.compressed_connection import CompressedConnection
from chat.gateway.connection import Connection
from chat.gateway.parts import Elsewhere, GatewayParts, StartFailure
from chat.gateway.session import BeginSession, GatewaySession, MakeSession
from chat.nodes.remote import RemoteStarts
from chat.port.transport import Transport
from chat.port.upgrade import UpgradeRequest
from chat.protocol.commands import ConnectionQuery, Identify, Resume, parse_connection_query


@frozen(eq=False)
class StartsAtMount:
    """As `RemoteStarts` for a socket at a mount, whose sessions the core makes in the mount's own way."""

    _starts: RemoteStarts
    _mount: str
    _host: str | None

    async def start(
        self, identify: Identify, address: str, make: MakeSession, begin: BeginSession, *, retried: bool
    ) -> StartFailure | None:
        """As `RemoteStarts`."""
        return await self._starts.start(
            identify, address, make, begin, retried=retried, mount=self._mount, host=self._host
        )

    def find(self, resume: Resume, address: str, mount: str) -> Elsewhere:
        """As `RemoteStarts`."""
        return self._starts.find(resume, address, mount)

    async def introduce_guilds(self, session: GatewaySession) -> None:
        """Does nothing: the core does it."""


def socket_of(
    request: UpgradeRequest, transport: Transport, parts: GatewayParts, starts: RemoteStarts, mounts: Sequence[str]
) -> tuple[Connection, ConnectionQuery]:
    """The socket and its query. `mounts` names the mounts that the core has."""
    mounted = _mounted(request, transport, parts, starts) if "discord" in mounts else None
    if mounted is not None:
        return mounted
    query = parse_connection_query(request.query_string)
    return (CompressedConnection if query.compressed else Connection)(transport, request.address, parts), query


def _mounted(
    request: UpgradeRequest, transport: Transport, parts: GatewayParts, starts: RemoteStarts
) -> tuple[Connection, ConnectionQuery] | None:
    """A socket of the mount `discord`, if the upgrade asks for it. The module is imported here because most instances
    never need it."""
    from chat.compat.discord.sockets import MOUNT, mounted_connection

    parts = attrs.evolve(parts, starts=StartsAtMount(starts, MOUNT, request.header("host")))
    return mounted_connection(request, transport, parts, GatewaySession.identified)  # the core makes the sessions
