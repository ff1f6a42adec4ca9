"""The node's state on demand: draining, full, paused, failing; and the way back to the seeded world (development.md,
Development routes)."""

from __future__ import annotations

import sqlite3
from typing import Any

import attrs

from chat.api.fields import OMITTED, Maybe, Omitted, Snowflake
from chat.bus.bus import Bus, GuildAvailabilityChanged
from chat.development.parts import Development
from chat.development.seeded_world import hash_passwords, populate
from chat.domain.standing.guild_states import GuildStates
from chat.gateway.gateway import Gateway
from chat.store.database import Database
from chat.store.guard import UNGUARDED
from chat.store.whole_database import erase_everything, last_id


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
        self.change(NodeChange(False, False, False, None, False, False, frozenset()))

    def state(self) -> dict[str, Any]:
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
    return NodeControl(
        development.gateway, development.core.database, development.core.guild_states, development.core.bus
    )


async def reset(development: Development) -> None:
    """Erase everything, make the seeded world's rows anew and forget what memory holds of the time before."""
    async with development.turn:
        # First of all the store has to be able to write again.
        node_of(development).clear()
        hashes = await hash_passwords(development.world, development.hash_password)
        _end_sessions(development)

        def write(connection: sqlite3.Connection) -> None:
            erase_everything(connection)
            populate(connection, development.world, hashes)

        await development.core.database.write(write, lambda _: _forget(development), guard=UNGUARDED)


def _end_sessions(development: Development) -> None:
    table = development.gateway.table
    for session in table:
        table.end(session)


def _forget(development: Development) -> None:
    _end_sessions(development)  # of those who came back while the erasure waited for its turn
    development.core.guild_states.forget_all()
    development.http_faults.clear()
    development.gateway.admission.reset()
    development.gateway.commands.forget()
    development.limiter.clear()
    development.areas.messages.sending.forget_recent()
    development.areas.threads.threads.forget_recent()
    development.areas.signing_in.sign_ins.forget_uses()
    development.areas.administration.admin_api_keys.forget_uses()
    development.address_bans.forget_all()
    development.areas.administration.blocklists.forget_all()
    for forget in development.forget:
        forget()
    development.clock.set_back()
    development.core.snowflakes.set_back()
    development.core.snowflakes.stay_above(last_id(development.core.database.reader))
