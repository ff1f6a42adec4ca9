"""Purchases in app stores (administration.md, Store purchases)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.shapes import (
    BOOLEAN,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    listed,
    member_of,
    nullable,
    record,
    wire_object,
)
from chat.registries.store_purchases import PurchaseEnvironment, PurchaseKind, PurchaseState, StoreProvider

STORE_PURCHASE: Final = wire_object(
    "StorePurchase",
    {
        "id": SNOWFLAKE,
        "user_id": nullable(SNOWFLAKE),
        "provider": member_of(StoreProvider),
        "kind": member_of(PurchaseKind),
        "slot": TEXT,
        "environment": member_of(PurchaseEnvironment),
        "app_id": TEXT,
        "product_id": TEXT,
        "base_plan_id": nullable(TEXT),
        "latest_transaction_id": nullable(TEXT),
        "ownership_type": nullable(TEXT),
        "state": member_of(PurchaseState),
        "store_state": nullable(TEXT),
        "entitled": BOOLEAN,
        "expires_at": nullable(TIMESTAMP),
        "grace_ends_at": nullable(TIMESTAMP),
        "auto_renew": nullable(BOOLEAN),
        "started_at": nullable(TIMESTAMP),
        "purchased_at": nullable(TIMESTAMP),
        "revoked_at": nullable(TIMESTAMP),
        "revocation_reason": nullable(TEXT),
        "superseded": BOOLEAN,
        "acknowledged": BOOLEAN,
        "gift_code": nullable(TEXT),
        "bound_at": nullable(TIMESTAMP),
        "last_event_at": nullable(TIMESTAMP),
        "synced_at": nullable(TIMESTAMP),
        "created_at": TIMESTAMP,
        "updated_at": TIMESTAMP,
    },
    description="A purchase in an app store as the administration sees it.",
)

PURCHASES: Final = record({"purchases": listed(STORE_PURCHASE)})
