"""What the development routes work with, and the node on demand (development.md, Development routes): draining, full,
paused, failing; the way back to the seeded world; and the server's clock, moved so that its timers run in their order.

One big jump of the clock would let everything fall due at once, in any order: the deadline of a heartbeat before the
request for it. So time moves from one of Trio's deadlines to the next, and what is due runs before time moves on.
Clients live in real time: a client that was asked for a heartbeat gets a moment to answer before the clock goes on.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterable
from typing import Final

import attrs
import trio
import trio.testing

from chat.api.fields import OMITTED, Maybe, Omitted, Snowflake
from chat.api.http_faults import HttpFaults
from chat.api.rate_limit import RateLimiter
from chat.auth.address_bans import AddressBans
from chat.bus.bus import Bus, GuildAvailabilityChanged
from chat.classes import define, frozen
from chat.clock import MovableClock, SkippingClock, iso_timestamp
from chat.development.answers import ClockReading, NodeState
from chat.development.seeded_world import HashPassword, SeededWorld, hash_passwords, populate
from chat.domain.areas import Areas
from chat.domain.core import Core
from chat.domain.standing.guild_states import GuildStates
from chat.gateway.connection import Connection
from chat.gateway.delay import NO_DELAY
from chat.gateway.gateway import Gateway
from chat.store.database import Database
from chat.store.guard import UNGUARDED
from chat.store.whole_database import erase_everything, last_id


@frozen(kw_only=True)
class Development:
    """Parts of the server that only its development routes reach.

    `forget` are callables by which a reset also clears what other parts of the server remember.
    """

    world: SeededWorld
    hash_password: HashPassword
    clock: MovableClock
    core: Core
    areas: Areas
    limiter: RateLimiter
    address_bans: AddressBans
    gateway: Gateway
    http_faults: HttpFaults
    forget: tuple[Callable[[], None], ...] = ()
    turn: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    """Held while the clock is moved or the world is reset."""

    def sessions_at_nodes(self) -> int:
        """How many sessions have their sockets at gateway nodes."""
        return sum(session.place is not None for session in self.gateway.table)


@frozen
class NodeChange:
    """What is to be different; omitted members keep what they are."""

    draining: Maybe[bool] = OMITTED
    at_capacity: Maybe[bool] = OMITTED
    starts_paused: Maybe[bool] = OMITTED
    rollout_user_ids: Maybe[frozenset[Snowflake] | None] = OMITTED
    rpc_failing: Maybe[bool] = OMITTED
    storage_failing: Maybe[bool] = OMITTED
    missing_guild_ids: Maybe[frozenset[Snowflake]] = OMITTED


@frozen
class NodeControl:
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

    def state(self) -> NodeState:
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
    """Erase everything, write the seeded world's rows again and clear what is kept in memory."""
    async with development.turn:
        # First of all the store has to be able to write again, and waiting to come to an end.
        development.clock.go_on()
        node_of(development).clear()
        hashes = await hash_passwords(development.world, development.hash_password)
        end_sessions(development)

        def write(connection: sqlite3.Connection) -> None:
            erase_everything(connection)
            populate(connection, development.world, hashes)

        await development.core.database.write(write, lambda _: forget(development), guard=UNGUARDED)


def end_sessions(development: Development) -> None:
    table = development.gateway.table
    for session in table:
        table.end(session)


def forget(development: Development, skipped_ms: int = 0) -> None:
    """Clear everything kept in memory, end all sessions with opcode 9, and set the clock back to `skipped_ms` ahead of
    the machine's. Call it once the store holds the new state."""
    end_sessions(development)  # of those who came back while the erasure waited for its turn
    development.core.guild_states.forget_all()
    development.http_faults.clear()
    development.gateway.admission.reset()
    development.gateway.node.delays.clear()
    for connection in development.gateway.connections:
        connection.delay(NO_DELAY)
    development.gateway.commands.forget()
    development.limiter.clear()
    development.areas.messages.sending.forget_recent()
    development.areas.threads.threads.forget_recent()
    development.areas.signing_in.sign_ins.forget_uses()
    development.areas.administration.admin_api_keys.forget_uses()
    development.address_bans.forget_all()
    development.areas.administration.blocklists.forget_all()
    for forget_more in development.forget:
        forget_more()
    development.clock.set_back(skipped_ms)
    development.core.snowflakes.set_back()
    development.core.snowflakes.stay_above(last_id(development.core.database.reader))


# The clock

OFFSET_MAXIMUM_MS: Final = 3_155_760_000_000
"""A hundred years: as far as snowflakes and time stamps are sure to reach."""

