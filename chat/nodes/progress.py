"""How far a node is: what it has read and what it has numbered of that, and the checkpoints that record it."""

from __future__ import annotations

import collections
from typing import Final

import trio

from chat.gateway.fanout import Fanout
from chat.gateway.session import GatewaySession
from chat.nodes.broker import Broker, BrokerUnavailable
from chat.nodes.link import KEEP_SECONDS
from chat.nodes.messages import Position
from chat.nodes.recovery import Checkpoint, RecoveredCounts, checkpoints_of
from chat.nodes.relay import HeldNumbering
from chat.nodes.remote import ReportingTable

CHECKPOINT_SECONDS: Final = 5.0
SOON_SECONDS: Final = 0.5
"""How soon a checkpoint follows when a session arrived, because this node has no earlier checkpoint of it."""


class Progress:
    """Follows the fan-out of a node. The node has passed a place of the log once every delivery up to there is numbered
    for all its sessions, and no later delivery is numbered for any."""

    def __init__(self, broker: Broker, node: str, table: ReportingTable, fanout: Fanout) -> None:
        self._broker = broker
        self._node = node
        self._table = table
        self._fanout = fanout
        fanout.on_batch = self._batch_delivered
        self.read = Position(0, 0)
        """The last message that was read from the core."""
        self.delivered = 0
        """How many events were delivered; each counts once for all its sessions."""
        self._undelivered: collections.deque[Position] = collections.deque()
        self._batch_over = trio.Event()
        self._wanted = trio.Event()
        self._is_due = False
        self._taken: Checkpoint | None = None

    @property
    def position(self) -> Position:
        """The place of the log up to which everything is numbered."""
        if not self._undelivered:
            return self.read
        first = self._undelivered[0]
        return Position(first.epoch, first.number - 1)

    def is_queued(self, position: Position) -> None:
        """Note that the event at this place of the log was queued in the fan-out."""
        self._undelivered.append(position)

    def _batch_delivered(self, count: int) -> None:
        self.delivered += count
        for _ in range(count):
            self._undelivered.popleft()
        if self._is_due:  # now, since the next batch may be half done when a task that waits has its turn
            self._taken, self._is_due = self._checkpoint(), False
        if count:
            self._batch_over.set()
            self._batch_over = trio.Event()

    async def caught_up(self) -> None:
        """Return once everything that was read until now is delivered."""
        until = self.read
        while self._undelivered and self._undelivered[0] <= until:
            await self._batch_over.wait()

    def want_checkpoint(self) -> None:
        """Write a checkpoint soon, because a session has arrived or the broker may have lost the earlier ones."""
        self._wanted.set()

    async def keep_checkpoints(self) -> None:
        """Write checkpoints, until cancelled."""
        while True:
            with trio.move_on_after(CHECKPOINT_SECONDS):
                await self._wanted.wait()
                await trio.sleep(SOON_SECONDS)
            self._wanted = trio.Event()
            checkpoint = await self._next_checkpoint()
            if checkpoint.standings:
                try:
                    entry = checkpoint.encoded()
                    await self._broker.append(checkpoints_of(self._node), [entry], keep_seconds=KEEP_SECONDS)
                except BrokerUnavailable:
                    self.want_checkpoint()

    async def _next_checkpoint(self) -> Checkpoint:
        if not self._fanout.backlog():
            return self._checkpoint()
        self._taken = None
        self._is_due = True
        while self._taken is None:
            await self._batch_over.wait()
        return self._taken

    def _checkpoint(self) -> Checkpoint:
        self._table.resting.settle()
        standings = {}
        for slot, session in self._table.by_slot.items():
            if has_numbers(session):
                numbering = session.numbering
                standings[slot] = RecoveredCounts(numbering.sequence, numbering.acknowledged, numbering.replay_floor)
        return Checkpoint(self.position, standings)


def has_numbers(session: GatewaySession) -> bool:
    """Whether the session has begun and its numbering is at this node."""
    return session.starting is None and not isinstance(session.numbering, HeldNumbering)
