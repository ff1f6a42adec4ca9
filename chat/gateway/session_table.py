"""Every live gateway session, attached or retained, and what becomes of it when its socket is gone.

A session whose socket ended counts as offline after 5,000 ms and ends after 60,000 ms (gateway.md, Resume). One task
keeps both deadlines for all sessions.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final

import attrs
import structlog
import trio

from chat.classes import define
from chat.gateway.resting import Resting
from chat.gateway.session import GatewaySession
from chat.registries.limits import OFFLINE_PUBLICATION_MS, SESSION_RETENTION_MS

RETENTION_SECONDS: Final = SESSION_RETENTION_MS / 1000
OFFLINE_SECONDS: Final = OFFLINE_PUBLICATION_MS / 1000

logger = structlog.get_logger(__name__)

SessionCallback = Callable[[GatewaySession], None]


DUE_PER_TURN: Final = 16
"""Sessions that go offline or end in one turn of the loop, a few milliseconds: thousands may lose their sockets at
once."""


@define(eq=False, weakref_slot=False)
class SessionTable:
    """Finds sessions by id and by account, and ends them."""

    _sessions: dict[str, GatewaySession] = attrs.field(factory=dict, init=False)
    _by_user: dict[int, dict[GatewaySession, None]] = attrs.field(factory=dict, init=False)
    _deadlines: list[tuple[float, int, GatewaySession]] = attrs.field(factory=list, init=False)
    _order: itertools.count[int] = attrs.field(factory=itertools.count, init=False)
    _wake: trio.Event = attrs.field(factory=trio.Event, init=False)
    resting: Resting = attrs.field(factory=Resting, init=False)
    """The sessions without a socket."""
    on_offline: list[SessionCallback] = attrs.field(factory=list, init=False)
    """Called with a session that has been without a socket for 5,000 ms."""
    on_end: list[SessionCallback] = attrs.field(factory=list, init=False)
    """Called once with each session that has ended, before it leaves the table. It leaves the table even if one of
    these fails."""

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[GatewaySession]:
        return iter(list(self._sessions.values()))

    def get(self, session_id: str) -> GatewaySession | None:
        """The session of that id, if it lives."""
        return self._sessions.get(session_id)

    def of_user(self, user_id: int) -> Collection[GatewaySession]:
        """The account's live sessions, attached and retained."""
        return self._by_user.get(user_id, {}).keys()

    def add(self, session: GatewaySession) -> None:
        """Add a new session."""
        self._sessions[session.id] = session
        self._by_user.setdefault(session.user_id, {})[session] = None

    def end(self, session: GatewaySession) -> None:
        """End a session."""
        if session.ended:
            return
        session.ended = True
        _tell(self.on_end, session)
        session.receiver = None  # nothing reaches a socket by way of a session that is over
        self.resting.remove(session)
        del self._sessions[session.id]
        of_user = self._by_user[session.user_id]
        del of_user[session]
        if not of_user:
            del self._by_user[session.user_id]

    def detach(self, session: GatewaySession, retention_seconds: float = RETENTION_SECONDS) -> None:
        """The session's socket is gone; retain the session for `retention_seconds`."""
        now = trio.current_time()
        session.receiver = None
        self.resting.add(session)
        session.detached_at = now
        session.offline_at = now + OFFLINE_SECONDS
        session.ends_at = now + retention_seconds
        self._remind(session.offline_at, session)
        self._remind(session.ends_at, session)

    def attach(self, session: GatewaySession) -> None:
        """A socket took the session over: stop its deadlines."""
        self.resting.remove(session)
        session.detached_at = session.offline_at = session.ends_at = None

    async def keep_deadlines(self) -> None:
        """Publish offline and end retained sessions when their time comes; runs until cancelled."""
        while True:
            self._wake = trio.Event()
            with trio.move_on_at(self._deadlines[0][0] if self._deadlines else float("inf")):
                await self._wake.wait()
            for _ in range(DUE_PER_TURN):
                if not self._deadlines or self._deadlines[0][0] > trio.current_time():
                    break
                deadline, _, session = heapq.heappop(self._deadlines)
                self._due(session, deadline)

    def _remind(self, deadline: float, session: GatewaySession) -> None:
        heapq.heappush(self._deadlines, (deadline, next(self._order), session))
        if self._deadlines[0][2] is session:
            self._wake.set()

    def _due(self, session: GatewaySession, deadline: float) -> None:
        # A session that was resumed meanwhile, or dropped anew, has other times than those it was filed under.
        if session.ended or session.detached_at is None:
            return
        if deadline == session.offline_at:
            _tell(self.on_offline, session)
        elif deadline == session.ends_at:
            self.end(session)


def _tell(callbacks: Iterable[SessionCallback], session: GatewaySession) -> None:
    for tell in callbacks:
        try:
            tell(session)
        except Exception:  # the others are told all the same
            logger.exception("the end of a session was not taken", session_user_id=session.user_id)
