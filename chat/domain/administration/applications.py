"""Applications as administrators see them and hand them over (administration.md, Administered applications)."""

from __future__ import annotations

import sqlite3
from typing import Any

import attrs
import structlog

from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog
from chat.domain.administration.administration_objects import admin_application
from chat.domain.core import Core
from chat.errors import ApiError
from chat.registries.admin_actions import AdminAction
from chat.registries.error_codes import ErrorCode
from chat.store.accounts import accounts
from chat.store.applications import applications
from chat.store.applications.applications import Application

log = structlog.get_logger("chat.admin")


@attrs.define(kw_only=True, eq=False)
class AdministeredApplications:
    """Shows applications and gives them to other owners."""

    _core: Core
    _log: AdminAuditLog

    async def get(self, acting: Acting, application_id: int) -> dict[str, Any]:
        """One application: no secret, no token.

        :raises ApiError: UNKNOWN_APPLICATION.
        """
        found = await self._core.database.read(
            lambda connection: _shown(connection, _known(connection, application_id))
        )
        await self._log.note(acting, AdminAction.GET_APPLICATION, application_id)
        return found

    async def transfer(self, acting: Acting, application_id: int, new_owner_id: int) -> dict[str, Any]:
        """Give an application to another owner. Bot token and client secret stay valid, in the old owner's hands too:
        the new owner can reset both.

        :raises ApiError: UNKNOWN_APPLICATION, UNKNOWN_USER, CANNOT_TRANSFER_OWNERSHIP_TO_BOT; MAX_APPLICATIONS for an
            account that owns as many as it may.
        """
        most = self._core.settings.limits.max_applications_per_user

        def unit(connection: sqlite3.Connection) -> tuple[Application, dict[str, Any]]:
            before = _known(connection, application_id)
            successor = accounts.by_id(connection, new_owner_id)
            if successor is None or successor.is_deleted:
                raise ApiError(ErrorCode.UNKNOWN_USER)
            if successor.bot:
                raise ApiError(ErrorCode.CANNOT_TRANSFER_OWNERSHIP_TO_BOT)
            if before.owner_id != new_owner_id and applications.count_of_owner(connection, new_owner_id) >= most:
                raise ApiError(ErrorCode.MAX_APPLICATIONS)
            after = attrs.evolve(before, owner_id=new_owner_id)
            applications.replace(connection, after)
            metadata = {"old_owner_id": before.owner_id, "new_owner_id": new_owner_id}
            self._log.record(connection, acting, AdminAction.TRANSFER_OWNERSHIP, application_id, metadata)
            return after, _shown(connection, after)

        def then(handed: tuple[Application, dict[str, Any]]) -> None:
            self._core.account_events.bot_seen_by_itself(handed[0])

        _, shown = await self._core.database.write(unit, then, guard=acting.guard)
        log.info("application handed over", application_id=application_id, user_id=new_owner_id)
        return shown


def _known(connection: sqlite3.Connection, application_id: int) -> Application:
    application = applications.by_id(connection, application_id)
    if application is None:
        raise ApiError(ErrorCode.UNKNOWN_APPLICATION)
    return application


def _shown(connection: sqlite3.Connection, application: Application) -> dict[str, Any]:
    return admin_application(connection, application, accounts.by_id(connection, application.owner_id))
