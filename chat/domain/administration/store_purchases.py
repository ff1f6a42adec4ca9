"""Purchases in app stores, for administrators: listed, and read again from their stores (administration.md, Store
purchases).

A refresh asks for everything first and applies what it found in one unit, so that a store which cannot be reached
leaves all as it was. What changes of the account's premium is told to its holder.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
import structlog
import trio

from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog
from chat.domain.administration.administered_accounts import found
from chat.domain.administration.billing import Billing, BillingUnavailable, PurchaseLink, PurchaseReading
from chat.domain.administration.billing_answers import LINKS_MAXIMUM
from chat.domain.administration.store_premium import with_premium_of
from chat.domain.administration.store_purchase_objects import store_purchase
from chat.domain.core import Core
from chat.registries.admin_actions import AdminAction
from chat.registries.store_purchases import PurchaseEnvironment, PurchaseKind, PurchaseState, StoreProvider
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import store_purchases
from chat.store.administration.store_purchases import StorePurchase

log: Final = structlog.get_logger("chat.billing")

READ_AT_ONCE: Final = 4
"""Purchases of one account that are asked for side by side."""

REFRESH_SECONDS: Final = 30.0
"""How long all of the asking may take."""

Key = tuple[StoreProvider, PurchaseEnvironment, str]
"""What tells one purchase from all others: the store, whether it is the real one, and its token there."""


@attrs.frozen
class _Refreshed:
    """What a refresh came to: the account as it was and as it is, and its purchases."""

    before: Account
    after: Account
    purchases: Sequence[StorePurchase]


@attrs.define(kw_only=True, eq=False)
class StorePurchases:
    """Lists and refreshes purchases; without `billing` there is no store to be reached."""

    _core: Core
    _billing: Billing | None
    _log: AdminAuditLog

    async def of(self, acting: Acting, user_id: int) -> list[dict[str, Any]]:
        """The account's purchases, the newest first.

        :raises ApiError: UNKNOWN_USER.
        """
        purchases = await self._stored(user_id)
        metadata = {"result_count": len(purchases)}
        await self._log.note(acting, AdminAction.LIST_USER_STORE_PURCHASES, user_id, metadata)
        return self._objects(purchases)

    async def refresh(self, acting: Acting, user_id: int) -> list[dict[str, Any]]:
        """Read every purchase of the account again from its store; the account's purchases then, the newest first.

        :raises ApiError: UNKNOWN_USER; STORE_BILLING_UNAVAILABLE when a store could not be read, and nothing changed.
        """
        stored = await self._stored(user_id)
        read_at = self._core.clock.now_ms()
        links: Mapping[Key, PurchaseLink] = {}
        readings: Mapping[Key, PurchaseReading | None] = {}
        if self._billing is not None:
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

        refreshed = await self._core.database.write(unit, then)
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

        A purchase that is somebody else's stays theirs; a purchase that is new here and that its store does not know
        is none; what was read later, by another refresh, counts more.
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
        return StorePurchase(
            id=self._core.snowflakes(),
            user_id=user_id,
            provider=link.provider,
            kind=link.kind,
            slot=link.slot,
            environment=link.environment,
            app_id=link.app_id,
            product_id=link.product_id,
            purchase_token=link.purchase_token,
            account_token=link.account_token,
            state=reading.state,
            gift_code=link.gift_code if link.kind is PurchaseKind.GIFT else None,
            bound_at=link.bound_at or now,
            created_at=now,
            updated_at=now,
        )

    def _objects(self, purchases: Sequence[StorePurchase]) -> list[dict[str, Any]]:
        now = self._core.clock.now_ms()
        return [store_purchase(purchase, now) for purchase in purchases]


async def _links(billing: Billing, user_id: int, stored: Sequence[StorePurchase]) -> dict[Key, PurchaseLink]:
    """What to ask for, the oldest first: what is linked here, then what the store service has linked since."""
    links = {_key(purchase): _link_of(purchase) for purchase in reversed(stored)}
    for link in await billing.linked(user_id):
        links.setdefault(_key(link), link)
    return links


async def _readings(billing: Billing, links: Mapping[Key, PurchaseLink]) -> dict[Key, PurchaseReading | None]:
    """What the stores say of each.

    :raises BillingUnavailable: as soon as one of them says nothing.
    """
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
    return attrs.evolve(
        purchase,
        product_id=reading.product_id,
        base_plan_id=None if is_a else reading.base_plan_id,
        account_token=purchase.account_token if reading.account_token is None else reading.account_token,
        latest_transaction_id=reading.latest_transaction_id,
        ownership_type=reading.ownership_type if is_a else None,
        state=reading.state,
        store_state=None if is_gift_of_a and reading.revoked_at is None else reading.store_state,
        expires_at=reading.expires_at,
        grace_ends_at=reading.grace_ends_at,
        auto_renew=reading.auto_renew,
        started_at=reading.started_at,
        purchased_at=reading.purchased_at,
        revoked_at=reading.revoked_at,
        revocation_reason=reading.revocation_reason,
        superseded=reading.superseded and not is_a,
        acknowledged=reading.acknowledged or is_a,
        last_event_at=reading.last_event_at,
    )


def _unknown_to_its_store(purchase: StorePurchase) -> StorePurchase:
    """A subscription is over; a gift was bought and stays so, whatever its store still knows of it."""
    if purchase.kind is PurchaseKind.GIFT:
        return purchase
    return attrs.evolve(purchase, state=PurchaseState.EXPIRED, auto_renew=False)
