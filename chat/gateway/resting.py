"""Sessions without a socket: what they hear is numbered for all of them together.

Such a session sends nothing, so its numbers are due only when it is resumed, written down or looked at. Until then the
deliveries wait here once, however many sessions rest. When they are numbered, sessions that heard the same get the same
run of events, in one step each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import attrs
import structlog

from chat.gateway.session import GatewaySession
from chat.protocol.frames import EventRun

if TYPE_CHECKING:
    from chat.gateway.fanout import Delivery

DELIVERIES: Final = 256
"""So many wait at most. A session that rests costs a microsecond each time, for all of them together."""

DELIVERIES_BYTES: Final = 1_048_576
"""How large they are at most, but for the last."""

SPLITS: Final = 256
"""Lists of receivers of which is remembered who of them rests."""

logger = structlog.get_logger(__name__)


@attrs.frozen
class Split:
    """Receivers of an event; `receivers` is held so that its identity stays its own."""

    receivers: Sequence[GatewaySession]
    awake: Sequence[GatewaySession]
    resting: tuple[GatewaySession, ...]


@attrs.define(eq=False, weakref_slot=False)
class Resting:
    """The sessions without a socket, and what they have heard and not numbered yet."""

    sessions: set[GatewaySession] = attrs.field(factory=set, init=False)
    _waiting: list[tuple[Delivery, tuple[GatewaySession, ...]]] = attrs.field(factory=list, init=False)
    _waiting_bytes: int = attrs.field(default=0, init=False)
    _splits: dict[int, Split] = attrs.field(factory=dict, init=False)

    def add(self, session: GatewaySession) -> None:
        """The session's socket is gone. Where it was at a node, its numbers stay there."""
        if session.place is not None:
            return
        self.settle()  # what waits is not for this one, whose numbers are its own until now
        session.settle = self.settle
        self.sessions.add(session)
        self._splits.clear()

    def remove(self, session: GatewaySession) -> None:
        """The session has a socket again, or is over."""
        if session in self.sessions:
            self.settle()
            session.settle = None
            self.sessions.remove(session)
            self._splits.clear()

    def awake(self, receivers: Sequence[GatewaySession]) -> Sequence[GatewaySession]:
        """Those of the receivers that do not rest."""
        return self._split(receivers).awake

    def take(self, delivery: Delivery) -> Sequence[GatewaySession]:
        """Keep the delivery for those of its receivers that rest; returns the others."""
        split = self._split(delivery.receivers)
        if split.resting:
            self._waiting.append((delivery, split.resting))
            self._waiting_bytes += delivery.event.size
            if len(self._waiting) >= DELIVERIES or self._waiting_bytes >= DELIVERIES_BYTES:
                self.settle()
        return split.awake

    def settle(self) -> None:
        """Number what waits."""
        if not self._waiting:
            return
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        for session, deliveries in _heard(waiting).items():
            try:
                deliveries.number(session)
            except Exception:  # one session that cannot be told is no reason to tell no other
                logger.exception("a session was not told", user_id=session.user_id)

    def _split(self, receivers: Sequence[GatewaySession]) -> Split:
        split = self._splits.get(id(receivers))
        if split is None:
            resting = tuple([session for session in receivers if session in self.sessions])
            awake = receivers if not resting else [session for session in receivers if session not in self.sessions]
            if len(self._splits) >= SPLITS:
                self._splits.clear()
            split = self._splits[id(receivers)] = Split(receivers, awake, resting)
        return split


class _Heard:
    """Deliveries that the same sessions heard, in order."""

    def __init__(self, deliveries: Sequence[Delivery]) -> None:
        self._deliveries = deliveries
        self._run = EventRun([delivery.event for delivery in deliveries])
        self._uniform = all(delivery.is_uniform for delivery in deliveries)

    def number(self, session: GatewaySession) -> None:
        """Number them for a session that rests, or has just ended."""
        if self._uniform and not session.ignored_events:
            session.dispatch_run(self._run)
            return
        for delivery in self._deliveries:
            event = delivery.event_for(session)
            if event is not None:
                session.dispatch(event)


def _heard(waiting: Sequence[tuple[Delivery, tuple[GatewaySession, ...]]]) -> dict[GatewaySession, _Heard]:
    """What each session heard; those that heard the same share one object."""
    groups: dict[int, list[int]] = {}
    for position, (_, resting) in enumerate(waiting):
        groups.setdefault(id(resting), []).append(position)
    patterns: dict[GatewaySession, int] = {}
    for positions in groups.values():
        pattern = sum(1 << position for position in positions)
        for session in waiting[positions[0]][1]:
            patterns[session] = patterns.get(session, 0) | pattern
    heard = {
        pattern: _Heard([delivery for position, (delivery, _) in enumerate(waiting) if pattern >> position & 1])
        for pattern in set(patterns.values())
    }
    return {session: heard[pattern] for session, pattern in patterns.items()}
