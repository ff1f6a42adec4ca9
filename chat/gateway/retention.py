"""Sessions at rest: what a drained server writes down, so that a Resume after the restart finds it (architecture.md,
Sessions outlive a restart)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs
import orjson
import structlog

from chat.domain.presence.presences import SessionPresence
from chat.gateway.session import GatewaySession
from chat.protocol.custom_status import CustomStatus
from chat.protocol.numbering import Numbering
from chat.protocol.payload import OutgoingEvent
from chat.protocol.sharding import Shard
from chat.store.retained_sessions import RetainedEvent, RetainedSession

logger = structlog.get_logger(__name__)

FORMAT: Final = 1
"""Version of the body; another one is not understood, and its session is gone."""


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
            "bot": session.bot,
            "is_staff": session.is_staff,
            "session_id_hash": session.session_id_hash,
            "shard": None if session.shard is None else session.shard.as_pair(),
            "threads": session.threads,
            "e2ee_capable": session.e2ee_capable,
            "debounces_reactions": session.debounces_reactions,
            "ignored_events": sorted(session.ignored_events),
            "presence": attrs.asdict(session.presence),
            "address": session.address,
            "guild_ids": sorted(session.guild_ids),
            "joining_guild_ids": sorted(session.joining_guild_ids),
            "active_guilds": sorted(session.active_guilds),
            "counters": [numbering.sequence, numbering.acknowledged, numbering.replay_floor],
            "held": held,
        }
    )


def revived(sessions: Iterable[RetainedSession], events: Iterable[RetainedEvent]) -> list[GatewaySession]:
    """The sessions that the records were made of, without sockets; left out are those that another version wrote, and
    those that cannot be read."""
    by_id = {event.id: OutgoingEvent(event.name, event.data) for event in events}
    found = (_revive(session, by_id) for session in sessions)
    return [session for session in found if session is not None]


def _revive(record: RetainedSession, events: Mapping[int, OutgoingEvent]) -> GatewaySession | None:
    try:
        return _read(record, events)
    except Exception:  # a session that cannot be taken up is no reason not to start
        logger.exception("a retained session was lost", user_id=record.user_id)
        return None


def _read(record: RetainedSession, events: Mapping[int, OutgoingEvent]) -> GatewaySession | None:
    values = orjson.loads(record.body)
    if values.get("format") != FORMAT:
        return None
    session = GatewaySession(
        record.session_id,
        user_id=record.user_id,
        bot=values["bot"],
        is_staff=values["is_staff"],
        session_id_hash=values["session_id_hash"],
        shard=None if values["shard"] is None else Shard(*values["shard"]),
        threads=values["threads"],
        e2ee_capable=values["e2ee_capable"],
        debounces_reactions=values["debounces_reactions"],
        ignored_events=frozenset(values["ignored_events"]),
        presence=_presence(values["presence"]),
    )
    session.address = values["address"]
    session.guild_ids = set(values["guild_ids"])
    session.joining_guild_ids = set(values["joining_guild_ids"])
    session.active_guilds = set(values["active_guilds"])
    sequence, acknowledged, replay_floor = values["counters"]
    retained = [(number, events[position]) for number, position in values["held"]]
    session.numbering = Numbering.restored(sequence, acknowledged, replay_floor, retained)
    session.starting = None
    return session


def _presence(values: dict[str, object]) -> SessionPresence:
    custom_status = values["custom_status"]
    return SessionPresence(
        status=str(values["status"]),
        afk=bool(values["afk"]),
        mobile=bool(values["mobile"]),
        custom_status=CustomStatus(**custom_status) if isinstance(custom_status, dict) else None,
    )
