"""The node's state on demand: draining, full, paused, failing (development.md, Development routes)."""

from __future__ import annotations

from typing import Any

import attrs

from chat.api.fields import OMITTED, Maybe, Omitted, Snowflake
from chat.bus.bus import Bus, GuildAvailabilityChanged
from chat.development.parts import Development
from chat.domain.standing.guild_states import GuildStates
from chat.gateway.gateway import Gateway
from chat.store.database import Database


@attrs.frozen
class NodeChange:
    """What is to be different; omitted members keep what they are."""

    draining: Maybe[bool] = OMITTED
    at_capacity: Maybe[bool] = OMITTED
    starts_paused: Maybe[bool] = OMITTED
    rollout_user_ids: Maybe[frozenset[Snowflake] | None] = OMITTED
    rpc_failing: Maybe[bool] = OMITTED
    storage_failing: Maybe[bool] = OMITTED
    missing_guild_ids: Maybe[frozenset[Snowflake]] = OMITTED


@attrs.frozen
class NodeControl:
    """The parts in which the node's state lies."""

    gateway: Gateway
    database: Database
    guild_states: GuildStates
    bus: Bus

    def change(self, change: NodeChange) -> None:
        """Set what is named. `draining` tells every session to reconnect, each time that it is set."""
        node = self.gateway.node
        for name in ("at_capacity", "starts_paused", "rollout_user_ids", "rpc_failing"):
            value = getattr(change, name)
            if not isinstance(value, Omitted):
                setattr(node, name, value)
        if not isinstance(change.rpc_failing, Omitted):
            self.guild_states.counts_failing = change.rpc_failing
        if not isinstance(change.storage_failing, Omitted):
            self.database.failing = change.storage_failing
        if not isinstance(change.missing_guild_ids, Omitted):
            self._set_missing(change.missing_guild_ids)
        if not isinstance(change.draining, Omitted):
            node.draining = change.draining
            if change.draining:
                self.gateway.drain()

    def clear(self) -> None:
        """Return to a node without faults."""
        self.change(NodeChange(False, False, False, None, False, False, frozenset()))

    def state(self) -> dict[str, Any]:
        """The state as the route answers it."""
        node = self.gateway.node
        rollout = node.rollout_user_ids
        return {
            "draining": node.draining,
            "at_capacity": node.at_capacity,
            "starts_paused": node.starts_paused,
            "rollout_user_ids": None if rollout is None else [str(user_id) for user_id in sorted(rollout)],
            "rpc_failing": node.rpc_failing,
            "storage_failing": self.database.failing,
            "missing_guild_ids": [str(guild_id) for guild_id in sorted(self.guild_states.missing_guild_ids)],
        }

    def _set_missing(self, guild_ids: frozenset[int]) -> None:
        missing = self.guild_states.missing_guild_ids
        changed = missing ^ guild_ids
        missing.clear()
        missing.update(guild_ids)
        self.bus.publish(*(GuildAvailabilityChanged(guild_id) for guild_id in sorted(changed)))


def node_of(development: Development) -> NodeControl:
    """The control of this server's node."""
    return NodeControl(
        development.gateway, development.core.database, development.core.guild_states, development.core.bus
    )
