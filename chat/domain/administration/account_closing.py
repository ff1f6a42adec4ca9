"""What closes accounts: bans, for a time or for good (administration.md, Account bans), and the erasure that is
scheduled and taken back (administration.md, Scheduled deletion).

Scheduling is one unit of writing. What follows from misconduct belongs to it, as well as can be: it never takes the
schedule back. The email address is blocked in the unit; the reports, of which there may be many, are resolved by an
errand that the unit begins.
"""

from __future__ import annotations

import contextlib
import datetime
import sqlite3
from collections.abc import Callable, Mapping
from typing import Final

import attrs
import structlog

from chat import wire
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.domain.administration.account_fields import AdministeredAccounts, Edited, found
from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog, text_of
from chat.domain.administration.admin_users import AdminAccountViews
from chat.domain.administration.blocklists import Blocklists
from chat.domain.administration.reports import Reports
from chat.domain.administration.store_purchases import SubscriptionCancellations
from chat.domain.core import Core
from chat.domain.messages.own_message_deletion import without_wish
from chat.domain.policy.errands import Errand
from chat.errors import ApiError, InvalidFormBody, StorageUnavailable
from chat.mail import letters
from chat.mail.letters import Letterhead
from chat.mail.mailer import Mailer, MailKind
from chat.registries.admin_actions import AdminAction, AdminTarget
from chat.registries.blocklists import Blocklist
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.limits import PERMANENT_BAN_YEARS
from chat.registries.reports import MINIMUM_DAYS, MINIMUM_DAYS_ON_REQUEST, RESOLVED_BY_DELETION, DeletionReason
from chat.registries.user_flags import UserFlag
from chat.store.accounts import account_deletions, accounts
from chat.store.accounts.account_deletions import AccountDeletion
from chat.store.accounts.accounts import Account
from chat.store.administration import admin_audit_log
from chat.store.applications import oauth2_grants
from chat.store.signing_in import auth_sessions, tickets

log: Final = structlog.get_logger("chat.admin")

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS

CLOSED: Final = UserFlag.DELETED | UserFlag.SELF_DELETED
"""An account with one of these gets no mail about a lifted ban."""

NEUTRAL: Final = frozenset({DeletionReason.USER_REQUESTED, DeletionReason.INACTIVITY})
"""Reasons that the holder is told of without reproach."""


@define(kw_only=True, eq=False)
class AdministeredBans:
    """Bans accounts and lifts bans. Each method raises UNKNOWN_USER for an account that does not exist."""

    _core: Core
    _mailer: Mailer
    _log: AdminAuditLog
    _accounts: AdministeredAccounts

    async def ban(
        self, acting: Acting, user_id: int, *, hours: int, reason: str | None, notify: bool
    ) -> wire.AdminUser:
        """Close the account for some hours from now, 0 for good, and end every sign-in. Gives the Admin user object. A
        new ban replaces the end of an earlier one. A ban for good sends no mail."""
        now = self._core.clock.now_ms()
        until = now + hours * HOUR_MS if hours else _in_a_century(now)

        def edit(connection: sqlite3.Connection, before: Account) -> Edited:
            auth_sessions.end_of_user(connection, user_id, now)
            sent = notify and hours > 0 and self._post_ban(connection, before, until, reason)
            return attrs.evolve(before, flags=before.flags | UserFlag.DISABLED, temp_banned_until=until), {
                "duration_hours": hours,
                "reason": reason,
                "banned_until": iso_timestamp(until),
                "notify_user": notify,
                "notification_sent": sent,
            }

        user = await self._accounts.change(
            acting, user_id, AdminAction.TEMP_BAN, edit, lambda: self._core.account_events.signed_out(user_id)
        )
        log.info("account banned", user_id=user_id, hours=hours)
        return user

    async def unban(self, acting: Acting, user_id: int, *, public_reason: str | None, notify: bool) -> wire.AdminUser:
        """Lift the ban, whether or not there is one. The Admin user object."""
        now = self._core.clock.now_ms()

        def edit(connection: sqlite3.Connection, before: Account) -> Edited:
            is_closed = before.flags & CLOSED or account_deletions.of_user(connection, user_id) is not None
            tells = notify and before.is_banned(now) and not is_closed
            sent = tells and self._post_unban(connection, before, public_reason)
            metadata = {"notify_user": notify, "notification_sent": sent, "public_reason": public_reason}
            return attrs.evolve(before, flags=before.flags & ~int(UserFlag.DISABLED), temp_banned_until=None), metadata

        user = await self._accounts.change(acting, user_id, AdminAction.UNBAN, edit)
        log.info("ban lifted", user_id=user_id)
        return user

    async def annotate(self, acting: Acting, user_id: int, ban_entry_id: int, note: str) -> None:
        """Add a note to the ban that stands; neither the ban's entry nor an earlier note changes. Raises
        InvalidFormBody at `ban_audit_log_id` for an entry that is no ban of this account; CONFLICT where that ban is
        not the current one."""
        now = self._core.clock.now_ms()

        def unit(connection: sqlite3.Connection) -> None:
            account = found(connection, user_id)
            entry = admin_audit_log.by_id(connection, ban_entry_id)
            if entry is None or (entry.action, entry.target_type, entry.target_id) != (
                str(AdminAction.TEMP_BAN),
                str(AdminTarget.USER),
                str(user_id),
            ):
                raise InvalidFormBody.at("ban_audit_log_id", FieldCode.INVALID_FORMAT)
            until = account.temp_banned_until
            current = None if until is None or until <= now else iso_timestamp(until)
            if current is None or entry.metadata.get("banned_until") != text_of(current):
                raise ApiError(ErrorCode.CONFLICT)
            self._log.record(
                connection, acting, AdminAction.ANNOTATE_BAN, user_id, {"ban_audit_log_id": ban_entry_id}, reason=note
            )

        await self._core.database.write(unit, guard=acting.guard)

    def _post_ban(self, connection: sqlite3.Connection, account: Account, until: int, reason: str | None) -> bool:
        if account.email is None:
            return False
        head = Letterhead.to(connection, self._core.settings, account.id)
        mail = letters.temporary_ban(head, account.email, until=iso_timestamp(until), reason=reason)
        return self._mailer.notify(connection, mail)

    def _post_unban(self, connection: sqlite3.Connection, account: Account, reason: str | None) -> bool:
        if account.email is None:
            return False
        head = Letterhead.to(connection, self._core.settings, account.id)
        mail = letters.unban(head, account.email, reason=reason)
        return self._mailer.notify(connection, mail)


