"""The state of this node as the gateway's state table names it.

`draining` is set by a shutdown; the others are an operator's or, under `chat dev`, a test's decision (development.md,
Development routes).
"""

from __future__ import annotations

import attrs
import trio


@attrs.define
class NodeState:
    """What the node accepts at present."""

    draining: bool = False
    """New Identifies are held; sessions get Reconnect and their sockets close 4000."""
    at_capacity: bool = False
    """Identifies are held."""
    starts_paused: bool = False
    """Identifies are held."""
    rollout_user_ids: frozenset[int] | None = None
    """Accounts outside it are held; None when there is no rollout."""
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
        """Whether an Identify is held before anyone looks at its token (gateway.md, States)."""
        return self.draining or self.at_capacity or self.starts_paused

    def admits(self, user_id: int) -> bool:
        """Whether the account is inside the session rollout."""
        return self.rollout_user_ids is None or user_id in self.rollout_user_ids
