"""The instance's policy and limits, as administrators see and choose them at run time (administration.md, Instance
configuration); the first run of an instance (access.md, First run); and figures of the instance and of its gateway, for
the operator (administration.md, Figures).

The account that sets the instance up gets `*`, so the setup is open as narrowly as can be: only until any account holds
an ACL, by any way, and only to a signed-in person who proves with a token to have seen what the operator sees: the
set-up link on the server's standard error. To come first, or to come from the machine itself, proves nothing: strangers
find a public instance within minutes, and behind a proxy everybody comes from there.
"""

from __future__ import annotations

import hmac
import sqlite3
from base64 import urlsafe_b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, cast

import attrs
import structlog
import trio

from chat import __version__, wire
from chat.auth.keys import Keys
from chat.auth.principal import CredentialKind, Principal
from chat.bus.bus import GuildStateChanged
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.config.declare import UnexpectedValueError
from chat.config.limits import ORDERED
from chat.config.loading import LIMITS, POLICY, SECTION, Overrides, checked, effective
from chat.config.settings import Settings
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.administration.gateway_nodes import NodesStanding, on_the_wire
from chat.domain.core import Core
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.rosters import Rosters
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.process_memory import resident_bytes
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import figures, instance
from chat.store.administration.figures import Figures
from chat.store.administration.instance import StoredFigures
from chat.store.database import Database
from chat.store.guilds import guilds

log: Final = structlog.get_logger("chat.admin")


@define(kw_only=True, eq=False)
class InstanceConfiguration:
    """Shows and changes what is in force; kept in the store, so it outlives a restart."""

    _core: Core
    _overrides: Overrides
    _setup: InstanceSetup
    _log: AdminAuditLog

    async def policy(self, acting: Acting) -> wire.InstanceConfig:
        """The policy that is in force."""
        await self._log.note(acting, AdminAction.GET_INSTANCE_CONFIG, NO_TARGET)
        return self._policy()

    async def limits(self, acting: Acting) -> wire.LimitConfig:
        """The limits that are in force."""
        await self._log.note(acting, AdminAction.GET_LIMIT_CONFIG, NO_TARGET)
        return self._limits()

    async def change_policy(
        self, acting: Acting, chosen: Mapping[str, Any], reset: Collection[str]
    ) -> wire.InstanceConfig:
        """Choose some settings, and take the choice of others back. In force when this returns.

        :raises InvalidFormBody: INVALID_FORMAT at `single_community_guild_id` for a single community without a guild,
            or with one that does not exist.
        """

        def unit(connection: sqlite3.Connection) -> Mapping[str, object]:
            return self._choose(connection, acting, chosen, reset)

        values = await self._core.database.write(unit, self._overrides.put, guard=acting.guard)
        log.info("instance configured", chosen=sorted(values), user_id=acting.user_id)
        return self._policy()

    async def set_up(self, acting: Acting, token: str, chosen: Mapping[str, Any]) -> None:
        """The first run: choose settings, and give the caller `*`. In force when this returns.

        :raises ApiError: CONFLICT where the instance is set up already, ACCESS_DENIED for another token than that of
            the set-up link, and for accounts that may not hold it.
        """

        def unit(connection: sqlite3.Connection) -> tuple[Mapping[str, object], Account, Account]:
            before, after = self._setup.complete(connection, acting.principal, token)
            values = self._choose(connection, acting, chosen, ())
            self._log.record(connection, acting, AdminAction.SET_ACLS, after.id, {"acls": after.acls})
            return values, before, after

        def then(done: tuple[Mapping[str, object], Account, Account]) -> None:
            values, before, after = done
            self._overrides.put(values)
            self._core.account_events.changed(before, after)

        await self._core.database.write(unit, then, guard=acting.guard)
        log.info("instance set up", user_id=acting.user_id)

    def _choose(
        self, connection: sqlite3.Connection, acting: Acting, chosen: Mapping[str, Any], reset: Collection[str]
    ) -> Mapping[str, object]:
        """In a unit of writing: what is chosen afterwards. Raises INVALID_FORMAT at the name of a value that its
        setting cannot have."""
        _require_settings(chosen)
        values = self._merged(connection, chosen, reset)
        _require_community(connection, effective(self._overrides.loaded, values))
        instance.choose_settings(connection, values)
        metadata = {**chosen, **({"reset": sorted(reset)} if reset else {})}
        self._log.record(connection, acting, AdminAction.UPDATE_INSTANCE_CONFIG, NO_TARGET, metadata)
        return values

    async def change_limits(self, acting: Acting, wanted: Mapping[str, int], reset: Sequence[str]) -> wire.LimitConfig:
        """Choose limits by their plain names, and take the choice of others back. In force when this returns. Raises
        INVALID_FORMAT below `limits` or `reset` for an unknown name, a value that the limit cannot have, and values
        that contradict each other."""
        chosen = {}
        errors = [
            FieldError(f"reset.{at}", FieldCode.INVALID_FORMAT) for at, name in enumerate(reset) if name not in LIMITS
        ]
        for name, value in wanted.items():
            try:
                chosen[f"{SECTION}{name}"] = checked(f"{SECTION}{name}", value)
            except UnexpectedValueError:
                errors.append(FieldError(f"limits.{name}", FieldCode.INVALID_FORMAT))
        if errors:
            raise InvalidFormBody(errors)
        taken_back = sorted({name for name in reset if name not in wanted})
        metadata: dict[str, object] = {"limits": [f"{name}={value}" for name, value in sorted(wanted.items())]}
        if taken_back:
            metadata["reset"] = taken_back

        def unit(connection: sqlite3.Connection) -> Mapping[str, object]:
            values = self._merged(connection, chosen, [f"{SECTION}{name}" for name in taken_back])
            _require_order(effective(self._overrides.loaded, values))
            instance.choose_settings(connection, values)
            self._log.record(connection, acting, AdminAction.UPDATE_LIMIT_CONFIG, NO_TARGET, metadata)
            return values

        values = await self._core.database.write(unit, self._overrides.put, guard=acting.guard)
        log.info("limits configured", chosen=sorted(values), user_id=acting.user_id)
        return self._limits()

    def _merged(
        self, connection: sqlite3.Connection, chosen: Mapping[str, Any], reset: Collection[str]
    ) -> Mapping[str, object]:
        """The choice after the change, applied to what the store holds at this moment."""
        before = instance.chosen_settings(connection)
        return {name: value for name, value in before.items() if name not in reset} | dict(chosen)

    def _policy(self) -> wire.InstanceConfig:
        settings, values = self._overrides.settings, self._overrides.values
        config = {name: getattr(settings, name) for name in POLICY}
        community = config["single_community_guild_id"]
        config["single_community_guild_id"] = None if community is None else str(community)
        return {
            "config": cast("wire.InstanceConfigValues", config),
            "overridden": [name for name in POLICY if name in values],
        }

    def _limits(self) -> wire.LimitConfig:
        in_force, loaded = self._overrides.settings.limits, self._overrides.loaded.limits
        return {
            "limits": {name: getattr(in_force, name) for name in LIMITS},
            "defaults": {name: getattr(loaded, name) for name in LIMITS},
            "overridden": [name for name in LIMITS if f"{SECTION}{name}" in self._overrides.values],
        }


