"""Bans of accounts: for a time or for good, lifted, annotated (administration.md, Account bans)."""

from __future__ import annotations

import datetime
import sqlite3
from typing import Any, Final

import attrs
import structlog

from chat.clock import iso_timestamp
from chat.domain.administration.admin_account_views import AdminAccountViews
from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog, text_of
from chat.domain.administration.administered_accounts import found
from chat.domain.core import Core
from chat.errors import ApiError, InvalidFormBody
from chat.mail import letters
from chat.mail.mailer import Mailer
from chat.registries.admin_actions import AdminAction, AdminTarget
from chat.registries.user_flags import UserFlag
from chat.store.accounts import account_deletions, accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import admin_audit_log
from chat.store.signing_in import auth_sessions, tickets

log: Final = structlog.get_logger("chat.admin")

HOUR_MS: Final = 3_600_000
PERMANENT_YEARS: Final = 100
"""How long a permanent ban is stored to last (administration.md, Account bans)."""

CLOSED: Final = UserFlag.DELETED | UserFlag.SELF_DELETED
"""Whoever has one of these is told nothing of a lifted ban."""


@attrs.define(kw_only=True, eq=False)
class AdministeredBans:
    """Bans accounts and lifts bans for administrators."""

    _core: Core
    _mailer: Mailer
    _log: AdminAuditLog
    _views: AdminAccountViews

    async def ban(
        self, acting: Acting, user_id: int, *, hours: int, reason: str | None, notify: bool
    ) -> dict[str, Any]:
        """Keep everybody out of the account for so many hours from now, 0 for good; every sign-in ends.

        The expiry of a ban that stands is replaced. A ban for good mails nobody.

        :raises ApiError: UNKNOWN_USER.
        """
        now = self._core.clock.now_ms()
        until = now + hours * HOUR_MS if hours else _in_a_century(now)

        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            before = found(connection, user_id)
            after = attrs.evolve(before, flags=before.flags | UserFlag.DISABLED, temp_banned_until=until)
            accounts.replace(connection, after)
            auth_sessions.end_of_user(connection, user_id, now)
            tickets.delete_of_user(connection, user_id)  # a sign-in that was begun is not finished
            sent = notify and hours > 0 and self._post_ban(connection, after, until, reason)
            metadata = {
                "duration_hours": hours,
                "reason": reason,
                "banned_until": iso_timestamp(until),
                "notify_user": notify,
                "notification_sent": sent,
            }
            self._log.record(connection, acting, AdminAction.TEMP_BAN, user_id, metadata)
            return before, after

        def then(changed: tuple[Account, Account]) -> None:
            before, after = changed
            self._core.account_events.signed_out(user_id)
            self._core.account_events.changed(before, after)

        _, account = await self._core.database.write(unit, then)
        log.info("account banned", user_id=user_id, hours=hours)
        return await self._views.of(acting, account)

    async def unban(self, acting: Acting, user_id: int, *, public_reason: str | None, notify: bool) -> dict[str, Any]:
        """Lift the ban, whether or not there is one.

        :raises ApiError: UNKNOWN_USER.
        """
        now = self._core.clock.now_ms()

        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            before = found(connection, user_id)
            after = attrs.evolve(before, flags=before.flags & ~int(UserFlag.DISABLED), temp_banned_until=None)
            if after != before:
                accounts.replace(connection, after)
            is_closed = before.flags & CLOSED or account_deletions.of_user(connection, user_id) is not None
            tells = notify and before.is_banned(now) and not is_closed
            sent = tells and self._post_unban(connection, after, public_reason)
            metadata = {"notify_user": notify, "notification_sent": sent, "public_reason": public_reason}
            self._log.record(connection, acting, AdminAction.UNBAN, user_id, metadata)
            return before, after

        _, account = await self._core.database.write(unit, lambda changed: self._core.account_events.changed(*changed))
        log.info("ban lifted", user_id=user_id)
        return await self._views.of(acting, account)

    async def annotate(self, acting: Acting, user_id: int, ban_entry_id: int, note: str) -> None:
        """Add a note to the ban that stands; neither the ban's entry nor an earlier note changes.

        :raises InvalidFormBody: at `ban_audit_log_id` for an entry that is no ban of this account.
        :raises ApiError: UNKNOWN_USER; CONFLICT where that ban is not the current one.
        """
        now = self._core.clock.now_ms()

        def unit(connection: sqlite3.Connection) -> None:
            account = found(connection, user_id)
            entry = admin_audit_log.by_id(connection, ban_entry_id)
            if entry is None or (entry.action, entry.target_type, entry.target_id) != (
                str(AdminAction.TEMP_BAN),
                str(AdminTarget.USER),
                str(user_id),
            ):
                raise InvalidFormBody.at("ban_audit_log_id", "INVALID_FORMAT")
            until = account.temp_banned_until
            current = None if until is None or until <= now else iso_timestamp(until)
            if current is None or entry.metadata.get("banned_until") != text_of(current):
                raise ApiError("CONFLICT")
            self._log.record(
                connection, acting, AdminAction.ANNOTATE_BAN, user_id, {"ban_audit_log_id": ban_entry_id}, reason=note
            )

        await self._core.database.write(unit)

    def _post_ban(self, connection: sqlite3.Connection, account: Account, until: int, reason: str | None) -> bool:
        if account.email is None:
            return False
        mail = letters.temporary_ban(
            account.email, service_name=self._core.settings.service_name, until=iso_timestamp(until), reason=reason
        )
        return self._mailer.notify(connection, mail)

    def _post_unban(self, connection: sqlite3.Connection, account: Account, reason: str | None) -> bool:
        if account.email is None:
            return False
        service, url = self._core.settings.service_name, self._core.settings.public_url
        mail = letters.unban(account.email, service_name=service, public_url=url, reason=reason)
        return self._mailer.notify(connection, mail)


def _in_a_century(now_ms: int) -> int:
    now = datetime.datetime.fromtimestamp(now_ms / 1_000, datetime.UTC)
    day = 28 if (now.month, now.day) == (2, 29) else now.day
    return int(now.replace(year=now.year + PERMANENT_YEARS, day=day).timestamp() * 1_000)
