"""Where people pay, beyond this server: app stores and a payment processor (instance.md, Stores and payments); and the
end of what an account pays for by the period, once its deletion is scheduled (administration.md, Scheduled deletion).

The server knows stores and processor through one interface, which a store service of the operator's own implements over
HTTP (`chat.domain.administration.billing_service`). A self-hosted instance has none.

A subscription is cancelled without proration, and the charge behind its latest invoice is paid back as fraudulent. That
is a durable job, ordered in the unit that schedules: a server that ends just after it goes on with it when it starts,
and a payment processor that is away is asked again, for some hours. Each call may be made twice and counts once. What
fails for good stands in the log and in the ledger of jobs; the deletion stands in any case.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final, Protocol

import attrs
import structlog

from chat.domain.administration.admin_audit_log import Acting
from chat.errors import ApiError
from chat.jobs import JobFailed, JobRun, Jobs, Progress
from chat.registries.error_codes import ErrorCode
from chat.registries.jobs import JobType
from chat.registries.store_purchases import PurchaseEnvironment, PurchaseKind, PurchaseState, StoreProvider
from chat.store.accounts import account_deletions, accounts
from chat.store.database import Database

RETRY_AFTER_SECONDS: Final = 5

LINKS_MAXIMUM: Final = 200
"""Purchases of one account. A renewal is the same purchase, so no account comes near it."""


class BillingUnavailable(ApiError):
    """503: a store could not be asked, or said nothing that makes sense. Nothing of what it was asked for was done, as
    far as is known."""

    def __init__(self) -> None:
        super().__init__(ErrorCode.STORE_BILLING_UNAVAILABLE, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


@attrs.frozen(kw_only=True)
class PurchaseLink:
    """A purchase that belongs to an account, as far as it never changes. `bound_at` (Unix ms) is since when."""

    provider: StoreProvider
    kind: PurchaseKind
    slot: str
    environment: PurchaseEnvironment
    app_id: str
    product_id: str
    purchase_token: str = attrs.field(repr=False)
    account_token: str | None = attrs.field(default=None, repr=False)
    gift_code: str | None = attrs.field(default=None, repr=False)
    bound_at: int | None = None


@attrs.frozen(kw_only=True)
class PurchaseReading:
    """How a purchase stands, as its store tells it; times are Unix milliseconds.

    The members are those of the Admin store purchase object (administration.md, Store purchases).
    """

    product_id: str
    base_plan_id: str | None
    account_token: str | None = attrs.field(repr=False)
    latest_transaction_id: str | None
    ownership_type: str | None
    state: PurchaseState
    store_state: str | None
    expires_at: int | None
    grace_ends_at: int | None
    auto_renew: bool | None
    started_at: int | None
    purchased_at: int | None
    revoked_at: int | None
    revocation_reason: str | None
    superseded: bool
    acknowledged: bool
    last_event_at: int | None


@attrs.frozen
class ProcessorSubscription:
    """A subscription at the payment processor, and the charge behind its latest invoice, if that was paid."""

    id: str
    charge_id: str | None


class Billing(Protocol):
    """The stores and the payment processor. Every method raises BillingUnavailable where no answer can be had."""

    async def linked(self, user_id: int) -> Sequence[PurchaseLink]:
        """The purchases that were bound to the account."""
        ...

    async def read(self, purchase: PurchaseLink) -> PurchaseReading | None:
        """How the purchase stands in its store; None where the store does not know it."""
        ...

    async def subscription(self, user_id: int) -> ProcessorSubscription | None:
        """What the account has at the payment processor; None where it has nothing that runs."""
        ...

    async def owner(self, subscription_id: str) -> int | None:
        """The account that has, or had, this subscription at the payment processor; None where there is none."""
        ...

    async def cancel(self, subscription_id: str) -> None:
        """End a subscription now, without proration. One that has ended stays as it is."""
        ...

    async def refund(self, charge_id: str) -> None:
        """Pay a charge back as fraudulent. One that was paid back stays as it is."""
        ...


log: Final = structlog.get_logger("chat.billing")


class SubscriptionCancellations:
    """Orders and does the job. Without `billing` nothing is paid for, and nothing is ordered."""

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
        """Do one job."""
        billing = self._billing
        if billing is None:
            raise JobFailed("there is no store service")
        if not self._is_wanted(run.job.payload["user_id"]):
            await run.step(lambda _: Progress(message="The deletion was taken back"))
            return
        if "subscription_id" not in run.job.state:
            await self._find(run, billing)
        # The one does not wait for the other: a cancellation that fails shall not keep the money.
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
        """Write down what there is before anything is done to it: once it is cancelled it is not found any more."""
        found = await billing.subscription(run.job.payload["user_id"])
        names: dict[str, str | None] = {"subscription_id": None, "charge_id": None}
        if found is not None:
            names = {"subscription_id": found.id, "charge_id": found.charge_id}
        await self._note(run, names, total=sum(name is not None for name in names.values()))

    async def _note(self, run: JobRun, state: dict[str, Any], total: int | None = None) -> None:
        done = {name: state.get(name, False) for name in ("cancelled", "refunded")}
        progress = Progress(state=state, current=sum(done.values()), total=total, result=done)
        await run.step(lambda _: progress)
