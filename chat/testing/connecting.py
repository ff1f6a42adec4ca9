"""How the kit's clients reach a server: through a MemoryNetwork, or over TCP at a base URL."""

from __future__ import annotations

from typing import Final, Protocol
from urllib.parse import urlsplit

import attrs
import trio

from chat.testing.network import MemoryNetwork

CONNECT_SECONDS: Final = 10.0
"""A connection that is not there by then is not coming."""


class Route(Protocol):
    """A way to a server."""

    @property
    def host(self) -> str:
        """What the Host header says."""
        ...

    async def connect(self) -> trio.abc.HalfCloseableStream:
        """A new connection. Raises OSError when nobody listens, trio.TooSlowError when nobody answers."""
        ...


@attrs.frozen
class MemoryRoute:
    """Through a network in memory, as if from `address`."""

    network: MemoryNetwork
    address: str = "127.0.0.1"
    host: str = "127.0.0.1:8080"

    async def connect(self) -> trio.abc.HalfCloseableStream:
        return await self.network.connect(self.address)

    def from_address(self, address: str) -> MemoryRoute:
        """The same way for a client that comes from another address."""
        return attrs.evolve(self, address=address)


@attrs.frozen
class TcpRoute:
    """Over TCP."""

    hostname: str
    port: int

    @classmethod
    def of(cls, url: str) -> TcpRoute:
        """The way to the origin of an http or ws URL."""
        parts = urlsplit(url)
        if parts.scheme not in {"http", "ws"} or parts.hostname is None:
            raise ValueError(f"{url!r} is not an http or ws URL")
        return cls(parts.hostname, parts.port or 80)

    @property
    def host(self) -> str:
        return f"[{self.hostname}]:{self.port}" if ":" in self.hostname else f"{self.hostname}:{self.port}"

    async def connect(self) -> trio.abc.HalfCloseableStream:
        with trio.fail_after(CONNECT_SECONDS):
            return await trio.open_tcp_stream(self.hostname, self.port)
