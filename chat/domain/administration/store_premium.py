"""What purchases in app stores mean for an account's premium (administration.md, Store purchases).

A subscription grants premium while its state says so, until it ends; who bought a gift gets nothing by it. An account's
premium may have come from elsewhere too: purchases lengthen that, and end only what they gave themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from chat.registries.store_purchases import ENTITLING, PurchaseKind
from chat.registries.user_flags import PremiumType
from chat.store.accounts.accounts import Account
from chat.store.administration.store_purchases import StorePurchase


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
    """Whether it grants premium until its end, whenever that is."""
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

    Premium for life is above all that.
    """
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
        account,
        premium_type=int(PremiumType.NONE),
        premium_since=None,
        premium_until=None,
        premium_grace_ends_at=None,
    )


def _since(purchase: StorePurchase) -> int:
    for moment in (purchase.started_at, purchase.purchased_at, purchase.bound_at):
        if moment is not None:
            return moment
    return purchase.created_at
