"""What an account pays for by the period ends when its deletion is scheduled (administration.md, Scheduled deletion):
the subscription is cancelled without proration, and the charge behind its latest invoice is paid back as fraudulent.

That is a durable job, ordered in the unit that schedules: a server that ends just after it goes on with it when it
starts, and a payment processor that is away is asked again, for some hours. Each call may be made twice and counts
once. What fails for good stands in the log and in the ledger of jobs; the deletion stands in any case.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import structlog

from chat.domain.administration.admin_audit_log import Acting
from chat.domain.administration.billing import Billing, BillingUnavailable
from chat.jobs.runner import JobFailed, JobRun, Jobs, Progress
from chat.registries.jobs import JobType
from chat.store.accounts import account_deletions, accounts
from chat.store.database import Database

log: Final = structlog.get_logger("chat.billing")


class SubscriptionCancellations:
    """Orders and does the job. Without `billing` nobody pays for anything, and nothing is ordered."""

    def __init__(self, database: Database, billing: Billing | None, orders: Jobs) -> None:
        self._database = database
        self._billing = billing
        self._orders = orders
        orders.handle(JobType.SUBSCRIPTION_CANCELLATION, self.run)

    def order_in(self, connection: sqlite3.Connection, acting: Acting, user_id: int) -> None:
        """In the unit that schedules the deletion; `ordered` is to follow its commit."""
        if self._billing is None:
            return
        self._orders.order_in(
            connection,
            JobType.SUBSCRIPTION_CANCELLATION,
            {"user_id": user_id},
            subject_id=user_id,
            requested_by=acting.user_id,
            reason=acting.reason,
        )

    def ordered(self) -> None:
        """After the commit."""
        if self._billing is not None:
            self._orders.ordered()

    async def run(self, run: JobRun) -> None:
        """Do one."""
        billing = self._billing
        if billing is None:
            raise JobFailed("there is no store service")
        if not self._is_wanted(run.job.payload["user_id"]):
            await run.step(lambda _: Progress(message="The deletion was taken back"))
            return
        if "subscription_id" not in run.job.state:
            await self._find(run, billing)
        # The one does not wait for the other: a cancellation that fails shall not keep anybody's money.
        failures = 0
        for name, done, act in (
            ("subscription_id", "cancelled", billing.cancel),
            ("charge_id", "refunded", billing.refund),
        ):
            target, state = run.job.state[name], run.job.state
            if target is None or state.get(done):
                continue
            try:
                await act(target)
            except BillingUnavailable:
                log.warning("a payment could not be ended", user_id=run.job.payload["user_id"], not_done=done)
                failures += 1
            else:
                await self._note(run, {**state, done: True})
        if failures:
            raise BillingUnavailable

    def _is_wanted(self, user_id: int) -> bool:
        """Whether the account still goes: one that stays keeps what it pays for."""
        account = accounts.by_id(self._database.reader, user_id)
        if account is None or account.is_deleted:
            return True
        return account_deletions.of_user(self._database.reader, user_id) is not None

    async def _find(self, run: JobRun, billing: Billing) -> None:
        """Write down what there is before anything is done to it: once it is cancelled nobody finds it any more."""
        found = await billing.subscription(run.job.payload["user_id"])
        names: dict[str, str | None] = {"subscription_id": None, "charge_id": None}
        if found is not None:
            names = {"subscription_id": found.id, "charge_id": found.charge_id}
        await self._note(run, names, total=sum(name is not None for name in names.values()))

    async def _note(self, run: JobRun, state: dict[str, Any], total: int | None = None) -> None:
        done = {name: state.get(name, False) for name in ("cancelled", "refunded")}
        progress = Progress(state=state, current=sum(done.values()), total=total, result=done)
        await run.step(lambda _: progress)