def _require_settings(chosen: Mapping[str, Any]) -> None:
    errors = []
    for name, value in chosen.items():
        try:
            checked(name, value)
        except UnexpectedValueError:
            errors.append(FieldError(name.removeprefix(SECTION), FieldCode.INVALID_FORMAT))
    if errors:
        raise InvalidFormBody(errors)


def _require_community(connection: sqlite3.Connection, settings: Settings) -> None:
    guild_id = settings.single_community_guild_id
    is_missing = guild_id is None or guilds.by_id(connection, guild_id) is None
    if settings.single_community_enabled and is_missing:
        raise InvalidFormBody.at("single_community_guild_id", FieldCode.INVALID_FORMAT)


def _require_order(settings: Settings) -> None:
    limits = settings.limits
    for lower, higher in ORDERED:
        if getattr(limits, lower) > getattr(limits, higher):
            raise InvalidFormBody([FieldError(f"limits.{name}", FieldCode.INVALID_FORMAT) for name in (lower, higher)])


SETUP_KEY_PURPOSE: Final = "set-up link"


@define(eq=False)
class InstanceSetup:
    """Knows whether the instance is set up, and the token of the link for it."""

    _database: Database
    _keys: Keys
    _configured: bool = attrs.field(default=False, init=False)

    @property
    def is_configured(self) -> bool:
        """Whether any account holds, or has held, an ACL; what is once so stays so."""
        if not self._configured:
            self._configured = _is_configured(self._database.reader)
        return self._configured

    def forget(self) -> None:
        """The store was emptied: look again."""
        self._configured = False

    @property
    def token(self) -> str:
        """The token of the set-up link. It is the same at every start, and valid until the instance is set up."""
        return urlsafe_b64encode(self._keys.of(SETUP_KEY_PURPOSE)).decode("ascii").rstrip("=")

    def complete(self, connection: sqlite3.Connection, principal: Principal, token: str) -> tuple[Account, Account]:
        """In a unit of writing: the setup is complete, and the caller holds `*`; the account before and after.

        :raises ApiError: CONFLICT where it is complete already; ACCESS_DENIED for a wrong token, and for an account
            that is no person in good standing.
        """
        if _is_configured(connection):
            raise ApiError(ErrorCode.CONFLICT)
        before = accounts.by_id(connection, principal.user_id)
        is_shown = hmac.compare_digest(token.encode(), self.token.encode())
        if before is None or not is_shown or principal.kind is not CredentialKind.SESSION or not _may_set_up(before):
            raise ApiError(ErrorCode.ACCESS_DENIED)
        after = attrs.evolve(before, acls=(str(Acl.EVERYTHING),))
        accounts.replace(connection, after)
        return before, after


