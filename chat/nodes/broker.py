"""The broker between core and nodes: streams of entries, keys that vanish, leases.

Two keep this contract: `chat.nodes.redis_broker` speaks to Redis or Valkey, `chat.nodes.memory_broker` is a twin on
Trio's clock. Both are tried by one set of tests. The broker is not trusted to keep anything: who needs that what was
written is there numbers it and writes it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from chat.errors import ChatError

BEGINNING: Final = "0"
"""The id before every entry: the newest of a stream that is empty."""

CONNECT_SECONDS: Final = 2.0
"""The longest that a connection to the broker takes."""

COMMAND_SECONDS: Final = 2.0
"""The longest that a call takes, beyond what a read was told to wait."""

READ_BYTES: Final = 4_194_304
"""About as much as one read answers, unless a single entry is larger."""


class BrokerUnavailable(ChatError):
    """The engine cannot be reached, or refused. A write that ends so may have been carried out, or may be later: an
    engine that stood still does what it was sent once it goes on."""


class Broker(Protocol):
    """What core and nodes share. Each call raises BrokerUnavailable, within a bounded time; the next one tries again.

    Ids of entries are texts `milliseconds-number`, ordered by their numbers (`id_order`), and only grow within a
    stream. `seconds` of keys and leases are from now on. Calls made one after the other take effect in that order.
    """

    async def append(self, stream: str, entries: Sequence[bytes], *, keep_seconds: float) -> None:
        """Append entries in order. Those older than `keep_seconds` may be forgotten, and with them a stream to which
        nothing was appended for twice as long."""
        ...

    async def read(self, stream: str, after: str, *, wait_seconds: float, most: int = 256) -> list[tuple[str, bytes]]:
        """Ids and entries after an id (`BEGINNING`: all), oldest first, at most `most` and about READ_BYTES. Waits for
        the first for `wait_seconds`, and answers nothing if none came."""
        ...

    async def newest(self, stream: str) -> str:
        """The id of the newest entry; `BEGINNING` where there is none."""
        ...

    async def forget(self, *names: str) -> None:
        """Delete streams and keys; those that are not there are no error."""
        ...

    async def put(self, values: Mapping[str, bytes], *, seconds: float) -> None:
        """Set keys that expire after `seconds`."""
        ...

    async def get(self, *keys: str) -> list[bytes | None]:
        """The values of keys, in their order; None for one that is not there."""
        ...

    async def claim(self, key: str, value: bytes, *, seconds: float) -> bool:
        """Take or renew a lease: true where the key was absent or held this value already."""
        ...

    async def seize(self, key: str, value: bytes, *, seconds: float) -> None:
        """Take a lease from its holder (fencing)."""
        ...


def id_order(entry: str) -> tuple[int, int]:
    """An id as numbers that compare. Raises ValueError for what is no id."""
    milliseconds, _, number = entry.partition("-")
    return int(milliseconds), int(number or 0)
