"""How many connections an address holds at once."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from contextlib import contextmanager

from chat.auth.client_address import network_of


class ConnectionCounts:
    """Counts per address, the 64 bits of an IPv6 network being one, up to `limit` each."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: collections.Counter[str] = collections.Counter()

    @contextmanager
    def connection(self, address: str) -> Iterator[bool]:
        """Count a connection for as long as the block lasts; yields whether there was room for it."""
        key = network_of(address)
        if self._held[key] >= self._limit:
            yield False
            return
        self._held[key] += 1
        try:
            yield True
        finally:
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]

    def held(self, address: str) -> int:
        """How many connections the address holds."""
        return self._held.get(network_of(address), 0)
