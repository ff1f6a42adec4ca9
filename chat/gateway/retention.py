"""Sessions at rest: what a drained server writes down, so that a Resume after the restart finds it (design 4)."""

from __future__ import annotations

from typing import Final

import attrs
import orjson

from chat.domain.presences import SessionPresence
from chat.gateway.session import GatewaySession
from chat.protocol.custom_status import CustomStatus
from chat.protocol.numbering import Numbering
from chat.protocol.sharding import Shard
from chat.store.retained_sessions import RetainedSession

FORMAT: Final = 1
"""Version of the body; another one is not understood, and its session is gone."""


def at_rest(session: GatewaySession, stored_at: int) -> RetainedSession:
    """A record of the session; `stored_at` is Unix milliseconds."""
    head = {
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
    }
    body = orjson.dumps(head) + b"\n" + session.numbering.snapshot()
    return RetainedSession(session.id, session.user_id, body, stored_at)


def revived(record: RetainedSession) -> GatewaySession | None:
    """The session that a record was made of, without a socket; None when it was written by another version."""
    head, _, numbering = record.body.partition(b"\n")
    values = orjson.loads(head)
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
    session.numbering = Numbering.restore(numbering)
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
