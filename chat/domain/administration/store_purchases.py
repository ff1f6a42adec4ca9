"""Purchases in app stores, for administrators: listed, and read again from their stores; and what they mean for an
account's premium (administration.md, Store purchases).

A refresh asks for everything first and applies what it found in one unit, so that a store which cannot be reached
leaves all as it was. What changes of the account's premium is told to its holder.

A subscription grants premium while its state says so, until it ends; who bought a gift gets nothing by it. An account's
premium may have come from elsewhere too: purchases lengthen that, and end only what they gave themselves.

What an account pays for by the period ends once its deletion is scheduled (administration.md, Scheduled deletion). A
subscription is cancelled without proration, and the charge behind its latest invoice is paid back as fraudulent. That
is a durable job, ordered in the unit that schedules: a server that ends just after it goes on with it when it starts,
and a payment processor that is away is asked again, for some hours. Each call may be made twice and counts once. What
fails for good stands in the log and in the ledger of jobs; the deletion stands in any case.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
import structlog
import trio

from chat import wire
from chat.classes import define, frozen
from chat.clock import iso_timestamp, optional_timestamp
from chat.domain.administration.account_fields import found
from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog
from chat.domain.administration.billing import LINKS_MAXIMUM, Billing, BillingUnavailable, PurchaseLink, PurchaseReading
from chat.domain.core import Core
from chat.jobs import JobFailed, JobRun, Jobs, Progress
from chat.registries.admin_actions import AdminAction
from chat.registries.jobs import JobType
from chat.registries.store_purchases import ENTITLING, PurchaseEnvironment, PurchaseKind, PurchaseState, StoreProvider
from chat.registries.user_flags import PremiumType
from chat.store.accounts import account_deletions, accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import store_purchases
from chat.store.administration.store_purchases import StorePurchase
from chat.store.database import Database

log: Final = structlog.get_logger("chat.billing")

READ_AT_ONCE: Final = 4
"""Purchases of one account that are asked for side by side."""

REFRESH_SECONDS: Final = 30.0
"""How long all of the asking may take."""

Key = tuple[StoreProvider, PurchaseEnvironment, str]
"""What identifies a purchase: the store, whether it is the real one or a test, and the token there."""


@frozen
class _Refreshed:
    """The result of a refresh: the account before and after, and its purchases."""

    before: Account
    after: Account
    purchases: Sequence[StorePurchase]


@define(kw_only=True, eq=False)
class StorePurchases:
    """Lists and refreshes purchases; without `billing` there is no store to be reached."""

    _core: Core
    _billing: Billing | None
    _log: AdminAuditLog

    async def of(self, acting: Acting, user_id: int) -> list[wire.StorePurchase]:
        """The account's purchases, the newest first. Raises UNKNOWN_USER."""
        purchases = await self._stored(user_id)
        metadata = {"result_count": len(purchases)}
        await self._log.note(acting, AdminAction.LIST_USER_STORE_PURCHASES, user_id, metadata)
        return self._objects(purchases)

    async def refresh(self, acting: Acting, user_id: int) -> list[wire.StorePurchase]:
        """Read every purchase of the account again from its store; the account's purchases then, the newest first.
        Raises UNKNOWN_USER; STORE_BILLING_UNAVAILABLE when a store could not be read, and nothing changed."""
        stored = await self._stored(user_id)
        read_at = self._core.clock.now_ms()
        links: Mapping[Key, PurchaseLink] = {}
        readings: Mapping[Key, PurchaseReading | None] = {}
        if self._billing is not None:
            acting.guard.judge_again()  # asking the stores takes time
            links = await _links(self._billing, user_id, stored)
            readings = await _readings(self._billing, links)
        elif stored:
            raise BillingUnavailable

        def unit(connection: sqlite3.Connection) -> _Refreshed:
            before = found(connection, user_id)
            had = _of_user(connection, user_id)
            room = LINKS_MAXIMUM - len(had)
            for key, link in links.items() if not before.is_deleted else ():  # an erased account has nothing any more
                known = store_purchases.by_token(connection, *key)
                changed = self._applied(user_id, known, link, readings[key], read_at)
                if changed is not None and (known is not None or room > 0):
                    room -= known is None
                    store_purchases.put(connection, changed)
            has = _of_user(connection, user_id)
            after = with_premium_of(before, had, has, self._core.clock.now_ms())
            if after != before:
                accounts.replace(connection, after)
            metadata = {"purchase_count": len(has)}
            self._log.record(connection, acting, AdminAction.REFRESH_STORE_PURCHASES, user_id, metadata)
            return _Refreshed(before, after, has)

        def then(refreshed: _Refreshed) -> None:
            if refreshed.after != refreshed.before:
                self._core.account_events.changed(refreshed.before, refreshed.after)

        refreshed = await self._core.database.write(unit, then, guard=acting.guard)
        return self._objects(refreshed.purchases)

    async def _stored(self, user_id: int) -> list[StorePurchase]:
        def query(connection: sqlite3.Connection) -> list[StorePurchase]:
            found(connection, user_id)
            return _of_user(connection, user_id)

        return await self._core.database.read(query)

    def _applied(
        self,
        user_id: int,
        known: StorePurchase | None,
        link: PurchaseLink,
        reading: PurchaseReading | None,
        read_at: int,
    ) -> StorePurchase | None:
        """The purchase as it is to be stored; None where nothing is to be written.

        A purchase of another account stays with it; a purchase that is new here and that its store does not know is
        none; what was read later, by another refresh, counts more.
        """
        now = self._core.clock.now_ms()
        if known is None:
            if reading is None:
                return None
            known = self._new(user_id, link, reading, now)
        elif known.user_id is None:
            known = attrs.evolve(known, user_id=user_id, bound_at=link.bound_at or now)
        elif known.user_id != user_id:
            log.warning("a purchase is linked to two accounts", purchase_id=known.id, user_id=user_id)
            return None
        elif known.synced_at is not None and known.synced_at > read_at:
            return None
        standing = _unknown_to_its_store(known) if reading is None else _standing(known, reading)
        changed = standing != known or standing.synced_at is None
        return attrs.evolve(standing, synced_at=read_at, updated_at=now if changed else known.updated_at)

    def _new(self, user_id: int, link: PurchaseLink, reading: PurchaseReading, now: int) -> StorePurchase:
        known = attrs.asdict(link, recurse=False)
        if link.kind is not PurchaseKind.GIFT:
            known["gift_code"] = None
        return StorePurchase(
            **known | {"bound_at": link.bound_at or now},
            id=self._core.snowflakes(),
            user_id=user_id,
            state=reading.state,
            created_at=now,
            updated_at=now,
        )

    def _objects(self, purchases: Sequence[StorePurchase]) -> list[wire.StorePurchase]:
        now = self._core.clock.now_ms()
        return [store_purchase(purchase, now) for purchase in purchases]


