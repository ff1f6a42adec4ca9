"""The instance's policy and limits, as administrators see and choose them at run time (administration.md, Instance
configuration), and the first run of an instance (access.md, First run).

The account that completes the setup gets `*`, so the setup is open as narrowly as can be: only until any account holds
an ACL, by any way, and only to a signed-in session of the very first account of a person. On an instance where the
operator has made an administrator on the command line it is never open.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import attrs
import structlog

from chat.auth.principal import CredentialKind, Principal
from chat.config.declare import UnexpectedValueError
from chat.config.loading import LIMITS, POLICY, SECTION, Overrides, checked, effective
from chat.config.settings import Settings
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.core import Core
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import instance
from chat.store.database import Database
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
            instance.choose_settings(connection, values)
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

        values = await self._core.database.write(unit, then, guard=acting.guard)
        log.info("instance configured", chosen=sorted(values), user_id=acting.user_id, setup_completed=completes_setup)
        return self._policy()

    async def change_limits(self, acting: Acting, wanted: Mapping[str, int], reset: Sequence[str]) -> dict[str, Any]:
        """Choose limits by their plain names, and take the choice of others back. In force when this returns.

        :raises InvalidFormBody: INVALID_FORMAT below `limits` or `reset` for a name that is none, a value that the
            limit cannot have, and values that contradict each other.
        """
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
        metadata: dict[str, Any] = {"limits": [f"{name}={value}" for name, value in sorted(wanted.items())]}
        if taken_back:
            metadata["reset"] = taken_back

        def unit(connection: sqlite3.Connection) -> dict[str, Any]:
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
    ) -> dict[str, Any]:
        """What is chosen afterwards, after what the store says at this moment."""
        before = instance.chosen_settings(connection)
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
        raise InvalidFormBody.at("single_community_guild_id", FieldCode.INVALID_FORMAT)


def _require_order(settings: Settings) -> None:
    limits = settings.limits
    for lower, higher in ORDERED:
        if getattr(limits, lower) > getattr(limits, higher):
            raise InvalidFormBody([FieldError(f"limits.{name}", FieldCode.INVALID_FORMAT) for name in (lower, higher)])


class InstanceSetup:
    """Knows whether the instance is set up."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._configured = False

    @property
    def is_configured(self) -> bool:
        """Whether any account holds, or has held, an ACL; what is once so stays so."""
        if not self._configured:
            self._configured = _is_configured(self._database.reader)
        return self._configured

    def forget(self) -> None:
        """The store was emptied: look again."""
        self._configured = False

    def is_open_to(self, principal: Principal) -> bool:
        """Whether this caller may configure the instance without an ACL."""
        return (
            principal.kind is CredentialKind.SESSION
            and not self.is_configured
            and _may_set_up(self._database.reader, principal.account)
        )

    def complete(self, connection: sqlite3.Connection, principal: Principal) -> tuple[Account, Account]:
        """In a unit of writing: the setup is complete, and the caller holds `*`; the account before and after.

        :raises ApiError: CONFLICT where it is complete already, or not this caller's to complete.
        """
        before = accounts.by_id(connection, principal.user_id)
        if (
            before is None
            or principal.kind is not CredentialKind.SESSION
            or _is_configured(connection)
            or not _may_set_up(connection, before)
        ):
            raise ApiError(ErrorCode.CONFLICT)
        after = attrs.evolve(before, acls=(str(Acl.EVERYTHING),))
        accounts.replace(connection, after)
        return before, after


def _is_configured(connection: sqlite3.Connection) -> bool:
    return instance.value_of(connection, instance.CONFIGURED) is not None


def _may_set_up(connection: sqlite3.Connection, account: Account) -> bool:
    return (
        not account.bot
        and not account.is_deleted
        and not account.is_limited
        and accounts.first_person(connection) == account.id
    )
