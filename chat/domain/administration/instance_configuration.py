"""The instance's policy and limits, as administrators see and choose them at run time (administration.md, Instance
configuration)."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import attrs
import structlog

from chat.config.declare import UnexpectedValueError
from chat.config.loading import LIMITS, POLICY, SECTION, Overrides, checked, effective
from chat.config.settings import Settings
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.administration.instance_setup import InstanceSetup
from chat.domain.core import Core
from chat.errors import FieldError, InvalidFormBody
from chat.registries.admin_actions import AdminAction
from chat.store.accounts.accounts import Account
from chat.store.administration import chosen_settings
from chat.store.guilds import guilds

log: Final = structlog.get_logger("chat.admin")

ORDERED: Final = (
    ("min_bitrate", "default_bitrate"),
    ("default_bitrate", "max_bitrate"),
    ("default_voice_connection_limit", "max_voice_connection_limit"),
)
"""Limits of which the first may not be above the second."""


@attrs.define(kw_only=True, eq=False)
class InstanceConfiguration:
    """Shows and changes what is in force; kept in the store, so it outlives a restart."""

    _core: Core
    _overrides: Overrides
    _setup: InstanceSetup
    _log: AdminAuditLog

    async def policy(self, acting: Acting) -> dict[str, Any]:
        """The policy that is in force."""
        await self._log.note(acting, AdminAction.GET_INSTANCE_CONFIG, NO_TARGET)
        return self._policy()

    async def limits(self, acting: Acting) -> dict[str, Any]:
        """The limits that are in force."""
        await self._log.note(acting, AdminAction.GET_LIMIT_CONFIG, NO_TARGET)
        return self._limits()

    async def change_policy(
        self, acting: Acting, chosen: Mapping[str, Any], reset: Collection[str], *, completes_setup: bool
    ) -> dict[str, Any]:
        """Choose some settings, take the choice of others back, and perhaps complete the first run, which gives the
        caller `*`. In force when this returns.

        :raises ApiError: CONFLICT for a setup that is complete, or not the caller's to complete.
        :raises InvalidFormBody: INVALID_FORMAT at `single_community_guild_id` for a single community without a guild,
            or with one that does not exist.
        """
        given: list[tuple[Account, Account]] = []

        def unit(connection: sqlite3.Connection) -> dict[str, Any]:
            given.clear()
            values = self._merged(connection, chosen, reset)
            _require_community(connection, effective(self._overrides.loaded, values))
            chosen_settings.replace(connection, values)
            metadata = {**chosen, **({"reset": sorted(reset)} if reset else {})}
            self._log.record(connection, acting, AdminAction.UPDATE_INSTANCE_CONFIG, NO_TARGET, metadata)
            if completes_setup:
                before, after = self._setup.complete(connection, acting.principal)
                given.append((before, after))
                self._log.record(connection, acting, AdminAction.SET_ACLS, after.id, {"acls": after.acls})
            return values

        def then(values: dict[str, Any]) -> None:
            self._overrides.put(values)
            for before, after in given:
                self._core.account_events.changed(before, after)

        values = await self._core.database.write(unit, then)
        log.info("instance configured", chosen=sorted(values), user_id=acting.user_id, setup_completed=completes_setup)
        return self._policy()

    async def change_limits(self, acting: Acting, wanted: Mapping[str, int], reset: Sequence[str]) -> dict[str, Any]:
        """Choose limits by their plain names, and take the choice of others back. In force when this returns.

        :raises InvalidFormBody: INVALID_FORMAT below `limits` or `reset` for a name that is none, a value that the
            limit cannot have, and values that contradict each other.
        """
        chosen = {}
        errors = [FieldError(f"reset.{at}", "INVALID_FORMAT") for at, name in enumerate(reset) if name not in LIMITS]
        for name, value in wanted.items():
            try:
                chosen[f"{SECTION}{name}"] = checked(f"{SECTION}{name}", value)
            except UnexpectedValueError:
                errors.append(FieldError(f"limits.{name}", "INVALID_FORMAT"))
        if errors:
            raise InvalidFormBody(errors)
        taken_back = sorted({name for name in reset if name not in wanted})
        metadata: dict[str, Any] = {"limits": [f"{name}={value}" for name, value in sorted(wanted.items())]}
        if taken_back:
            metadata["reset"] = taken_back

        def unit(connection: sqlite3.Connection) -> dict[str, Any]:
            values = self._merged(connection, chosen, [f"{SECTION}{name}" for name in taken_back])
            _require_order(effective(self._overrides.loaded, values))
            chosen_settings.replace(connection, values)
            self._log.record(connection, acting, AdminAction.UPDATE_LIMIT_CONFIG, NO_TARGET, metadata)
            return values

        values = await self._core.database.write(unit, self._overrides.put)
        log.info("limits configured", chosen=sorted(values), user_id=acting.user_id)
        return self._limits()

    def _merged(
        self, connection: sqlite3.Connection, chosen: Mapping[str, Any], reset: Collection[str]
    ) -> dict[str, Any]:
        """What is chosen afterwards, after what the store says at this moment."""
        before = chosen_settings.every(connection)
        return {name: value for name, value in before.items() if name not in reset} | dict(chosen)

    def _policy(self) -> dict[str, Any]:
        settings, values = self._overrides.settings, self._overrides.values
        config = {name: getattr(settings, name) for name in POLICY}
        community = config["single_community_guild_id"]
        config["single_community_guild_id"] = None if community is None else str(community)
        return {
            "config": config,
            "overridden": [name for name in POLICY if name in values],
            "setup": {"configured": self._setup.is_configured},
        }

    def _limits(self) -> dict[str, Any]:
        in_force, loaded = self._overrides.settings.limits, self._overrides.loaded.limits
        return {
            "limits": {name: getattr(in_force, name) for name in LIMITS},
            "defaults": {name: getattr(loaded, name) for name in LIMITS},
            "overridden": [name for name in LIMITS if f"{SECTION}{name}" in self._overrides.values],
        }


def _require_community(connection: sqlite3.Connection, settings: Settings) -> None:
    guild_id = settings.single_community_guild_id
    is_missing = guild_id is None or guilds.by_id(connection, guild_id) is None
    if settings.single_community_enabled and is_missing:
        raise InvalidFormBody.at("single_community_guild_id", "INVALID_FORMAT")


def _require_order(settings: Settings) -> None:
    limits = settings.limits
    for lower, higher in ORDERED:
        if getattr(limits, lower) > getattr(limits, higher):
            raise InvalidFormBody([FieldError(f"limits.{name}", "INVALID_FORMAT") for name in (lower, higher)])