async def _links(billing: Billing, user_id: int, stored: Sequence[StorePurchase]) -> dict[Key, PurchaseLink]:
    """The purchases to ask for, oldest first: those linked here, then those that the store service has linked since."""
    links = {_key(purchase): _link_of(purchase) for purchase in reversed(stored)}
    for link in await billing.linked(user_id):
        links.setdefault(_key(link), link)
    return links


async def _readings(billing: Billing, links: Mapping[Key, PurchaseLink]) -> dict[Key, PurchaseReading | None]:
    """The stores' answers about each purchase. Raises BillingUnavailable as soon as one store does not answer."""
    readings: dict[Key, PurchaseReading | None] = {}
    places = trio.CapacityLimiter(READ_AT_ONCE)
    with trio.move_on_after(REFRESH_SECONDS):
        async with trio.open_nursery() as nursery:

            async def read(key: Key, link: PurchaseLink) -> None:
                async with places:
                    try:
                        readings[key] = await billing.read(link)
                    except BillingUnavailable:
                        nursery.cancel_scope.cancel()  # the others' answers would be of no use

            for key, link in links.items():
                nursery.start_soon(read, key, link)
    if readings.keys() != links.keys():
        raise BillingUnavailable
    return readings


def _of_user(connection: sqlite3.Connection, user_id: int) -> list[StorePurchase]:
    return store_purchases.of_user(connection, user_id, LINKS_MAXIMUM)


def _key(purchase: StorePurchase | PurchaseLink) -> Key:
    return purchase.provider, purchase.environment, purchase.purchase_token


def _link_of(purchase: StorePurchase) -> PurchaseLink:
    names = [field.name for field in attrs.fields(PurchaseLink)]
    return PurchaseLink(**{name: getattr(purchase, name) for name in names})


def _standing(purchase: StorePurchase, reading: PurchaseReading) -> StorePurchase:
    """The purchase as its store has it, without what this kind of purchase has not (administration.md, Store
    purchases)."""
    is_a = purchase.provider is StoreProvider.STORE_A
    is_gift_of_a = is_a and purchase.kind is PurchaseKind.GIFT
    differing = {
        "base_plan_id": None if is_a else reading.base_plan_id,
        "account_token": purchase.account_token if reading.account_token is None else reading.account_token,
        "ownership_type": reading.ownership_type if is_a else None,
        "store_state": None if is_gift_of_a and reading.revoked_at is None else reading.store_state,
        "superseded": reading.superseded and not is_a,
        "acknowledged": reading.acknowledged or is_a,
    }
    return attrs.evolve(purchase, **attrs.asdict(reading, recurse=False) | differing)


def _unknown_to_its_store(purchase: StorePurchase) -> StorePurchase:
    """A subscription is over; a gift was bought and stays so, even if its store has forgotten it."""
    if purchase.kind is PurchaseKind.GIFT:
        return purchase
    return attrs.evolve(purchase, state=PurchaseState.EXPIRED, auto_renew=False)


