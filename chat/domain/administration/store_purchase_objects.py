"""Purchases in app stores as administrators see them (administration.md, Store purchases)."""

from __future__ import annotations

from typing import Any

from chat.clock import iso_timestamp
from chat.domain.administration.store_premium import is_entitled
from chat.store.administration.store_purchases import StorePurchase


def store_purchase(purchase: StorePurchase, now_ms: int) -> dict[str, Any]:
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
        "expires_at": _timestamp(purchase.expires_at),
        "grace_ends_at": _timestamp(purchase.grace_ends_at),
        "auto_renew": purchase.auto_renew,
        "started_at": _timestamp(purchase.started_at),
        "purchased_at": _timestamp(purchase.purchased_at),
        "revoked_at": _timestamp(purchase.revoked_at),
        "revocation_reason": purchase.revocation_reason,
        "superseded": purchase.superseded,
        "acknowledged": purchase.acknowledged,
        "gift_code": purchase.gift_code,
        "bound_at": _timestamp(purchase.bound_at),
        "last_event_at": _timestamp(purchase.last_event_at),
        "synced_at": _timestamp(purchase.synced_at),
        "created_at": iso_timestamp(purchase.created_at),
        "updated_at": iso_timestamp(purchase.updated_at),
    }


def _timestamp(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else iso_timestamp(milliseconds)