def _in_a_century(now_ms: int) -> int:
    now = datetime.datetime.fromtimestamp(now_ms / 1_000, datetime.UTC)
    day = 28 if (now.month, now.day) == (2, 29) else now.day
    return int(now.replace(year=now.year + PERMANENT_BAN_YEARS, day=day).timestamp() * 1_000)


@frozen(kw_only=True)
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
        is_requested = self.reason is DeletionReason.USER_REQUESTED
        return max(self.days, MINIMUM_DAYS_ON_REQUEST if is_requested else MINIMUM_DAYS)


@frozen
class _Scheduled:
    """The result of the unit that schedules: the address that it blocked, and the reports that are still to be
    resolved."""

    account: Account
    blocked: str | None
    resolving: Errand | None


@define(kw_only=True, eq=False)
class AdministeredDeletions:
    """Schedules erasures and takes them back. Each method raises UNKNOWN_USER for an account that does not exist."""

    _core: Core
    _mailer: Mailer
    _log: AdminAuditLog
    _views: AdminAccountViews
    _accounts: AdministeredAccounts
    _blocklists: Blocklists
    _reports: Reports
    _cancellations: SubscriptionCancellations

    async def schedule(self, acting: Acting, user_id: int, wish: DeletionWish) -> wire.AdminUser:
        """As `put`; the Admin user object as it is then."""
        return await self._views.of(acting, await self.put(acting, user_id, wish))

    async def put(
        self, acting: Acting, user_id: int, wish: DeletionWish, also: Callable[[sqlite3.Connection], None] | None = None
    ) -> Account:
        """Schedule the erasure of the account; every sign-in and every access token of it ends now, and what it pays
        for by the period soon after. `also` is done in the same unit, which begins what follows from misconduct as
        well: that is done when this returns, as well as can be.

        :raises ApiError: CONFLICT while another deletion is pending that `wish` does not name, and once the erasure has
            begun.
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
            self._schedule_in(connection, acting, account, deletion, wish)
            if also is not None:
                also(connection)
            return self._follow_up_in(connection, acting, account, wish.reason)

        def then(scheduled: _Scheduled) -> None:
            self._core.account_events.signed_out(user_id)
            self._core.account_events.changed(scheduled.account, scheduled.account)
            self._cancellations.ordered()
            if scheduled.blocked is not None:
                self._blocklists.added(Blocklist.EMAIL, scheduled.blocked)

        scheduled = await self._core.database.write(unit, then, guard=acting.guard)
        log.info("account deletion scheduled", user_id=user_id, by=acting.user_id, reason=int(wish.reason))
        if scheduled.resolving is not None:
            with contextlib.suppress(StorageUnavailable):  # the runner does it later, and the schedule stands
                await self._core.errands.finish(scheduled.resolving)
        return scheduled.account

    def _schedule_in(
        self,
        connection: sqlite3.Connection,
        acting: Acting,
        account: Account,
        deletion: AccountDeletion,
        wish: DeletionWish,
    ) -> None:
        """In the unit that schedules: write the schedule with its entry, and end all sign-ins and tokens of the
        account."""
        pending = account_deletions.of_user(connection, account.id)
        if (None if pending is None else pending.due_at) != wish.replaces or account.is_deleted:
            raise ApiError(ErrorCode.CONFLICT)
        if pending is not None and pending.erasure_started_at is not None:
            raise ApiError(ErrorCode.CONFLICT)
        account_deletions.put(connection, deletion)
        auth_sessions.end_of_user(connection, account.id, deletion.scheduled_at)
        oauth2_grants.delete_of_user(connection, account.id)
        tickets.delete_email_tokens(connection, str(MailKind.PASSWORD_RESET), account.id)
        self._cancellations.order_in(connection, acting, account.id)
        metadata = self._metadata(connection, account, deletion, wish, pending)
        self._log.record(connection, acting, AdminAction.SCHEDULE_DELETION, account.id, metadata)

    def _follow_up_in(
        self, connection: sqlite3.Connection, acting: Acting, account: Account, reason: DeletionReason
    ) -> _Scheduled:
        """In the unit that schedules: begin the work that follows from the reason."""
        blocked = resolving = None
        if reason is not DeletionReason.USER_REQUESTED and account.email is not None:
            blocked = self._block_in(connection, acting, account.email)
        if reason in RESOLVED_BY_DELETION:
            resolving = self._reports.begin_resolving_in(connection, acting, account.id)
        return _Scheduled(account, blocked, resolving)

    def _metadata(
        self,
        connection: sqlite3.Connection,
        account: Account,
        deletion: AccountDeletion,
        wish: DeletionWish,
        replaced: AccountDeletion | None,
    ) -> Mapping[str, object]:
        """In the unit that schedules: mail the holder, and give the entry's metadata about what was done."""
        metadata: dict[str, object] = {
            "days": wish.effective_days,
            "reason_code": deletion.reason_code,
            "pending_deletion_at": iso_timestamp(deletion.due_at),
            "notify_user": wish.notify,
            "notification_sent": False,
        }
        if wish.notify and account.email is not None and self._mailer.is_on:
            kind = MailKind.DELETION_NOTICE if wish.reason in NEUTRAL else MailKind.DELETION_ENFORCEMENT
            metadata["notification_template"] = str(kind)
            head = Letterhead.to(connection, self._core.settings, account.id)
            due = iso_timestamp(deletion.due_at)
            mail = letters.account_deletion(head, account.email, kind=kind, due=due, reason=wish.public_reason)
            metadata["notification_sent"] = self._mailer.notify(connection, mail)
        return metadata if replaced is None else metadata | _described("replaced", replaced)

    def _block_in(self, connection: sqlite3.Connection, acting: Acting, address: str) -> str | None:
        """In the unit that schedules: block the account's address if possible; returns the blocked one."""
        connection.execute("SAVEPOINT blocking")
        try:
            return self._blocklists.take_in(connection, acting, Blocklist.EMAIL, address, acting.reason).value
        except Exception:  # of any kind: the deletion is scheduled, and the answer has to say so
            log.exception("the address of a deleted account was not blocked")
            connection.execute("ROLLBACK TO blocking")
            return None
        finally:
            connection.execute("RELEASE blocking")

    async def cancel(self, acting: Acting, user_id: int, expected: int, *, notify: bool) -> wire.AdminUser:
        """Take the pending deletion back, which has to be the one at `expected` (Unix ms). The Admin user object.
        Raises NO_PENDING_DELETION; CONFLICT where another is pending, and once the erasure has begun."""

        def edit(connection: sqlite3.Connection, account: Account) -> Edited:
            pending = account_deletions.of_user(connection, user_id)
            if pending is None:
                raise ApiError(ErrorCode.NO_PENDING_DELETION)
            if pending.due_at != expected or pending.erasure_started_at is not None:
                raise ApiError(ErrorCode.CONFLICT)
            account_deletions.delete(connection, user_id)
            if notify and account.email is not None:
                head = Letterhead.to(connection, self._core.settings, account.id)
                mail = letters.deletion_cancelled(head, account.email)
                self._mailer.notify(connection, mail)
            return account, _described("cancelled", pending) | {"notify_user": notify}

        user = await self._accounts.change(acting, user_id, AdminAction.CANCEL_DELETION, edit)
        log.info("account deletion cancelled", user_id=user_id, by=acting.user_id)
        return user

    async def cancel_messages(self, acting: Acting, user_id: int) -> wire.AdminUser:
        """Take back the holder's own wish to have all messages deleted; without one nothing changes. No event tells of
        it, and a deletion that an administrator ordered goes on. The Admin user object."""

        def unit(connection: sqlite3.Connection) -> Account:
            before = found(connection, user_id)
            after = without_wish(before)
            if after != before:
                accounts.replace(connection, after)
            self._log.record(connection, acting, AdminAction.CANCEL_BULK_MESSAGE_DELETION, user_id)
            return after

        return await self._views.of(acting, await self._core.database.write(unit, guard=acting.guard))


def _described(word: str, deletion: AccountDeletion) -> dict[str, object]:
    """The part of an audit entry about a deletion that was `replaced` or `cancelled`."""
    return {
        f"{word}_pending_deletion_at": iso_timestamp(deletion.due_at),
        f"{word}_scheduled_by": deletion.scheduled_by,
        f"{word}_scheduled_at": iso_timestamp(deletion.scheduled_at),
        f"{word}_reason_code": deletion.reason_code,
    }
