"""The erasure of accounts, scheduled and taken back by administrators (administration.md, Scheduled deletion).

Scheduling is one unit of writing. What follows from misconduct belongs to it, as well as can be: it never takes the
schedule back. The address is blocked in the unit; the reports, of which there may be many, are resolved by an errand
that the unit begins.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from typing import Any, Final

import attrs
import structlog

from chat.clock import iso_timestamp
from chat.domain.administration.admin_account_views import AdminAccountViews
from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog
from chat.domain.administration.administered_accounts import found
from chat.domain.administration.blocklists import Blocklists
from chat.domain.administration.reports import Reports
from chat.domain.administration.subscription_cancellations import SubscriptionCancellations
from chat.domain.core import Core
from chat.domain.messages.own_message_deletion import without_wish
from chat.domain.policy.errands import Errand
from chat.errors import ApiError, StorageUnavailable
from chat.mail import letters
from chat.mail.mailer import Mailer, MailKind
from chat.registries.admin_actions import AdminAction
from chat.registries.blocklists import Blocklist
from chat.registries.deletion_reasons import MINIMUM_DAYS, MINIMUM_DAYS_ON_REQUEST, DeletionReason
from chat.registries.reports import RESOLVED_BY_DELETION
from chat.store.accounts import account_deletions, accounts
from chat.store.accounts.account_deletions import AccountDeletion
from chat.store.accounts.accounts import Account
from chat.store.applications import oauth2_grants
from chat.store.signing_in import auth_sessions, email_tokens, tickets

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


@attrs.frozen
class _Scheduled:
    """What the unit that schedules came to: the address that it blocked, and the reports that are left to resolve."""

    account: Account
    blocked: str | None
    resolving: Errand | None


@attrs.define(kw_only=True, eq=False)
class AdministeredDeletions:
    """Schedules erasures and takes them back."""

    _core: Core
    _mailer: Mailer
    _log: AdminAuditLog
    _views: AdminAccountViews
    _blocklists: Blocklists
    _reports: Reports
    _cancellations: SubscriptionCancellations

    async def schedule(self, acting: Acting, user_id: int, wish: DeletionWish) -> dict[str, Any]:
        """As `put`; the account as it is then.

        :raises ApiError: as `put`.
        """
        return await self._views.of(acting, await self.put(acting, user_id, wish))

    async def put(
        self,
        acting: Acting,
        user_id: int,
        wish: DeletionWish,
        also: Callable[[sqlite3.Connection], None] | None = None,
    ) -> Account:
        """Schedule the erasure of the account; every sign-in and every access token of it ends now, and what it pays
        for by the period soon after. `also` is done in the same unit, which begins what follows from misconduct as
        well: that is done when this returns, as well as can be.

        :raises ApiError: UNKNOWN_USER; CONFLICT while another deletion is pending that `wish` does not name, and once
            the erasure has begun.
        """
        now = self._core.clock.now_ms()
        deletion = AccountDeletion(
            user_id,
            now + wish.effective_days * DAY_MS,
            int(wish.reason),
            wish.public_reason,
            acting.reason,
            acting.user_id,
            now,
        )

        def unit(connection: sqlite3.Connection) -> _Scheduled:
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
            blocked = resolving = None
            if wish.reason is not DeletionReason.USER_REQUESTED and account.email is not None:
                blocked = self._block_in(connection, acting, account.email)
            if wish.reason in RESOLVED_BY_DELETION:
                resolving = self._reports.begin_resolving_in(connection, acting, user_id)
            return _Scheduled(account, blocked, resolving)

        def then(scheduled: _Scheduled) -> None:
            self._core.account_events.signed_out(user_id)
            self._core.account_events.changed(scheduled.account, scheduled.account)
            self._cancellations.ordered()
            if scheduled.blocked is not None:
                self._blocklists.added(Blocklist.EMAIL, scheduled.blocked)

        scheduled = await self._core.database.write(unit, then)
        log.info("account deletion scheduled", user_id=user_id, by=acting.user_id, reason=int(wish.reason))
        if scheduled.resolving is not None:
            with contextlib.suppress(StorageUnavailable):  # the runner does it later, and the schedule stands
                await self._core.errands.finish(scheduled.resolving)
        return scheduled.account

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
                service_name=self._core.settings.service_name,
                due=iso_timestamp(deletion.due_at),
                reason=wish.public_reason,
            )
            metadata["notification_sent"] = self._mailer.notify(connection, mail)
        if replaced is not None:
            metadata |= {f"replaced_{name}": value for name, value in _described(replaced).items()}
        return metadata

    def _block_in(self, connection: sqlite3.Connection, acting: Acting, address: str) -> str | None:
        """In the unit that schedules: block the account's address, if that can be done; what is blocked now."""
        connection.execute("SAVEPOINT blocking")
        try:
            return self._blocklists.take_in(connection, acting, Blocklist.EMAIL, address, acting.reason).value
        except Exception:  # whatever it was, the deletion is scheduled, and the answer has to say so
            log.exception("the address of a deleted account was not blocked")
            connection.execute("ROLLBACK TO blocking")
            return None
        finally:
            connection.execute("RELEASE blocking")

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
                service, url = self._core.settings.service_name, self._core.settings.public_url
                self._mailer.notify(
                    connection, letters.deletion_cancelled(account.email, service_name=service, public_url=url)
                )
            metadata = {f"cancelled_{name}": value for name, value in _described(pending).items()}
            self._log.record(
                connection, acting, AdminAction.CANCEL_DELETION, user_id, {**metadata, "notify_user": notify}
            )
            return account

        account = await self._core.database.write(
            unit, lambda account: self._core.account_events.changed(account, account)
        )
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

        return await self._views.of(acting, await self._core.database.write(unit))


def _described(deletion: AccountDeletion) -> dict[str, Any]:
    return {
        "pending_deletion_at": iso_timestamp(deletion.due_at),
        "scheduled_by": deletion.scheduled_by,
        "scheduled_at": iso_timestamp(deletion.scheduled_at),
        "reason_code": deletion.reason_code,
    }
