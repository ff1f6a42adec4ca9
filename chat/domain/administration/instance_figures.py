"""Figures of the instance and of its gateway, for the operator (administration.md, Figures)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs
import trio

from chat import __version__
from chat.bus.bus import GuildStateChanged
from chat.clock import iso_timestamp
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.core import Core
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.rosters import Rosters
from chat.process_memory import resident_bytes
from chat.registries.admin_actions import AdminAction
from chat.registries.user_flags import UserFlag
from chat.store.administration import figures
from chat.store.administration.figures import StoredFigures

COUNTED_MS: Final = 15_000
"""How long what was counted in the store is answered again: counting a million messages takes a moment."""


@attrs.frozen
class GatewayFigures:
    """What the gateway has in hand. `backlog` is events that are not delivered yet."""

    connections: int
    sessions: int
    attached_sessions: int
    bot_sessions: int
    backlog: int


@attrs.frozen
class _Counted:
    at: int
    stored: StoredFigures


@attrs.define(kw_only=True, eq=False)
class InstanceFigures:
    """Counts, and reads guilds into memory afresh.

    `gateway` tells the gateway's figures, `sessions_in` how many sessions hear a guild.
    """

    _core: Core
    _presences: Presences
    _voice_states: VoiceStates
    _rosters: Rosters
    _log: AdminAuditLog
    _gateway: Callable[[], GatewayFigures]
    _sessions_in: Callable[[int], int]
    _started_at: int = attrs.field(init=False)
    _counted: _Counted | None = attrs.field(init=False, default=None)
    _counting: trio.Lock = attrs.field(init=False, factory=trio.Lock)

    def __attrs_post_init__(self) -> None:
        self._started_at = self._core.clock.now_ms()

    async def instance(self) -> dict[str, Any]:
        """What there is of everything; what the store is asked for is up to COUNTED_MS old."""
        stored, now = await self._stored(), self._core.clock.now_ms()
        gateway = self._gateway()
        return {
            "version": __version__,
            "started_at": iso_timestamp(self._started_at),
            "uptime_seconds": max(now - self._started_at, 0) // 1_000,
            "accounts": {"people": stored.people, "bots": stored.bots, "deleted": stored.deleted_accounts},
            "guilds": stored.guilds,
            "channels": stored.channels,
            "messages": stored.messages,
            "storage": {"upload_bytes": stored.upload_bytes, "database_bytes": stored.database_bytes},
            "jobs_waiting": stored.waiting_jobs,
            "sessions": gateway.sessions,
            "online": self._presences.online_total,
            "memory_bytes": resident_bytes(),
        }

    async def _stored(self) -> StoredFigures:
        async with self._counting:  # requests meanwhile wait for the same count
            now = self._core.clock.now_ms()
            if self._counted is None or now - self._counted.at >= COUNTED_MS:
                deleted = int(UserFlag.DELETED)
                stored = await self._core.database.read(lambda connection: figures.stored(connection, deleted))
                self._counted = _Counted(now, stored)
            return self._counted.stored

    def gateway(self) -> dict[str, Any]:
        """The gateway of this node, which is the only one."""
        gateway = self._gateway()
        return {
            "connections": gateway.connections,
            "sessions": {
                "total": gateway.sessions,
                "attached": gateway.attached_sessions,
                "retained": gateway.sessions - gateway.attached_sessions,
                "bots": gateway.bot_sessions,
            },
            "guilds_in_memory": len(self._core.guild_states),
            "presences": self._presences.online_total,
            "voice_connections": len(self._voice_states.every()),
            "backlog": gateway.backlog,
            "memory_bytes": resident_bytes(),
            "started_at": iso_timestamp(self._started_at),
            "uptime_seconds": max(self._core.clock.now_ms() - self._started_at, 0) // 1_000,
        }

    def guilds(self, limit: int) -> list[dict[str, Any]]:
        """The guilds whose state takes the most memory, as far as that can be told, the largest first."""
        states = sorted(self._core.guild_states.every(), key=lambda state: (-state.memory_bytes(), state.id))
        return [
            {
                "guild_id": str(state.id),
                "name": state.guild.name,
                "icon": state.guild.icon,
                "member_count": state.member_count,
                "session_count": self._sessions_in(state.id),
                "presence_count": self._presences.online_count(state.id),
                "memory_bytes": state.memory_bytes(),
            }
            for state in states[:limit]
        ]

    async def reload(self, acting: Acting, guild_ids: tuple[int, ...] | None) -> int:
        """Read these guilds, or all that are in memory, from the store again; how many of them were in memory. Their
        sessions stay, and hear of channels that they see now or no longer."""
        wanted = None if guild_ids is None else frozenset(guild_ids)
        chosen = [state.id for state in self._core.guild_states.every() if wanted is None or state.id in wanted]
        metadata = {"guild_count": len(chosen), "all": wanted is None}
        await self._log.note(acting, AdminAction.RELOAD_GUILDS, NO_TARGET, metadata)
        for guild_id in chosen:
            self._core.guild_states.refresh(guild_id)
            self._rosters.forget_one(guild_id)
            self._core.bus.publish(GuildStateChanged(guild_id))
            await trio.lowlevel.checkpoint()
        return len(chosen)
