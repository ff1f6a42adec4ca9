"""Registrations that wait for an administrator (setting `registration` = `approval`), decided on over the API."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Final

import attrs

from chat.clock import iso_timestamp
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.administration.administration_objects import user_summary
from chat.domain.core import Core
from chat.errors import ApiError
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.store.accounts import accounts
from chat.store.signing_in import pending_registrations

SHOWN: Final = 200
"""Registrations of one answer; whoever decides on them sees the next."""


@attrs.define(kw_only=True, eq=False)
class AdministeredRegistrations:
    """Lists them and decides on them, for administrators."""

    _core: Core
    _log: AdminAuditLog

    async def waiting(self, acting: Acting) -> dict[str, Any]:
        """Whoever waits, the longest waiting first, at most SHOWN. Addresses are for those who may see them."""

        def query(connection: sqlite3.Connection) -> list[dict[str, Any]]:
            found = [
                (accounts.by_id(connection, pending.user_id), pending)
                for pending in pending_registrations.waiting(connection, SHOWN)
            ]
            return [
                {
                    "user": user_summary(account),
                    "email": account.email if acting.holds(Acl.USER_VIEW_EMAIL) else None,
                    "client_ip": pending.address if acting.holds(Acl.USER_VIEW_IP) else None,
                    "registered_at": iso_timestamp(pending.created_at),
                }
                for account, pending in found
                if account is not None
            ]

        listed = await self._core.database.read(query)
        await self._log.note(acting, AdminAction.LIST_REGISTRATIONS, NO_TARGET, {"result_count": len(listed)})
        return {"registrations": listed}

    async def approve(self, acting: Acting, user_id: int) -> None:
        """The account can sign in, even if it was turned down before.

        :raises ApiError: UNKNOWN_USER for an account that does not wait.
        """
        await self._decide(acting, AdminAction.APPROVE_REGISTRATION, user_id, pending_registrations.approve)

    async def reject(self, acting: Acting, user_id: int) -> None:
        """The account cannot sign in; its name and address stay taken.

        :raises ApiError: UNKNOWN_USER for an account that does not wait.
        """
        now = self._core.clock.now_ms()
        await self._decide(
            acting,
            AdminAction.REJECT_REGISTRATION,
            user_id,
            lambda connection, who: pending_registrations.reject(connection, who, now),
        )

    async def _decide(
        self, acting: Acting, action: AdminAction, user_id: int, decide: Callable[[sqlite3.Connection, int], bool]
    ) -> None:
        def unit(connection: sqlite3.Connection) -> None:
            if not decide(connection, user_id):
                raise ApiError("UNKNOWN_USER")
            self._log.record(connection, acting, action, user_id)

        await self._core.database.write(unit)
