"""What administrators decide on public discovery (administration.md, Reports and discovery)."""

from __future__ import annotations

import sqlite3
from typing import Any

import attrs

from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.administration.administration_objects import admin_guild, summary_of
from chat.domain.administration.guilds import known_guild
from chat.domain.core import Core
from chat.domain.guilds.guild_changes import ChangedGuild, GuildChanges
from chat.domain.guilds.guild_discovery import application_object, out_of_discovery, required_application
from chat.domain.standing.audit_log import Actor
from chat.errors import ApiError
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode
from chat.registries.guild_features import GuildFeature
from chat.registries.guild_values import DiscoveryStatus, VerificationLevel
from chat.store.accounts import accounts
from chat.store.guilds import guild_discovery, guilds
from chat.store.guilds.guild_discovery import DiscoveryApplication
from chat.store.guilds.guilds import Guild


@attrs.define(kw_only=True, eq=False)
class AdministeredDiscovery:
    """Lists applications and decides on them; takes guilds out of discovery."""

    _core: Core
    _log: AdminAuditLog
    _changes: GuildChanges

    async def listed(self, acting: Acting, status: DiscoveryStatus, limit: int, offset: int) -> dict[str, Any]:
        """A page of the applications that stand so, the oldest first, each with its guild, and how many there are."""

        def query(connection: sqlite3.Connection) -> tuple[list[dict[str, Any]], int]:
            found, total = guild_discovery.with_status(connection, status, limit, offset)
            return [reviewed_object(connection, application) for application in found], total

        page, total = await self._core.database.read(query)
        metadata = {"status": status, "limit": limit, "offset": offset, "result_count": len(page)}
        await self._log.note(acting, AdminAction.LIST_DISCOVERY_APPLICATIONS, NO_TARGET, metadata)
        return {"applications": page, "total": total}

    async def approve(self, acting: Acting, guild_id: int, reason: str | None) -> dict[str, Any]:
        """Take a guild into discovery. A guild that all accounts can find asks something of those who write there: one
        that asked nothing asks for verified addresses from now on (guilds.md, Verification levels).

        :raises ApiError: UNKNOWN_GUILD, DISCOVERY_APPLICATION_NOT_FOUND, DISCOVERY_APPLICATION_ALREADY_REVIEWED.
        """
        return await self._decide(acting, guild_id, DiscoveryStatus.APPROVED, reason)

    async def reject(self, acting: Acting, guild_id: int, reason: str | None) -> dict[str, Any]:
        """Turn an application down; the guild is told why, if anything is said.

        :raises ApiError: as `approve`.
        """
        return await self._decide(acting, guild_id, DiscoveryStatus.REJECTED, reason)

    async def remove(self, acting: Acting, guild_id: int, reason: str | None) -> None:
        """Take a guild out of discovery, however it got there.

        :raises ApiError: UNKNOWN_GUILD, DISCOVERY_NOT_DISCOVERABLE.
        """
        judged = await self._changes.judged(known_guild(self._core, guild_id), {}, guard=acting.guard)

        def unit(connection: sqlite3.Connection) -> ChangedGuild:
            application = guild_discovery.find(connection, guild_id)
            if application is not None:
                self._review(connection, acting, application, DiscoveryStatus.REMOVED, reason)
            self._log.record(connection, acting, AdminAction.REMOVE_FROM_DISCOVERY, guild_id, {"reason": reason})
            return self._changes.write(connection, guild_id, judged, Actor(acting.user_id), _removed)

        await self._core.database.write(unit, self._changes.announce, guard=acting.guard)

    async def _decide(
        self, acting: Acting, guild_id: int, status: DiscoveryStatus, reason: str | None
    ) -> dict[str, Any]:
        is_approved = status is DiscoveryStatus.APPROVED
        action = AdminAction.APPROVE_DISCOVERY if is_approved else AdminAction.REJECT_DISCOVERY
        judged = await self._changes.judged(known_guild(self._core, guild_id), {}, guard=acting.guard)

        def unit(connection: sqlite3.Connection) -> tuple[dict[str, Any], ChangedGuild | None]:
            application = required_application(connection, guild_id)
            if application.status != DiscoveryStatus.PENDING:
                raise ApiError(ErrorCode.DISCOVERY_APPLICATION_ALREADY_REVIEWED)
            after = self._review(connection, acting, application, status, reason)
            self._log.record(connection, acting, action, guild_id, {"reason": reason})
            changed = None
            if is_approved:
                changed = self._changes.write(connection, guild_id, judged, Actor(acting.user_id), _approved)
            return reviewed_object(connection, after), changed

        def then(decided: tuple[dict[str, Any], ChangedGuild | None]) -> None:
            if decided[1] is not None:
                self._changes.announce(decided[1])

        decided, _ = await self._core.database.write(unit, then, guard=acting.guard)
        return decided

    def _review(
        self,
        connection: sqlite3.Connection,
        acting: Acting,
        application: DiscoveryApplication,
        status: DiscoveryStatus,
        reason: str | None,
    ) -> DiscoveryApplication:
        now = self._core.clock.now_ms()
        after = attrs.evolve(
            application, status=status, reviewed_by=acting.user_id, reviewed_at=now, review_reason=reason
        )
        guild_discovery.put(connection, after)
        return after


def _approved(_: Guild, guild: Guild) -> Guild:
    return attrs.evolve(
        guild,
        features=guild.features | {GuildFeature.DISCOVERABLE},
        verification_level=max(guild.verification_level, VerificationLevel.LOW.value),
    )


def _removed(_: Guild, guild: Guild) -> Guild:
    if GuildFeature.DISCOVERABLE not in guild.features:
        raise ApiError(ErrorCode.DISCOVERY_NOT_DISCOVERABLE)
    return out_of_discovery(guild)


def reviewed_object(connection: sqlite3.Connection, application: DiscoveryApplication) -> dict[str, Any]:
    """An application as administrators see it: with the guild, who has applied and who has decided."""
    guild = guilds.by_id(connection, application.guild_id)
    owner = None if guild is None else accounts.by_id(connection, guild.owner_id)
    return {
        **application_object(application),
        "guild": None if guild is None else admin_guild(guild, owner),
        "applied_by": summary_of(connection, application.applied_by),
        "reviewed_by": summary_of(connection, application.reviewed_by),
    }
