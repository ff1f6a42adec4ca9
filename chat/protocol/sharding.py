"""Which guilds a session owns when an account spreads over several.

See gateway.md, Shards.
"""

from __future__ import annotations

from typing import Any

import attrs

from chat.registries.close_codes import INVALID_SHARD, Close
from chat.registries.limits import SHARD_COUNT_MAXIMUM, SHARD_COUNT_MINIMUM


@attrs.frozen
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
    """The id of the shard that owns a guild, of `count` shards (Identify and sharding 2)."""
    return (guild_id >> 22) % count


def parse_shard(value: Any) -> Shard | Close | None:
    """Read Identify's `shard`: null means no sharding; anything but a pair in bounds closes 4010 `Invalid shard`."""
    if value is None:
        return None
    if type(value) is not list or len(value) != 2:
        return INVALID_SHARD
    shard_id, count = value
    if type(shard_id) is not int or type(count) is not int:
        return INVALID_SHARD
    if not SHARD_COUNT_MINIMUM <= count <= SHARD_COUNT_MAXIMUM or not 0 <= shard_id < count:
        return INVALID_SHARD
    return Shard(shard_id, count)