EXACT_STEPS: Final = 20_000
"""Steps from deadline to deadline; what is left after them is gone through in COARSE_STEPS equal steps."""

COARSE_STEPS: Final = 200

SETTLING_SECONDS: Final = 1.0
"""How long what is due at a moment may keep the loop busy; then the clock moves on all the same."""

SETTLING_SECONDS_IN_ALL: Final = 10.0
"""The same for one advance."""

ANSWER_SECONDS: Final = 0.25
"""How long the server waits for a client that it asked for a heartbeat."""

ANSWER_SECONDS_IN_ALL: Final = 3.0
"""How long one advance of the clock waits for clients in all."""

POLL_SECONDS: Final = 0.001


@define
class PatienceSettings:
    """Real time that one advance may still spend on waiting."""

    settling: float
    answers: float
    silent: set[Connection] = attrs.Factory(set)
    """Connections that did not answer in time; the advance does not wait for them again."""


@frozen
class ClockMover:
    """Advances a server's clock. `connections` are the gateway's sockets."""

    clock: MovableClock
    database: Database
    connections: Callable[[], Iterable[Connection]]

    async def advance(self, milliseconds: int) -> None:
        """Move the clock forward; returns after the timers that fell due have run."""
        patience = self._patience()
        end = self.clock.skipped_ms + milliseconds
        await self._settle(patience)
        for _ in range(EXACT_STEPS):
            left = end - self.clock.skipped_ms
            if left <= 0:
                return
            await self._step(min(left, self._milliseconds_to_next_deadline()), patience)
        left = end - self.clock.skipped_ms
        for step in range(COARSE_STEPS):
            await self._step(left * (step + 1) // COARSE_STEPS - left * step // COARSE_STEPS, patience)

    async def step(self, timers: int) -> None:
        """Move the clock to the next timer, `timers` times; returns after the last has run. Without a timer nothing
        moves."""
        patience = self._patience()
        await self._settle(patience)
        for _ in range(timers):
            milliseconds = self._milliseconds_to_next_deadline()
            if self.clock.skipped_ms + milliseconds > OFFSET_MAXIMUM_MS:
                return
            await self._step(milliseconds, patience)

    def reading(self) -> ClockReading:
        next_ms = self._milliseconds_to_next_deadline()
        return {
            "now": iso_timestamp(self.clock.now_ms()),
            "offset_ms": self.clock.skipped_ms,
            "paused": self.clock.is_stopped,
            "next_timer_ms": None if next_ms > OFFSET_MAXIMUM_MS else next_ms,
        }

    def _patience(self) -> PatienceSettings:
        # On a virtual clock the clients' timers move as well, and a client that answers does so while things settle.
        is_real = isinstance(self.clock, SkippingClock)
        return PatienceSettings(SETTLING_SECONDS_IN_ALL, ANSWER_SECONDS_IN_ALL if is_real else 0.0)

    def _milliseconds_to_next_deadline(self) -> int:
        """At least 1: a deadline within the present millisecond is passed. Beyond the maximum where there is none."""
        seconds = self.clock.seconds_to_next_deadline()
        return OFFSET_MAXIMUM_MS + 1 if math.isinf(seconds) else max(1, math.ceil(seconds * 1000))

    async def _step(self, milliseconds: int, patience: PatienceSettings) -> None:
        self.clock.skip(milliseconds)
        await self._settle(patience)
        asked = {connection for connection in self.connections() if connection.awaits_heartbeat} - patience.silent
        if asked and patience.answers > 0:
            await self._await_answers(asked, patience)

    async def _settle(self, patience: PatienceSettings) -> None:
        """Let everything that is due run, with what it reads and writes."""
        began = self.clock.machine_seconds()
        with self.clock.in_machine_time(min(SETTLING_SECONDS, patience.settling)):
            await trio.testing.wait_all_tasks_blocked()
            while self.database.is_busy:
                await self._poll()
                await trio.testing.wait_all_tasks_blocked()
        patience.settling = max(POLL_SECONDS, patience.settling - (self.clock.machine_seconds() - began))

    async def _await_answers(self, asked: set[Connection], patience: PatienceSettings) -> None:
        began = self.clock.machine_seconds()
        with self.clock.in_machine_time(min(ANSWER_SECONDS, patience.answers)):
            while any(connection.awaits_heartbeat for connection in asked):
                await self._poll()
        patience.answers -= self.clock.machine_seconds() - began
        patience.silent |= {connection for connection in asked if connection.awaits_heartbeat}

    async def _poll(self) -> None:
        with self.clock.in_machine_time(POLL_SECONDS):
            await trio.sleep_forever()
