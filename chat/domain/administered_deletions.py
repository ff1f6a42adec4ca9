"""The erasure of accounts, scheduled and taken back by administrators (document 002, States and transitions).

Scheduling is one unit of writing. What follows from misconduct (the address is blocked, reports are resolved) is done
after it, as well as can be: it never takes the schedule back.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs
import structlog

from chat.clock import Clock, iso_timestamp
from chat.config import Settings
from chat.domain.account_events import AccountEvents
from chat.domain.admin_account_views import AdminAccountViews
from chat.domain.admin_audit_log import Acting, AdminAuditLog
from chat.domain.administered_accounts import found
from chat.domain.blocklists import Blocklists, comparable
from chat.domain.own_message_deletion import without_wish
from chat.domain.reports import Reports
from chat.domain.subscription_cancellations import SubscriptionCancellations
from chat.errors import ApiError
from chat.mail import letters
from chat.mail.mailer import Mailer, MailKind
from chat.registries.admin_actions import ADMIN_ACTIONS, AdminAction
from chat.registries.blocklists import Blocklist
from chat.registries.deletion_reasons import MINIMUM_DAYS, MINIMUM_DAYS_ON_REQUEST, DeletionReason
from chat.registries.reports import RESOLVED_BY_DELETION
from chat.snowflake import snowflake_at
from chat.store import account_deletions, accounts, admin_audit_log, auth_sessions, email_tokens, oauth2_grants, tickets
from chat.store.account_deletions import AccountDeletion
from chat.store.accounts import Account
from chat.store.database import Database

log: Final = structlog.get_logger("chat.admin")

DAY_MS: Final = 24 * 3_600_000

NEUTRAL: Final = frozenset({DeletionReason.USER_REQUESTED, DeletionReason.INACTIVITY})
"""Reasons that the holder is told of without reproach."""


@attrs.frozen(kw_only=True)
class DeletionWish:
    """A deletion as an administrator asks for it. `replaces` is the moment of the one that it replaces (Unix ms)."""

    reason: DeletionReason
    days: int
    public_reason: str | None = None
    replaces: int | None = None
    notify: bool = True

    @property
    def effective_days(self) -> int:
        """The days asked for, or the least that the reason leaves the holder."""
        asked = DeletionReason.USER_REQUESTED
        return max(self.days, MINIMUM_DAYS_ON_REQUEST if self.reason is asked else MINIMUM_DAYS)


class AdministeredDeletions:
    """Schedules erasures and takes them back."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        mailer: Mailer,
        events: AccountEvents,
        audit_log: AdminAuditLog,
        views: AdminAccountViews,
        blocklists: Blocklists,
        reports: Reports,
        cancellations: SubscriptionCancellations,
        settings: Settings,
    ) -> None:
        self._database = database
        self._clock = clock
        self._mailer = mailer
        self._events = events
        self._log = audit_log
        self._views = views
        self._blocklists = blocklists
        self._reports = reports
        self._cancellations = cancellations
        self._settings = settings

    async def schedule(self, acting: Acting, user_id: int, wish: DeletionWish) -> dict[str, Any]:
        """As `put` and `enforce`; the account as it is then.

        :raises ApiError: as `put`.
        """
        account = await self.put(acting, user_id, wish)
        await self.enforce(acting, account, wish.reason)
        return await self._views.of(acting, account)

    async def put(
        self,
        acting: Acting,
        user_id: int,
        wish: DeletionWish,
        also: Callable[[sqlite3.Connection], None] | None = None,
    ) -> Account:
        """Schedule the erasure of the account; every sign-in and every access token of it ends now, and what it pays
        for by the period soon after. `also` is done in the same unit.

        :raises ApiError: UNKNOWN_USER; CONFLICT while another deletion is pending that `wish` does not name, and once
            the erasure has begun.
        """
        now = self._clock.now_ms()
        deletion = AccountDeletion(
            user_id,
            now + wish.effective_days * DAY_MS,
            int(wish.reason),
            wish.public_reason,
            acting.reason,
            acting.user_id,
            now,
        )

        def unit(connection: sqlite3.Connection) -> Account:
            account = found(connection, user_id)
            pending = account_deletions.of_user(connection, user_id)
            if (None if pending is None else pending.due_at) != wish.replaces or account.is_deleted:
                raise ApiError("CONFLICT")
            if pending is not None and pending.erasure_started_at is not None:
                raise ApiError("CONFLICT")
            account_deletions.put(connection, deletion)
            auth_sessions.end_of_user(connection, user_id, now)
            oauth2_grants.delete_of_user(connection, user_id)
            tickets.delete_of_user(connection, user_id)
            email_tokens.delete_of_user(connection, str(MailKind.PASSWORD_RESET), user_id)
            self._cancellations.order_in(connection, acting, user_id)
            metadata = self._metadata(connection, account, deletion, wish, pending)
            self._log.record(connection, acting, AdminAction.SCHEDULE_DELETION, user_id, metadata)
            if also is not None:
                also(connection)
            return account

        def then(account: Account) -> None:
            self._events.signed_out(user_id)
            self._events.changed(account, account)
            self._cancellations.ordered()

        account = await self._database.write(unit, then)
        log.info("account deletion scheduled", user_id=user_id, by=acting.user_id, reason=int(wish.reason))
        return account

    def _metadata(
        self,
        connection: sqlite3.Connection,
        account: Account,
        deletion: AccountDeletion,
        wish: DeletionWish,
        replaced: AccountDeletion | None,
    ) -> dict[str, Any]:
        """In the unit that schedules: tell the holder, and say in the entry what was done."""
        tells = wish.notify and account.email is not None and self._mailer.is_on
        metadata: dict[str, Any] = {
            "days": wish.effective_days,
            "reason_code": deletion.reason_code,
            "pending_deletion_at": iso_timestamp(deletion.due_at),
            "notify_user": wish.notify,
            "notification_sent": False,
        }
        if tells:
            kind = MailKind.DELETION_NOTICE if wish.reason in NEUTRAL else MailKind.DELETION_ENFORCEMENT
            metadata["notification_template"] = str(kind)
            mail = letters.account_deletion(
                str(account.email),
                kind=kind,
                service_name=self._settings.service_name,
                due=iso_timestamp(deletion.due_at),
                reason=wish.public_reason,
            )
            metadata["notification_sent"] = self._mailer.notify(connection, mail)
        if replaced is not None:
            metadata |= {f"replaced_{name}": value for name, value in _described(replaced).items()}
        return metadata

    async def enforce(
        self, acting: Acting, account: Account, reason: DeletionReason, *, begun_at: int | None = None
    ) -> None:
        """What follows from misconduct, each part as well as can be; a failure is logged, and the schedule stands.

        What the audit log says was done since `begun_at` (Unix ms), before the server ended, is not done again.
        """

        def is_done(action: AdminAction, target_id: str) -> bool:
            return begun_at is not None and admin_audit_log.is_there(
                self._database.reader, action, ADMIN_ACTIONS[action].target, target_id, snowflake_at(begun_at)
            )

        blocks = reason is not DeletionReason.USER_REQUESTED
        if (
            blocks
            and account.email is not None
            and not is_done(AdminAction.BAN_EMAIL, comparable(Blocklist.EMAIL, account.email))
        ):
            with _best_effort("the address of a deleted account was not blocked", account):
                await self._blocklists.add(acting, Blocklist.EMAIL, account.email, acting.reason)
        if reason in RESOLVED_BY_DELETION and not is_done(
            AdminAction.AUTO_RESOLVE_REPORTS_ON_DELETION, str(account.id)
        ):
            with _best_effort("the reports against a deleted account were not resolved", account):
                await self._reports.resolve_against(acting, account.id)

    async def cancel(self, acting: Acting, user_id: int, expected: int, *, notify: bool) -> dict[str, Any]:
        """Take the pending deletion back, which has to be the one at `expected` (Unix ms).

        :raises ApiError: UNKNOWN_USER; NO_PENDING_DELETION; CONFLICT where another is pending, and once the erasure has
            begun.
        """

        def unit(connection: sqlite3.Connection) -> Account:
            account = found(connection, user_id)
            pending = account_deletions.of_user(connection, user_id)
            if pending is None:
                raise ApiError("NO_PENDING_DELETION")
            if pending.due_at != expected or pending.erasure_started_at is not None:
                raise ApiError("CONFLICT")
            account_deletions.delete(connection, user_id)
            if notify and account.email is not None:
                service, url = self._settings.service_name, self._settings.public_url
                self._mailer.notify(
                    connection, letters.deletion_cancelled(account.email, service_name=service, public_url=url)
                )
            metadata = {f"cancelled_{name}": value for name, value in _described(pending).items()}
            self._log.record(
                connection, acting, AdminAction.CANCEL_DELETION, user_id, {**metadata, "notify_user": notify}
            )
            return account

        account = await self._database.write(unit, lambda account: self._events.changed(account, account))
        log.info("account deletion cancelled", user_id=user_id, by=acting.user_id)
        return await self._views.of(acting, account)

    async def cancel_messages(self, acting: Acting, user_id: int) -> dict[str, Any]:
        """Take back the holder's own wish to have all messages deleted; without one nothing changes. Nobody is told,
        and a deletion that an administrator ordered goes on.

        :raises ApiError: UNKNOWN_USER.
        """

        def unit(connection: sqlite3.Connection) -> Account:
            before = found(connection, user_id)
            after = without_wish(before)
            if after != before:
                accounts.replace(connection, after)
            self._log.record(connection, acting, AdminAction.CANCEL_BULK_MESSAGE_DELETION, user_id)
            return after

        return await self._views.of(acting, await self._database.write(unit))


@contextlib.contextmanager
def _best_effort(failure: str, account: Account) -> Iterator[None]:
    """Log what goes wrong inside, and go on (document 002, PUT deletion)."""
    try:
        yield
    except Exception:  # whatever it was, the deletion is scheduled, and the answer has to say so
        log.exception(failure, user_id=account.id)


def _described(deletion: AccountDeletion) -> dict[str, Any]:
    return {
        "pending_deletion_at": iso_timestamp(deletion.due_at),
        "scheduled_by": deletion.scheduled_by,
        "scheduled_at": iso_timestamp(deletion.scheduled_at),
        "reason_code": deletion.reason_code,
    }
