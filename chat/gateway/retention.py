"""What a drained server writes down of its sessions, so that a Resume after the restart finds them (architecture.md,
Sessions outlive a restart).

Sessions share most of what they retain: an event is written once, and a session as ranges of the events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import orjson
import structlog

from chat.domain.presence.account_presence import SessionPresence
from chat.gateway.numbering import Numbering
from chat.gateway.session import GatewaySession, KeptPlace
from chat.protocol.commands import Shard
from chat.protocol.frames import EventRun, OutgoingEvent
from chat.protocol.presence import CustomStatus
from chat.store.retained_sessions import RetainedEvent, RetainedSession

logger = structlog.get_logger(__name__)

FORMAT: Final = 2
"""Version of the format. A record of another version is not read, and its session is lost."""

KEPT_AS_THEY_ARE: Final = ("bot", "is_staff", "session_id_hash", "threads", "e2ee_capable", "debounces_reactions")
KEPT_SETS: Final = ("guild_ids", "joining_guild_ids", "active_guilds")

RUN_EVENTS: Final = 512
"""Events in one shared run. After the restart a run stays in memory as long as a session retains one of its events."""


Range = tuple[int, int, int]
"""First sequence, position of its event, and for how many steps sequences and events go on side by side."""


def at_rest(sessions: Iterable[GatewaySession], stored_at: int) -> tuple[list[RetainedSession], list[RetainedEvent]]:
    """Records of the sessions, and of the events they hold, each once; `stored_at` is Unix milliseconds."""
    line = EventLine()
    records = [
        RetainedSession(session.id, session.user_id, _body(session, line.ranges(session.numbering)), stored_at)
        for session in sessions
    ]
    return records, [RetainedEvent(position, event.name, event.data) for position, event in enumerate(line.events)]


class EventLine:
    """All events of all sessions, in the order in which they were met first.

    Sessions that heard the same have the same stretches of it. These are found by comparing whole slices, since a
    server may retain thousands of sessions with thousands of events each.
    """

    def __init__(self) -> None:
        self.events: list[OutgoingEvent] = []
        self._positions: dict[OutgoingEvent, int] = {}

    def ranges(self, numbering: Numbering) -> list[Range]:
        """Where the line has what the session retains; what it has not yet is put at its end."""
        ranges = []
        for first, stretch in numbering.stretches():
            at = 0
            while at < len(stretch):
                position = self._positions.get(stretch[at])
                if position is None:
                    position, length = self._append(stretch, at)
                else:
                    length = _alike(stretch, at, self.events, position)
                ranges.append((first + at, position, length))
                at += length
        return ranges

    def _append(self, stretch: Sequence[OutgoingEvent], start: int) -> tuple[int, int]:
        """Append the events that the line does not have, up to the first that it has; returns their position and
        number."""
        position = len(self.events)
        for event in stretch[start:]:
            if event in self._positions:
                break
            self._positions[event] = len(self.events)
            self.events.append(event)
        return position, len(self.events) - position


def _alike(one: Sequence[object], start: int, other: Sequence[object], position: int) -> int:
    """How many elements are the same from these places on. It compares in steps that double while all is equal and
    halve at a difference."""
    most, length, step = min(len(one) - start, len(other) - position), 0, 64
    while length < most and step:
        step = min(step, most - length)
        if one[start + length : start + length + step] == other[position + length : position + length + step]:
            length += step
            step *= 2
        else:
            most, step = length + step - 1, step // 2
    return length


def _body(session: GatewaySession, held: Sequence[Range]) -> bytes:
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
            "mount": session.mount,
            "besides": session.kept_besides(),
            "place": None if session.place is None else attrs.astuple(session.place.kept()),
        }
    )


def revived(
    sessions: Iterable[RetainedSession],
    events: Iterable[RetainedEvent],
    kinds: Mapping[str, Callable[..., GatewaySession]],
) -> Iterator[GatewaySession]:
    """The sessions that the records were made of, without sockets; left out are those that another version wrote, and
    those that cannot be read. `kinds` makes the sessions of each mount."""
    runs = SharedRuns(events)
    for record in sessions:
        try:
            values = orjson.loads(record.body)
            if values.get("format") == FORMAT:
                yield _read(record, values, runs, kinds[values.get("mount", GatewaySession.mount)])
        except Exception:  # a session that cannot be taken up is no reason not to start
            logger.exception("a retained session was lost", user_id=record.user_id)


class SharedRuns:
    """The events by their positions, and the runs of them that sessions share."""

    def __init__(self, events: Iterable[RetainedEvent]) -> None:
        self._events = {event.id: OutgoingEvent(event.name, event.data) for event in events}
        self._runs: dict[tuple[int, int], EventRun] = {}

    def entries(self, held: Iterable[Range]) -> Iterator[tuple[int, OutgoingEvent | EventRun]]:
        """What a session retains. Raises KeyError for an event that is not there."""
        for first, position, length in held:
            at, end = position, position + length
            while at < end:
                until = min(end, at - at % RUN_EVENTS + RUN_EVENTS)
                yield first + at - position, self._events[at] if until == at + 1 else self._run(at, until)
                at = until

    def _run(self, start: int, end: int) -> EventRun:
        run = self._runs.get((start, end))
        if run is None:
            run = self._runs[start, end] = EventRun([self._events[position] for position in range(start, end)])
        return run


def _read(
    record: RetainedSession, values: Mapping[str, Any], runs: SharedRuns, kind: Callable[..., GatewaySession]
) -> GatewaySession:
    custom_status = values["presence"]["custom_status"]
    sequence, acknowledged, replay_floor = values["counters"]
    session = kind(
        record.session_id,
        user_id=record.user_id,
        shard=None if values["shard"] is None else Shard(*values["shard"]),
        ignored_events=frozenset(values["ignored_events"]),
        presence=SessionPresence(
            **{**values["presence"], "custom_status": None if custom_status is None else CustomStatus(**custom_status)}
        ),
        numbering=Numbering.restored(sequence, acknowledged, replay_floor, runs.entries(values["held"])),
        **{name: values[name] for name in KEPT_AS_THEY_ARE},
        **values.get("besides", {}),
    )
    session.address = values["address"]
    for name in KEPT_SETS:
        setattr(session, name, type(getattr(session, name))(values[name]))
    session.starting = None
    session.place = None if values.get("place") is None else KeptPlace(*values["place"])
    return session
