"""Every live gateway session, attached or retained, and what becomes of it when its socket is gone.

A session whose socket ended counts as offline after 5,000 ms and ends after 60,000 ms (gateway.md, Resume). One task
keeps both deadlines for all sessions. What a drained server writes down of them, so that a Resume after the restart
finds them (architecture.md, Sessions outlive a restart), is made here too.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import orjson
import structlog
import trio

from chat.domain.presence.account_presence import SessionPresence
from chat.gateway.session import GatewaySession, Numbering
from chat.protocol.commands import Shard
from chat.protocol.frames import OutgoingEvent
from chat.protocol.presence import CustomStatus
from chat.registries.limits import OFFLINE_PUBLICATION_MS, SESSION_RETENTION_MS
from chat.store.retained_sessions import RetainedEvent, RetainedSession

RETENTION_SECONDS: Final = SESSION_RETENTION_MS / 1000
OFFLINE_SECONDS: Final = OFFLINE_PUBLICATION_MS / 1000

logger = structlog.get_logger(__name__)

SessionCallback = Callable[[GatewaySession], None]


@attrs.define(eq=False, weakref_slot=False)
class SessionTable:
    """Finds sessions by id and by account, and ends them."""

    _sessions: dict[str, GatewaySession] = attrs.field(factory=dict, init=False)
    _by_user: dict[int, dict[GatewaySession, None]] = attrs.field(factory=dict, init=False)
    _deadlines: list[tuple[float, int, GatewaySession]] = attrs.field(factory=list, init=False)
    _order: itertools.count[int] = attrs.field(factory=itertools.count, init=False)
    _wake: trio.Event = attrs.field(factory=trio.Event, init=False)
    on_offline: list[SessionCallback] = attrs.field(factory=list, init=False)
    """Told of a session that has been without a socket for 5,000 ms."""
    on_end: list[SessionCallback] = attrs.field(factory=list, init=False)
    """Told once of each session that is over, before it leaves the table, which it does even if one of these fails."""

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
        """A session begins to live."""
        self._sessions[session.id] = session
        self._by_user.setdefault(session.user_id, {})[session] = None

    def end(self, session: GatewaySession) -> None:
        """The session is over."""
        if session.ended:
            return
        session.ended = True
        _tell(self.on_end, session)
        session.receiver = None  # nothing reaches a socket by way of a session that is over
        del self._sessions[session.id]
        of_user = self._by_user[session.user_id]
        del of_user[session]
        if not of_user:
            del self._by_user[session.user_id]

    def detach(self, session: GatewaySession, retention_seconds: float = RETENTION_SECONDS) -> None:
        """The session's socket is gone; retain the session for so long."""
        now = trio.current_time()
        session.receiver = None
        session.detached_at = now
        session.offline_at = now + OFFLINE_SECONDS
        session.ends_at = now + retention_seconds
        self._remind(session.offline_at, session)
        self._remind(session.ends_at, session)

    def attach(self, session: GatewaySession) -> None:
        """A socket took the session over."""
        session.detached_at = session.offline_at = session.ends_at = None

    async def keep_deadlines(self) -> None:
        """Publish offline and end retained sessions when their time comes; runs until cancelled."""
        while True:
            self._wake = trio.Event()
            with trio.move_on_at(self._deadlines[0][0] if self._deadlines else float("inf")):
                await self._wake.wait()
            now = trio.current_time()
            while self._deadlines and self._deadlines[0][0] <= now:
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


logger = structlog.get_logger(__name__)

FORMAT: Final = 1
"""Version of the body; another one is not understood, and its session is gone."""

KEPT_AS_THEY_ARE: Final = ("bot", "is_staff", "session_id_hash", "threads", "e2ee_capable", "debounces_reactions")
KEPT_SETS: Final = ("guild_ids", "joining_guild_ids", "active_guilds")


def at_rest(sessions: Iterable[GatewaySession], stored_at: int) -> tuple[list[RetainedSession], list[RetainedEvent]]:
    """Records of the sessions, and of the events they hold, each once; `stored_at` is Unix milliseconds."""
    events: dict[int, tuple[int, OutgoingEvent]] = {}
    records = []
    for session in sessions:
        retained = session.numbering.retained_above(0)
        held = [(sequence, events.setdefault(id(event), (len(events), event))[0]) for sequence, event in retained]
        records.append(RetainedSession(session.id, session.user_id, _body(session, held), stored_at))
    return records, [RetainedEvent(position, event.name, event.data) for position, event in events.values()]


def _body(session: GatewaySession, held: Sequence[tuple[int, int]]) -> bytes:
    numbering = session.numbering
    return orjson.dumps(
        {
            "format": FORMAT,
            **{name: getattr(session, name) for name in KEPT_AS_THEY_ARE},
            **{name: sorted(getattr(session, name)) for name in KEPT_SETS},
            "shard": None if session.shard is None else session.shard.as_pair(),
            "ignored_events": sorted(session.ignored_events),
            "presence": attrs.asdict(session.presence),
            "address": session.address,
            "counters": [numbering.sequence, numbering.acknowledged, numbering.replay_floor],
            "held": held,
        }
    )


def revived(sessions: Iterable[RetainedSession], events: Iterable[RetainedEvent]) -> list[GatewaySession]:
    """The sessions that the records were made of, without sockets; left out are those that another version wrote, and
    those that cannot be read."""
    by_id = {event.id: OutgoingEvent(event.name, event.data) for event in events}
    found = []
    for record in sessions:
        try:
            values = orjson.loads(record.body)
            if values.get("format") == FORMAT:
                found.append(_read(record, values, by_id))
        except Exception:  # a session that cannot be taken up is no reason not to start
            logger.exception("a retained session was lost", user_id=record.user_id)
    return found


def _read(record: RetainedSession, values: Mapping[str, Any], events: Mapping[int, OutgoingEvent]) -> GatewaySession:
    custom_status = values["presence"]["custom_status"]
    session = GatewaySession(
        record.session_id,
        user_id=record.user_id,
        shard=None if values["shard"] is None else Shard(*values["shard"]),
        ignored_events=frozenset(values["ignored_events"]),
        presence=SessionPresence(
            **{**values["presence"], "custom_status": None if custom_status is None else CustomStatus(**custom_status)}
        ),
        **{name: values[name] for name in KEPT_AS_THEY_ARE},
    )
    session.address = values["address"]
    for name in KEPT_SETS:
        setattr(session, name, set(values[name]))
    sequence, acknowledged, replay_floor = values["counters"]
    retained = [(number, events[position]) for number, position in values["held"]]
    session.numbering = Numbering.restored(sequence, acknowledged, replay_floor, retained)
    session.starting = None
    return session