def ends_at(purchase: StorePurchase) -> int | None:
    """Until when (Unix ms) the subscription grants premium if nothing else ends it: grace counts; None for no end."""
    if purchase.expires_at is None or purchase.grace_ends_at is None:
        return purchase.expires_at
    return max(purchase.expires_at, purchase.grace_ends_at)


def is_entitled(purchase: StorePurchase, now_ms: int) -> bool:
    """Whether the purchase grants premium at this moment."""
    end = ends_at(purchase)
    return _grants(purchase) and (end is None or end > now_ms)


def _grants(purchase: StorePurchase) -> bool:
    """Whether the purchase grants premium until its end."""
    return (
        purchase.kind is PurchaseKind.SUBSCRIPTION
        and purchase.state in ENTITLING
        and not purchase.superseded
        and purchase.revoked_at is None
    )


def with_premium_of(
    account: Account, before: Sequence[StorePurchase], after: Sequence[StorePurchase], now_ms: int
) -> Account:
    """The account with the premium that follows when its purchases, as they were `before`, turn out to be as `after`.
    Premium for life is above all that."""
    if account.premium_type == PremiumType.LIFETIME:
        return account
    granting = [purchase for purchase in after if is_entitled(purchase, now_ms)]
    ends = [ends_at(purchase) for purchase in granting]
    until = None if None in ends else max((end for end in ends if end is not None), default=None)
    has_subscription = account.premium_type == PremiumType.SUBSCRIPTION
    is_from_store = has_subscription and any(
        _grants(purchase) and ends_at(purchase) == account.premium_until for purchase in before
    )
    if not granting:
        return _without_premium(account) if is_from_store else account
    if has_subscription and not is_from_store:
        own_end = account.premium_until
        if own_end is None or (until is not None and until <= own_end):
            return account
    return attrs.evolve(
        account,
        premium_type=int(PremiumType.SUBSCRIPTION),
        premium_since=min(_since(purchase) for purchase in granting),
        premium_until=until,
        premium_grace_ends_at=max(
            (purchase.grace_ends_at for purchase in granting if purchase.grace_ends_at is not None), default=None
        ),
    )


def _without_premium(account: Account) -> Account:
    return attrs.evolve(
        account, premium_type=int(PremiumType.NONE), premium_since=None, premium_until=None, premium_grace_ends_at=None
    )


def _since(purchase: StorePurchase) -> int:
    moments = (purchase.started_at, purchase.purchased_at, purchase.bound_at, purchase.created_at)
    return next(moment for moment in moments if moment is not None)


def store_purchase(purchase: StorePurchase, now_ms: int) -> wire.StorePurchase:
    """The Admin store purchase object at this moment (Unix ms); neither of the tokens is in it."""
    return {
        "id": str(purchase.id),
        "user_id": None if purchase.user_id is None else str(purchase.user_id),
        "provider": purchase.provider.value,
        "kind": purchase.kind.value,
        "slot": purchase.slot,
        "environment": purchase.environment.value,
        "app_id": purchase.app_id,
        "product_id": purchase.product_id,
        "base_plan_id": purchase.base_plan_id,
        "latest_transaction_id": purchase.latest_transaction_id,
        "ownership_type": purchase.ownership_type,
        "state": purchase.state.value,
        "store_state": purchase.store_state,
        "entitled": is_entitled(purchase, now_ms),
        "expires_at": optional_timestamp(purchase.expires_at),
        "grace_ends_at": optional_timestamp(purchase.grace_ends_at),
        "auto_renew": purchase.auto_renew,
        "started_at": optional_timestamp(purchase.started_at),
        "purchased_at": optional_timestamp(purchase.purchased_at),
        "revoked_at": optional_timestamp(purchase.revoked_at),
        "revocation_reason": purchase.revocation_reason,
        "superseded": purchase.superseded,
        "acknowledged": purchase.acknowledged,
        "gift_code": purchase.gift_code,
        "bound_at": optional_timestamp(purchase.bound_at),
        "last_event_at": optional_timestamp(purchase.last_event_at),
        "synced_at": optional_timestamp(purchase.synced_at),
        "created_at": iso_timestamp(purchase.created_at),
        "updated_at": iso_timestamp(purchase.updated_at),
    }


# Subscriptions of accounts that are to go


@define(eq=False)
class SubscriptionCancellations:
    """Orders and does the job. Without `billing` nothing is paid for, and nothing is ordered."""

    _database: Database
    _billing: Billing | None
    _orders: Jobs

    def __attrs_post_init__(self) -> None:
        self._orders.handle(JobType.SUBSCRIPTION_CANCELLATION, self.run)

    def order_in(self, connection: sqlite3.Connection, acting: Acting, user_id: int) -> None:
        """In the unit that schedules the deletion: order the job. Call `ordered` after the commit."""
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
        """After the commit of `order_in`: wake up the job runner."""
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

    async def _note(self, run: JobRun, state: Mapping[str, Any], total: int | None = None) -> None:
        done = {name: state.get(name, False) for name in ("cancelled", "refunded")}
        progress = Progress(state=state, current=sum(done.values()), total=total, result=done)
        await run.step(lambda _: progress)