def _is_configured(connection: sqlite3.Connection) -> bool:
    return instance.value_of(connection, instance.CONFIGURED) is not None


def _may_set_up(account: Account) -> bool:
    return not account.bot and not account.is_deleted and not account.is_limited


COUNTED_MS: Final = 15_000
"""How long what was counted in the store is answered again: counting a million messages takes a moment."""


@frozen
class Period:
    """A span of time on a chart: how many points it has, how many seconds each stands for, and those of a stored
    row."""

    points: int
    step_seconds: int
    row_seconds: int


PERIODS: Final[Mapping[str, Period]] = {
    "day": Period(288, 300, figures.MINUTE),
    "week": Period(168, 3_600, figures.QUARTER),
}


def _point(span: Figures) -> wire.FigurePoint:
    median, slowest = span.percentile_ms(0.5), span.percentile_ms(0.99)
    return {
        "at": iso_timestamp(span.at),
        "messages": span.messages,
        "requests": span.requests,
        "failures": span.failures,
        "p50_ms": None if median is None else round(median, 2),
        "p99_ms": None if slowest is None else round(slowest, 2),
        "online": span.online,
        "sessions": span.sessions,
        "lag_ms": round(span.lag_us / 1_000, 2),
        "memory_bytes": span.memory_bytes,
        "stored_bytes": span.database_bytes + span.upload_bytes,
    }


@frozen
class GatewayFigures:
    """The gateway's figures. `backlog` counts events that are not delivered yet."""

    connections: int
    sessions: int
    attached_sessions: int
    bot_sessions: int
    backlog: int


@frozen
class _Counted:
    at: int
    stored: StoredFigures


@define(kw_only=True, eq=False)
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
    nodes: Callable[[], NodesStanding] | None = attrs.field(init=False, default=None)
    """Gives the state of the gateway nodes, if the server has some."""
    _started_at: int = attrs.field(init=False)
    _counted: _Counted | None = attrs.field(init=False, default=None)
    _counting: trio.Lock = attrs.field(init=False, factory=trio.Lock)

    def __attrs_post_init__(self) -> None:
        self._started_at = self._core.clock.now_ms()

    async def instance(self) -> wire.InstanceFigures:
        """How much the instance holds; counts of the store are up to COUNTED_MS old."""
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
                self._counted = _Counted(now, await self._core.database.read(instance.stored_figures))
            return self._counted.stored

    async def history(self, period: str) -> wire.FigureHistory:
        """What the server measured over the last day, in spans of five minutes, or the last week, in hours; a span in
        which it did not run is left out."""
        chosen = PERIODS[period]
        step, now = chosen.step_seconds * 1_000, self._core.clock.now_ms()
        since = now - now % step - (chosen.points - 1) * step

        def query(connection: sqlite3.Connection) -> list[wire.FigurePoint]:
            # Adding up a thousand rows takes milliseconds: it is done in the reader's thread.
            rows = figures.of_span(connection, chosen.row_seconds, since, now)
            spans = groupby(rows, key=lambda row: row.at - row.at % step)
            return [_point(figures.added(at, several)) for at, several in spans]

        return {
            "period": "day" if period == "day" else "week",
            "since": iso_timestamp(since),
            "until": iso_timestamp(now),
            "step_seconds": chosen.step_seconds,
            "points": await self._core.database.read(query),
        }

    def gateway(self) -> wire.GatewayFigures:
        """The gateway of this process; sessions of gateway nodes are among those that are counted."""
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

    def gateway_nodes(self) -> wire.GatewayNodes:
        """The gateway nodes; `broker_is_up` is None for a server that runs without."""
        standing = None if self.nodes is None else self.nodes()
        if standing is None:
            return {"broker_is_up": None, "nodes": []}
        nodes = [on_the_wire(node, standing.at) for node in standing.nodes]
        return {"broker_is_up": standing.broker_is_up, "nodes": nodes}

    def guilds(self, limit: int) -> list[wire.GatewayGuild]:
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
