"""The broker between core and nodes: streams of entries, keys that vanish, leases.

Two keep this contract: `chat.nodes.redis_broker` speaks to Redis or Valkey, `chat.nodes.memory_broker` is a twin on
Trio's clock. Both are tried by one set of tests. The broker may lose whatever it was given: a writer whose entries must
not be lost numbers them and writes the missing ones again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from chat.errors import ChatError

BEGINNING: Final = "0"
"""An id below that of every entry; stands for the newest id of an empty stream."""

CONNECT_SECONDS: Final = 2.0
"""How long connecting to the broker may take."""

COMMAND_SECONDS: Final = 2.0
"""How long a call may take, in addition to the time that a read is told to wait."""

READ_BYTES: Final = 4_194_304
"""About how many bytes one read answers at most; a single larger entry is answered whole."""


class BrokerUnavailable(ChatError):
    """The engine cannot be reached, or refused a command. A write that raises this may have been carried out, or may
    still be: an engine that was stopped carries out late what it was sent."""


class Broker(Protocol):
    """What core and nodes share. Each call raises BrokerUnavailable, within a bounded time; the next one tries again.

    Ids of entries are texts `milliseconds-number`, ordered by their numbers (`id_order`), and only grow within a
    stream. `seconds` of keys and leases are from now on. Calls made one after the other take effect in that order.
    """

    async def append(self, stream: str, entries: Sequence[bytes], *, keep_seconds: float) -> None:
        """Append entries in order. The broker may forget entries older than `keep_seconds`, and a whole stream if
        nothing was appended to it for twice that time."""
        ...

    async def read(self, stream: str, after: str, *, wait_seconds: float, most: int = 256) -> list[tuple[str, bytes]]:
        """Ids and entries after an id (`BEGINNING`: all), oldest first, at most `most` and about READ_BYTES. Waits for
        the first for `wait_seconds`, and answers nothing if none came."""
        ...

    async def newest(self, stream: str) -> str:
        """The id of the newest entry; `BEGINNING` for an empty stream."""
        ...

    async def forget(self, *names: str) -> None:
        """Delete streams and keys; names that do not exist are ignored."""
        ...

    async def put(self, values: Mapping[str, bytes], *, seconds: float) -> None:
        """Set keys that expire after `seconds`."""
        ...

    async def get(self, *keys: str) -> list[bytes | None]:
        """The values of keys, in their order; None for a key that does not exist."""
        ...

    async def claim(self, key: str, value: bytes, *, seconds: float) -> bool:
        """Take or renew a lease: True if the key was absent or held this value already."""
        ...

    async def seize(self, key: str, value: bytes, *, seconds: float) -> None:
        """Take a lease from its holder (fencing)."""
        ...


def id_order(entry: str) -> tuple[int, int]:
    """An entry's id as numbers that compare. Raises ValueError for text that is no id."""
    milliseconds, _, number = entry.partition("-")
    return int(milliseconds), int(number or 0)
