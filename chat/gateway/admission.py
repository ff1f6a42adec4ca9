"""What is let in: counts and budgets of each source address, and what the node itself accepts at present.

Each address has a limit of connections at once, Identifies a minute and payloads a minute (gateway.md, Identify). A
shutdown sets `draining` in the node's state; the rest of the state is set by an operator or, under `chat dev`, by a
test (development.md, Development routes).
"""

from __future__ import annotations

import collections
from contextlib import AbstractContextManager
from typing import Final

import attrs
import trio

from chat.auth.client_address import ConnectionCounts
from chat.classes import define
from chat.gateway.delay import DelayRules
from chat.registries.limits import ADDRESS_COMMAND_BUDGET, ADDRESS_COMMAND_BUDGET_WINDOW_MS, IDENTIFY_BUDGET_WINDOW_MS

WINDOWS_KEPT: Final = 65_536
"""Addresses counted at once in a budget; beyond, the oldest window is forgotten."""


class FixedWindowBudget:
    """Allows a number of uses for each key in a window of time. A window begins with its first use."""

    def __init__(self, uses: int, window_ms: int) -> None:
        self.uses = uses
        self._window_s = window_ms / 1000
        self._windows: collections.OrderedDict[str, tuple[float, int]] = collections.OrderedDict()

    def spend(self, key: str) -> bool:
        """Use one; False when the window's uses are exhausted."""
        now = trio.current_time()
        ends, used = self._windows.get(key, (0.0, 0))
        if now >= ends:
            ends, used = now + self._window_s, 0
            self._windows.pop(key, None)
            while len(self._windows) >= WINDOWS_KEPT:
                self._windows.popitem(last=False)
        if used >= self.uses:
            return False
        self._windows[key] = (ends, used + 1)
        return True

    def clear(self) -> None:
        """Forget every window."""
        self._windows.clear()


class Admission:
    """What each source address may still do (gateway.md, Identify).

    `rate_limited` False switches the budgets off, those of single sockets too, never the count of connections.
    """

    def __init__(self, *, connections_per_address: int, identify_budget: int, rate_limited: bool) -> None:
        self._connections = ConnectionCounts(connections_per_address)
        self.rate_limited = rate_limited
        self._identifies = FixedWindowBudget(identify_budget, IDENTIFY_BUDGET_WINDOW_MS)
        self._payloads = FixedWindowBudget(ADDRESS_COMMAND_BUDGET, ADDRESS_COMMAND_BUDGET_WINDOW_MS)

    @property
    def connections_per_address(self) -> int:
        """How many connections an address may hold."""
        return self._connections.limit

    @connections_per_address.setter
    def connections_per_address(self, limit: int) -> None:
        self._connections.limit = limit

    def connection(self, address: str) -> AbstractContextManager[bool]:
        """Count a connection for as long as the block lasts; yields whether there was room for it."""
        return self._connections.connection(address)

    def connections(self, address: str) -> int:
        """How many connections the address holds."""
        return self._connections.held(address)

    def may_identify(self, address: str) -> bool:
        """Spend one Identify of the address's budget."""
        return not self.rate_limited or self._identifies.spend(address)

    def may_send(self, address: str) -> bool:
        """Spend one payload of the address's budget."""
        return not self.rate_limited or self._payloads.spend(address)

    def reset(self) -> None:
        """Forget the budgets' windows."""
        self._identifies.clear()
        self._payloads.clear()


@define
class NodeState:
    """What the node accepts at present, as the gateway's state table names it."""

    draining: bool = False
    """New Identifies are held; sessions get Reconnect and their sockets close 4000."""
    at_capacity: bool = False
    """Identifies are held."""
    starts_paused: bool = False
    """Identifies are held."""
    rollout_user_ids: frozenset[int] | None = None
    """Accounts outside it are held; None when there is no rollout."""
    delays: DelayRules = attrs.field(factory=DelayRules)
    """Whose frames leave late."""
    _rpc_failing: bool = False
    _reachable: trio.Event = attrs.field(factory=trio.Event)

    @property
    def rpc_failing(self) -> bool:
        """Sessions cannot be reached: starts are held, heartbeat sequences stay unconfirmed, Resume answers 4000."""
        return self._rpc_failing

    @rpc_failing.setter
    def rpc_failing(self, failing: bool) -> None:
        self._rpc_failing = failing
        if not failing:
            self._reachable.set()
            self._reachable = trio.Event()

    async def reachable(self) -> None:
        """Return once sessions can be reached."""
        while self._rpc_failing:
            await self._reachable.wait()

    @property
    def holds_every_identify(self) -> bool:
        """Whether an Identify is held before its token is looked at (gateway.md, States)."""
        return self.draining or self.at_capacity or self.starts_paused

    def admits(self, user_id: int) -> bool:
        """Whether the account is inside the session rollout."""
        return self.rollout_user_ids is None or user_id in self.rollout_user_ids
